      * An order, as the ordering system on the host keeps it.
       01  ORDER-RECORD.
           05  ORDER-NO             PIC 9(8).
           05  ORDER-DATE           PIC 9(8).
           05  CUSTOMER.
               10  CUSTOMER-NO      PIC X(6).
               10  CUSTOMER-NAME    PIC X(24).
           05  CURRENCY-CODE        PIC X(3).
           05  ORDER-TOTAL          PIC S9(9)V99 COMP-3.
           05  LINE-COUNT           PIC 9(4) COMP.
           05  ORDER-LINE OCCURS 1 TO 50 TIMES
                   DEPENDING ON LINE-COUNT.
               10  ARTICLE          PIC X(8).
               10  QUANTITY         PIC S9(5) COMP-3.
               10  UNIT-PRICE       PIC S9(7)V99 COMP-3.

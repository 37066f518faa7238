      * An order, as the ordering system writes it.
       01  ORDER-RECORD.
           05  ORDER-ID             PIC 9(6).
           05  CUSTOMER             PIC X(12).
           05  TOTAL                PIC S9(7)V99 COMP-3.
           05  LINE-COUNT           PIC 9(4) COMP.
           05  ORDER-LINE OCCURS 1 TO 9 TIMES
                   DEPENDING ON LINE-COUNT.
               10  ARTICLE          PIC X(4).
               10  QUANTITY         PIC S9(3).
           05  SHIPPED              PIC 9(8).
           05  SHIPPED-PARTS REDEFINES SHIPPED.
               10  SHIPPED-YEAR     PIC 9(4).
               10  SHIPPED-MONTH    PIC 9(2).
                   88  DECEMBER     VALUE 12.
               10  SHIPPED-DAY      PIC 9(2).

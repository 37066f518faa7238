       01  R.
           05  A REDEFINES B PIC X.
           05  B PIC X.
           05  C PIC X.
           05  D REDEFINES B PIC X.
           05  T OCCURS 1 TO 3 TIMES DEPENDING ON N PIC X.
           05  N PIC 9.
           05  O PIC X.
           05  U OCCURS 1 TO 3 TIMES DEPENDING ON O PIC X.
           05  V OCCURS 2 TIMES.
               10  W PIC 9.
           05  X OCCURS 1 TO 3 TIMES DEPENDING ON W PIC X.
       01  Z REDEFINES NONE PIC X.
           COPY NOT-THERE.

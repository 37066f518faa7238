       01  ORDER-RECORD.
           05  A PIC X(3) PIC X(4).
           05  B USAGE COMP-7.
           05  C PIC 9(4) COMP COMP-3.
           05  D OCCURS 3 TO 1 TIMES DEPENDING ON A PIC X.
           05  E OCCURS 1 TO 3 TIMES PIC X.
           05  F PIC X VALUE.
           05  G PIC X BLANK WHEN NOTHING.
           05  H PIC X BLANK WHEN ZERO.
           05  I PIC 9 JUSTIFIED.
           05  J PIC X(3) COMP-3.
           05  K PIC S9(3) COMP-6.
           05  L TYPE OTHER.
           05  M PIC X HELLO.
           05  N COMP-1 PIC 9.
           05  O.
           05  P PIC X.
               10  Q PIC X.
       66  R.
       66  S RENAMES NOWHERE.

       01  R.
           05  A PIC S9V9V9.
           05  B PIC 9S9.
           05  C PIC X(3)Z.
           05  D PIC 9(40).
           05  E PIC Q(3).
           05  F PIC ZZ*9.
           05  G PIC 9PP9.
           05  H PIC X(0).
           05  I PIC X(99999999999).
           05  J PIC 9CR9.
           05  K PIC 9.9.9.
           05  L PIC V.
           05  M PIC X(5.

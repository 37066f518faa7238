       01  R.
           05  A PIC X
           05  B PIC X VALUE 'not closed.
           05  C PIC X VALUE 'goes on and on and on and on and on and on
      -    without its quote'.
X1234567   05  D PIC X.
           05  :TAG:-E PIC X.
           05  F PIC X(3). this is behind all that is read            CPYBOOK
           55  G PIC X.
           EXEC SQL NEVER ENDED

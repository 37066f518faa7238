       >>IF BIG
       01  R PIC X(80).
       >>END-IF
       77  S PIC X REPLACE.
       COPY A REPLACING ==X==.
       COPY directives.

"""Records that a COBOL program has written: what it knows is what is decoded, and encoding it makes the same bytes."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Literal

import pytest

from parsers.importers.copybook import read_text
from parsers.importers.copybook.source import Dialect
from parsers.records.framing import Framing, cut_records
from parsers.records.json_fields import Coding
from parsers.records.reading import read_record
from parsers.records.record_plan import plan_of
from parsers.records.writing import write_record
from tests.parsers.records.cobol import HEAD, Written, copybook, expected, program, run_program

PLAIN = (
    Written("PIC X(10)", "'Hello'", "Hello"),
    Written("PIC X(10)", "SPACES", ""),
    Written("PIC A(4)", "'AbCd'", "AbCd"),
    Written("PIC X(6) JUSTIFIED RIGHT", "'abc'", "abc"),
    Written("PIC XXBXX/XX", "'123456'", "12 34/56"),
    Written("PIC 9(5)", "123", 123),
    Written("PIC 9(3)V99", "123.45", Decimal("123.45")),
    Written("PIC 9(18)", "999999999999999999", 999999999999999999),
    Written("PIC 9(3)PP", "12300", 12300),
    Written("PIC VPP99", "0.0012", Decimal("0.0012")),
    Written("PIC 9(4) BLANK WHEN ZERO", "0", 0),
    Written("PIC 9(4) BLANK WHEN ZERO", "17", 17),
)
SIGNED = (
    *(Written("PIC S9(3)", str(n), n) for n in (120, -120, 121, -121, 122, -122, 123, -123, 124, -124)),
    *(Written("PIC S9(3)", str(n), n) for n in (125, -125, 126, -126, 127, -127, 128, -128, 129, -129)),
    Written("PIC S9(3)", "0", 0),
    Written("PIC S9(3)V9 SIGN LEADING", "-1.5", Decimal("-1.5")),
    Written("PIC S9(3)V9 SIGN LEADING", "1.5", Decimal("1.5")),
    Written("PIC S9(3) SIGN LEADING SEPARATE", "-7", -7),
    Written("PIC S9(3) SIGN TRAILING SEPARATE", "7", 7),
    Written("PIC S9(3) SIGN IS TRAILING SEPARATE CHARACTER", "-7", -7),
)
EDITED = (
    Written("PIC ZZ,ZZ9.99-", "-1234.5", " 1,234.50-"),
    Written("PIC ZZ,ZZ9.99-", "1234.5", " 1,234.50"),
    Written("PIC $$,$$9.99CR", "-12.34", "   $12.34CR"),
    Written("PIC $$,$$9.99DB", "12.34", "   $12.34"),
    Written("PIC +++9", "-12", " -12"),
    Written("PIC ---9", "12", "  12"),
    Written("PIC +9(3).9", "1.5", "+001.5"),
    Written("PIC **,**9.99", "12", "****12.00"),
    Written("PIC 99/99/9999", "31122026", "31/12/2026"),
    Written("PIC 9B9B9", "123", "1 2 3"),
    Written("PIC 0099", "12", "0012"),
    Written("PIC Z(5)", "0", ""),
    Written("PIC ZZZ9 BLANK WHEN ZERO", "0", ""),
)
BINARY = (
    *(Written(f"PIC S9({d}) COMP", f"-{'9' * d}", -int("9" * d)) for d in (1, 2, 3, 4, 5, 9, 10, 18)),
    *(Written(f"PIC 9({d}) BINARY", "9" * d, int("9" * d)) for d in (1, 2, 3, 4, 5, 9, 10, 18)),
    Written("PIC S9(5)V99 COMP-4", "-12345.67", Decimal("-12345.67")),
    *(Written(f"PIC S9({d}) COMP-5", f"-{'8' * d}", -int("8" * d)) for d in (1, 4, 5, 9, 10, 18)),
    Written("PIC 9(4) COMP-5", "9999", 9999),
    Written("PIC 9(4) COMP-X", "9999", 9999),
    Written("PIC X COMP-X", "200", 200),
    Written("PIC 9(9) COMP-X", "123456789", 123456789),
    Written("BINARY-CHAR", "-128", -128),
    Written("BINARY-CHAR UNSIGNED", "255", 255),
    Written("BINARY-SHORT", "-32768", -32768),
    Written("BINARY-LONG", "-2147483648", -2147483648),
    Written("BINARY-LONG UNSIGNED", "4294967295", 4294967295),
    Written("BINARY-DOUBLE", "-5", -5),
)
PACKED = (
    *(Written(f"PIC S9({d}) COMP-3", f"-{'9' * d}", -int("9" * d)) for d in (1, 2, 3, 4, 17, 18)),
    Written("PIC S9(5)V99 PACKED-DECIMAL", "12345.67", Decimal("12345.67")),
    Written("PIC 9(5) COMP-3", "12345", 12345),
    Written("PIC 9(4) COMP-3", "0", 0),
    Written("PIC 9(4) COMP-6", "1234", 1234),
    Written("PIC 9(5) COMP-6", "12345", 12345),
    Written("PIC 9(3)P(2) COMP", "12300", 12300),
)
FLOATS = (
    Written("COMP-1", "1.5", 1.5),
    Written("COMP-1", "-0.125", -0.125),
    Written("COMP-2", "-1234.5625", -1234.5625),
    Written("COMP-2", "0", 0.0),
    Written("FLOAT-SHORT", "2", 2.0),
    Written("FLOAT-LONG", "3", 3.0),
)
EVERYTHING = (*PLAIN, *SIGNED, *EDITED, *BINARY, *PACKED, *FLOATS)

# What GnuCOBOL has in its own way: COMP-5 of one digit under -std=ibm, COMP-X in the order of COMP.
OWN_WAYS = {"ibm": ("S9(1) COMP-5",), "native": ("COMP-X",)}

BIG_WITH_LITTLE_FLOATS = 0x211
LITTLE = 0x212
Order = Literal["big", "little"]
AS_WRITTEN = Coding(819, BIG_WITH_LITTLE_FLOATS, "ascii", "little")

CASES = {
    "default": ((), Dialect(binary_size="1-2-4-8"), AS_WRITTEN),
    "ibm": (("-std=ibm",), Dialect(), AS_WRITTEN),
    "mf": (("-std=mf",), Dialect(binary_size="1--8"), AS_WRITTEN),
    "native": (("-fbinary-byteorder=native",), Dialect(binary_size="1-2-4-8"), Coding(819, LITTLE, "ascii", "little")),
    "ebcdic signs": (
        ("-fsign=EBCDIC",),
        Dialect(binary_size="1-2-4-8"),
        Coding(819, BIG_WITH_LITTLE_FLOATS, "ebcdic-custom", "little"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_usage(case: str, tmp_path: Path) -> None:
    """Each USAGE, sign and edited form: its size, its value read and its bytes written are the program's own."""
    options, dialect, coding = CASES[case]
    items = [item for item in EVERYTHING if not item.clauses.endswith(OWN_WAYS.get(case, ("none",)))]
    clauses = [item.clauses for item in items]
    text = copybook(items)
    (tmp_path / "rec.cpy").write_text(text, "ascii")
    sizes = [int(line) for line in run_program(tmp_path, program(items), options).split()]
    data = (tmp_path / "out.bin").read_bytes()
    record = read_text("rec.cpy", text, dialect).records[0]
    assert list(zip(clauses, sizes, strict=True)) == [
        *zip(clauses, (i.length for i in record.top.children), strict=True)
    ]
    plan = plan_of(record, coding)
    found, end = read_record(plan.read, data)
    assert list(zip(clauses, expected(items).values(), strict=True)) == [*zip(clauses, found.values(), strict=True)]
    assert end == len(data)
    assert data == write_record(plan, expected(items), 0x20)


TABLES = """       01  REC.
           05  ID-NUMBER        PIC 9(3).
           05  AREA-A.
               10  B-NUMBER     PIC S9(3) SIGN LEADING SEPARATE.
           05  FIX OCCURS 2 TIMES.
               10  FIX-X        PIC X.
               10  FIX-N        PIC 9(2) COMP-3.
           05  N                PIC 9(2).
           05  ROW-T OCCURS 0 TO 4 TIMES DEPENDING ON N.
               10  ROW-X        PIC X(2).
               10  ROW-9        PIC S9(2).
           05  LAST-ONE         PIC X(3).
"""
WRITER = f"""{HEAD} RECORD IS VARYING FROM 1 TO 200 CHARACTERS
           DEPENDING ON LEN.
       01  OUT-REC PIC X(200).
       WORKING-STORAGE SECTION.
       77  LEN PIC 9(4) COMP-5.
       77  I PIC 9(2).
       77  J PIC 9(2).
           COPY "rec.cpy".
       PROCEDURE DIVISION.
           OPEN OUTPUT OUT-FILE.
           PERFORM VARYING I FROM 1 BY 1 UNTIL I > 4
               INITIALIZE REC
               MOVE I TO N
               PERFORM VARYING J FROM 1 BY 1 UNTIL J > I
                   MOVE SPACES TO ROW-X (J)
                   MOVE 0 TO ROW-9 (J)
               END-PERFORM
               MOVE I TO ID-NUMBER
               COMPUTE B-NUMBER = 0 - I
               MOVE "f" TO FIX-X (1)
               MOVE 12 TO FIX-N (2)
               MOVE "t" TO ROW-X (I)
               COMPUTE ROW-9 (I) = 0 - I
               MOVE "end" TO LAST-ONE
               MOVE LENGTH OF REC TO LEN
               MOVE REC TO OUT-REC
               WRITE OUT-REC
               DISPLAY LEN
           END-PERFORM.
           CLOSE OUT-FILE.
           STOP RUN.
"""


def test_tables_of_variable_length(tmp_path: Path) -> None:
    """Records with tables and a table of variable length, each as long as the program says."""
    (tmp_path / "rec.cpy").write_text(TABLES, "ascii")
    lengths = [int(line) for line in run_program(tmp_path, WRITER, ("-std=ibm", "-fodoslide")).split()]
    plan = plan_of(read_text("rec.cpy", TABLES).records[0], AS_WRITTEN)
    with (tmp_path / "out.bin").open("rb") as file:
        cuts = list(cut_records(file, Framing("V", rdw_excludes_itself=True), longest=200))
    assert [len(cut.data) for cut in cuts] == lengths
    for number, cut in enumerate(cuts, 1):
        rows = [{"ROW-X": "", "ROW-9": 0} for _ in range(number - 1)] + [{"ROW-X": "t", "ROW-9": -number}]
        expected_record = {
            "ID-NUMBER": number,
            "AREA-A": {"B-NUMBER": -number},
            "FIX": [{"FIX-X": "f", "FIX-N": 0}, {"FIX-X": "", "FIX-N": 12}],
            "N": number,
            "ROW-T": rows,
            "LAST-ONE": "end",
        }
        assert (expected_record, len(cut.data)) == read_record(plan.read, cut.data)
        assert cut.data == write_record(plan, expected_record, 0x20)

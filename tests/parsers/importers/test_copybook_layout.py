"""Copybooks to layouts: each clause, and how sources are written, as tables of text and where fields end up."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ConfigurationException
from parsers.importers.copybook import read_copybook, read_text
from parsers.importers.copybook.source import IBM, Dialect

Placed = tuple[str, int, int]


def layout(text: str, dialect: Dialect = IBM) -> list[Placed]:
    """Name, offset and length of every item, record by record."""
    book = read_text("c.cpy", text, dialect)
    return [(i.name or "FILLER", i.offset, i.length) for record in book.records for i in record.top.walk()]


def sizes(*clauses: str, dialect: Dialect = IBM) -> list[int]:
    text = "01 R.\n" + "".join(f"  05 F{n} {clause}.\n" for n, clause in enumerate(clauses))
    return [length for _, _, length in layout(text, dialect)[1:]]


@pytest.mark.parametrize(
    ("clause", "length"),
    [
        ("PIC X", 1),
        ("PIC X(10)", 10),
        ("PICTURE IS A(3)", 3),
        ("PIC 9(5)V99", 7),
        ("PIC S9(5)V9(2)", 7),
        ("PIC S9(5) SIGN IS LEADING SEPARATE CHARACTER", 6),
        ("PIC S9(5) TRAILING SEPARATE", 6),
        ("PIC S9(5) SIGN LEADING", 5),
        ("PIC 9(3)P(2)", 3),
        ("PIC PP99", 2),
        ("PIC VPP99", 2),
        ("PIC ZZ,ZZ9.99-", 10),
        ("PIC $$,$$9.99CR", 11),
        ("PIC $(4)9.99DB", 10),
        ("PIC +9(3).9E+99", 10),
        ("PIC XXBXX0/X", 8),
        ("PIC 99/99/9999", 10),
        ("PIC Z(5)", 5),
        ("PIC **9", 3),
        ("PIC N(4)", 8),
        ("PIC N(4) USAGE NATIONAL", 8),
        ("PIC 9(4) NATIONAL", 8),
        ("PIC S9(4) SIGN TRAILING SEPARATE USAGE NATIONAL", 10),
        ("PIC G(4) DISPLAY-1", 8),
        ("PIC G(2)BG(2)", 10),
        ("PIC U(3)", 12),
        *((f"PIC S9({digits}) COMP", size) for digits, size in [(1, 2), (4, 2), (5, 4), (9, 4), (10, 8), (18, 8)]),
        *((f"PIC S9({digits}) COMP-3", size) for digits, size in [(1, 1), (2, 2), (3, 2), (4, 3), (18, 10), (31, 16)]),
        *((f"PIC 9({digits}) COMP-6", size) for digits, size in [(1, 1), (2, 1), (3, 2), (5, 3)]),
        *((f"PIC 9({digits}) COMP-X", size) for digits, size in [(2, 1), (4, 2), (7, 3), (9, 4), (12, 5), (18, 8)]),
        ("PIC X(3) COMP-X", 3),
        ("PIC 9(4) USAGE IS COMPUTATIONAL-5", 2),
        ("PIC 9(4) BINARY", 2),
        ("PIC 9(3)V9(4) PACKED-DECIMAL", 4),
        ("USAGE IS COMP-1", 4),
        ("COMPUTATIONAL-2", 8),
        ("INDEX", 4),
        ("POINTER", 4),
        ("PROCEDURE-POINTER", 8),
        ("FUNCTION-POINTER", 4),
        ("OBJECT REFERENCE MY-CLASS", 4),
        ("BINARY-CHAR UNSIGNED", 1),
        ("BINARY-SHORT", 2),
        ("USAGE BINARY-LONG SIGNED", 4),
        ("BINARY-DOUBLE", 8),
        ("PIC X(8) DATE FORMAT IS YYYYXXXX", 8),
        ("PIC X(5) JUSTIFIED RIGHT VALUE 'it''s'", 5),
        ("PIC 9(5) BLANK WHEN ZERO VALUE ZERO", 5),
        ("PIC S9(3)V99 VALUE -12.50", 5),
        ("PIC V99 VALUE .5", 2),
        ("PIC £££9.99", 7),
        ("PIC SV99 VALUE -.5", 2),
        ("PIC S9V99 VALUE +1.5 COMP-3", 2),
        ("PIC X(3) VALUE X'0102FF'", 3),
        ("COMP-2 VALUE 1.5E+3", 8),
        ("GLOBAL PIC X VALUE ALL '*'", 1),
        ("EXTERNAL PIC X(2)", 2),
        ("PIC X(3), VALUE 'a;b'; JUST", 3),
    ],
)
def test_size(clause: str, length: int) -> None:
    """An elementary item takes the bytes that IBM's compiler gives it."""
    assert [length] == sizes(clause)


def test_binary_sizes() -> None:
    """Other compilers have COMP items of one byte, or of as many as the digits need."""
    clauses = [f"PIC S9({digits}) COMP" for digits in (1, 2, 3, 4, 5, 7, 9, 10, 12, 18)]
    assert [1, 1, 2, 2, 4, 4, 4, 8, 8, 8] == sizes(*clauses, dialect=Dialect(binary_size="1-2-4-8"))
    assert [1, 1, 2, 2, 3, 4, 4, 5, 6, 8] == sizes(*clauses, dialect=Dialect(binary_size="1--8"))


def test_addresses_of_64_bits() -> None:
    """LP(64) makes addresses and indexes of 8 bytes."""
    clauses = ("POINTER", "INDEX", "FUNCTION-POINTER", "PROCEDURE-POINTER", "POINTER-32")
    assert [8, 8, 8, 8, 4] == sizes(*clauses, dialect=Dialect(lp=64))


LAYOUTS = {
    "a group gives its usage to what is under it": (
        "01 R. 05 G COMP-3. 10 A PIC S9(5). 10 B PIC 9(3) DISPLAY. 05 C PIC 9.",
        [("R", 0, 7), ("G", 0, 6), ("A", 0, 3), ("B", 3, 3), ("C", 6, 1)],
    ),
    "a group gives its sign to what is under it": (
        "01 R. 05 G SIGN LEADING SEPARATE. 10 A PIC S9(5). 10 B PIC 9(3).",
        [("R", 0, 9), ("G", 0, 9), ("A", 0, 6), ("B", 6, 3)],
    ),
    "REDEFINES of the same size, smaller and larger, and of a redefinition": (
        "01 R. 05 A PIC X(4). 05 B REDEFINES A PIC 9(2). 05 C REDEFINES B. 10 D PIC X(6). 05 E PIC X.",
        [("R", 0, 7), ("A", 0, 4), ("B", 0, 2), ("C", 0, 6), ("D", 0, 6), ("E", 6, 1)],
    ),
    "FILLER and items without a name redefine": (
        "01 R. 05 A PIC X(4). 05 FILLER REDEFINES A. 10 B PIC XX OCCURS 2. 05 REDEFINES A PIC 9(4). 05 PIC X.",
        [("R", 0, 5), ("A", 0, 4), ("FILLER", 0, 4), ("B", 0, 2), ("FILLER", 0, 4), ("FILLER", 4, 1)],
    ),
    "tables in tables": (
        "01 R. 05 T OCCURS 3 TIMES. 10 A PIC X. 10 U OCCURS 2. 15 B PIC XX. 05 C PIC X.",
        [("R", 0, 16), ("T", 0, 5), ("A", 0, 1), ("U", 1, 2), ("B", 1, 2), ("C", 15, 1)],
    ),
    "OCCURS DEPENDING ON, at its largest": (
        "01 R. 05 N PIC 99. 05 T OCCURS 1 TO 5 TIMES DEPENDING ON N OF R"
        " ASCENDING KEY IS K DESCENDING KEY L INDEXED BY I, J. 10 K PIC XX. 10 L PIC X. 05 Z PIC X.",
        [("R", 0, 18), ("N", 0, 2), ("T", 2, 3), ("K", 2, 2), ("L", 4, 1), ("Z", 17, 1)],
    ),
    "slack bytes inside and behind occurrences": (
        "01 R. 05 A PIC X. 05 T OCCURS 10 TIMES. 10 B PIC X. 10 C PIC S9(4)V99 COMP SYNC."
        " 10 D PIC S9(3) COMP SYNC. 10 E PIC X(5).",
        [("R", 0, 161), ("A", 0, 1), ("T", 1, 16), ("B", 1, 1), ("C", 4, 4), ("D", 8, 2), ("E", 10, 5)],
    ),
    "slack bytes before a group whose first item is aligned": (
        "01 R. 05 A PIC X(5). 05 B PIC XX. 05 G. 10 C COMP PIC S9(6) SYNCHRONIZED.",
        [("R", 0, 12), ("A", 0, 5), ("B", 5, 2), ("G", 8, 4), ("C", 8, 4)],
    ),
    "boundaries: fullwords for 5 to 18 digits, doublewords for COMP-2, none for other usages": (
        "01 R. 05 A PIC X. 05 B PIC S9(18) COMP SYNC. 05 C PIC X. 05 D COMP-1 SYNC. 05 E COMP-2 SYNC RIGHT."
        " 05 F PIC X. 05 G PIC 9(3) COMP-3 SYNC. 05 H PIC 9 SYNC LEFT. 05 I INDEX SYNC.",
        [
            ("R", 0, 40),
            *(("A", 0, 1), ("B", 4, 8), ("C", 12, 1), ("D", 16, 4), ("E", 24, 8)),
            *(("F", 32, 1), ("G", 33, 2), ("H", 35, 1), ("I", 36, 4)),
        ],
    ),
    "SYNCHRONIZED of a group is that of all under it": (
        "01 R SYNC. 05 A PIC X. 05 B PIC S9(4) COMP. 05 C PIC S9(9) COMP.",
        [("R", 0, 8), ("A", 0, 1), ("B", 2, 2), ("C", 4, 4)],
    ),
    "several records, levels 77 and 66": (
        "01 A. 05 B PIC X(3). 05 C PIC X(2). 66 D RENAMES B THRU C. 77 E PIC 9(4). 01 F REDEFINES A PIC X(5).",
        [("A", 0, 5), ("B", 0, 3), ("C", 3, 2), ("E", 0, 4), ("F", 0, 5)],
    ),
    "no level 01: a record called as the file": (
        "05 A PIC X. 05 B. 10 C PIC 9(3).",
        [("C", 0, 4), ("A", 0, 1), ("B", 1, 3), ("C", 1, 3)],
    ),
    "one group without level 01 is the record": (
        "05 A. 10 B PIC X. 10 C PIC 9(3).",
        [("A", 0, 4), ("B", 0, 1), ("C", 1, 3)],
    ),
    "levels that are not alike among brothers": (
        "01 A. 05 B. 10 C PIC X. 07 D PIC XX. 03 E PIC X.",
        [("A", 0, 4), ("B", 0, 3), ("C", 0, 1), ("D", 1, 2), ("E", 3, 1)],
    ),
    "constants count tables and positions": (
        "78 MOST VALUE 3. 01 TWO CONSTANT AS 2. 01 R. 05 A PIC X OCCURS MOST TIMES. 05 B PIC X OCCURS TWO.",
        [("R", 0, 5), ("A", 0, 1), ("B", 3, 1)],
    ),
    "constants in pictures, of other constants, and some that no layout needs": (
        "78 L VALUE 4. 78 M VALUE L * 2. 78 N VALUE LENGTH OF R. 78 T VALUE 'x'."
        " 01 R. 05 A PIC X(L). 05 B PIC S9(m)V9(L).",
        [("R", 0, 16), ("A", 0, 4), ("B", 4, 12)],
    ),
    "names that begin with digits, have underscores, or are words of COBOL": (
        "01 1ST-REC. 05 2ND_FIELD PIC X. 05 DATE PIC X(8). 05 VALUE PIC 9.",
        [("1ST-REC", 0, 10), ("2ND_FIELD", 0, 1), ("DATE", 1, 8), ("VALUE", 9, 1)],
    ),
    "names with the letters that DB2 and Assembler have beside A to Z": (
        "01 REC#. 05 CUST# PIC X. 05 A@B PIC X. 05 F REDEFINES A@B PIC 9. 05 C$D. 10 $E PIC 9. 05 T OCCURS 2 PIC $9.",
        [("REC#", 0, 7), ("CUST#", 0, 1), ("A@B", 1, 1), ("F", 1, 1), ("C$D", 2, 1), ("$E", 2, 1), ("T", 3, 2)],
    ),
    "the data division of a program": (
        "IDENTIFICATION DIVISION. PROGRAM-ID. P. DATA DIVISION. FILE SECTION. FD F RECORDING MODE F."
        " 01 R. 05 A PIC X. WORKING-STORAGE SECTION. 77 B PIC 9. PROCEDURE DIVISION. MOVE 1 TO B. STOP RUN.",
        [("R", 0, 1), ("A", 0, 1), ("B", 0, 1)],
    ),
    "a program with a report and a screen": (
        "DATA DIVISION. FILE SECTION. FD F. 01 R. 05 A PIC X. REPORT SECTION. RD L CONTROLS ARE FINAL PAGE LIMIT 60."
        " 01 TYPE DETAIL. 02 LINE PLUS 1. 03 COLUMN 3 PIC X SOURCE A. SCREEN SECTION. 01 S. 05 LINE 2 COL 1 USING A."
        " LINKAGE SECTION. 01 P PIC 99. PROCEDURE DIVISION USING P.",
        [("R", 0, 1), ("A", 0, 1), ("P", 0, 2)],
    ),
}


@pytest.mark.parametrize("case", LAYOUTS)
def test_layout(case: str) -> None:
    """Each clause puts fields where IBM's compiler puts them."""
    text, expected = LAYOUTS[case]
    assert expected == layout(text)


def test_large_counts_cost_nothing() -> None:
    """A table is laid out without counting its occurrences."""
    assert [("R", 0, 1_999_999_998), ("A", 0, 2)] == layout("01 R. 05 A PIC XX OCCURS 999999999.")


def test_decimal_point_is_comma() -> None:
    """With the comma as decimal point, pictures and values have both in exchanged roles."""
    comma = Dialect(decimal_point_is_comma=True)
    record = read_text("c.cpy", "01 R. 05 A PIC Z.ZZ9,99 VALUE 1,5.", comma).records[0]
    picture = record.top.children[0].picture
    assert picture is not None
    assert (8, 2) == (picture.positions, picture.scale)


SAME = [("R", 0, 4), ("A", 0, 3), ("B", 3, 1)]
SOURCES = {
    "fixed, with numbers and names in its margins": (
        "000100* a comment                                                       CPYBOOK1\n"
        "000200 01  R.                                                           CPYBOOK1\n"
        "CHG123     05  A PIC X(3).                                              CPYBOOK1\n"
        "000400/\n"
        "000500D    05  DEBUG PIC X.\n"
        "000600     05  B PIC X.                                                 CPYBOOK1\n"
    ),
    "free": "01 R.\n  05 A PIC X(3). *> three\n  05 B PIC X.\n",
    "free by directive": "       >>SOURCE FORMAT IS FREE\n01 R. 05 A PIC X(3).\n05 B PIC X.\n",
    "free by Micro Focus's directive": '      $SET SOURCEFORMAT"FREE"\n01 R. 05 A PIC X(3).\n05 B PIC X.\n',
    "tabs and lower case": "\t01  R.\n\t05\tA pic x(3).\n\t05\tB pic x.\n",
    "words continued": "       01  R.\n           05  A PIC X(3\n      -    ).\n           05  B PIC\n            X.\n",
    "comments of all kinds": (
        "       01  R. *> top\n      * 05 C PIC X.\n      *> 05 D PIC X.\n           05 A PIC X(3).\n\n      *\n"
        "           05 B PIC X.\n"
    ),
    "EXEC, EJECT, SKIP and TITLE left out": (
        "           EJECT\n       01  R.\n           SKIP1\n           EXEC SQL BEGIN DECLARE SECTION END-EXEC.\n"
        "           05 A PIC X(3).\n           TITLE 'A TITLE'.\n           SKIP2\n           05 B PIC X.\n"
        "           EXEC SQL\n             END DECLARE SECTION\n           END-EXEC\n"
    ),
    "line ends of other systems": "01 R.\r\n  05 A PIC X(3).\r\n  05 B PIC X.\r\n\x1a",
    "REPLACE": ("REPLACE ==:P:== BY ==A== ==LEN== BY ==3==.\n01 R.\n 05 :P: PIC X(LEN).\nREPLACE OFF.\n 05 B PIC X.\n"),
}


@pytest.mark.parametrize("case", SOURCES)
def test_source(case: str) -> None:
    """However a copybook is written, it says the same."""
    assert SAME == layout(SOURCES[case])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_bytes_of_text(encoding: str, tmp_path: Path) -> None:
    """A copybook is read as it was saved, with a mark at its beginning or without."""
    file = tmp_path / "c.cpy"
    file.write_bytes("01 R. *> für\n 05 A PIC X(3).\n 05 B PIC X.\n".encode(encoding))
    record = read_copybook(file).records[0]
    assert SAME == [(item.name, item.offset, item.length) for item in record.top.walk()]


def test_continued_literal() -> None:
    """A literal goes on in the next line from column 72 on, blanks and all."""
    text = (
        "       01  R.\n           05 A PIC X(60) VALUE 'one two\n      -    'three'.\n"
        "           05 B PIC X VALUE\n           'x'.\n"
    )
    top = read_text("c.cpy", text).records[0].top
    assert "'one two" + " " * 32 + "three'" == top.children[0].entry.values[0].first


def test_debugging_lines() -> None:
    """Lines for debugging count where the program is compiled so."""
    text = "       01  R.\n           05 A PIC X.\n      D    05 B PIC X.\n"
    assert [("R", 0, 2), ("A", 0, 1), ("B", 1, 1)] == layout(text, Dialect(debugging=True))


def test_conditions_and_values() -> None:
    """Condition names keep their values, ranges and figurative constants as written."""
    text = "01 R. 05 A PIC 9 VALUE 1. 88 LOW VALUES ARE 1 THRU 3, 5 7. 88 NONE VALUE ZERO WHEN SET TO FALSE 9."
    text += " 88 SHORT VALUE 8 FALSE IS 9."
    item = read_text("c.cpy", text).records[0].top.children[0]
    found = {condition.name: [str(value) for value in condition.values] for condition in item.conditions}
    assert {"LOW": ["1 THRU 3", "5", "7"], "NONE": ["ZERO"], "SHORT": ["8"]} == found


COPIES = {
    "a name": ("COPY inner.", {"inner.cpy": "05 A PIC X(3)."}),
    "a name in any case": ("COPY Inner.", {"INNER.CPY": "05 A PIC X(3)."}),
    "a literal with its extension": ("COPY 'inner.txt'.", {"inner.txt": "05 A PIC X(3)."}),
    "of a library": ("COPY inner OF lib.", {"lib/inner.cbl": "05 A PIC X(3)."}),
    "pseudo-text": ("COPY inner REPLACING ==:T:== BY ==A==.", {"inner.cpy": "05 :T: PIC X(3)."}),
    "part of a word": ("COPY inner REPLACING ==:T:== BY ====.", {"inner.cpy": "05 :T:A PIC X(3)."}),
    "words": ("COPY inner REPLACING OLD BY A, X BY 999.", {"inner.cpy": "05 OLD PIC X."}),
    "leading": ("COPY inner REPLACING LEADING ==P-== BY ====.", {"inner.cpy": "05 P-A PIC X(3)."}),
    "trailing": ("COPY inner REPLACING TRAILING ==-S== BY ====.", {"inner.cpy": "05 A-S PIC X(3)."}),
    "copies in copies": (
        "COPY outer REPLACING ==LEN== BY ==3==.",
        {"outer.cpy": "COPY inner.", "inner.cpy": "05 A PIC X(LEN)."},
    ),
    "Panvalet": ("++INCLUDE inner", {"inner.cpy": "05 A PIC X(3)."}),
    "without its period": ("COPY inner", {"inner.cpy": "05 A PIC X(3)."}),
}


@pytest.mark.parametrize("case", COPIES)
def test_copy(case: str, tmp_path: Path) -> None:
    """COPY puts in what it names, from the folders it is told, changed as it says."""
    statement, files = COPIES[case]
    folder = tmp_path / "books"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    main = tmp_path / "main.cpy"
    main.write_text(f"01 R.\n{statement}\n05 B PIC X.\n")
    book = read_copybook(main, Dialect(folders=(folder,)))
    assert SAME == [(i.name, i.offset, i.length) for i in book.records[0].top.walk()]


def test_copy_in_a_circle(tmp_path: Path) -> None:
    """A copybook that copies itself, by whatever way, is refused with the way."""
    (tmp_path / "a.cpy").write_text("COPY b.")
    (tmp_path / "b.cpy").write_text("COPY a.")
    with pytest.raises(ConfigurationException) as raised:
        read_copybook(tmp_path / "a.cpy")
    text = raised.value.problems[0].text
    assert text.startswith("COPY goes in a circle: ")
    assert 2 == text.count("copies")


def test_copy_does_not_leave_its_folders(tmp_path: Path) -> None:
    """A name in a copybook leads to no file outside the folders that are searched."""
    (tmp_path / "secret.cpy").write_text("05 A PIC X.")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.cpy").write_text('01 R. COPY "../secret.cpy". 05 B PIC X.')
    with pytest.raises(ConfigurationException) as raised:
        read_copybook(tmp_path / "in" / "a.cpy")
    assert raised.value.problems[0].text.startswith('COPY finds no "../secret.cpy" in ')


def test_copies_of_copies_are_bounded(tmp_path: Path) -> None:
    """Copybooks that copy others twice, many deep, are stopped before they fill memory."""
    (tmp_path / "c0.cpy").write_text("05 A PIC X.\n" * 100)
    for number in range(1, 28):
        (tmp_path / f"c{number}.cpy").write_text(f"COPY c{number - 1}. COPY c{number - 1}.")
    with pytest.raises(ConfigurationException) as raised:
        read_copybook(tmp_path / "c27.cpy", Dialect())
    assert any("there are more than" in problem.text for problem in raised.value.problems)

"""Records by their copybooks: what is read, what is written, and what is said of those that are wrong."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from engine.errors import BrokerError, ConfigurationException
from parsers.charsets.ccsid import encode
from parsers.importers.copybook import read_text
from parsers.records.json_fields import Coding, coding_of
from parsers.records.reading import read_record
from parsers.records.record_plan import plan_of
from parsers.records.writing import write_record

MAINFRAME = coding_of(37)
WORKSTATION = coding_of(819)
IEEE_BIG = coding_of(37, 0x111)


def plan(text: str, coding: Coding = MAINFRAME, **choices: bool) -> Any:
    return plan_of(read_text("c.cpy", text).records[0], coding, **choices)


def text(value: str) -> str:
    """The bytes of a text in EBCDIC, in hexadecimal."""
    return encode(value, 37).hex()


# The clause of a field, its bytes in hexadecimal, its value: read as such, and written so.
FIELDS = [
    ("PIC X(5)", text("Ab   "), "Ab"),
    ("PIC X(5) JUST", text("   Ab"), "Ab"),
    ("PIC X(3)", "000000", "\0\0\0"),
    ("PIC 9(3)", "f0f1f2", 12),
    ("PIC S9(3)", "f1f2c3", 123),
    ("PIC S9(3)", "f1f2d3", -123),
    ("PIC S9(3) SIGN LEADING", "d1f2f3", -123),
    ("PIC S9(3) SIGN LEADING SEPARATE", text("-123"), -123),
    ("PIC S9(3) SIGN TRAILING SEPARATE", text("123+"), 123),
    ("PIC 9V99", "f1f2f3", Decimal("1.23")),
    ("PIC 9(2)PP", "f1f2", 1200),
    ("PIC PP99", "f1f2", Decimal("0.0012")),
    ("PIC 9(3) BLANK WHEN ZERO", "404040", 0),
    ("PIC ZZ9.99-", text("  1.50-"), "  1.50-"),
    ("PIC N(2)", "00410020", "A"),
    ("PIC S9(3) NATIONAL SIGN LEADING SEPARATE", "002d003000300037", -7),
    ("PIC U(2)", "c3a92020" + "20" * 4, "é"),
    ("PIC S9(4) COMP", "8000", -32768),
    ("PIC 9(4) COMP", "ffff", 65535),
    ("PIC S9(9) COMP", "7fffffff", 2147483647),
    ("PIC S9(18) COMP", "8000000000000000", -(2**63)),
    ("PIC S9(3)V9 COMP-5", "fff6", Decimal("-1.0")),
    ("PIC S9(5) COMP-3", "12345c", 12345),
    ("PIC S9(5) COMP-3", "12345d", -12345),
    ("PIC 9(5) COMP-3", "12345f", 12345),
    ("PIC S9(31) COMP-3", "9" * 31 + "d", -int("9" * 31)),
    ("PIC 9(4) COMP-6", "1234", 1234),
    ("COMP-1", "80000000", Decimal("-0.0")),
    ("COMP-1", "00000001", 2.0**-280),
    ("COMP-2", "0000000000000003", 3 * 2.0**-312),
    ("COMP-1", "c276a000", -118.625),
    ("COMP-2", "41100000" + "0" * 8, 1.0),
    ("COMP-2", "00" * 8, 0.0),
    ("COMP-2", "7fffffffffffffff", Decimal("7.23700557733226211E+75")),
    ("COMP-2", "b3fffffffffffffd", Decimal("-2.22044604925031299E-16")),  # whose neighbour is a float
    ("POINTER", "0000abcd", "0000ABCD"),
    ("INDEX", "00000003", 3),
    ("BINARY-CHAR", "ff", -1),
]


@pytest.mark.parametrize(("clause", "data", "value"), FIELDS)
def test_field(clause: str, data: str, value: Any) -> None:
    """The bytes of a field are its value, and its value those bytes."""
    made = plan(f"01 R. 05 F {clause}.")
    found, end = read_record(made.read, bytes.fromhex(data))
    assert ({"F": value}, len(data) // 2) == (found, end)
    assert data == write_record(made, {"F": value}, 0x40).hex()


READ_ONLY = [
    (MAINFRAME, "PIC S9(3)", "f1f2f3", 123),
    (MAINFRAME, "PIC S9(3)", "f1f2a3", 123),
    (MAINFRAME, "PIC S9V99", "f0f0d0", Decimal("0.00")),
    (MAINFRAME, "PIC S9(3)", "f1f2b3", -123),
    (MAINFRAME, "PIC S9(3) COMP-3", "123f", 123),
    (MAINFRAME, "PIC S9(3) COMP-3", "123b", -123),
    (WORKSTATION, "PIC S9(3)", b"12s".hex(), -123),
    (WORKSTATION, "PIC S9(3)", b"12L".hex(), -123),
    (WORKSTATION, "PIC S9(3)", b"12C".hex(), 123),
    (WORKSTATION, "PIC S9(9) COMP", "01000000", 1),
    (WORKSTATION, "PIC 9(4) COMP-X", "0001", 1),
    (WORKSTATION, "COMP-1", "0000c03f", 1.5),
    (IEEE_BIG, "COMP-2", "3ff8000000000000", 1.5),
    (coding_of(37, 0x121), "PIC S9(5) COMP-3", "5d3412", -12345),
]


@pytest.mark.parametrize(("coding", "clause", "data", "value"), READ_ONLY)
def test_other_bytes_of_a_value(coding: Coding, clause: str, data: str, value: Any) -> None:
    """Signs of other compilers and orders of other machines are read as well."""
    assert {"F": value} == read_record(plan(f"01 R. 05 F {clause}.", coding).read, bytes.fromhex(data))[0]


WRONG = [
    ("PIC 9(3)", "f1f2", "R.F (9(3)) at offset 0: X'f1f2' is cut off: it takes 3 bytes and 2 are left"),
    ("PIC 9(3)", "f140f3", "R.F (9(3)) at offset 0: X'f140f3' has X'40' where a digit should be"),
    ("PIC 9(3)", "f1f2d3", "R.F (9(3)) at offset 0: X'f1f2d3' has X'd3' where a digit should be"),
    ("PIC S9(3)", "f1f243", "R.F (S9(3)) at offset 0: X'f1f243' has X'43' where a digit with a sign should be"),
    (
        "PIC S9 SIGN LEADING SEPARATE",
        "40f1",
        "R.F (S9 LEADING SEPARATE) at offset 0: X'40f1' has X'40' where + or - should be",
    ),
    (
        "PIC S9(3) COMP-3",
        "1a3c",
        "R.F (S9(3) PACKED-DECIMAL) at offset 0: X'1a3c' is no packed decimal: it has a letter among its digits",
    ),
    (
        "PIC S9(3) COMP-3",
        "1234",
        "R.F (S9(3) PACKED-DECIMAL) at offset 0: X'1234' is no packed decimal: its sign is 4",
    ),
    (
        "PIC 9(3) COMP-3",
        "123d",
        "R.F (9(3) PACKED-DECIMAL) at offset 0: X'123d' is a negative packed decimal, and the field has no sign",
    ),
]


@pytest.mark.parametrize(("clause", "data", "problem"), WRONG)
def test_wrong_bytes(clause: str, data: str, problem: str) -> None:
    """Bytes that are no value are refused with the field, its offset and the bytes."""
    with pytest.raises(BrokerError) as raised:
        read_record(plan(f"01 R. 05 F {clause}.").read, bytes.fromhex(data))
    assert problem == raised.value.text


UNFIT = [
    ("PIC X(3)", "abcd", "R.F (X(3)) has room for 3 bytes, and takes no text of 4, not 'abcd'"),
    ("PIC 9(3)", 1000, "R.F (9(3)) has room for 3 digits, not 1000"),
    ("PIC 9(3)", -1, "R.F (9(3)) takes a number that is not negative, not -1"),
    ("PIC 9(3)", "x", "R.F (9(3)) takes a number, not 'x'"),
    ("PIC 9(3)", True, "R.F (9(3)) takes a number, not True"),
    ("PIC 9V9", Decimal("1.23"), "R.F (9V9) takes at most 1 digits behind the decimal point, not 1.23"),
    ("PIC 9PP", 1230, "R.F (9PP) takes whole 100s, not 1230"),
    ("PIC 9(4) COMP", 65536, "R.F (9(4) BINARY) takes 0 to 65535, not 65536"),
    ("PIC S9(3) COMP-3", 1000, "R.F (S9(3) PACKED-DECIMAL) has room for 3 digits, not 1000"),
    ("COMP-1", Decimal("1E+90"), "R.F (COMP-1) takes a number below 16**63, not 1E+90"),
    ("PIC 9(3) OCCURS 2", [1, 2, 3], "R.F occurs 2 times at most, and 3 are given"),
    ("PIC 9(3) OCCURS 2", 1, "R.F occurs more than once: write an array, not 1"),
]


@pytest.mark.parametrize(("clause", "value", "problem"), UNFIT)
def test_unfit_values(clause: str, value: Any, problem: str) -> None:
    """A value that a field cannot hold is refused with the field and the reason; nothing is cut off."""
    with pytest.raises(BrokerError) as raised:
        write_record(plan(f"01 R. 05 F {clause}."), {"F": value}, 0x40)
    assert problem == raised.value.text


def test_unknown_field() -> None:
    """A field that the record does not have is refused, with the one that may have been meant."""
    with pytest.raises(BrokerError, match=r"R has no field called NAMES; did you mean NAME\?"):
        write_record(plan("01 R. 05 NAME PIC X."), {"NAMES": "x"}, 0x40)


TABLES = """01 R. 05 N PIC 9. 05 T OCCURS 0 TO 3 TIMES DEPENDING ON N. 10 M PIC 9. 10 U PIC X OCCURS 1 TO 2 TIMES
   DEPENDING ON M. 05 Z PIC X."""


def test_tables_in_tables_of_variable_length() -> None:
    """Each occurrence has its own count, and what follows moves."""
    made = plan(TABLES, WORKSTATION)
    value = {"N": 2, "T": [{"M": 2, "U": ["a", "b"]}, {"M": 0, "U": []}], "Z": "z"}
    assert (value, 6) == read_record(made.read, b"22ab0z")
    assert b"22ab0z" == write_record(made, value, 0x20)


@pytest.mark.parametrize(
    "text",
    [
        "01 R. 05 A PIC X. 05 G. 10 T PIC X OCCURS 1 TO 9 DEPENDING ON N. 77 N PIC 9.",
        "01 R. 05 A PIC X. 05 G. 10 T PIC X OCCURS 1 TO 9 DEPENDING ON EIBCALEN.",
    ],
)
def test_a_table_that_depends_on_another_record(text: str) -> None:
    """The last table of a record goes to the record's end where it depends on what the record does not have."""
    made = plan(text, WORKSTATION)
    assert ({"A": "a", "G": {"T": ["x", "y"]}}, 3) == read_record(made.read, b"axy")
    assert b"axy" == write_record(made, {"A": "a", "G": {"T": ["x", "y"]}}, 0x20)


@pytest.mark.parametrize(
    "text",
    [
        "01 R. 05 T PIC X OCCURS 1 TO 9 DEPENDING ON N. 05 Z PIC X. 77 N PIC 9.",
        "01 R. 05 A PIC X. 05 T REDEFINES A PIC X OCCURS 1 TO 9 DEPENDING ON N. 77 N PIC 9.",
        "01 R. 05 G OCCURS 2. 10 T PIC X OCCURS 1 TO 9 DEPENDING ON N. 77 N PIC 9.",
        "01 R. 05 T PIC X OCCURS 1 TO 9 DEPENDING ON M. 77 N PIC 9.",
    ],
)
def test_a_table_whose_count_is_needed(text: str) -> None:
    """A table that is not at the end of its record, or depends on nothing that is described, is refused."""
    with pytest.raises(ConfigurationException) as caught:
        plan(text, WORKSTATION)
    assert "does not stand before it in the record" in caught.value.problems[0].text


def test_counts_are_those_of_tables() -> None:
    """A count that is not given is that of its table; one that says something else is refused."""
    made = plan(TABLES, WORKSTATION)
    assert b"11az" == write_record(made, {"T": [{"U": ["a"]}], "Z": "z"}, 0x20)
    with pytest.raises(BrokerError, match=r"R\.T has 1 occurrences, and N says 2"):
        write_record(made, {"N": 2, "T": [{"U": ["a"]}]}, 0x20)


def test_tables_that_do_not_move_what_follows() -> None:
    """Where a table of variable length keeps its room, what follows has one place."""
    made = plan("01 R. 05 N PIC 9. 05 T PIC X OCCURS 1 TO 3 DEPENDING ON N. 05 Z PIC X.", WORKSTATION, slide=False)
    value = {"N": 1, "T": ["a"], "Z": "z"}
    assert (value, 5) == read_record(made.read, b"1a--z")
    assert b"1a  z" == write_record(made, value, 0x20)


def test_count_beyond_the_table() -> None:
    """A count that a table cannot have is refused."""
    with pytest.raises(BrokerError, match=r"R\.T \(GROUP\) at offset 1 occurs 4 times, as N says: it may 0 to 3"):
        read_record(plan(TABLES, WORKSTATION).read, b"4")


SHARED = """01 R. 05 K PIC X. 05 A. 10 A1 PIC 9(3). 10 FILLER PIC X(2). 05 B REDEFINES A PIC X(5).
   05 C REDEFINES A. 10 C1 PIC S9(5) COMP-3. 05 Z PIC X."""


def test_shared_storage() -> None:
    """Each of what shares storage is there under its name; one that cannot be read is null."""
    made = plan(SHARED, WORKSTATION)
    found = {"K": "k", "A": None, "B": "abcde", "C": None, "Z": "z"}
    assert (found, 7) == read_record(made.read, b"kabcdez")
    assert b"kabcdez" == write_record(made, found, 0x20)
    assert {"A1": 123} == read_record(made.read, b"k123xyz")[0]["A"]


def test_first_of_shared_storage_counts() -> None:
    """Of what shares storage, the first that is given counts where they overlap; the rest keeps the other's bytes."""
    made = plan(SHARED, WORKSTATION)
    assert b"k999deZ" == write_record(made, {"K": "k", "A": {"A1": 999}, "B": "abcde", "Z": "Z"}, 0x20)


def test_shared_storage_that_nothing_can_read() -> None:
    """A record is refused where nothing of what shares a storage can be read."""
    made = plan("01 R. 05 A PIC 9. 05 B REDEFINES A PIC 9.", WORKSTATION)
    with pytest.raises(BrokerError, match=r"R\.A \(9\) at offset 0: X'78' has X'78' where a digit should be"):
        read_record(made.read, b"x")


def test_values_and_fillers() -> None:
    """What is not given has its VALUE, or blanks and zeros by its type; FILLER is shown where that is asked."""
    source = """01 R. 05 A PIC X(2) VALUE 'ab'. 05 B PIC 9(2). 05 FILLER PIC X VALUE '/'.
       05 C PIC S9(3) COMP-3 VALUE -1. 05 D PIC X(2) VALUE ALL '*'. 05 E PIC X VALUE LOW-VALUES.
       05 F PIC X(2) VALUE SPACES. 05 G PIC X OCCURS 2."""
    data = b"ab00/\x00\x1d**\x00    "
    assert data == write_record(plan(source, WORKSTATION), {}, 0x20)
    shown = {"A": "ab", "B": 0, "FILLER": "/", "C": -1, "D": "**", "E": "\0", "F": "", "G": ["", ""]}
    assert shown == read_record(plan(source, WORKSTATION, fillers=True).read, data)[0]


def test_cut_off_behind_shared_storage() -> None:
    """What follows items that share their storage stands behind the longest, also where that is cut off."""
    made = plan("01 R. 05 A PIC X(2). 05 B REDEFINES A PIC X(4). 05 C PIC X.", WORKSTATION)
    assert ({"A": "ab", "B": "abcd", "C": "e"}, 5) == read_record(made.read, b"abcde")
    with pytest.raises(BrokerError, match=r"R\.C \(X\) at offset 4: X'' is cut off: it takes 1 bytes and 0 are left"):
        read_record(made.read, b"abc")


INITIAL = [
    ("PIC X(3) VALUE X'C1C2'", "c1c240"),
    ("PIC X VALUE X'C1C2'", "40"),
    ("PIC X(4) JUST VALUE 'ab'", text("ab  ")),
    ("PIC N(2) VALUE N'a'", "00610020"),
    ("PIC N(2) VALUE NX'00E9'", "00e90020"),
    ("PIC G(2) DISPLAY-1 VALUE G'ab'", "00610062"),
    ("PIC X(4) VALUE Z'ab'", "81820040"),
    ("PIC 9(4) COMP VALUE H'00FF'", "00ff"),
    ("PIC 9(4) COMP VALUE B'101'", "0005"),
]


@pytest.mark.parametrize(("clause", "data"), INITIAL)
def test_values_with_prefixes(clause: str, data: str) -> None:
    """A VALUE of hexadecimal digits, national characters or another base is what it stands for, from the left."""
    assert data == write_record(plan(f"01 R. 05 F {clause}."), {}, 0x40).hex()


@pytest.mark.parametrize("power", range(-12, 13))
def test_powers_of_sixteen(power: int) -> None:
    """The number that a record holds is the one that it is written with, where digits begin anew and unnormalized."""
    made = plan("01 R. 05 F COMP-2.")
    for zeros in range(14):
        data = bytes([0x41 + power]) + (1 << (4 * zeros)).to_bytes(7, "big")
        value, _ = read_record(made.read, data)
        text = {name: Decimal(repr(number)) if isinstance(number, float) else number for name, number in value.items()}
        written = write_record(made, text, 0x40)
        assert repr(value) == repr(read_record(made.read, written)[0])


def test_slack_bytes() -> None:
    """Bytes for alignment are skipped and written blank, inside occurrences and behind them."""
    made = plan("01 R. 05 A PIC X. 05 T OCCURS 2. 10 B PIC S9(4) COMP SYNC. 10 C PIC X.")
    value = {"A": "a", "T": [{"B": 1, "C": "b"}, {"B": 2, "C": "c"}]}
    assert (value, 10) == read_record(made.read, bytes.fromhex("8140" + "00018240" + "00028340"))
    assert "8140" + "00018240" + "00028340" == write_record(made, value, 0x40).hex()


def test_trimming() -> None:
    """Texts lose the blanks that padding has put there, or none."""
    for trim, expected in (("right", " a"), ("left", "a "), ("both", "a"), ("none", " a ")):
        coding = Coding(819, 546, "ascii", "little", trim=trim)  # type: ignore[arg-type]  # a literal, one by one
        assert {"F": expected} == read_record(plan("01 R. 05 F PIC X(3).", coding).read, b" a ")[0]


def test_blank_numbers() -> None:
    """A number of blanks is an error, or null where that is asked; null is written as blanks."""
    made = plan("01 R. 05 F PIC S9(3).", Coding(819, 546, "ascii", "little", blank_is_null=True))
    assert ({"F": None}, 3) == read_record(made.read, b"   ")
    assert b"   " == write_record(made, {"F": None}, 0x20)
    with pytest.raises(BrokerError):
        read_record(plan("01 R. 05 F PIC S9(3).", WORKSTATION).read, b"   ")


def test_names_that_are_alike() -> None:
    """Names that a group has twice are told apart by numbers."""
    made = plan("01 R. 05 A PIC X. 05 A PIC X. 05 FILLER. 10 B PIC X. 05 FILLER. 10 C PIC X.", WORKSTATION)
    value = {"A": "1", "A_2": "2", "FILLER": {"B": "3"}, "FILLER_2": {"C": "4"}}
    assert (value, 4) == read_record(made.read, b"1234")
    assert b"1234" == write_record(made, value, 0x20)

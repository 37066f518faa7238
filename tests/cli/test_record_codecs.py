"""Every codec and edge of records: by its copybook and by the message set imported from it, decoded and encoded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import penstock


@dataclass(frozen=True, slots=True)
class Way:
    """How records are coded: what decode and encode are told, and what the import of a message set is told."""

    options: tuple[str, ...]
    imported: tuple[str, ...] = ()


MAINFRAME = Way(("--ccsid", "37"))
IEEE = Way(("--ccsid", "37", "--encoding", "273"))
REVERSED = Way(("--ccsid", "37", "--encoding", "546"))
ASCII = Way(("--ccsid", "819", "--encoding", "273"))
SMALL = Way(("--ccsid", "819"), ("--native-order", "little"))
MIXED = Way(("--ccsid", "819", "--encoding", "273", "--native-order", "little"), ("--native-order", "little"))
CUSTOM = Way(("--ccsid", "819", "--sign", "ebcdic-custom"), ("--sign", "ebcdic-custom"))
UTF_8 = Way(("--ccsid", "1208", "--encoding", "273"))

KINDS = "copybook", "message set"
Row = tuple[Way, str, str, Any]

# How records are coded, a field's clauses, its bytes in hexadecimal or as text, and its value in JSON.
VALUES: list[Row] = [
    (MAINFRAME, "PIC X(5)", "c182404040", "Ab"),
    (MAINFRAME, "PIC X(5) JUST", "404040c182", "Ab"),
    (MAINFRAME, "PIC X(3)", "000000", "\0\0\0"),
    (MAINFRAME, "PIC A(2)", "4040", ""),
    (MAINFRAME, "PIC ZZ9.99-", "4040f14bf5f060", "  1.50-"),
    (MAINFRAME, "PIC 9(3)", "f0f1f2", 12),
    (MAINFRAME, "PIC 9(18)", "f9" * 18, 999999999999999999),
    (MAINFRAME, "PIC 9(31)", "f9" * 31, int("9" * 31)),
    (MAINFRAME, "PIC S9(3)", "f1f2c3", 123),
    (MAINFRAME, "PIC S9(3)", "f1f2d3", -123),
    (MAINFRAME, "PIC S9", "d1", -1),
    (MAINFRAME, "PIC S9(3) SIGN LEADING", "d1f2f3", -123),
    (MAINFRAME, "PIC S9(3) SIGN LEADING SEPARATE", "60f1f2f3", -123),
    (MAINFRAME, "PIC S9(3) SIGN TRAILING SEPARATE", "f1f2f34e", 123),
    (MAINFRAME, "PIC 9V99", "f1f2f3", Decimal("1.23")),
    (MAINFRAME, "PIC S9V99", "f0f0c0", Decimal("0.00")),
    (MAINFRAME, "PIC 9(2)PP", "f1f2", 1200),
    (MAINFRAME, "PIC PP99", "f1f2", Decimal("0.0012")),
    (MAINFRAME, "PIC N(2)", "00410020", "A"),
    (MAINFRAME, "PIC G(2) DISPLAY-1", "00410020", "A"),
    (MAINFRAME, "PIC S9(3) NATIONAL SIGN LEADING SEPARATE", "002d003000300037", -7),
    (MAINFRAME, "PIC S9(3) NATIONAL SIGN TRAILING SEPARATE", "0031003200330020".replace("0020", "002b"), 123),
    (MAINFRAME, "PIC 9(3) NATIONAL", "003000300037", 7),
    (MAINFRAME, "PIC U(2)", "c3a9" + "20" * 6, "é"),
    (MAINFRAME, "PIC S9(4) COMP", "8000", -32768),
    (MAINFRAME, "PIC 9(4) COMP", "ffff", 65535),
    (MAINFRAME, "PIC S9(9) COMP", "7fffffff", 2147483647),
    (MAINFRAME, "PIC S9(18) COMP", "8000000000000000", -(2**63)),
    (MAINFRAME, "PIC 9(18) COMP", "ff" * 8, 2**64 - 1),
    (MAINFRAME, "PIC S9(20) COMP", "ff" * 16, -1),
    (MAINFRAME, "PIC S9(3)V9 COMP", "fff6", Decimal("-1.0")),
    (MAINFRAME, "PIC S9(3)V9 COMP-5", "fff6", Decimal("-1.0")),
    (MAINFRAME, "PIC 9(3)PP COMP", "007b", 12300),
    (MAINFRAME, "PIC 9(4) COMP-X", "0001", 1),
    (MAINFRAME, "PIC X(3) COMP-X", "010000", 65536),
    (MAINFRAME, "PIC S9(5) COMP-3", "12345c", 12345),
    (MAINFRAME, "PIC S9(5) COMP-3", "12345d", -12345),
    (MAINFRAME, "PIC S9(4) COMP-3", "01234d", -1234),
    (MAINFRAME, "PIC 9(5) COMP-3", "12345f", 12345),
    (MAINFRAME, "PIC S9(31) COMP-3", "9" * 31 + "d", -int("9" * 31)),
    (MAINFRAME, "PIC S9(3)V99 COMP-3", "12345d", Decimal("-123.45")),
    (MAINFRAME, "PIC S9(3)PP COMP-3", "123c", 12300),
    (MAINFRAME, "PIC SPP9(3) COMP-3", "123d", Decimal("-0.00123")),
    (MAINFRAME, "COMP-1", "c276a000", -118.625),
    (MAINFRAME, "COMP-1", "00000000", 0.0),
    (MAINFRAME, "COMP-1", "00000001", 2.0**-280),
    (MAINFRAME, "COMP-2", "0000000000000003", 3 * 2.0**-312),
    (MAINFRAME, "COMP-2", "4110000000000000", 1.0),
    (MAINFRAME, "COMP-2", "401999999999999a", 0.1),
    (MAINFRAME, "COMP-2", "7fffffffffffffff", Decimal("7.23700557733226211E+75")),
    (MAINFRAME, "COMP-2", "4110000000000001", 1.0000000000000002),
    (MAINFRAME, "POINTER", "0000abcd", "0000ABCD"),
    (MAINFRAME, "INDEX", "00000003", 3),
    (MAINFRAME, "BINARY-CHAR", "ff", -1),
    (MAINFRAME, "BINARY-CHAR UNSIGNED", "ff", 255),
    (MAINFRAME, "BINARY-SHORT", "8000", -32768),
    (MAINFRAME, "BINARY-LONG UNSIGNED", "ffffffff", 4294967295),
    (MAINFRAME, "BINARY-DOUBLE", "ff" * 7 + "fb", -5),
    (IEEE, "COMP-1", "bfc00000", -1.5),
    (IEEE, "COMP-2", "3ff8000000000000", 1.5),
    (IEEE, "COMP-2", "7ff8000000000000", "NaN"),
    (IEEE, "COMP-2", "fff0000000000000", "-Infinity"),
    (REVERSED, "PIC S9(5) COMP-3", "5d3412", -12345),
    (REVERSED, "PIC S9(4) COMP", "feff", -2),
    (REVERSED, "PIC 9(4) COMP-X", "0001", 1),
    (REVERSED, "PIC N(2)", "41002000", "A"),
    (REVERSED, "COMP-2", "000000000000f83f", 1.5),
    (REVERSED, "PIC S9(3)", "f1f2d3", -123),
    (ASCII, "PIC X(4)", "41622020", "Ab"),
    (ASCII, "PIC X(2) JUST", "2041", "A"),
    (ASCII, "PIC 9(3)", "303132", 12),
    (ASCII, "PIC S9(3)", "313233", 123),
    (ASCII, "PIC S9(3)", "313273", -123),
    (ASCII, "PIC S9(3) SIGN LEADING", "713233", -123),
    (ASCII, "PIC S9(3) SIGN LEADING SEPARATE", "2d313233", -123),
    (ASCII, "PIC S9(3) SIGN TRAILING SEPARATE", "3132332b", 123),
    (ASCII, "PIC S9(5) COMP-3", "12345d", -12345),
    (SMALL, "PIC S9(9) COMP", "01000000", 1),
    (SMALL, "PIC S9(9) COMP-5", "feffffff", -2),
    (SMALL, "PIC 9(4) COMP-X", "0001", 1),
    (SMALL, "COMP-1", "0000c03f", 1.5),
    (SMALL, "PIC S9(5) COMP-3", "12345d", -12345),
    (SMALL, "INDEX", "03000000", 3),
    (MIXED, "PIC S9(9) COMP", "00000001", 1),
    (MIXED, "PIC S9(9) COMP-5", "01000000", 1),
    (MIXED, "BINARY-LONG", "feffffff", -2),
    (CUSTOM, "PIC S9(3)", "313243", 123),
    (CUSTOM, "PIC S9(3)", "31324c", -123),
    (CUSTOM, "PIC S9(3)", "31327b", 120),
    (CUSTOM, "PIC S9(3)", "31327d", -120),
    (CUSTOM, "PIC S9(3) SIGN LEADING", "4a3233", -123),
    (CUSTOM, "PIC S9(3) SIGN LEADING SEPARATE", "2d313233", -123),
    (CUSTOM, "PIC S9(3) NATIONAL SIGN LEADING SEPARATE", "2d00300030003700", -7),
    (UTF_8, "PIC X(4)", "c3a92020", "é"),
    (UTF_8, "PIC S9(3)V9", "31323374", Decimal("-123.4")),
]

# Bytes that compilers, machines and programs of other kinds leave: read as the value, written otherwise.
READ: list[Row] = [
    (MAINFRAME, "PIC S9(3)", "f1f2f3", 123),
    (MAINFRAME, "PIC S9(3)", "f1f2a3", 123),
    (MAINFRAME, "PIC S9(3)", "f1f2e3", 123),
    (MAINFRAME, "PIC S9(3)", "f1f2b3", -123),
    (MAINFRAME, "PIC S9V99", "f0f0d0", Decimal("0.00")),
    (MAINFRAME, "PIC S9(3)", "f0f0d0", 0),
    (MAINFRAME, "PIC 9(3)", "f1f2c3", 123),
    (MAINFRAME, "PIC S9(3) SIGN LEADING SEPARATE", "60f0f0f0", 0),
    (MAINFRAME, "PIC S9(3) COMP-3", "123f", 123),
    (MAINFRAME, "PIC S9(3) COMP-3", "123a", 123),
    (MAINFRAME, "PIC S9(3) COMP-3", "123e", 123),
    (MAINFRAME, "PIC S9(3) COMP-3", "123b", -123),
    (MAINFRAME, "PIC S9(3) COMP-3", "000d", 0),
    (MAINFRAME, "PIC S9V99 COMP-3", "000d", Decimal("0.00")),
    (MAINFRAME, "PIC 9(3) COMP-3", "123c", 123),
    (MAINFRAME, "PIC 9(3) COMP-3", "000d", 0),
    (MAINFRAME, "PIC S9(4) COMP-3", "91234c", 91234),
    (MAINFRAME, "COMP-1", "80000000", Decimal("-0.0")),
    (MAINFRAME, "COMP-1", "43000400", 0.25),
    (ASCII, "PIC S9(3)", "31324c", -123),
    (ASCII, "PIC S9(3)", "313243", 123),
    (ASCII, "PIC S9(3)", "31327b", 120),
    (ASCII, "PIC S9(3) SIGN LEADING", "4a3233", -123),
    (CUSTOM, "PIC S9(3)", "313273", -123),
    (CUSTOM, "PIC S9(3)", "313233", 123),
]

# Bytes that no field of these clauses has, and what is said of them.
WRONG = [
    (MAINFRAME, "PIC 9(3)", "f140f3", "X'f140f3' has X'40' where a digit should be"),
    (MAINFRAME, "PIC 9(3)", "f1f2d3", "X'f1f2d3' has X'd3' where a digit should be"),
    (MAINFRAME, "PIC S9(3)", "f1f243", "X'f1f243' has X'43' where a digit with a sign should be"),
    (MAINFRAME, "PIC S9(3)", "c1f2f3", "X'c1f2f3' has X'c1' where a digit should be"),
    (MAINFRAME, "PIC S9(3)", "000000", "X'000000' has X'00' where a digit with a sign should be"),
    (MAINFRAME, "PIC S9 SIGN LEADING SEPARATE", "40f1", "X'40f1' has X'40' where + or - should be"),
    (MAINFRAME, "PIC S9 SIGN TRAILING SEPARATE", "404e", "X'404e' has X'40' where a digit should be"),
    (MAINFRAME, "PIC S9(3) COMP-3", "1a3c", "X'1a3c' is no packed decimal: it has a letter among its digits"),
    (MAINFRAME, "PIC S9(3) COMP-3", "1234", "X'1234' is no packed decimal: its sign is 4"),
    (MAINFRAME, "PIC 9(3) COMP-3", "123d", "X'123d' is a negative packed decimal, and the field has no sign"),
    (ASCII, "PIC S9(3)", "f1f2f3", "X'f1f2f3' has X'f3' where a digit with a sign should be"),
    (ASCII, "PIC 9(3)", "31324c", "X'31324c' has X'4c' where a digit should be"),
]

# Values that no field of these clauses holds, and what is said of them.
UNFIT: list[tuple[Way, str, Any, str]] = [
    (MAINFRAME, "PIC X(3)", "abcd", "has room for 3 bytes"),
    (MAINFRAME, "PIC X(3)", True, "takes text, not True"),
    (MAINFRAME, "PIC 9(3)", 1000, "has room for 3 digits, not 1000"),
    (MAINFRAME, "PIC 9(3)", -1, "takes a number that is not negative, not -1"),
    (MAINFRAME, "PIC 9(3)", "x", "takes a number, not 'x'"),
    (MAINFRAME, "PIC 9(3)", True, "takes a number, not True"),
    (MAINFRAME, "PIC 9(3)", 1.5, "takes at most 0 digits behind the decimal point, not 1.5"),
    (MAINFRAME, "PIC 9V9", 1.25, "takes at most 1 digits behind the decimal point, not 1.25"),
    (MAINFRAME, "PIC 9PP", 1230, "takes whole 100s, not 1230"),
    (MAINFRAME, "PIC 9(4) COMP", 65536, "takes 0 to 65535, not 65536"),
    (MAINFRAME, "PIC S9(4) COMP", -32769, "takes -32768 to 32767, not -32769"),
    (MAINFRAME, "PIC S9(3) COMP-3", 1000, "has room for 3 digits, not 1000"),
    (MAINFRAME, "PIC 9(3) COMP-3", -1, "takes a number that is not negative, not -1"),
    (MAINFRAME, "COMP-1", 1e76, "takes a number below 16**63"),
    (IEEE, "COMP-1", 1e39, "takes a float of 4 bytes, not"),
]


class Records:
    """A field as the only one of a record: its copybook, the message set imported from it, and how both are used."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], way: Way, clauses: list[str]) -> None:
        lines = "\n".join(f"       05 F{number} {one}." for number, one in enumerate(clauses))
        self.folder, self.capsys = folder, capsys
        (folder / "r.cpy").write_text(f"       01 R.\n{lines}\n")
        done = penstock(capsys, "messageset", "import", str(folder / "r.cpy"), "--out", self.set, *way.imported)
        assert (0, "") == (done.code, done.err)
        self.options = {
            "copybook": ("--copybook", str(folder / "r.cpy"), *way.options),
            "message set": ("--messageset", self.set, *way.options),
        }

    @property
    def set(self) -> str:
        return str(self.folder / "r.yaml")

    def decoded(self, kind: str, data: bytes) -> Any:
        """The values of the fields, or what is said of the record."""
        (self.folder / "in").write_bytes(data)
        done = penstock(self.capsys, "decode", str(self.folder / "in"), *self.options[kind])
        return list(json.loads(done.out, parse_float=Decimal).values()) if not done.code else done.err

    def encoded(self, kind: str, values: list[Any]) -> Any:
        """The bytes of the fields in hexadecimal, or what is said of the values."""
        found = {f"F{number}": value for number, value in enumerate(values)}
        (self.folder / "json").write_text(json.dumps(found, default=float))
        out = self.folder / "out"
        done = penstock(self.capsys, "encode", str(self.folder / "json"), "--output", str(out), *self.options[kind])
        return out.read_bytes().hex() if not done.code else done.err


def _alike(found: Any, wanted: Any) -> Any:
    """Returns a number of JSON as the float that it is to be compared with."""
    return float(found) if isinstance(wanted, float) and isinstance(found, Decimal) else found


def _ways(rows: list[Any]) -> list[Way]:
    return list(dict.fromkeys(row[0] for row in rows))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", _ways(VALUES + READ), ids=lambda way: " ".join(way.options))
def test_bytes_have_a_value(way: Way, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bytes of a field mean the same by its copybook and by the imported message set."""
    rows = [(clauses, data, value) for own, clauses, data, value in VALUES + READ if own == way]
    records = Records(tmp_path, capsys, way, [clauses for clauses, _, _ in rows])
    found = records.decoded(kind, bytes.fromhex("".join(data for _, data, _ in rows)))
    assert isinstance(found, list), found
    assert rows == [(*row[:2], _alike(value, row[2])) for row, value in zip(rows, found, strict=True)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", _ways(VALUES), ids=lambda way: " ".join(way.options))
def test_values_have_bytes(way: Way, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A value has the same bytes by the copybook and by the imported message set: those that it was read from."""
    rows = [(clauses, data, value) for own, clauses, data, value in VALUES if own == way]
    records = Records(tmp_path, capsys, way, [clauses for clauses, _, _ in rows])
    data = bytes.fromhex("".join(data for _, data, _ in rows))
    (tmp_path / "in").write_bytes(data)
    lines = penstock(capsys, "decode", str(tmp_path / "in"), *records.options[kind]).out
    (tmp_path / "json").write_text(lines)
    out = tmp_path / "out"
    done = penstock(capsys, "encode", str(tmp_path / "json"), "--output", str(out), *records.options[kind])
    assert (0, data.hex()) == (done.code, out.read_bytes().hex() if out.exists() else done.err)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", WRONG, ids=lambda row: f"{row[1]}-{row[2]}")
def test_bytes_without_a_value(
    row: tuple[Way, str, str, str], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bytes that are no value of the field are refused with the same words both ways."""
    way, clauses, data, problem = row
    found = Records(tmp_path, capsys, way, [clauses]).decoded(kind, bytes.fromhex(data))
    assert isinstance(found, str), found
    assert f"at offset 0: {problem}\n" == found[found.index("at offset 0: X") :]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", UNFIT, ids=lambda row: f"{row[1]}-{row[2]}")
def test_values_without_bytes(
    row: tuple[Way, str, Any, str], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Values that the field does not hold are refused with the same words both ways, and nothing is cut off."""
    way, clauses, value, problem = row
    found = Records(tmp_path, capsys, way, [clauses]).encoded(kind, [value])
    assert problem in found

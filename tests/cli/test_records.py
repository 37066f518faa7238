"""penstock messageset, decode and encode, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.message_sets.yaml_reader import load_message_set
from tests.cli.command_line import penstock, process

BOOK = """       01  CUSTOMER.
           05  ID               PIC 9(3).
           05  NAME             PIC X(5).
           05  BALANCE          PIC S9(3)V99 COMP-3.
           05  KIND             PIC X.
           05  DETAIL           PIC X(3).
           05  NUMBERS REDEFINES DETAIL.
               10  DIGITS       PIC 9(3).
               88  NONE         VALUE ZERO.
"""
LINES = (
    '{"ID": 1, "NAME": "Ann", "BALANCE": -12.50, "KIND": "A", "DETAIL": "xyz", "NUMBERS": null}\n'
    '{"ID": 2, "NAME": "Bob", "BALANCE": 0.00, "KIND": "B", "DETAIL": "123", "NUMBERS": {"DIGITS": 123}}\n'
)
FORMS = (
    ("--ccsid", "37"),
    ("--ccsid", "819"),
    ("--ccsid", "500", "--record-format", "V"),
    ("--ccsid", "500", "--record-format", "VB", "--bdw-order", "little", "--rdw-order", "little"),
    ("--record-format", "D"),
    ("--record-length", "20", "--record-start", "2"),
    ("--ccsid", "1208", "--byte-order", "big", "--float-format", "ibm", "--sign", "ebcdic-custom"),
    ("--ccsid", "37", "--blank-is-null", "--native-order", "little"),
)


@pytest.fixture
def book(tmp_path: Path) -> str:
    (tmp_path / "c.cpy").write_text(BOOK)
    return str(tmp_path / "c.cpy")


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_round_trip(form: tuple[str, ...], book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What decode prints is what encode was given, however records stand in their file."""
    (tmp_path / "in.json").write_text(LINES)
    file = str(tmp_path / "records")
    assert 0 == penstock(capsys, "encode", str(tmp_path / "in.json"), "--copybook", book, *form, "--output", file).code
    assert (0, LINES, "") == penstock(capsys, "decode", file, "--copybook", book, *form)


def records(tmp_path: Path) -> str:
    """A file of three records, the second of which is wrong."""
    file = tmp_path / "records"
    file.write_bytes(b"001Ann  \x00\x01\x2cA123" + b"xx2Bob  \x00\x01\x2cB123" + b"003Cid  \x00\x01\x2cC123")
    return str(file)


SHORT = ("--ccsid", "819")
WRONG = "record 2 at offset 15: CUSTOMER.ID (9(3)) at offset 0: X'787832' has X'78' where a digit should be"


def test_stop(book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The records before a wrong one are printed, and the wrong one is named."""
    done = penstock(capsys, "decode", records(tmp_path), "--copybook", book, *SHORT)
    assert (1, [1]) == (done.code, [json.loads(line)["ID"] for line in done.out.splitlines()])
    assert f"penstock: BIP5421: {WRONG}\n" == done.err


def test_skip(book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong record is left out, and told."""
    done = penstock(capsys, "decode", records(tmp_path), "--copybook", book, *SHORT, "--on-error", "skip")
    assert (0, [1, 3]) == (done.code, [json.loads(line)["ID"] for line in done.out.splitlines()])
    assert f"penstock: BIP5421: {WRONG}\npenstock: 2 records done, 1 left out\n" == done.err


def test_quarantine(book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong record is put aside as it was."""
    aside = tmp_path / "aside"
    done = penstock(capsys, "decode", records(tmp_path), "--copybook", book, *SHORT, "--quarantine", str(aside))
    assert (0, b"xx2Bob  \x00\x01\x2cB123") == (done.code, aside.read_bytes())
    assert done.err.endswith(f"penstock: 2 records done, 1 put into {aside}\n")


def test_standard_streams(book: str) -> None:
    """Records come from standard input and JSON goes to standard output, as pipes have it."""
    encoder = process("encode", "-", "--copybook", book)
    data, _ = encoder.communicate(LINES.encode(), timeout=60)
    decoder = process("decode", "-", "--copybook", book)
    out, _ = decoder.communicate(data, timeout=60)
    assert (0, 0, LINES) == (encoder.returncode, decoder.returncode, out.decode())


SEGMENTS = """       01  HEAD.
           05  KIND             PIC X.
           05  MADE             PIC 9(4).
       01  LINE.
           05  KIND             PIC X.
           05  ITEM             PIC X(2).
"""


def test_segments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A field tells which record of the copybook each record of the file is."""
    (tmp_path / "s.cpy").write_text(SEGMENTS)
    (tmp_path / "data").write_bytes(b"H2026\nLab\nLcd\nX\n")
    rules = ("--segment", "KIND=H:HEAD", "--segment", "KIND=L,M:LINE")
    form = ("--copybook", str(tmp_path / "s.cpy"), "--record-format", "D", *rules)
    done = penstock(capsys, "decode", str(tmp_path / "data"), *form)
    lines = ['{"KIND": "H", "MADE": 2026}', '{"KIND": "L", "ITEM": "ab"}', '{"KIND": "L", "ITEM": "cd"}']
    assert lines == done.out.splitlines()
    assert "record 4 at offset 14: is none of the segments KIND=H, KIND=L,M: it begins with X'58'" in done.err
    (tmp_path / "in.json").write_text(done.out)
    out = str(tmp_path / "out")
    assert 0 == penstock(capsys, "encode", str(tmp_path / "in.json"), *form, "--output", out).code
    assert b"H2026\nLab\nLcd\n" == Path(out).read_bytes()


def test_segments_of_shared_storage(book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A field tells which of what shares storage is there; the others are null."""
    (tmp_path / "data").write_bytes(b"001Ann  \x00\x01\x2cA123")
    rules = ("--segment", "KIND=A:NUMBERS", "--segment", "KIND=B:DETAIL")
    done = penstock(capsys, "decode", str(tmp_path / "data"), "--copybook", book, *SHORT, *rules)
    assert (None, {"DIGITS": 123}) == tuple(json.loads(done.out)[name] for name in ("DETAIL", "NUMBERS"))


@pytest.mark.parametrize(
    ("form", "tail", "length"),
    [("V", "", 4), ("V", " 05 Z PIC X.", 7), ("F", "", 6), ("VB", "", 4)],
    ids=["V", "V, with more behind", "F", "VB"],
)
def test_length_of_segments(
    form: str, tail: str, length: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A record of variable length ends with its segment, unless the record goes on behind it."""
    text = f"01 R. 05 KIND PIC X. 05 LONG PIC X(5). 05 SHORT REDEFINES LONG. 10 DIGITS PIC 9(3).{tail}"
    (tmp_path / "c.cpy").write_text(text)
    (tmp_path / "in.json").write_text('{"KIND": "S", "LONG": null, "SHORT": {"DIGITS": 123}}\n')
    rules = ("--segment", "KIND=L:LONG", "--segment", "KIND=S:SHORT")
    described = ("--copybook", str(tmp_path / "c.cpy"), "--record-format", form, *rules)
    out = tmp_path / "out"
    assert 0 == penstock(capsys, "encode", str(tmp_path / "in.json"), *described, "--output", str(out)).code
    made = out.read_bytes()
    assert b"S123".ljust(length) == made[len(made) - length :]
    assert {"F": 0, "V": 4, "VB": 8}[form] == len(made) - length
    done = penstock(capsys, "decode", str(out), *described)
    assert {"DIGITS": 123} == json.loads(done.out)["SHORT"]


def test_length_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A field says how long a record is."""
    (tmp_path / "l.cpy").write_text("01 R. 05 LEN PIC 9(2). 05 N PIC 9. 05 T PIC X OCCURS 0 TO 9 DEPENDING ON N.")
    (tmp_path / "data").write_bytes(b"052ab030041c")
    form = ("--copybook", str(tmp_path / "l.cpy"), "--record-format", "L", "--length-field", "LEN")
    done = penstock(capsys, "decode", str(tmp_path / "data"), *form)
    assert [["a", "b"], [], ["c"]] == [json.loads(line)["T"] for line in done.out.splitlines()]


def test_length_field_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A record whose field does not say how long it is would lose what comes behind it, and is refused."""
    text = "01 R. 05 LEN PIC 9(2). 05 K PIC X. 05 A PIC X(5). 05 B REDEFINES A PIC X(2)."
    (tmp_path / "l.cpy").write_text(text)
    (tmp_path / "data").write_bytes(b"08Aabcde05Bxy")
    rules = ("--length-field", "LEN", "--segment", "K=A:A", "--segment", "K=B:B")
    form = ("--copybook", str(tmp_path / "l.cpy"), "--record-format", "L", *rules)
    done = penstock(capsys, "decode", str(tmp_path / "data"), *form)
    source, out = tmp_path / "in.json", tmp_path / "out"
    source.write_text(done.out + done.out.replace("5", "6"))
    made = penstock(capsys, "encode", str(source), *form, "--output", str(out))
    assert "record 4: R takes 5 bytes, and its length field says 6" in made.err
    assert not out.exists()


def test_show(book: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The layout is a table for people, and data for programs."""
    shown = penstock(capsys, "messageset", "show", book).out.splitlines()
    assert ["name", "level", "type", "offset", "length", "occurs"] == shown[0].split()
    assert ["BALANCE", "05", "S9(3)V99", "PACKED-DECIMAL", "8", "3"] == shown[4].split()
    data = json.loads(penstock(capsys, "messageset", "show", book, "--json").out)
    assert ("CUSTOMER", 15, 8) == (data[0]["record"], data[0]["length"], len(data[0]["fields"]))
    assert {"NONE": ["ZERO"]} == data[0]["fields"][-1]["conditions"]


def test_import(book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Copybooks become a message set that can be read: what shares storage is a choice."""
    out = tmp_path / "set.yaml"
    done = penstock(capsys, "messageset", "import", book, "--out", str(out), "--name", "CRM")
    assert (0, f"{out}: 1 message\n") == (done.code, done.out)
    made = load_message_set(str(out))
    members = made.messages["CUSTOMER"].type.members  # type: ignore[union-attr]  # an inline group
    assert ("CRM", 5, "choice") == (made.name, len(members), members[-1].composition)


def test_imported_layout(book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A set that was imported has its fields where the copybook has them."""
    out = str(tmp_path / "set.yaml")
    penstock(capsys, "messageset", "import", book, "--out", out)
    copied = json.loads(penstock(capsys, "messageset", "show", book, "--json").out)[0]
    made = json.loads(penstock(capsys, "messageset", "show", out, "--json").out)[0]
    places = [(row["name"], row["offset"], row["length"]) for row in copied["fields"]]
    assert places == [("CUSTOMER", 0, made["length"]), *((r["name"], r["offset"], r["length"]) for r in made["fields"])]
    shown = penstock(capsys, "messageset", "show", out).out.splitlines()
    assert ["BALANCE", "02", "decimal", "packedDecimal", "8", "3"] == shown[4].split()


REFUSED = {
    ("--type", "NONE"): "describes no record called NONE",
    ("--record-format", "X"): "--record-format X is not known: it is one of F, V, VB, D, L",
    ("--record-format", "L"): "records with a length field need its name, or its OFFSET:SIZE",
    ("--segment", "what"): "the segment 'what' is not of the form FIELD=VALUE:NAME",
    ("--segment", "KIND=A:NONE"): "names NONE, which is neither a record nor an item that shares its storage",
    ("--segment", "KINDS=A:DETAIL"): "CUSTOMER has no field called KINDS; did you mean KIND?",
    ("--ccsid", "4711"): "CCSID 4711 is not one that can be converted",
    ("--on-error", "quarantine"): "--on-error quarantine and --quarantine FILE go together",
    ("--lp", "16"): "--lp 16 is not known: it is one of 32, 64",
    ("--record-length", "0"): "--record-length 0 is no length of records",
}


@pytest.mark.parametrize("options", REFUSED, ids=" ".join)
def test_refused(options: tuple[str, ...], book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that makes no sense is refused before anything is read."""
    done = penstock(capsys, "decode", records(tmp_path), "--copybook", book, *options)
    assert (1, "") == (done.code, done.out)
    assert REFUSED[options].replace("describes no", "has no") in done.err

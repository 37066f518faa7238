"""penstock decode and encode with a message set, in each of its wire formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import penstock

SET = """messageSet: SALES
formats:
  Text: {kind: TDS}
  Doc: {kind: XML}
messages:
  Sale:
    groupPhysical: {Text: {dataElementSeparation: allElementsDelimited, delimiter: ";"}}
    members:
    - {field: id, type: int}
    - {field: price, type: decimal}
    - {field: day, type: date, physical: {Text: {dateTimeFormat: yyyy-MM-dd}}}
    - field: buyer
      groupPhysical: {Text: {dataElementSeparation: allElementsDelimited, delimiter: "/"}}
      members:
      - {field: name, type: string}
      - {field: town, type: string}
"""
LINES = [
    {"id": 1, "price": 12.5, "day": "2026-11-18", "buyer": {"name": "Ann", "town": "Bonn"}},
    {"id": 2, "price": -3, "day": "2026-11-19", "buyer": {"name": "Bob", "town": "Köln"}},
]


@pytest.fixture
def sales(tmp_path: Path) -> str:
    (tmp_path / "set.yaml").write_text(SET)
    (tmp_path / "in.json").write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    return str(tmp_path / "set.yaml")


@pytest.mark.parametrize("wire", ["Text", "TDS", "Doc", "XML"])
@pytest.mark.parametrize("form", ["D", "V", "VB"])
def test_round_trip(wire: str, form: str, sales: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is decoded is what was encoded, whatever the wire format."""
    options = ("--messageset", sales, "--format", wire, "--record-format", form)
    file = str(tmp_path / "records")
    assert (0, "", "") == penstock(capsys, "encode", str(tmp_path / "in.json"), *options, "--output", file)
    done = penstock(capsys, "decode", file, *options)
    assert (0, LINES, "") == (done.code, [json.loads(line) for line in done.out.splitlines()], done.err)


def test_text(sales: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A message is written as its format says; a file without lengths is one message."""
    (tmp_path / "in.json").write_text(json.dumps(LINES[0]))
    file = tmp_path / "record"
    options = ("--messageset", sales, "--format", "TDS")
    penstock(capsys, "encode", str(tmp_path / "in.json"), *options, "--output", str(file))
    assert b"1;12.5;2026-11-18;Ann/Bonn" == file.read_bytes()
    assert LINES[0] == json.loads(penstock(capsys, "decode", str(file), *options).out)


REFUSED = {
    (): "choose a format of SALES with --format: Text (TDS), Doc (XML)",
    ("--format", "TDS", "--type", "Sail"): "SALES has no message called Sail; did you mean Sale?",
    ("--format", "TDS", "--fillers"): "segments, length fields and fillers are those of a copybook: name one",
    ("--format", "TDS", "--copybook", "c.cpy"): "name what describes the records: --copybook FILE or --messageset FILE",
}


@pytest.mark.parametrize("options", REFUSED, ids=" ".join)
def test_refused(options: tuple[str, ...], sales: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that makes no sense is refused before anything is read."""
    done = penstock(capsys, "decode", "none", "--messageset", sales, *options)
    assert (1, f"penstock: BIP2066: {REFUSED[options]}\n") == (done.code, done.err)


def test_wrong_fields(sales: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A field that the message does not have, or that is no group, is refused with its place."""
    (tmp_path / "in.json").write_text('{"idd": 1}\n{"buyer": 1}\n')
    options = ("--messageset", sales, "--format", "TDS", "--on-error", "skip")
    done = penstock(capsys, "encode", str(tmp_path / "in.json"), *options)
    assert "record 1: Sale has no field called idd; did you mean id?" in done.err
    assert "record 2: Sale.buyer is a group: an object is to be written to it, not 1" in done.err

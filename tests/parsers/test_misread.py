"""Documents in another CCSID than their message says: the error names the CCSID, and what says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.errors import ParserException
from engine.message.assembly import Message
from engine.message.received import parse
from engine.parser import Template
from tests.cli.command_line import ROOT, penstock
from tests.parsers.folder_samples import mqrfh2
from tests.parsers.samples import LITTLE

XML, JSON = "<a>1</a>", '{"a":1}'
ASCII, EBCDIC = ", and looks like ASCII or UTF-8: 1208", ", and looks like EBCDIC: 37, 500, 1047 or another"

CASES = [
    ("XMLNSC", XML.encode(), 37, f"it was read in CCSID 37, which MQMD.CodedCharSetId says{ASCII}"),
    ("XMLNS", XML.encode(), 1200, f"it was read in CCSID 1200, which MQMD.CodedCharSetId says{ASCII}"),
    ("XML", XML.encode("cp500"), 1208, f"it was read in CCSID 1208, which MQMD.CodedCharSetId says{EBCDIC}"),
    ("XML", XML.encode("utf-16-be"), 500, "it was read in CCSID 500, .* says, and looks like UTF-16: 1200"),
    ("XML", b"\xef\xbb\xbf<a/>", 1047, f"it was read in CCSID 1047, .* says{ASCII}"),
    ("XML", b"text", 819, "it was read in CCSID 819, which MQMD.CodedCharSetId says"),
    ("XML", "<ä/>".encode("latin-1"), 1208, "give it the one it was written in"),
    ("XML", b"<a/>\x81", 1252, "CCSID 1252 is what MQMD.CodedCharSetId says"),
    ("XML", b"<a/>", 99999, "the CCSID is what MQMD.CodedCharSetId says"),
    ("XML", b"text", 1208, "near 'text'"),
    ("XML", b"<a></b>", 37, ASCII),
    ("XML", "<a></b>".encode("cp037"), 37, "near '.*'"),
    ("JSON", JSON.encode(), 37, f"it was read in CCSID 37, which MQMD.CodedCharSetId says{ASCII}"),
    ("JSON", JSON.encode("cp500"), 1208, f"it was read in CCSID 1208, which MQMD.CodedCharSetId says{EBCDIC}"),
    ("JSON", b"{", 1208, "enclosed in double quotes"),
]


@pytest.mark.parametrize(("domain", "data", "ccsid", "expected"), CASES)
def test_the_error_names_the_ccsid(domain: str, data: bytes, ccsid: int, expected: str) -> None:
    """Where bytes do not begin as a document or are no characters, the CCSID is named, what says it, and a likelier."""
    message = Message.received(Descriptor(coded_char_set_id=ccsid), data, template=Template(domain))
    with pytest.raises(ParserException, match=rf"{expected}$"):
        parse(message.root, whole=False)


def test_a_header_says_the_ccsid() -> None:
    """Behind a header it is the header's field that says the CCSID of the body."""
    data = mqrfh2(LITTLE, 1208, "<usr/>") + XML.encode("cp500")
    message = Message.received(Descriptor(format="MQHRF2"), data, template=Template("XMLNSC"))
    with pytest.raises(ParserException, match=rf"CCSID 1208, which MQRFH2.CodedCharSetId says{EBCDIC}$"):
        parse(message.root, whole=False)


def test_the_command_says_where_it_has_it_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a message was read in another CCSID because of --ccsid, the command says so."""
    flow = ROOT / "flows/samples/orders"
    given = ("run", str(flow / "orders.yaml"), "--input", str(flow / "messages"), "--output", str(tmp_path))
    lines = penstock(capsys, *given, "--ccsid", "37").err.splitlines()
    assert "it was read in CCSID 37, which MQMD.CodedCharSetId says" in lines[0]
    assert lines[-1] == "CCSID 37 is what --ccsid says"
    assert "--ccsid" not in penstock(capsys, *given).err

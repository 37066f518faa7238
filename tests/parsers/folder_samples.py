"""MQRFH2 headers built byte by byte for the tests, and trees of them as plain lists."""

from typing import Any

from engine.tree.element import Element
from tests.parsers.samples import BIG, CODECS, LITTLE, Writer, tree

FIXED = ("Version", "Format", "Encoding", "CodedCharSetId", "Flags", "NameValueCCSID")
UTF_16 = {BIG: "utf-16-be", LITTLE: "utf-16-le"}


def mqrfh2(encoding: int, ccsid: int, *data: str | bytes, names: int = 1208, following: str = "MQSTR") -> bytes:
    """A header with these pieces of name/value data, text filled up to a multiple of four bytes with blanks."""
    w, rest = Writer(encoding, ccsid), b""
    codec = "utf-8" if names in {0, 1208} else UTF_16[encoding] if names in {1200, 13488, 17584} else CODECS[names]
    for piece in data:
        content = piece
        if isinstance(content, str):
            content = content.encode(codec)
            while len(content) % 4:
                content += " ".encode(codec)
        rest += w.longs(len(content)) + content
    head = w.text("RFH ", 4) + w.longs(2, 36 + len(rest), 546, 1208) + w.text(following, 8)
    return head + w.longs(0, names) + rest


def rfh2(*data: str | bytes, **facts: Any) -> Element:
    return tree("MQRFH2", mqrfh2(LITTLE, 1208, *data, **facts), LITTLE, 1208)


def shown(element: Element) -> list[Any]:
    """The folders as nested lists of name, type, value and children."""
    return [[child.name, child.type, child.value, shown(child)] for child in element if child.name not in FIXED]


def value_at(element: Element, *names: str) -> Any:
    found = element.at(*names)
    assert found is not None
    return found.value

"""Message properties: flat mappings and the MQRFH2 that says them."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.descriptor import BIG_ENDIAN, LITTLE_ENDIAN, Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager
from engine.mq.properties import join, properties_of, split
from engine.mq.property_types import I1, I2, I8, R4
from engine.work import Selection
from tests.parsers.folder_samples import value_at
from tests.parsers.samples import tree

PLAIN = Descriptor(format="MQSTR", coded_char_set_id=819)


def header(*folders: str, flags: int = 0, ccsid: int = 1208, encoding: int = BIG_ENDIAN) -> bytes:
    """Returns an MQRFH2 as other programs write it."""
    order = "<" if encoding == LITTLE_ENDIAN else ">"
    codec = "utf-8" if ccsid == 1208 else "utf-16-le" if encoding == LITTLE_ENDIAN else "utf-16-be"
    pieces = b""
    for folder in folders:
        data = folder.encode(codec)
        data += " ".encode(codec) * (-len(data) % 4)
        pieces += struct.pack(f"{order}i", len(data)) + data
    fixed = struct.pack(f"{order}4s4i8s2i", b"RFH ", 2, 36 + len(pieces), 546, 819, b"MQSTR   ", flags, ccsid)
    return fixed + pieces


FLAT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("<usr><colour>red</colour></usr>", {"colour": "red"}),
    ("<usr><colour dt='string'> r </colour></usr>   ", {"colour": " r "}),
    ('<usr><a dt="i1">-1</a><b dt="i2">2</b></usr>', {"a": I1(-1), "b": I2(2)}),
    ("<usr><c dt='i4'>3</c><d dt='i8'>4</d><e dt='i8'>9999999999</e></usr>", {"c": 3, "d": I8(4), "e": 9999999999}),
    ("<usr><f dt='r8'>9.5</f><g dt='r4'>0.5</g></usr>", {"f": 9.5, "g": R4(0.5)}),
    ("<usr><h dt='boolean'>1</h><i dt='boolean'>0</i></usr>", {"h": True, "i": False}),
    ("<usr><j dt='bin.hex'>0AFC</j></usr>", {"j": b"\x0a\xfc"}),
    ("<usr><k xsi:nil='true'></k><l></l><m/></usr>", {"k": None, "l": "", "m": ""}),
    ("<usr><n>a &lt; b &amp; &#99;&#x64;</n></usr>", {"n": "a < b & cd"}),
    ("<mcd><Msd>jms_text</Msd></mcd><usr> <o>1</o>\n</usr>", {"mcd.Msd": "jms_text", "o": "1"}),
    ("<usr><p><q>1</q></p></usr>", {"usr.p.q": "1"}),
    ("<jms><Dst>queue:///Q</Dst><Tms>17</Tms></jms>", {"jms.Dst": "queue:///Q", "jms.Tms": 17}),
)
KEPT = (
    "<usr>text</usr>",
    "<usr><a>1</a b='2'></usr>",
    "</usr>",
    "<usr></usr>",
    "<usr><a>1</a><a>2</a></usr>",
    "<usr>text<a>1</a></usr>",
    "<usr><a colour='red'>1</a></usr>",
    "<mine content='properties'><a>1</a></mine>",
    "<usr><a dt='i4'>x</a></usr>",
    "<usr><a dt='i1'>128</a></usr>",
    "<usr><a dt='char'>x</a></usr>",
    "<usr><a>1</b></usr>",
    "<usr><a>1</a>",
    "<usr><!-- no --><a>1</a></usr>",
    "<usr><a.b>1</a.b></usr>",
    "<usr><a>&copy;</a></usr>",
    "usr",
    "",
)


@pytest.mark.parametrize(("folders", "expected"), FLAT)
def test_split(folders: str, expected: dict[str, Any]) -> None:
    """Folders with values are flat properties with their types; usr is not part of a name."""
    descriptor = Descriptor(format="MQHRF2", encoding=BIG_ENDIAN)
    found, plain, body = split(descriptor, header(folders) + b"body")
    assert (expected, [type(value) for value in expected.values()]) == (
        found,
        [type(value) for value in found.values()],
    )
    assert (b"body", "MQSTR", 546, 819) == (body, plain.format, plain.encoding, plain.coded_char_set_id)
    assert expected == properties_of(descriptor, header(folders))


@pytest.mark.parametrize("folders", KEPT)
def test_kept(folders: str) -> None:
    """A header that says more than flat properties stays in front of the body as it came."""
    descriptor, body = Descriptor(format="MQHRF2", encoding=BIG_ENDIAN), header(folders) + b"body"
    assert ({}, descriptor, body) == split(descriptor, body)
    properties_of(descriptor, body)


@pytest.mark.parametrize("body", [b"", b"RFH ", header("<usr><a>1</a></usr>")[:-1], b"X" + header("<usr/>")[1:]])
def test_no_header(body: bytes) -> None:
    """Bytes that are no MQRFH2 though the format says so are left alone."""
    descriptor = Descriptor(format="MQHRF2", encoding=BIG_ENDIAN)
    assert ({}, descriptor, body) == split(descriptor, body)
    assert {} == properties_of(descriptor, body)


@pytest.mark.parametrize("encoding", [BIG_ENDIAN, LITTLE_ENDIAN])
@pytest.mark.parametrize("ccsid", [1208, 1200])
def test_orders_of_bytes(encoding: int, ccsid: int) -> None:
    """Headers of both byte orders are read, with folders in UTF-8 or UTF-16."""
    body = header("<usr><a>ä</a></usr>", ccsid=ccsid, encoding=encoding)
    assert {"a": "ä"} == split(Descriptor(format="MQHRF2", encoding=encoding), body)[0]


def test_as_far_as_they_can_be_read() -> None:
    """Selectors see the properties of a header that stays, of a name that repeats the first."""
    descriptor = Descriptor(format="MQHRF2", encoding=BIG_ENDIAN)
    body = header("<psc><Topic>a</Topic><Topic>b</Topic></psc>", "<mine x='1'><c>1</c></mine>")
    assert {"psc.Topic": "a", "mine.c": "1"} == properties_of(descriptor, body)
    work = QueueManager("Q").work()
    work.put("Q", descriptor, body)
    work.commit()
    assert work.get("Q", Selection(selector="mine.c = '2' OR psc.Topic = 'b'")) is None
    assert (body,) == (work.get("Q", Selection(selector="mine.c = '1' AND psc.Topic = 'a'")) or ("", ""))[1:]


REFUSED = (
    ({"a b": 1}, 2442),
    ({"": 1}, 2442),
    ({"a.": 1}, 2442),
    ({"1a": 1}, 2442),
    ({"a.b": 1, "a.b.c": 2}, 2498),
    ({"a.b.c": 1, "a.b": 2}, 2498),
    ({"a": 1, "usr.a": 2}, 2442),
    ({"a": "\0"}, 2473),
    ({"a": 1 << 63}, 2473),
    ({"a": [1]}, 2473),
)


@pytest.mark.parametrize(("properties", "reason"), REFUSED)
def test_refused(properties: dict[str, Any], reason: int) -> None:
    """A name or a value that no header can hold is refused with MQ's reason."""
    with pytest.raises(MessageException) as caught:
        join(properties, Descriptor(), b"")
    assert reason == caught.value.reason


NAMES = st.sampled_from(["a", "b", "größe", "mcd.Msd", "shop.town", "usr.x.y", "x-1", "_z"])
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff") | st.just("\n"))
VALUES = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**31), 2**31 - 1).map(I8),
    st.integers(-128, 127).map(I1),
    st.integers(-(2**15), 2**15 - 1).map(I2),
    st.floats(allow_nan=False),
    st.floats(allow_nan=False, width=32).map(R4),
    st.binary(max_size=8),
    st.none(),
)


@given(st.dictionaries(NAMES, VALUES), st.sampled_from([BIG_ENDIAN, LITTLE_ENDIAN]), st.binary(max_size=9))
def test_there_and_back(properties: dict[str, Any], encoding: int, body: bytes) -> None:
    """What is joined is split into the same properties with the same types, descriptor and body."""
    descriptor = Descriptor(format="MQSTR", coded_char_set_id=500, encoding=encoding)
    found, plain, rest = split(*join(properties, descriptor, body))
    assert (properties, descriptor, body) == (found, plain, rest)
    assert {name: type(value) for name, value in properties.items()} == {n: type(v) for n, v in found.items()}


def test_flows_read_them() -> None:
    """The header that is made is one that flows read, each value with its type."""
    given: dict[str, Any] = {"n": 5, "t": True, "x": 0.5, "b": b"\x01", "s": "<&>", "none": None, "mcd.Msd": "xml"}
    found = tree("MQRFH2", join(given, PLAIN, b"")[1], PLAIN.encoding, 1208)
    assert given == {name: value_at(found, *(name.split(".") if "." in name else ("usr", name))) for name in given}

"""MQRMH: its fields, and the blocks of characters that they point to."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ParserException
from engine.parser import Follow, Header, Portion, parser_catalog
from tests.parsers.samples import BIG, FORMS, LITTLE, TOKEN, Writer, built, fields, tree, write

BLOCKS = ("SrcEnv", "SrcName", "DestEnv", "DestName")
VALUES = {
    "Version": 1,
    "Format": "MQSTR   ",
    "Encoding": 785,
    "CodedCharSetId": 1047,
    "Flags": 1,
    "ObjectType": "FLATFILE",
    "ObjectInstanceId": TOKEN[:24],
    "SrcEnv": "host=alpha",
    "SrcName": "/data/in",
    "DestEnv": "",
    "DestName": "/data/out",
    "DataLogicalLength": 1 << 30,
    "DataLogicalOffset": 5,
    "DataLogicalOffset2": 1,
}


def mqrmh(encoding: int, ccsid: int, order: tuple[str, ...] = BLOCKS, **changed: Any) -> bytes:
    """A reference message header whose blocks stand in this order."""
    w, v = Writer(encoding, ccsid), VALUES | changed
    at, places, blocks = 108, {}, b""
    for name in order:
        data = w.text(v[name], len(v[name]))
        places[name] = w.longs(len(data), at if data else 0)
        blocks += data
        at += len(data)
    blocks += w.text("", -len(blocks) % 4)
    return (
        w.text("RMH ", 4)
        + w.longs(v["Version"], 108 + len(blocks), v["Encoding"], v["CodedCharSetId"])
        + w.text(v["Format"], 8)
        + w.longs(v["Flags"])
        + w.text(v["ObjectType"], 8)
        + v["ObjectInstanceId"]
        + b"".join(places[name] for name in BLOCKS)
        + w.longs(v["DataLogicalLength"], v["DataLogicalOffset"], v["DataLogicalOffset2"])
        + blocks
    )


@pytest.mark.parametrize(("encoding", "ccsid"), FORMS)
def test_tree_and_bytes(encoding: int, ccsid: int) -> None:
    """A block stands in the tree for its length and offset, wherever it is; a built tree has the same bytes."""
    for order in (BLOCKS, BLOCKS[::-1]):
        found = tree("MQRMH", b"xy" + mqrmh(encoding, ccsid, order) + b"body", encoding, ccsid, start=2)
        assert list(fields(found).items()) == list(VALUES.items())
    assert write(built("MQRMH", VALUES), encoding, ccsid) == mqrmh(encoding, ccsid)


def test_measure() -> None:
    """The header's length has the blocks in it, and the bulk data follows."""
    data, owner = mqrmh(LITTLE, 819) + b"bulk", parser_catalog.find("MQRMH")
    assert isinstance(owner, Header)
    follow = Follow("MQSTR", 785, 1047)
    assert owner.measure(Portion(data, 0, len(data), Follow("", LITTLE, 819))) == (len(data) - 4, follow)


def test_a_changed_field_leaves_the_blocks_where_they_are() -> None:
    """Blocks in an unusual order stay so while none of them changes."""
    data = mqrmh(BIG, 500, BLOCKS[::-1])
    found = tree("MQRMH", data, BIG, 500)
    field = found.at("Flags")
    assert field is not None
    field.value = 2
    assert write(found, BIG, 500) == data[:28] + b"\0\0\0\2" + data[32:]


@pytest.mark.parametrize(("name", "value"), [("DestEnv", "host=beta"), ("SrcName", ""), ("SrcEnv", "x" * 300)])
def test_a_changed_block(name: str, value: str) -> None:
    """A changed block moves those behind it, and the header's length."""
    found = tree("MQRMH", mqrmh(BIG, 500), BIG, 500)
    field = found.at(name)
    assert field is not None
    field.value = value
    assert write(found, BIG, 500) == mqrmh(BIG, 500, **{name: value})


def test_a_block_that_is_taken_away() -> None:
    """A block that a tree no longer has is empty."""
    found = tree("MQRMH", mqrmh(BIG, 500), BIG, 500)
    field = found.at("SrcEnv")
    assert field is not None
    field.detach()
    assert write(found, BIG, 500) == mqrmh(BIG, 500, SrcEnv="")


@given(
    texts=st.lists(st.text("abc/=.XYZ 019", max_size=60), min_size=4, max_size=4),
    start=st.sampled_from(FORMS),
    end=st.sampled_from(FORMS),
)
def test_any_blocks_come_back(texts: list[str], start: tuple[int, int], end: tuple[int, int]) -> None:
    """Blocks are read as they were written, in any form."""
    blocks = dict(zip(BLOCKS, texts, strict=True))
    data = write(built("MQRMH", VALUES | blocks), *start)
    assert data == mqrmh(*start, **blocks)
    found = tree("MQRMH", data, *start)
    assert fields(found) == VALUES | blocks
    assert write(found, *end) == mqrmh(*end, **blocks)


@pytest.mark.parametrize(("length", "offset"), [(-1, 108), (10, -1), (10, 1 << 20), (1 << 30, 108), (2147483647, 1)])
def test_blocks_outside_the_header(length: int, offset: int) -> None:
    """A block that does not lie within the header is refused, when the chain is walked and when it is read."""
    data = mqrmh(BIG, 819)
    garbled = data[:64] + Writer(BIG, 819).longs(length, offset) + data[72:]
    owner = parser_catalog.find("MQRMH")
    assert isinstance(owner, Header)
    expected = f"MQRMH.SrcEnv at offset 64 says that it has {length} bytes from byte {offset} of a structure of"
    with pytest.raises(ParserException, match=expected):
        owner.measure(Portion(garbled, 0, len(garbled), Follow("", BIG, 819)))
    field = tree("MQRMH", garbled, BIG, 819).at("SrcEnv")
    assert field is not None
    with pytest.raises(ParserException, match=expected):
        _ = field.value

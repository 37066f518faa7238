"""East Asian EBCDIC: whole tables come back, bytes are read as they come, and records have such texts."""

from __future__ import annotations

from codecs import getincrementaldecoder

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.charsets import ccsid
from parsers.charsets.east_asian_ebcdic import DOUBLE, MIXED, NAMES
from tests.parsers.mrm.records import built, field, parser, read, write


@pytest.mark.parametrize("number", sorted(MIXED | DOUBLE))
def test_all_characters_come_back(number: int) -> None:
    """Every character that is read is written with the bytes it came from, or others that mean the same."""
    codec = ccsid.codec(number)
    shifts = (b"\x0e", b"\x0f") if number in MIXED else (b"", b"")
    found = 0
    for first in range(0x40, 0xFF):
        for second in range(0x40, 0xFF):
            data = bytes((first, second)).join(shifts)
            try:
                text = codec.decode(data)[0]
            except UnicodeDecodeError:
                continue
            found += 1
            assert codec.decode(codec.encode(text)[0])[0] == text
    assert found > 9000


TEXT = "ｱB日本1か゚語 "


@given(st.lists(st.integers(1, 3), min_size=1, max_size=30))
def test_bytes_as_they_come(sizes: list[int]) -> None:
    """However bytes are cut into pieces, the text is the same."""
    data = ccsid.encode(TEXT, 1390)
    decoder = getincrementaldecoder(NAMES[1390])()
    pieces, at = [], 0
    for size in (*sizes, len(data)):
        pieces.append(decoder.decode(data[at : at + size], final=at + size >= len(data)))
        at += size
        if at >= len(data):
            break
    assert "".join(pieces) == TEXT


def test_records() -> None:
    """A field of a record is as long as its bytes, shifts included; one of two-byte characters counts these."""
    mixed = field("a", "string", {"length": 8, "ccsid": 930})
    pure = field("b", "string", {"length": 4, "length_units": "characters", "ccsid": 300})
    mrm = parser(mixed, pure)
    data = write(mrm, built(mrm, a="A日本", b="日本"), ccsid=930)
    assert data.hex() == "c10e456245660f40" + "4562456640404040"
    assert [child.value for child in read(mrm, data, ccsid=930)] == ["A日本 ", "日本\u3000\u3000"]


@pytest.mark.parametrize("number", sorted(MIXED))
def test_what_a_code_lacks(number: int) -> None:
    """What stands for a character that the code lacks is of one byte each, also behind characters of two."""
    codec = ccsid.codec(number)
    wide = codec.decode(bytes.fromhex("0e4162416342410f"), "ignore")[0][:1]
    for text in (f"{wide}\U0001f600{wide}x", f"1\U0001f600{wide}", f"{wide}\U0001f600"):
        references = text.replace("\U0001f600", "&#128512;")
        assert references == codec.decode(codec.encode(text, "xmlcharrefreplace")[0])[0]
        assert text.replace("\U0001f600", "?") == codec.decode(codec.encode(text, "replace")[0])[0]

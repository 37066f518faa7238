"""Files cut into records, and records put together to files."""

from __future__ import annotations

from io import BytesIO

import pytest

from engine.errors import BrokerError
from parsers.importers.copybook import read_text
from parsers.records.framing import Framing, Stream, cut_records, framed
from parsers.records.json_fields import coding_of
from parsers.records.record_file import Choices, record_file
from tests.limits import bounded

RECORDS = (b"one", b"three", b"seven--")

# How records stand in a file, and the bytes of the three records so.
FORMS = {
    "RDW": (Framing("V"), b"\0\x07\0\0one\0\x09\0\0three\0\x0b\0\0seven--"),
    "RDW, little endian": (Framing("V", rdw_order="little"), b"\x07\0\0\0one\x09\0\0\0three\x0b\0\0\0seven--"),
    "RDW without itself": (Framing("V", rdw_excludes_itself=True), b"\0\x03\0\0one\0\x05\0\0three\0\x07\0\0seven--"),
    "RDW adjusted": (Framing("V", rdw_adjustment=-1), b"\0\x08\0\0one\0\x0a\0\0three\0\x0c\0\0seven--"),
    "BDW": (Framing("VB"), b"\0\x0b\0\0\0\x07\0\0one\0\x0d\0\0\0\x09\0\0three\0\x0f\0\0\0\x0b\0\0seven--"),
    "lines": (Framing("D"), b"one\nthree\nseven--\n"),
    "lines of EBCDIC": (Framing("D", line_end=b"\x15"), b"one\x15three\x15seven--\x15"),
}


@pytest.mark.parametrize("form", FORMS)
def test_form(form: str) -> None:
    """Records are cut from a file as they were put together, and a file put together as it was."""
    framing, file = FORMS[form]
    cuts = list(cut_records(BytesIO(file), framing, longest=100))
    assert list(RECORDS) == [cut.data for cut in cuts]
    assert framing.format == "VB" or file == b"".join(cut.raw for cut in cuts)
    assert file == b"".join(framed(iter(RECORDS), framing, b" ", None))


READ = {
    "fixed": (Framing(length=3), b"abcdef", [b"abc", b"def"]),
    "a last one that is cut off": (Framing(length=4), b"abcdef", [b"abcd", b"ef"]),
    "header and footer": (Framing(length=3, header=2, footer=1), b"HHabcdefF", [b"abc", b"def"]),
    "bytes around the fields": (Framing(length=3, start=1, end=1), b"<a><b>", [b"a", b"b"]),
    "little endian in the last bytes": (Framing("V", rdw_order="little"), b"\0\0\x05\0a", [b"a"]),
    "several records in a block": (Framing("VB"), b"\0\x0e\0\0\0\x05\0\0a\0\x05\0\0b", [b"a", b"b"]),
    "a large block": (Framing("VB"), b"\x80\0\0\x09\0\x05\0\0a", [b"a"]),
    "BDW adjusted": (Framing("VB", bdw_adjustment=4), b"\0\x05\0\0\0\x05\0\0a", [b"a"]),
    "lines of other systems, and a last one without its end": (Framing("D"), b"a\r\n\r\nb", [b"a", b"", b"b"]),
    "nothing": (Framing("V"), b"", []),
}


@pytest.mark.parametrize("case", READ)
def test_read(case: str) -> None:
    """However a file is written, its records are found."""
    framing, file, expected = READ[case]
    assert expected == [cut.data for cut in cut_records(BytesIO(file), framing, longest=3)]


def test_length_field() -> None:
    """A field of each record says how long it is, and may count more or less than that."""
    file = b"\x03ab\x02c"
    cuts = list(cut_records(BytesIO(file), Framing("L"), longest=1, measure=lambda data: data[0]))
    assert [b"\x03ab", b"\x02c"] == [cut.data for cut in cuts]
    adjusted = Framing("L", length_adjustment=1)
    assert [b"\x02ab"] == [c.data for c in cut_records(BytesIO(b"\x02ab"), adjusted, longest=1, measure=lambda d: d[0])]


WRONG = {
    "an RDW that is none": (Framing("V"), b"\0\x05\1\0a", "X'00050100' at offset 0 is no RDW in big-endian order"),
    "an RDW cut off": (Framing("V"), b"\0\x05\0", "offset 0: X'000500' is left, and a record begins with an RDW"),
    "an RDW of less than itself": (Framing("V"), b"\0\x03\0\0", "which is less than nothing for the record"),
    "a record cut off": (Framing("V"), b"\0\x09\0\0ab", "the record at offset 0 is cut off: its RDW X'00090000'"),
    "a block cut off": (Framing("VB"), b"\0\x10\0\0\0\x05\0\0a", "the block at offset 0 is cut off"),
    "a header cut off": (Framing(header=9), b"abc", "the file ends within its header of 9 bytes"),
    "no room for what is skipped": (Framing(length=3, start=2, end=2), b"abc", "2 are to be skipped before its fields"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong(case: str) -> None:
    """A file that is not as it is said to be is refused, with the place."""
    framing, file, text = WRONG[case]
    with pytest.raises(BrokerError) as raised:
        list(cut_records(BytesIO(file), framing, longest=3))
    assert text in raised.value.text


def test_memory_is_flat() -> None:
    """Of a long file only a part is held, whatever its form."""
    stream = Stream(BytesIO(b"x" * 10_000_000), 0, 10)
    longest = 0
    while stream.take(1000):
        longest = max(longest, len(stream._held))
    assert longest < 300_000
    assert 10_000_000 - 10 == stream.offset


def test_long_records_that_are_short() -> None:
    """Records that could be very long and are short are cut in time that grows with the file, not with its square."""
    book = read_text("c.cpy", "01 R. 05 N PIC 9(8). 05 T PIC X OCCURS 0 TO 99999999 DEPENDING ON N.")
    kind = record_file(book, Framing(), coding_of(819), Choices())
    data = b"00000002ab" * 20_000
    with bounded(seconds=3):
        assert 20_000 == sum(1 for _ in kind.cut(BytesIO(data)))

"""Framing: a file cut into records, and records put together to a file, by length, prefix, line or field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, Literal, NamedTuple, TypeAlias, get_args

from engine.errors import ParserException

Order: TypeAlias = Literal["big", "little"]
RecordFormat: TypeAlias = Literal["F", "V", "VB", "D", "L"]

RECORD_FORMATS: Final[tuple[str, ...]] = get_args(RecordFormat)
LONGEST_RECORD: Final = 256 * 1024 * 1024
_CHUNK: Final = 1 << 16
_PREFIX: Final = 4


def _bad_frame(text: str) -> ParserException:
    return ParserException(5422, text)


@dataclass(frozen=True, slots=True)
class Framing:
    """The way in which a file is cut into records.

    `format` is F (fixed length), V (each behind an RDW), VB (blocks behind a BDW of records behind RDWs), D (lines of
    text) or L (each says in a field how long it is). An RDW counts itself, unless `rdw_excludes_itself`; adjustments
    are added to what a prefix or field says. `start` and `end` are bytes of each record before and behind its fields.
    """

    format: RecordFormat = "F"
    length: int | None = None
    rdw_order: Order = "big"
    rdw_adjustment: int = 0
    rdw_excludes_itself: bool = False
    bdw_order: Order = "big"
    bdw_adjustment: int = 0
    length_adjustment: int = 0
    header: int = 0
    footer: int = 0
    start: int = 0
    end: int = 0
    line_end: bytes = b"\n"


class Cut(NamedTuple):
    """A record as it was cut: its number, where its bytes are in the file, all of them, and those of its fields."""

    number: int
    offset: int
    raw: bytes
    data: bytes


Measure: TypeAlias = Callable[[bytes], int]
Fetch: TypeAlias = Callable[[int], bytes]


class Stream:
    """A file read from its beginning to its end, its header and footer left out."""

    def __init__(self, file: BinaryIO, header: int, footer: int) -> None:
        self._file = file
        self._footer = footer
        self._held = bytearray()
        self._ended = False
        self.offset = 0
        left = header
        while left:
            skipped = file.read(min(left, _CHUNK))
            if not skipped:
                raise _bad_frame(f"the file ends within its header of {header} bytes")
            left -= len(skipped)
        self.offset = header

    def ahead(self, count: int) -> bytes:
        """The next bytes without taking them; fewer where the file ends."""
        self._fill(count)
        return bytes(self._held[: min(count, self._left())])

    def take(self, count: int) -> bytes:
        """Take the next bytes; fewer where the file ends."""
        taken = self.ahead(count)
        del self._held[: len(taken)]
        self.offset += len(taken)
        return taken

    def line(self, ending: bytes) -> bytes:
        """Take what is before a line end, and the line end."""
        searched = 0
        while True:
            found = self._held.find(ending, searched, self._left())
            if found >= 0:
                return self.take(found + len(ending))
            searched = max(0, self._left() - len(ending))
            before = len(self._held)
            if before > LONGEST_RECORD:
                raise _bad_frame(f"offset {self.offset}: no line ends within {before:,} bytes")
            self._fill(self._left() + _CHUNK)
            if len(self._held) == before:
                return self.take(self._left())

    def _left(self) -> int:
        """The bytes held that are no footer."""
        return max(0, len(self._held) - self._footer)

    def _fill(self, count: int) -> None:
        while not self._ended and self._left() < count:
            read = self._file.read(max(_CHUNK, min(count, LONGEST_RECORD)))
            self._ended = not read
            self._held += read


def cut_records(file: BinaryIO, framing: Framing, *, longest: int, measure: Measure | None = None) -> Iterator[Cut]:
    """The records of a file; `longest` is the most that one may take where nothing says how long it is.

    `measure` tells how long a record is from its first bytes, where they do.
    """
    stream = Stream(file, framing.header, framing.footer)
    raw_records = {
        "F": lambda: _fixed(stream, framing, longest, measure),
        "V": lambda: _prefixed(stream.take, framing, stream, "record"),
        "VB": lambda: _blocked(stream, framing),
        "D": lambda: _lines(stream, framing),
        "L": lambda: _measured(stream, framing, longest, measure),
    }[framing.format]()
    for number, (offset, raw, data) in enumerate(raw_records, 1):
        if len(data) < framing.start + framing.end:
            text = f"record {number} at offset {offset} has {len(data)} bytes: {framing.start} are to be skipped before"
            raise _bad_frame(f"{text} its fields and {framing.end} behind")
        yield Cut(number, offset, raw, data[framing.start : len(data) - framing.end])


_Raw: TypeAlias = tuple[int, bytes, bytes]


def _fixed(stream: Stream, framing: Framing, longest: int, measure: Measure | None) -> Iterator[_Raw]:
    around = framing.start + framing.end
    while True:
        offset = stream.offset
        if framing.length is None and measure is not None:
            wanted = _measured_ahead(stream, framing, longest + around, measure)
        else:
            wanted = framing.length if framing.length is not None else longest + around
        data = stream.take(wanted)
        if not data:
            return
        yield offset, data, data


def _measured_ahead(stream: Stream, framing: Framing, longest: int, measure: Measure) -> int:
    """The bytes that the next record takes, told from no more of those ahead than it needs."""
    around, window = framing.start + framing.end, min(longest, _CHUNK)
    while True:
        ahead = stream.ahead(window)
        if not ahead:
            return longest
        wanted = measure(ahead[framing.start :]) + around
        if wanted < len(ahead) or len(ahead) < window or window >= longest:
            return wanted
        window = min(longest, window * 8)


def _measured(stream: Stream, framing: Framing, longest: int, measure: Measure | None) -> Iterator[_Raw]:
    assert measure is not None
    while ahead := stream.ahead(longest):
        offset = stream.offset
        length = measure(ahead[framing.start :]) + framing.length_adjustment
        if not 0 < length <= LONGEST_RECORD:
            text = f"the record at offset {offset} says that it is {length} bytes long: X'{ahead[:16].hex()}'"
            raise _bad_frame(text)
        data = stream.take(length)
        if len(data) < length:
            text = f"the record at offset {offset} says that it is {length} bytes long, and {len(data)} are left"
            raise _bad_frame(text)
        yield offset, data, data


def _lines(stream: Stream, framing: Framing) -> Iterator[_Raw]:
    while True:
        offset = stream.offset
        raw = stream.line(framing.line_end)
        if not raw:
            return
        data = raw.removesuffix(framing.line_end)
        yield offset, raw, data.removesuffix(b"\r") if framing.line_end == b"\n" else data


def _prefixed(take: Fetch, framing: Framing, stream: Stream, what: str) -> Iterator[_Raw]:
    while True:
        offset = stream.offset
        prefix = take(_PREFIX)
        if not prefix:
            return
        said = _rdw(prefix, framing.rdw_order, offset, what)
        length = said + framing.rdw_adjustment - (0 if framing.rdw_excludes_itself else _PREFIX)
        if length < 0:
            text = (
                f"the RDW X'{prefix.hex()}' at offset {offset} says {said}, which is less than nothing for the record"
            )
            raise _bad_frame(f"{text}: adjust it, or say that it does not count itself")
        data = take(length)
        if len(data) < length:
            text = f"the record at offset {offset} is cut off: its RDW X'{prefix.hex()}' says {length} bytes"
            raise _bad_frame(f"{text} and {len(data)} are left")
        yield offset, prefix + data, data


def _rdw(prefix: bytes, order: Order, offset: int, what: str) -> int:
    """The number in a prefix of 4 bytes: two of them hold it, the others are zero."""
    if len(prefix) < _PREFIX:
        raise _bad_frame(f"offset {offset}: X'{prefix.hex()}' is left, and a {what} begins with an RDW")
    first, second = prefix[:2], prefix[2:]
    if order == "little" and first == b"\0\0":
        first, second = second, first
    if second != b"\0\0":
        text = f"X'{prefix.hex()}' at offset {offset} is no RDW in {order}-endian order: two of its bytes are zero"
        raise _bad_frame(f"{text}, unless the record is in parts, which are not put together")
    return int.from_bytes(first, order)


def _blocked(stream: Stream, framing: Framing) -> Iterator[_Raw]:
    while True:
        offset = stream.offset
        prefix = stream.take(_PREFIX)
        if not prefix:
            return
        length = _bdw(prefix, framing.bdw_order, offset) + framing.bdw_adjustment - _PREFIX
        if length < 0:
            raise _bad_frame(f"the BDW X'{prefix.hex()}' at offset {offset} is less than its own 4 bytes")
        end = stream.offset + length

        def within_block(count: int, end: int = end) -> bytes:
            return stream.take(min(count, end - stream.offset))

        yield from _prefixed(within_block, framing, stream, "record of a block")
        if stream.offset < end:
            raise _bad_frame(f"the block at offset {offset} is cut off: its BDW says {length} bytes")


def _bdw(prefix: bytes, order: Order, offset: int) -> int:
    """The length of a block; one of more than 32,767 bytes has its highest bit set and takes all 4 bytes."""
    if len(prefix) == _PREFIX and prefix[0 if order == "big" else 3] & 0x80:
        return int.from_bytes(prefix, order) & 0x7FFFFFFF
    return _rdw(prefix, order, offset, "block")


def framed(records: Iterator[bytes], framing: Framing, blank: bytes, length: int | None) -> Iterator[bytes]:
    """The bytes of a file for its records; those of fixed `length` are filled up with blanks."""
    for record in records:
        data = blank * framing.start + record + blank * framing.end
        match framing.format:
            case "F":
                yield _filled(data, framing.length or length, blank)
            case "V":
                yield _with_rdw(data, framing)
            case "VB":
                block = _with_rdw(data, framing)
                yield _block_prefix(len(block) + _PREFIX - framing.bdw_adjustment, framing) + block
            case "D":
                yield data + framing.line_end
            case _:
                yield data


def _filled(data: bytes, length: int | None, blank: bytes) -> bytes:
    if length is None:
        return data
    if len(data) > length:
        raise _bad_frame(f"the record takes {len(data)} bytes, and records have {length}")
    return data.ljust(length, blank)


def _with_rdw(data: bytes, framing: Framing) -> bytes:
    said = len(data) - framing.rdw_adjustment + (0 if framing.rdw_excludes_itself else _PREFIX)
    if not 0 <= said <= 0xFFFF:
        raise _bad_frame(f"a record of {len(data)} bytes has no RDW: two bytes would have to say {said}")
    return said.to_bytes(2, framing.rdw_order) + b"\0\0" + data


def _block_prefix(length: int, framing: Framing) -> bytes:
    if length > 0x7FFF:
        return (length | 0x80000000).to_bytes(4, framing.bdw_order)
    return length.to_bytes(2, framing.bdw_order) + b"\0\0"

"""Strings in CWF: of fixed length, with their length in front, ended by X'00', or as long as another field says."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from engine.dates import MomentError
from parsers.charsets import ccsid as characters
from parsers.mrm.cwf.properties import CwfField, Kept, justified_right, length_factor, moments_of, pad_bytes
from parsers.mrm.stored_value import Decode, Encode, Measure, Span, Stored, garbled, unfit


def _text_of(kept: Kept) -> tuple[Any, Any]:
    """Returns how the values of the field's type are read from text, and written as such."""
    family = kept.type.family
    if family in {"string", "duration"}:
        return None, lambda value: value if value.__class__ is str else _plain_text(value, kept.what)
    if family == "dateTime":
        found = moments_of(kept)
        return found.read, found.write
    raise kept.refused(f"{kept.type.kind} cannot be kept as {kept.physical_type}")


def _plain_text(value: Any, what: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | Decimal | float):
        raise unfit(what, value, "takes text")
    return str(value)


def string(kept: Kept) -> Stored:
    """A string of fixed length, or of a length that another field or the end of the record says."""
    decode, encode = _decoding(kept), _encoding(kept)
    factor = length_factor(kept)
    if kept.cwf.length_units == "endOfBitstream":
        return Stored(0, decode, encode, lambda _, __, limit: limit)
    if factor == 0:
        return Stored(0, decode, encode, _measured(kept), 0, _span(kept))
    size = kept.cwf.length
    if not size and kept.type.family == "dateTime":
        size = len(moments_of(kept).pattern.replace("'", ""))
    return Stored(0 if kept.cwf.length_reference else size * factor, decode, encode, unit=factor)


def _decoding(kept: Kept) -> Decode:
    read = _text_of(kept)[0]
    plain, what, encoding = characters.codec(kept.ccsid, kept.form.encoding).decode, kept.what, kept.form.encoding

    def decode(data: bytes, at: int, end: int) -> Any:
        try:
            return plain(data[at:end], "strict")[0]
        except UnicodeDecodeError:
            return characters.decode(data[at:end], kept.ccsid, encoding, offset=at, what=what)

    def decode_moment(data: bytes, at: int, end: int) -> Any:
        text = decode(data, at, end)
        try:
            return read(text)
        except MomentError as error:
            raise garbled(what, data, at, end, f"is not the date or time that its format has: {error.why}") from error

    return decode if read is None else decode_moment


def _encoding(kept: Kept) -> Encode:
    write, what, encoding = _text_of(kept)[1], kept.what, kept.form.encoding
    pad, right, cut = pad_bytes(kept), justified_right(kept), kept.settings.truncate_fixed_length_strings

    def encode(value: Any, length: int) -> bytes:
        raw = characters.encode(write(value), kept.ccsid, encoding, what=what)
        if length < 0:
            return raw
        if len(raw) > length:
            if not cut:
                raise unfit(what, value, f"has room for {length} bytes, and takes no text of {len(raw)}")
            return raw[:length]
        filling = (pad * (length - len(raw)))[: length - len(raw)]
        return filling + raw if right else raw + filling

    return encode


def _span(kept: Kept) -> Span:
    """Returns where so many characters end, which are of different lengths."""
    ccsid, encoding = kept.ccsid, kept.form.encoding
    incremental = getincrementaldecoder(characters.codec(ccsid, encoding).name)

    def span(data: bytes, at: int, count: int) -> int:
        try:
            text = incremental("strict").decode(data[at : at + 4 * count])[:count]
        except UnicodeDecodeError as error:
            text = incremental("strict").decode(data[at : at + error.start])[:count]
        if len(text) < count:
            raise garbled(kept.what, data, at, len(data), f"is cut off: it takes {count} characters")
        return at + len(characters.encode(text, ccsid, encoding))

    return span


def _measured(kept: Kept) -> Measure | None:
    if kept.cwf.length_reference:
        return None
    span, count = _span(kept), kept.cwf.length
    return lambda data, at, limit: span(data, at, count)


def length_encoded(prefix: int) -> Callable[[Kept], Stored]:
    """Strings with their length in front, in so many bytes."""

    def make(kept: Kept) -> Stored:
        text, order = string(kept._replace(cwf=_unsized(kept.cwf))), kept.order
        unit = length_factor(kept) or 1

        def measure(data: bytes, at: int, limit: int) -> int:
            return at + prefix + int.from_bytes(data[at : at + prefix], order) * unit

        def decode(data: bytes, at: int, end: int) -> Any:
            return text.decode(data, at + prefix, end)

        def encode(value: Any, length: int) -> bytes:
            raw = text.encode(value, -1)
            try:
                return (len(raw) // unit).to_bytes(prefix, order) + raw
            except OverflowError as error:
                raise unfit(kept.what, value, f"has room for {256**prefix - 1} units") from error

        return Stored(0, decode, encode, measure)

    return make


def _unsized(cwf: CwfField) -> CwfField:
    return CwfField(
        padding_character=cwf.padding_character,
        justification=cwf.justification,
        date_time_format=cwf.date_time_format,
        ccsid=cwf.ccsid,
        byte_order=cwf.byte_order,
    )


def null_terminated(kept: Kept) -> Stored:
    """A string that ends with X'00'."""
    text = string(kept._replace(cwf=_unsized(kept.cwf)))
    mark = characters.encode("\0", kept.ccsid, kept.form.encoding)
    width = len(mark)

    def measure(data: bytes, at: int, limit: int) -> int:
        found = data.find(mark, at, limit)
        while found >= 0 and (found - at) % width:
            found = data.find(mark, found + 1, limit)
        if found < 0:
            raise garbled(kept.what, data, at, limit, "has no X'00' at its end")
        return found + width

    def encode(value: Any, length: int) -> bytes:
        raw = text.encode(value, -1)
        if any(raw[at : at + width] == mark for at in range(0, len(raw), width)):
            raise unfit(kept.what, value, "ends at its first X'00', so it takes text without")
        return raw + mark

    return Stored(0, lambda data, at, end: text.decode(data, at, end - width), encode, measure)

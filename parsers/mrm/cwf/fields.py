"""Codecs of fields in CWF: numbers, dates, bytes, strings with and without a length in front, and NULL."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, Final

from engine.dates.patterns import MomentError
from engine.errors import BrokerError, ParserException
from parsers.charsets import ccsid as characters
from parsers.mrm import dates, numbers
from parsers.mrm.cwf.properties import (
    Kept,
    justified_right,
    length_factor,
    moments_of,
    null_bytes_of,
    null_value_of,
    pad_bytes,
    padding_of,
    unsized,
)
from parsers.mrm.model import WIDTHS
from parsers.mrm.simple_values import Decode, Encode, Measure, Span, Stored, garbled, unfit

_PACKED_REVERSED: Final = 0x20
_DECIMALS: Final = 0xF0
_FLOATS: Final = 0xF00
_IEEE_REVERSED: Final = 0x200
_S390: Final = 0x300
_ZERO_EBCDIC: Final = b"\xf0"
_NUMERIC: Final = frozenset({"integer", "decimal", "float"})
_LONGEST_NUMBER: Final = 1000


def stored(kept: Kept) -> Stored:
    """Returns how a field is kept; a model that asks for what cannot be is refused."""
    made = MAKERS.get(kept.physical_type)
    if made is None:
        raise kept.refused(f"there is no physical type {kept.physical_type}")
    found = made(kept)
    if kept.type.family in _NUMERIC:
        if found.size > _LONGEST_NUMBER:
            raise kept.refused(f"a number has at most {_LONGEST_NUMBER:,} bytes")
        found = found if found.size else _bounded(kept, found)
    return _nullable(kept, found) if kept.field.nullable else found


def _bounded(kept: Kept, found: Stored) -> Stored:
    """A number whose length another field says, which may say any."""

    def decode(data: bytes, at: int, end: int) -> Any:
        if end - at > _LONGEST_NUMBER:
            raise garbled(kept.what, data, at, end, f"has {end - at:,} bytes, more than a number may have")
        return found.decode(data, at, end)

    return found._replace(decode=decode)


def _integer(kept: Kept) -> Stored:
    width, signed = WIDTHS.get(kept.type.kind, (4, True))
    size = kept.cwf.length or width
    return numbers.binary(size, _shape(kept, signed=signed), little_endian=kept.order == "little")


def _shape(kept: Kept, *, signed: bool = True) -> numbers.Shape:
    family = kept.type.family
    number: numbers.Number = family if family in {"integer", "decimal", "float"} else "decimal"
    if family not in _NUMERIC:
        raise kept.refused(f"{kept.type.kind} cannot be kept as {kept.physical_type}")
    return numbers.Shape(kept.what, number, kept.cwf.virtual_decimal_point, kept.cwf.signed and signed)


def _packed(kept: Kept) -> Stored:
    positive = kept.settings.packed_decimal_positive_code
    size = _needed(kept)
    if kept.type.family == "dateTime":
        return dates.packed_moments(size, moments_of(kept), positive)
    reverse = kept.form.encoding & _DECIMALS == _PACKED_REVERSED
    if kept.cwf.byte_order:
        reverse = kept.order == "little"
    return numbers.packed(size, _shape(kept), positive=positive, reverse=reverse)


def _needed(kept: Kept) -> int:
    if not kept.cwf.length and not kept.cwf.length_reference:
        raise kept.refused(f"{kept.physical_type} needs a length")
    return kept.cwf.length if not kept.cwf.length_reference else 0


def _external(kept: Kept) -> Stored:
    shape = _shape(kept)
    units = len(characters.encode("0", kept.ccsid, kept.form.encoding))
    ebcdic = characters.encode("0", kept.ccsid) == _ZERO_EBCDIC
    signs: numbers.Signs = "ebcdic" if ebcdic else "custom" if kept.cwf.sign_ebcdic_custom else "ascii"
    size = _needed(kept)
    if units == 1 and padding_of(kept) == "0":
        return numbers.zoned(size, shape, signs, kept.cwf.sign_orientation)
    return _spelled(kept, numbers.zoned(size, shape, "custom" if ebcdic else signs, kept.cwf.sign_orientation), units)


def _spelled(kept: Kept, zoned: Stored, unit: int) -> Stored:
    """An external decimal whose characters are not a byte each, or that is padded with others than zeros."""
    padding, right = padding_of(kept), justified_right(kept)

    def decode(data: bytes, at: int, end: int) -> Any:
        text = characters.decode(data[at:end], kept.ccsid, kept.form.encoding, offset=at, what=kept.what)
        text = text.lstrip(padding) if right else text.rstrip(padding)
        try:
            raw = text.encode("ascii")
            return zoned.decode(raw, 0, len(raw)) if raw else _none()
        except (BrokerError, UnicodeEncodeError) as error:
            raise garbled(kept.what, data, at, end, "is no external decimal") from error

    def encode(value: Any, length: int) -> bytes:
        room = length // unit
        text = zoned.encode(value, room).decode("ascii")
        if padding != "0":
            plain = text.lstrip("0") or "0"
            text = plain.rjust(room, padding) if right else plain.ljust(room, padding)
        return characters.encode(text, kept.ccsid, kept.form.encoding, what=kept.what)

    factor = 1 if kept.cwf.length_units == "bytes" else unit
    return Stored(kept.cwf.length * factor, decode, encode, unit=factor)


def _none() -> Any:
    raise BrokerError(5009, "it has no digits")


def _float(kept: Kept) -> Stored:
    size = kept.cwf.length or (4 if kept.type.kind == "float" else 8)
    if size not in {4, 8}:
        raise kept.refused(f"a float has 4 or 8 bytes, not {size}")
    kind = kept.form.encoding & _FLOATS
    is_s390 = kept.cwf.float_format == "s390" or (kind == _S390 and not kept.cwf.float_format)
    if is_s390:
        is_exact = kept.form.exact and kept.type.family != "integer"
        shape = _shape(kept)._replace(number="exact") if is_exact else _shape(kept)
        return numbers.hexadecimal(size, shape, little_endian=kept.cwf.byte_order == "littleEndian")
    little = kept.order == "little" if kept.cwf.byte_order or not kind else kind == _IEEE_REVERSED
    return numbers.ieee(size, _shape(kept), little_endian=little)


def _binary(kept: Kept) -> Stored:
    if kept.type.family == "dateTime":
        return dates.binary_moments(moments_of(kept), kept.order)
    what, size = kept.what, kept.cwf.length

    def decode(data: bytes, at: int, end: int) -> Any:
        return data[at:end]

    def encode(value: Any, length: int) -> bytes:
        if isinstance(value, str) and kept.field.default is value:
            value = bytes.fromhex(value)
        if not isinstance(value, bytes):
            raise unfit(what, value, "takes a BLOB")
        if length >= 0 and len(value) > length:
            raise unfit(what, value, f"has room for {length} bytes")
        return value if length < 0 else value.ljust(length, b"\0")

    if kept.cwf.length_units == "endOfBitstream":
        return Stored(0, decode, encode, lambda _, __, limit: limit)
    return Stored(size if not kept.cwf.length_reference else 0, decode, encode)


def _boolean(kept: Kept) -> Stored:
    settings = kept.settings
    true, false, null = (
        bytes.fromhex(text)
        for text in (settings.boolean_true_value, settings.boolean_false_value, settings.boolean_null_value)
    )
    if len(true) != len(false) or true == false or not true:
        raise kept.refused("the bytes of TRUE and FALSE must differ and be equally many")
    step = -1 if kept.order == "little" else 1
    yes, no, nothing = true[::step], false[::step], null[::step]
    read: dict[bytes, bool | None] = {yes: True, no: False}
    if kept.field.nullable:
        read.setdefault(nothing, None)
    written: dict[object, bytes] = {True: yes, "true": yes, "1": yes, False: no, "false": no, "0": no, None: nothing}

    def decode(data: bytes, at: int, end: int) -> Any:
        raw = data[at:end]
        if raw not in read:
            raise garbled(kept.what, data, at, end, "is neither TRUE nor FALSE")
        return read[raw]

    def encode(value: Any, length: int) -> bytes:
        if value is not None and not isinstance(value, bool | str | int):
            raise unfit(kept.what, value, "takes TRUE or FALSE")
        found = written.get(value)
        if found is None:
            raise unfit(kept.what, value, "takes TRUE or FALSE")
        return found

    return Stored(len(true), decode, encode)


def _epoch(length: int, per_second: int) -> Callable[[Kept], Stored]:
    """Dates and times as a count since 1970, of so many bytes where the field does not say."""
    return lambda kept: dates.epoch_moments(
        kept.cwf.length or length, moments_of(kept), per_second=per_second, order=kept.order
    )


def _nullable(kept: Kept, found: Stored) -> Stored:
    """The same field, which may also be NULL."""
    if kept.physical_type == "boolean":
        return found
    encoded = null_value_of(kept)
    by_bytes = encoded is None or isinstance(encoded, str | bytes)  # as they are filled up, and not as they are said
    literal = null_bytes_of(kept) if encoded is None else lru_cache(maxsize=64)(partial(_fitting, found, encoded))

    def decode(data: bytes, at: int, end: int) -> Any:
        if by_bytes:
            return None if data[at:end] == literal(end - at) else found.decode(data, at, end)
        value = found.decode(data, at, end)
        return None if value == encoded else value

    def encode(value: Any, length: int) -> bytes:
        if value is not None:
            return found.encode(value, length)
        raw = found.encode(encoded, length) if encoded is not None else literal(length)
        if raw is None:
            raise unfit(kept.what, None, "has no bytes for NULL: give it an encodingNullValue")
        return raw

    return found._replace(decode=decode, encode=encode)


def _fitting(found: Stored, value: Any, length: int) -> bytes | None:
    """The bytes of a value, None where a field so long has no room for it."""
    try:
        return found.encode(value, length)
    except ParserException:
        return None


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
        text, order = string(kept._replace(cwf=unsized(kept.cwf))), kept.order
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


def null_terminated(kept: Kept) -> Stored:
    """A string that ends with X'00'."""
    text = string(kept._replace(cwf=unsized(kept.cwf)))
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


MAKERS: Final[Mapping[str, Callable[[Kept], Stored]]] = {
    "fixedLengthString": string,
    "lengthEncodedString1": length_encoded(1),
    "lengthEncodedString2": length_encoded(2),
    "nullTerminatedString": null_terminated,
    "integer": _integer,
    "packedDecimal": _packed,
    "externalDecimal": _external,
    "float": _float,
    "binary": _binary,
    "boolean": _boolean,
    "timeSeconds": _epoch(4, per_second=1),
    "timeMilliseconds": _epoch(8, per_second=1000),
}

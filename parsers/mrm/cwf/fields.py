"""Values of fields in CWF: the physical types, and NULL."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from engine.errors import BrokerError
from parsers.charsets import ccsid as characters
from parsers.mrm import dates, numbers
from parsers.mrm.cwf.properties import Kept, justified_right, moments_of, pad_bytes, padding_of
from parsers.mrm.cwf.texts import length_encoded, null_terminated, string
from parsers.mrm.model import WIDTHS
from parsers.mrm.stored_value import Stored, garbled, unfit

_PACKED_REVERSED: Final = 0x20
_DECIMALS: Final = 0xF0
_FLOATS: Final = 0xF00
_IEEE_REVERSED: Final = 0x200
_S390: Final = 0x300
_ZERO_EBCDIC: Final = b"\xf0"


def stored(kept: Kept) -> Stored:
    """Returns how a field is kept; a model that asks for what cannot be is refused."""
    made = _MAKERS.get(kept.physical_type)
    if made is None:
        raise kept.refused(f"there is no physical type {kept.physical_type}")
    found: Stored = made(kept)
    return _nullable(kept, found) if kept.field.nullable else found


def _integer(kept: Kept) -> Stored:
    width, signed = WIDTHS.get(kept.type.kind, (4, True))
    size = kept.cwf.length or width
    return numbers.binary(size, _shape(kept, signed=signed), little_endian=kept.order == "little")


def _shape(kept: Kept, *, signed: bool = True) -> numbers.Shape:
    family = kept.type.family
    number: numbers.Number = family if family in {"integer", "decimal", "float"} else "decimal"
    if family not in {"integer", "decimal", "float"}:
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
        shape = _shape(kept)._replace(number="exact") if kept.form.exact else _shape(kept)
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
    read = {true[::step]: True, false[::step]: False}
    if kept.field.nullable:
        read.setdefault(null[::step], None)  # type: ignore[arg-type]  # NULL
    written: dict[object, bytes] = {
        True: true[::step],
        False: false[::step],
        None: null[::step],
        "true": true[::step],
        "1": true[::step],
    }
    written |= {"false": false[::step], "0": false[::step]}

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


def _seconds(kept: Kept) -> Stored:
    return dates.epoch_moments(kept.cwf.length or 4, moments_of(kept), per_second=1, order=kept.order)


def _milliseconds(kept: Kept) -> Stored:
    return dates.epoch_moments(kept.cwf.length or 8, moments_of(kept), per_second=1000, order=kept.order)


def _nullable(kept: Kept, found: Stored) -> Stored:
    """The same field, which may also be NULL."""
    if kept.physical_type == "boolean":
        return found
    how, said = kept.cwf.encoding_null, kept.cwf.encoding_null_value
    encoded = None if how != "nullLogicalValue" or not said else _logical(kept, found, said)

    literal = _literal(kept)

    def decode(data: bytes, at: int, end: int) -> Any:
        if encoded is None:
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


def _literal(kept: Kept) -> Callable[[int], bytes | None]:
    """The bytes that stand for NULL in a field so long, where it has such bytes."""
    how, said = kept.cwf.encoding_null, kept.cwf.encoding_null_value
    pad = pad_bytes(kept)
    raw = characters.encode(said, kept.ccsid, kept.form.encoding, what=kept.what) if said else b""
    if how == "nullLiteralValue" and raw:
        return lambda length: raw if length <= 0 else (raw + pad * length)[:length]
    filling = pad if how == "nullPadFill" else raw if how == "nullLiteralFill" else b""
    return lambda length: (filling * length)[:length] if filling and length > 0 else None


def _logical(kept: Kept, found: Stored, said: str) -> Any:
    family = kept.type.family
    if family == "integer":
        return int(said)
    if family in {"decimal", "float"}:
        return Decimal(said) if family == "decimal" else float(said)
    if family == "binary":
        return bytes.fromhex(said)
    if family == "dateTime":
        return moments_of(kept).read(said)
    size = found.size
    return said.ljust(size) if size else said


_MAKERS: Final = {
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
    "timeSeconds": _seconds,
    "timeMilliseconds": _milliseconds,
}

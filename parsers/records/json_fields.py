"""Fields of records in JSON: their codecs, the Coding that no copybook tells, and lines of JSON with all digits."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from json.encoder import encode_basestring
from math import inf, nan
from typing import Any, Final, Literal, TypeAlias, get_args

from engine.dates.patterns import written_iso
from engine.errors import ParserException
from parsers.charsets.ccsid import encode, is_ebcdic, is_little_endian
from parsers.importers.copybook.items import DataItem
from parsers.importers.copybook.message_set import PhysicalOptions, has_number, physical_of, simple_type_of
from parsers.mrm import numbers
from parsers.mrm.cwf.fields import stored
from parsers.mrm.cwf.properties import CwfFormat, Form, Kept
from parsers.mrm.dates import DEFAULT_FORMATS, text_of
from parsers.mrm.model import Field
from parsers.mrm.simple_values import Stored, unfit

ZonedSign: TypeAlias = Literal["ascii", "ebcdic", "ebcdic-custom"]
Trim: TypeAlias = Literal["right", "left", "both", "none"]

ZONED_SIGNS: Final[tuple[str, ...]] = get_args(ZonedSign)
TRIMS: Final[tuple[str, ...]] = get_args(Trim)
ORDERS: Final = ("big", "little")
TURNED: Final[dict[Trim, Trim]] = {"right": "left", "left": "right", "both": "both", "none": "none"}  # right-justified

MAINFRAME: Final = 785
WORKSTATION: Final = 530  # 546 would turn packed decimals around, which no compiler does
_DECIMALS: Final = 0x000000F0


@dataclass(frozen=True, slots=True)
class Coding:
    """The coding of fields: `encoding` is MQ's, `native` the byte order of COMP-5 and the like.

    `sign` is how a digit holds the sign of a zoned number, `trim` the ends of strings that lose their blanks;
    `blank_is_null` takes a number of blanks for one that is not there.
    """

    ccsid: int
    encoding: int
    sign: ZonedSign
    native: Literal["big", "little"]
    national_ccsid: int = 1200
    trim: Trim = "right"
    blank_is_null: bool = False

    @property
    def blank(self) -> bytes:
        """Returns what fills records up."""
        return encode(" ", self.ccsid, self.encoding)

    @property
    def order(self) -> Literal["big", "little"]:
        """The byte order of binary integers."""
        return "little" if is_little_endian(self.encoding) else "big"

    @property
    def reversed_packed(self) -> bool:
        """Returns whether packed decimals have their bytes in reverse."""
        return self.encoding & _DECIMALS == 0x20


def coding_of(
    ccsid: int, encoding: int | None = None, sign: ZonedSign | None = None, native: str | None = None
) -> Coding:
    """A coding with what is not given taken from the CCSID: EBCDIC is a mainframe's, all else a workstation's.

    >>> coding_of(37).encoding, coding_of(819).sign
    (785, 'ascii')
    """
    ebcdic = is_ebcdic(ccsid)
    chosen = (MAINFRAME if ebcdic else WORKSTATION) if encoding is None else encoding
    is_little = is_little_endian(chosen) if native is None else native == "little"
    return Coding(ccsid, chosen, sign or ("ebcdic" if ebcdic else "ascii"), "little" if is_little else "big")


_NOT_NUMBERS: Final = {"NaN": nan, "Infinity": inf, "-Infinity": -inf}
PARTS: Final = {kind: pattern for kind, pattern in DEFAULT_FORMATS.items() if kind.startswith("g")}


def form_of(coding: Coding) -> Form:
    """Returns the form that records of a coding are in, whose floats keep all their digits."""
    return Form(coding.encoding, coding.ccsid, exact=True)


def physical_options(coding: Coding) -> PhysicalOptions:
    """Returns what an import is told of a coding that a record's encoding and CCSID do not say."""
    return PhysicalOptions(
        native_order="littleEndian" if coding.native == "little" else "bigEndian",
        sign_ebcdic_custom=coding.sign != "ascii",
        national_ccsid=coding.national_ccsid,
    )


def label(item: DataItem, path: str) -> str:
    """Returns what errors call an item: its path, its picture and its usage."""
    return f"{path} ({item.type})"


def field_of_item(item: DataItem, coding: Coding) -> Stored:
    """Returns the codec of an elementary item that stands by itself."""
    nullable = item.entry.blank_when_zero and has_number(item)
    field = Field(item.name, simple_type_of(item), nullable=nullable)
    said = physical_of(item, physical_options(coding))
    return stored_for(item, Kept(label(item, item.name), field, said, CwfFormat(), form_of(coding)), coding)


def stored_for(item: DataItem, kept: Kept, coding: Coding) -> Stored:
    """Returns the codec of an item's field between bytes and what JSON has; NULL is written as what it has without."""
    if item.usage == "COMP-6":
        return _absent_as_zero(_unsigned_packed(item, kept, coding))
    if kept.field.nullable or (coding.blank_is_null and kept.physical_type == "externalDecimal"):
        return _blank_number(kept, coding)
    made = stored(kept)
    family = kept.type.family
    if family == "binary":
        return _digits(kept, made)
    if family == "float":
        return _absent_as_zero(_with_no_numbers(made))
    if family != "string":
        return _absent_as_zero(made)
    edited = item.picture is not None and item.picture.category in {"numeric-edited", "floating-edited"}
    trim = "right" if edited and coding.trim != "none" else _trim(kept, coding)
    return _text(made, trim)


def stored_for_model(kept: Kept, coding: Coding) -> Stored:
    """Returns the codec of a field of a message set between bytes and what JSON has."""
    made, kind = stored(kept), kept.type.kind
    decode, trim, has_bytes = made.decode, _trim(kept, coding), kept.physical_type == "binary"
    if kept.type.family == "string" and not kept.field.nullable and not has_bytes:
        return _text(made, trim)
    if kept.type.family in {"integer", "decimal", "float"} and not has_bytes:
        return made

    def decode_plain(data: bytes, at: int, end: int) -> Any:
        value = decode(data, at, end)
        return trimmed(value, trim) if isinstance(value, str) else plain(kind, value)

    return made._replace(decode=decode_plain)


def trimmed(text: str, ends: Trim) -> str:
    """Returns a text without the blanks that padding has put at its ends."""
    text = text.rstrip(" ") if ends in {"right", "both"} else text
    return text.lstrip(" ") if ends in {"left", "both"} else text


def plain(kind: str, value: Any) -> Any:
    """A value as JSON has it: bytes are hexadecimal, dates and times as XML Schema writes those of their kind."""
    if isinstance(value, bytes):
        return value.hex().upper()
    if isinstance(value, date | time):
        part = PARTS.get(kind)
        return written_iso(value) if part is None else text_of(value, part)
    return value if value is None or isinstance(value, str | bool | int | float | Decimal) else str(value)


def _trim(kept: Kept, coding: Coding) -> Trim:
    if kept.cwf.padding_character not in {"", "SPACE", " "}:
        return "none"
    return TURNED[coding.trim] if kept.cwf.justification == "right" else coding.trim


def _text(made: Stored, trim: Trim) -> Stored:
    decode, write = made.decode, made.encode

    def decode_text(data: bytes, at: int, end: int) -> str:
        return trimmed(decode(data, at, end), trim)

    def decode_right(data: bytes, at: int, end: int) -> str:
        text: str = decode(data, at, end)
        return text.rstrip(" ")

    return made._replace(
        decode=decode_right if trim == "right" else decode_text,
        encode=lambda value, size: write("" if value is None else value, size),
    )


def _absent_as_zero(made: Stored) -> Stored:
    write = made.encode
    return made._replace(encode=lambda value, size: write(0 if value is None else value, size))


def _with_no_numbers(made: Stored) -> Stored:
    """The codec of a float, which JSON has the name of where it is no number."""
    write = made.encode

    def encode_float(value: Any, size: int) -> bytes:
        return write(_NOT_NUMBERS.get(value, value) if isinstance(value, str) else value, size)

    return made._replace(encode=encode_float)


def _digits(kept: Kept, made: Stored) -> Stored:
    """The codec of bytes, which JSON has as hexadecimal digits."""
    size = made.size

    def encode_digits(value: Any, length: int) -> bytes:
        if value is None:
            return bytes(size)
        try:
            raw = bytes.fromhex(value) if isinstance(value, str) else b""
        except ValueError:
            raw = b""
        if len(raw) != size:
            raise unfit(kept.what, value, f"takes {2 * size} hexadecimal digits")
        return raw

    return made._replace(decode=lambda data, at, end: data[at:end].hex().upper(), encode=encode_digits)


def _unsigned_packed(item: DataItem, kept: Kept, coding: Coding) -> Stored:
    assert item.picture is not None
    shape = numbers.Shape(kept.what, "integer", item.picture.scale, signed=False)
    return numbers.unsigned_packed(item.length, shape, reverse=coding.reversed_packed)


def _blank_number(kept: Kept, coding: Coding) -> Stored:
    """The codec of a number that may be blank: that is 0 where the item says so (BLANK WHEN ZERO), else NULL."""
    is_zero = kept.field.nullable
    made = stored(kept._replace(field=Field(kept.field.name, kept.type)))
    blanks = (encode(" ", kept.ccsid, kept.form.encoding) * made.size)[: made.size]
    zero = made.decode(made.encode(0, made.size), 0, made.size)

    def decode(data: bytes, at: int, end: int) -> Any:
        if data[at:end] == blanks:
            return zero if is_zero else None
        return made.decode(data, at, end)

    def write(value: Any, size: int) -> bytes:
        raw = made.encode(0 if value is None else value, size)
        is_blank = (is_zero and made.decode(raw, 0, size) == 0) or (value is None and coding.blank_is_null)
        return blanks if is_blank else raw

    return made._replace(decode=decode, encode=write)


LONGEST_LINE: Final = 256 * 1024 * 1024
_BAD_JSON: Final = 5705


def to_json(value: Any) -> str:
    """The JSON text of a value; a decimal keeps its places, and what JSON has no number for is text.

    >>> to_json({"A": Decimal("1.50"), "B": [None, "x", float("nan")]})
    '{"A": 1.50, "B": [null, "x", "NaN"]}'
    """
    match value:
        case str():
            return encode_basestring(value)
        case bool() | None:
            return "null" if value is None else "true" if value else "false"
        case Decimal():
            return format(value, "f")
        case dict():
            return (
                "{" + ", ".join([f"{encode_basestring(key)}: {to_json(inner)}" for key, inner in value.items()]) + "}"
            )
        case list():
            return "[" + ", ".join([to_json(inner) for inner in value]) + "]"
        case float() if not math.isfinite(value):
            return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
        case _:
            return repr(value)


def from_json(text: str, number: int) -> dict[str, Any]:
    """The object of a line of JSON; `number` is that of the line, for the error."""
    try:
        found = json.loads(text, parse_float=Decimal, parse_constant=str, object_pairs_hook=_unique)
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise ParserException(_BAD_JSON, f"line {number} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ParserException(_BAD_JSON, f"line {number} holds no JSON object: a record is one")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the field {twice} is there twice")
    return found

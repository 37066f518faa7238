"""Fields of MQ structures, each read and written by itself, and fields that are computed."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from engine.errors import ParserException
from engine.tree.element import Element
from engine.tree.source import NAME_VALUE, Handle, Source, Value
from engine.tree.step import Step
from parsers.charsets.ccsid import blank, decode, encode, is_little_endian, is_single_byte

TOP: Final = None  # the handle of a structure or folder as a whole
_BIG: Final = {4: struct.Struct(">i"), 8: struct.Struct(">q")}
_LITTLE: Final = {4: struct.Struct("<i"), 8: struct.Struct("<q")}
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,20}")
_UTF_8: Final = 1208


class Form(NamedTuple):
    """The form of one structure's fields: the order of an integer's bytes, and the CCSID of characters."""

    little_endian: bool
    ccsid: int

    def integer(self, data: bytes | bytearray, at: int, size: int = 4) -> int:
        """The signed integer at a place."""
        number: int = (_LITTLE if self.little_endian else _BIG)[size].unpack_from(data, at)[0]
        return number

    def packed(self, number: int, size: int = 4) -> bytes:
        """The bytes of a signed integer."""
        return (_LITTLE if self.little_endian else _BIG)[size].pack(number)


@lru_cache(maxsize=512)
def form_of(encoding: int, ccsid: int) -> Form:
    """The form of a header whose data has this encoding and CCSID.

    Fixed fields need a byte for a character; where the CCSID is of two bytes, headers are in UTF-8.
    """
    return Form(is_little_endian(encoding), ccsid if is_single_byte(ccsid) else _UTF_8)


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """The kind of a field: `read` is given all data and where the field is in them, `write` a value.

    Both are told in the end what the field is called, for errors.
    """

    read: Callable[[bytes, int, Field, Form, str], Value]
    write: Callable[[Value, Field, Form, str], bytes]


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A field: IBM's name, its place, and what it holds where nothing is said; what is not shown is not in trees."""

    name: str
    kind: Kind
    size: int
    default: Value
    at: int = 0
    shown: bool = True

    def read(self, data: bytes, start: int, form: Form, owner: str) -> Value:
        """The field's value in a structure that starts there."""
        return self.kind.read(data, start + self.at, self, form, f"{owner}.{self.name}")

    def write(self, value: Value, form: Form, owner: str) -> bytes:
        """The field's bytes for a value; NULL stands for the default."""
        return self.kind.write(self.default if value is None else value, self, form, f"{owner}.{self.name}")


def cut(text: str) -> str:
    """Characters of a field without what pads them: trailing blanks, and all after a null.

    >>> cut("MQSTR   "), cut("MQSTR" + chr(0) + "xx")
    ('MQSTR', 'MQSTR')
    """
    return text.partition("\0")[0].rstrip(" ")


def integer(value: Value, size: int, what: str) -> int:
    """A value as an integer that fits into so many bytes.

    >>> integer("546", 4, "MQDLH.Encoding")
    546
    """
    number: int | None = None
    if isinstance(value, int):
        number = int(value)
    elif isinstance(value, float | Decimal):
        whole = math.isfinite(value) and abs(float(value)) < 1e20 and value == int(value)
        number = int(value) if whole else None
    elif isinstance(value, str):
        digits = value.strip()
        number = int(digits) if _INTEGER.fullmatch(digits) else None
    if number is None:
        raise ParserException(5010, f"{what} takes an integer, not {_shown(value)}", what)
    if not -(1 << 8 * size - 1) <= number < 1 << 8 * size - 1:
        raise ParserException(5010, f"{what} takes an integer of {size} bytes, which {number} does not fit into", what)
    return number


def characters(value: Value, what: str) -> str:
    """A value as the characters of a field; numbers become their digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return str(value)
    raise ParserException(5010, f"{what} takes characters, not {_shown(value)}", what)


def padded(text: str, form: Form, size: int, what: str) -> bytes:
    """Characters in their bytes, filled up with blanks; trailing blanks more than fit do not count."""
    data = encode(text, form.ccsid, what=what)
    if len(data) > size:
        data = encode(text.rstrip(" "), form.ccsid, what=what)
    if len(data) > size:
        raise ParserException(
            5010, f"{what} has room for {size} bytes, and {text!r:.60} takes {len(data)}: shorten it", what
        )
    return data + blank(form.ccsid) * (size - len(data))


def blob(value: Value, size: int, what: str) -> bytes:
    """Bytes filled up with nulls."""
    if not isinstance(value, bytes):
        raise ParserException(5010, f"{what} takes a BLOB of {size} bytes, not {_shown(value)}", what)
    if len(value) > size:
        raise ParserException(
            5010, f"{what} has room for {size} bytes, not for the {len(value)} of this BLOB: shorten it", what
        )
    return value.ljust(size, b"\0")


def as_date(text: str) -> date | str:
    """The date that MQ writes as YYYYMMDD; other characters stay as they are.

    >>> as_date("20260229"), as_date("20260228")
    ('20260229', datetime.date(2026, 2, 28))
    """
    if len(text) != 8 or not (text.isascii() and text.isdigit()):
        return text
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:]))
    except ValueError:
        return text


def as_time(text: str) -> time | str:
    """The time that MQ writes as HHMMSSTH, in GMT; other characters, and leap seconds, stay as they are.

    >>> as_time("12400075").isoformat()
    '12:40:00.750000+00:00'
    """
    if len(text) != 8 or not (text.isascii() and text.isdigit()):
        return text
    try:
        return time(int(text[:2]), int(text[2:4]), int(text[4:6]), int(text[6:]) * 10000, tzinfo=UTC)
    except ValueError:
        return text


def date_digits(value: Value) -> Value:
    """A date as MQ writes it; what is none stays as it is."""
    return value.isoformat()[:10].replace("-", "") if isinstance(value, date) else value


def time_digits(value: Value) -> Value:
    """A time as MQ writes it; what is none stays as it is."""
    if isinstance(value, datetime):
        value = value.timetz()
    if not isinstance(value, time):
        return value
    return f"{value.hour:02}{value.minute:02}{value.second:02}{value.microsecond // 10000:02}"


def _shown(value: Value) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _text(data: bytes, at: int, field: Field, form: Form, what: str) -> str:
    return decode(data[at : at + field.size], form.ccsid, offset=at, what=what)


LONG: Final = Kind(
    lambda data, at, field, form, what: form.integer(data, at, field.size),
    lambda value, field, form, what: form.packed(integer(value, field.size, what), field.size),
)
CHARACTERS: Final = Kind(
    _text,
    lambda value, field, form, what: padded(characters(value, what), form, field.size, what),
)
BYTES: Final = Kind(
    lambda data, at, field, form, what: data[at : at + field.size],
    lambda value, field, form, what: blob(value, field.size, what),
)
DATE: Final = Kind(
    lambda data, at, field, form, what: as_date(_text(data, at, field, form, what)),
    lambda value, field, form, what: padded(characters(date_digits(value), what), form, field.size, what),
)
TIME: Final = Kind(
    lambda data, at, field, form, what: as_time(_text(data, at, field, form, what)),
    lambda value, field, form, what: padded(characters(time_digits(value), what), form, field.size, what),
)


def long(name: str, default: int = 0) -> Field:
    """An MQLONG: a signed integer of four bytes."""
    return Field(name, LONG, 4, default)


def hidden(name: str) -> Field:
    """An MQLONG that trees do not show."""
    return Field(name, LONG, 4, 0, shown=False)


def char(name: str, size: int, default: str = "") -> Field:
    """An MQCHARn: characters, filled up with blanks."""
    return Field(name, CHARACTERS, size, default)


def byte(name: str, size: int) -> Field:
    """An MQBYTEn: bytes, filled up with nulls."""
    return Field(name, BYTES, size, b"")


def put_date(name: str) -> Field:
    """A date as eight digits."""
    return Field(name, DATE, 8, "")


def put_time(name: str) -> Field:
    """A time in GMT as eight digits."""
    return Field(name, TIME, 8, "")


def is_field(wanted: Step) -> bool:
    """Returns whether a step may lead to a field of a header: a name with a value and no namespace."""
    return wanted.namespace in {None, ""} and (
        not wanted.types or any(NAME_VALUE & mask == kind for mask, kind in wanted.types)
    )


Computed: TypeAlias = Mapping[str, Callable[[Any], Value]]


class ComputedFields(Source):
    """A folder of fields that are computed one by one from its subject, such as a message, when they are asked for.

    A handle is the name of a field, None the folder itself.
    """

    __slots__ = ("subject", "table")

    def __init__(self, table: Computed, subject: Any) -> None:
        self.table = table
        self.subject = subject

    def value(self, handle: str | None) -> Value:
        return None if handle is None else self.table[handle](self.subject)

    def children(self, handle: str | None) -> Iterable[str]:
        return self.table if handle is None else ()

    def element(self, handle: str, parent: Element) -> Element:
        return Element(handle, "", NAME_VALUE, self, handle, parent)

    def first(self, handle: str | None, wanted: Step) -> str | None:
        if handle is not None or not is_field(wanted):
            return None
        if wanted.name is None:
            return next(iter(self.table))
        return wanted.name if wanted.name in self.table else None

    def every(self, handle: str | None, wanted: Step) -> tuple[str, ...]:
        if handle is None and wanted.name is None and is_field(wanted):
            return tuple(self.table)
        found = self.first(handle, wanted)
        return () if found is None else (found,)


class Beside:
    """The handle of what a structure has beside its fields: it may be called as a field is, and is none."""

    __slots__ = ()
    name: str
    namespace = ""
    type: int = NAME_VALUE


class Besides(Source):
    """All that a structure has beside its fields; a handle is a Beside, or TOP for the structure itself."""

    __slots__ = ()

    def element(self, handle: Beside, parent: Element) -> Element:
        return Element(handle.name, "", handle.type, self, handle, parent)

    def first(self, handle: Handle, wanted: Step) -> Handle:
        return next((child for child in self.called(handle, wanted.name) if wanted.matches(child)), None)

    def every(self, handle: Handle, wanted: Step) -> list[Handle]:
        return [child for child in self.called(handle, wanted.name) if wanted.matches(child)]

    def called(self, handle: Handle, name: str | None) -> Iterable[Beside]:
        """The children of a handle that may have a name."""
        return self.children(handle)

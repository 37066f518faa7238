"""Fields of TDS that are no text: numbers and moments in bytes, texts with a length in front or X'00' behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from engine.errors import ConfigurationException
from parsers.charsets import ccsid as characters
from parsers.mrm import dates, numbers
from parsers.mrm.dates import Moments
from parsers.mrm.model import WIDTHS, Field, SimpleType
from parsers.mrm.simple_values import Stored, as_text, garbled, integer_of, number_of, unfit
from parsers.mrm.tds.properties import TdsField
from parsers.mrm.tds.scanning import Coding

_DECIMALS, _PACKED_REVERSED = 0xF0, 0x20
_FLOATS, _IEEE_REVERSED, _S390 = 0xF00, 0x200, 0x300
_FAMILIES: Final = frozenset({"integer", "decimal", "float"})


@dataclass(frozen=True, slots=True, eq=False)
class InBytes:
    """A field that is kept in bytes; how, depends on the encoding and the CCSID of its message."""

    declared: Field
    type: SimpleType
    said: TdsField
    pattern: str
    century: int
    _made: dict[Coding, Stored] = field(default_factory=dict)

    def stored(self, coding: Coding) -> Stored:
        """Returns how it is kept in a message of that coding."""
        known = self._made.get(coding)
        if known is None:
            made = _MAKERS[self.said.physical_type](self, coding)
            known = self._made[coding] = _nullable(self, made, coding) if self.declared.nullable else made
        return known

    @property
    def name(self) -> str:
        """The field's name."""
        return self.declared.name

    @property
    def length(self) -> int:
        """Its length, which must be said of it; 0 where another field says it."""
        if not self.said.length and not self.said.length_reference:
            raise self.refused("needs a length")
        return 0 if self.said.length_reference else self.said.length

    @property
    def shape(self) -> numbers.Shape:
        """Returns what it is apart from its bytes, if it is a number."""
        family = self.type.family
        if family not in _FAMILIES:
            raise self.refused(f"cannot keep a {self.type.kind}")
        signed = self.said.signed and WIDTHS.get(self.type.kind, (4, True))[1]
        return numbers.Shape(self.name, family, self.said.virtual_decimal_point, signed)  # type: ignore[arg-type]  # one of them

    @property
    def moments(self) -> Moments:
        """Returns how it is written, if it is a date or a time."""
        if self.type.family != "dateTime":
            raise self.refused(f"cannot keep a {self.type.kind}")
        return Moments(self.name, self.type.kind, self.pattern, self.century)

    def refused(self, why: str) -> ConfigurationException:
        """A model that cannot be."""
        return ConfigurationException(f"{self.name}: {self.said.physical_type} {why}")


def _integer(kept: InBytes, coding: Coding) -> Stored:
    size = kept.said.length or WIDTHS.get(kept.type.kind, (4, True))[0]
    return numbers.binary(size, kept.shape, little_endian=characters.is_little_endian(coding.encoding))


def _packed(kept: InBytes, coding: Coding) -> Stored:
    if kept.type.family == "dateTime":
        return dates.packed_moments(kept.length, kept.moments)
    return numbers.packed(kept.length, kept.shape, reverse=coding.encoding & _DECIMALS == _PACKED_REVERSED)


def _external(kept: InBytes, coding: Coding) -> Stored:
    if not characters.is_single_byte(coding.ccsid):
        raise kept.refused("takes characters of one byte")
    is_ebcdic = characters.encode("0", coding.ccsid) == b"\xf0"
    return numbers.zoned(kept.length, kept.shape, "ebcdic" if is_ebcdic else "ascii", kept.said.sign_orientation)


def _float(kept: InBytes, coding: Coding) -> Stored:
    size, kind = kept.said.length or (4 if kept.type.kind == "float" else 8), coding.encoding & _FLOATS
    if size not in {4, 8}:
        raise kept.refused(f"has 4 or 8 bytes, not {size}")
    if kind == _S390:
        return numbers.hexadecimal(size, kept.shape)
    little = kind == _IEEE_REVERSED if kind else characters.is_little_endian(coding.encoding)
    return numbers.ieee(size, kept.shape, little_endian=little)


def _epoch(size: int, per_second: int) -> Callable[[InBytes, Coding], Stored]:
    def make(kept: InBytes, coding: Coding) -> Stored:
        order: Literal["little", "big"] = "little" if characters.is_little_endian(coding.encoding) else "big"
        return dates.epoch_moments(size, kept.moments, per_second=per_second, order=order)

    return make


def _length_encoded(prefix: int) -> Callable[[InBytes, Coding], Stored]:
    def make(kept: InBytes, coding: Coding) -> Stored:
        order: Literal["little", "big"] = "little" if characters.is_little_endian(coding.encoding) else "big"

        def measure(data: bytes, at: int, limit: int) -> int:
            return at + prefix + int.from_bytes(data[at : at + prefix], order)

        def encode(value: Any, length: int) -> bytes:
            raw = _raw(kept, coding, value)
            if len(raw) >= 256**prefix:
                raise unfit(kept.name, value, f"has room for {256**prefix - 1} bytes")
            return len(raw).to_bytes(prefix, order) + raw

        return Stored(0, lambda data, at, end: _text(kept, coding, data, at + prefix, end), encode, measure)

    return make


def _null_terminated(kept: InBytes, coding: Coding) -> Stored:
    def measure(data: bytes, at: int, limit: int) -> int:
        found = data.find(b"\0", at, limit)
        if found < 0:
            raise garbled(kept.name, data, at, limit, "has no X'00' at its end")
        return found + 1

    def encode(value: Any, length: int) -> bytes:
        raw = _raw(kept, coding, value)
        if b"\0" in raw:
            raise unfit(kept.name, value, "ends at its first X'00', so it takes text without")
        return raw + b"\0"

    return Stored(0, lambda data, at, end: _text(kept, coding, data, at, end - 1), encode, measure)


def _text(kept: InBytes, coding: Coding, data: bytes, at: int, end: int) -> str:
    return characters.decode(data[at:end], coding.ccsid, coding.encoding, offset=at, what=kept.name)


def _raw(kept: InBytes, coding: Coding, value: Any) -> bytes:
    try:
        return characters.encode(as_text(value), coding.ccsid, coding.encoding, what=kept.name)
    except TypeError as error:
        raise unfit(kept.name, value, "takes text") from error


def _meant(kept: InBytes, text: str) -> Any:
    """The value that a text in the model means."""
    family = kept.type.family
    if family == "dateTime":
        return kept.moments.read(text)
    read: dict[str, Callable[[str], Any]] = {"integer": integer_of, "decimal": number_of, "float": float}
    return read.get(family, str)(text)


def _nullable(kept: InBytes, made: Stored, coding: Coding) -> Stored:
    """The same field, which may also be NULL: as its value says, or all of one character."""
    said = kept.said
    logical = said.encoding_null_value if said.encoding_null == "nullLogicalValue" else ""
    null = _meant(kept, logical) if logical else None
    fill = characters.encode(said.encoding_null_value[:1] or " ", coding.ccsid, coding.encoding)

    def decode(data: bytes, at: int, end: int) -> Any:
        if null is None and data[at:end] == (fill * (end - at))[: end - at]:
            return None
        value = made.decode(data, at, end)
        return None if null is not None and value == null else value

    def encode(value: Any, length: int) -> bytes:
        if value is not None:
            return made.encode(value, length)
        size = made.size or max(length, 0)
        return made.encode(null, length) if null is not None else (fill * size)[:size]

    return made._replace(decode=decode, encode=encode)


_MAKERS: Final[Mapping[str, Callable[[InBytes, Coding], Stored]]] = {
    "integer": _integer,
    "packedDecimal": _packed,
    "externalDecimal": _external,
    "float": _float,
    "timeSeconds": _epoch(4, 1),
    "timeMilliseconds": _epoch(8, 1000),
    "lengthEncodedString1": _length_encoded(1),
    "lengthEncodedString2": _length_encoded(2),
    "nullTerminatedString": _null_terminated,
}

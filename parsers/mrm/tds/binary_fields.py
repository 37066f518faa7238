"""Fields of TDS that are no text: numbers and moments in bytes, texts with a length in front or X'00' behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from engine.errors import ConfigurationException
from parsers.charsets import ccsid as characters
from parsers.mrm.cwf.fields import MAKERS
from parsers.mrm.cwf.properties import CwfField, CwfFormat, Form, Kept
from parsers.mrm.dates import Moments
from parsers.mrm.model import WIDTHS, Field, SimpleType
from parsers.mrm.simple_values import Stored, as_text, garbled, integer_of, number_of, unfit
from parsers.mrm.tds.properties import TdsField
from parsers.mrm.tds.scanning import Coding

_NUMBERS: Final = frozenset({"integer", "decimal", "float"})
_FAMILIES: Final = {
    **dict.fromkeys(("integer", "externalDecimal", "float"), _NUMBERS),
    "packedDecimal": _NUMBERS | {"dateTime"},
    **dict.fromkeys(("timeSeconds", "timeMilliseconds"), frozenset({"dateTime"})),
}


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

    def refused(self, why: str) -> ConfigurationException:
        """A model that cannot be."""
        return ConfigurationException(f"{self.name}: {self.said.physical_type} {why}")


def _as_in_records(kept: InBytes, coding: Coding) -> Stored:
    """A number or a moment, which is kept as in a record of that encoding and CCSID."""
    said, kind, physical_type = kept.said, kept.type.kind, kept.said.physical_type
    if kept.type.family not in _FAMILIES[physical_type]:
        raise kept.refused(f"cannot keep a {kind}")
    if physical_type == "externalDecimal" and not characters.is_single_byte(coding.ccsid):
        raise kept.refused("takes characters of one byte")
    cwf = CwfField(
        physical_type,  # type: ignore[arg-type]  # a text is kept otherwise
        length=0 if physical_type.startswith("time") else said.length,
        length_reference=said.length_reference,
        signed=said.signed and WIDTHS.get(kind, (4, True))[1],
        sign_orientation=said.sign_orientation,
        virtual_decimal_point=said.virtual_decimal_point,
        date_time_format=kept.pattern,
    )
    settings, form = CwfFormat(century_window=kept.century), Form(coding.encoding, coding.ccsid)
    return MAKERS[physical_type](Kept(kept.name, kept.declared, cwf, settings, form))


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
        return Moments(kept.name, kept.type.kind, kept.pattern, kept.century).read(text)
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
    **dict.fromkeys(_FAMILIES, _as_in_records),
    "lengthEncodedString1": _length_encoded(1),
    "lengthEncodedString2": _length_encoded(2),
    "nullTerminatedString": _null_terminated,
}

"""Fields as they are to be stored in CWF: their models, their physical properties, the form of the record."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from engine.descriptor import UTF_8
from engine.errors import ConfigurationException
from parsers.charsets import ccsid as characters
from parsers.charsets.east_asian_ebcdic import DOUBLE
from parsers.mrm.cwf.declared import CwfField, CwfFormat
from parsers.mrm.dates import Moments
from parsers.mrm.model import Field, SimpleType

_NAMED_PADDING: Final = {"SPACE": " ", "NUL": "\0", "NULL": "\0"}
_DEFAULT_TYPES: Final = {
    **dict.fromkeys(("string", "dateTime", "duration"), "fixedLengthString"),
    **{name: name for name in ("integer", "boolean", "binary", "float")},
    "decimal": "externalDecimal",
}


class Form(NamedTuple):
    """The encoding and CCSID that a record is in; `exact` reads floats that no FLOAT tells apart as decimals."""

    encoding: int
    ccsid: int
    exact: bool = False


class Kept(NamedTuple):
    """A field whose storage is asked for: what it is called in errors, its model, and what CWF says of it."""

    what: str
    field: Field
    cwf: CwfField
    settings: CwfFormat
    form: Form

    @property
    def type(self) -> SimpleType:
        """The field's simple type."""
        assert isinstance(self.field.type, SimpleType)
        return self.field.type

    @property
    def physical_type(self) -> str:
        """Returns how it is stored."""
        return self.cwf.physical_type or _DEFAULT_TYPES[self.type.family]

    @property
    def ccsid(self) -> int:
        """The CCSID of its characters."""
        return self.cwf.ccsid or self.form.ccsid or UTF_8

    @property
    def order(self) -> Literal["big", "little"]:
        """The order of its bytes."""
        if self.cwf.byte_order:
            return "little" if self.cwf.byte_order == "littleEndian" else "big"
        return "little" if characters.is_little_endian(self.form.encoding) else "big"

    def refused(self, why: str) -> ConfigurationException:
        """A model that cannot be."""
        return ConfigurationException(f"{self.what}: {why}")


def moments_of(kept: Kept) -> Moments:
    """The dates and times of a field, as it or its set says how they are written."""
    pattern = kept.cwf.date_time_format or kept.settings.default_date_time_format
    kind = kept.type.kind
    if kept.type.family != "dateTime":
        raise kept.refused(f"a {kind} cannot be kept as {kept.physical_type}")
    return Moments(kept.what, kind, pattern, kept.settings.century_window)


def unit_of(kept: Kept) -> int:
    """The bytes of a character, 0 where that varies."""
    codec = characters.codec(kept.ccsid, kept.form.encoding).name
    if codec.startswith("utf-16") or kept.ccsid in DOUBLE:
        return 2
    return 1 if characters.is_charmap(kept.ccsid) else 0


def length_factor(kept: Kept) -> int:
    """The bytes that one of the length's units stands for, 0 where that varies."""
    if kept.cwf.length_units == "bytes":
        return 1
    if kept.cwf.length_units == "characterUnits":
        return 2 if unit_of(kept) == 2 else 1
    return unit_of(kept)


def padding_of(kept: Kept) -> str:
    """The character that fills the field up."""
    text = kept.cwf.padding_character
    if not text:
        return "0" if kept.type.family in {"integer", "decimal", "float"} else " "
    if text in _NAMED_PADDING:
        return _NAMED_PADDING[text]
    if text[:2].lower() == "0x" or text[:2].upper() == "X'":
        raw = bytes.fromhex(text[2:].strip("'"))
        return characters.decode(raw, kept.ccsid, kept.form.encoding, what=kept.what)
    text = text[1] if len(text) == 3 and text[0] == text[-1] and text[0] in "'\"" else text
    if len(text) != 1:
        raise kept.refused(f"the padding character is one character, SPACE, NUL or 0xHH, not {text}")
    return text


def justified_right(kept: Kept) -> bool:
    """Returns whether what is shorter than the field stands at its end."""
    if kept.cwf.justification:
        return kept.cwf.justification == "right"
    return kept.type.family in {"integer", "decimal", "float"}


def pad_bytes(kept: Kept) -> bytes:
    """Returns what fills the field up, in its CCSID."""
    text = padding_of(kept)
    if text == " " and kept.ccsid in DOUBLE:
        return characters.blank(kept.ccsid)
    return characters.encode(text, kept.ccsid, kept.form.encoding, what=kept.what)

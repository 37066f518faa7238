"""CWF, the Custom Wire Format: what a model may say of records, and the fields with it as they are to be stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, NamedTuple

from engine.dates.patterns import MomentError
from engine.descriptor import UTF_8
from engine.errors import ConfigurationException
from engine.node import Range, prop
from parsers.charsets import ccsid as characters
from parsers.charsets.east_asian_ebcdic import DOUBLE
from parsers.mrm.dates import Moments
from parsers.mrm.model import Field, SimpleType

CWF: Final = "CWF"

PhysicalType = Literal[
    "",
    "fixedLengthString",
    "lengthEncodedString1",
    "lengthEncodedString2",
    "nullTerminatedString",
    "integer",
    "packedDecimal",
    "externalDecimal",
    "float",
    "binary",
    "boolean",
    "timeSeconds",
    "timeMilliseconds",
]
LengthUnits = Literal["bytes", "characters", "characterUnits", "endOfBitstream"]
EncodingNull = Literal["nullPadFill", "nullLogicalValue", "nullLiteralValue", "nullLiteralFill"]
SignOrientation = Literal["leading", "trailing", "leadingSeparate", "trailingSeparate"]


@dataclass(frozen=True, slots=True)
class CwfFormat:
    """The properties of a CWF format for its whole message set."""

    boolean_true_value: str = prop("00000001", "The bytes of TRUE, in hexadecimal.")
    boolean_false_value: str = prop("00000000", "The bytes of FALSE, in hexadecimal.")
    boolean_null_value: str = prop("00000000", "The bytes of a boolean that is NULL, in hexadecimal.")
    packed_decimal_positive_code: Literal["C", "F"] = prop("C", "The sign of positive packed decimals.")
    byte_alignment_pad: str = prop("00", "The byte that is written where bytes are skipped, in hexadecimal.")
    truncate_fixed_length_strings: bool = prop(False, "Whether texts that are too long are cut, or refused.")
    default_date_time_format: str = prop("", "The format of dates and times; empty: as their logical types have it.")
    century_window: Annotated[int, Range(0, 99)] = prop(
        53, "Years of two digits below this one are of the century that begins in 2000."
    )


@dataclass(frozen=True, slots=True)
class CwfField:
    """The CWF properties of a field."""

    physical_type: PhysicalType = prop(
        "", "How it is stored; empty: as its logical type is by default (string, integer, externalDecimal, float ...)."
    )
    length: Annotated[int, Range(0, 2**31 - 1)] = prop(0, "Length Count: how long it is; 0: as the physical type is.")
    length_units: LengthUnits = prop("bytes", "What the length counts.")
    length_reference: str = prop("", "An earlier integer field that says how long this one is, by its path.")
    inclusive_length_reference: bool = prop(False, "Whether that length includes the field that says it.")
    justification: Literal["", "left", "right"] = prop(
        "", "Where text stands in its field; empty: numbers at the right, all else at the left."
    )
    padding_character: str = prop(
        "", "What fills a field up: a character, 0xHH for a byte, NUL or SPACE; empty: 0 for numbers, else SPACE."
    )
    signed: bool = prop(True, "Whether an integer or decimal may be negative.")
    sign_orientation: SignOrientation = prop("trailing", "Where an external decimal has its sign.")
    sign_ebcdic_custom: bool = prop(False, "Whether signs of external decimals in ASCII are those of EBCDIC.")
    virtual_decimal_point: Annotated[int, Range(-40, 40)] = prop(
        0, "How many of the digits stand behind the decimal point; negative: how many zeros follow them."
    )
    byte_alignment: Annotated[int, Range(1, 16)] = prop(1, "From the start of the message.")
    leading_skip_count: Annotated[int, Range(0, 999999)] = prop(0, "Bytes to skip in front, of the first occurrence.")
    trailing_skip_count: Annotated[int, Range(0, 999999)] = prop(0, "Bytes to skip behind each occurrence.")
    encoding_null: EncodingNull = prop("nullPadFill", "How NULL is represented, where the field may be NULL.")
    encoding_null_value: str = prop("", "The value or character that represents NULL.")
    date_time_format: str = prop("", "The format of a date or time; empty: as the set says.")
    ccsid: Annotated[int, Range(0, 65535)] = prop(0, "The CCSID of this field, where it is not the message's.")
    byte_order: Literal["", "bigEndian", "littleEndian"] = prop(
        "", "The order of this field's bytes, where it is not the message's."
    )
    float_format: Literal["", "ieee", "s390"] = prop("", "How this field is a float, where it is not as the message's.")


@dataclass(frozen=True, slots=True)
class CwfGroup:
    """The CWF properties of a field's group; a group among members is not aligned, and refused if it is to be."""

    byte_alignment: Annotated[int, Range(1, 16)] = prop(1, "From the start of the message.")


def unsized(cwf: CwfField) -> CwfField:
    """The properties of a text without those of its length, and of NULL."""
    return CwfField(
        padding_character=cwf.padding_character,
        justification=cwf.justification,
        date_time_format=cwf.date_time_format,
        ccsid=cwf.ccsid,
        byte_order=cwf.byte_order,
    )


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


def null_value_of(kept: Kept) -> Any:
    """The value that stands for NULL, as it is read; None where no value does."""
    said, family = kept.cwf.encoding_null_value, kept.type.family
    if kept.cwf.encoding_null != "nullLogicalValue" or not said:
        return None
    try:
        if family == "integer":
            return int(said)
        if family in {"decimal", "float"}:
            return Decimal(said) if family == "decimal" else float(said)
        if family == "binary":
            return bytes.fromhex(said)
        return moments_of(kept).read(said) if family == "dateTime" else said
    except (ValueError, ArithmeticError, MomentError) as error:
        raise kept.refused(f"its encodingNullValue {said!r} is no {kept.type.kind}") from error


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


def null_bytes_of(kept: Kept) -> Callable[[int], bytes | None]:
    """The bytes that stand for NULL in a field so long, where it has such bytes."""
    how, said = kept.cwf.encoding_null, kept.cwf.encoding_null_value
    pad = pad_bytes(kept)
    raw = characters.encode(said, kept.ccsid, kept.form.encoding, what=kept.what) if said else b""
    if how == "nullLiteralValue" and raw:
        return lambda length: raw if length <= 0 else (raw + pad * length)[:length]
    filling = pad if how == "nullPadFill" else raw if how == "nullLiteralFill" else b""
    return lambda length: (filling * length)[:length] if filling and length > 0 else None

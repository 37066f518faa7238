"""CWF, the Custom Wire Format: records as C and COBOL lay them out, and what a model may say of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from engine.node import Range, prop

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

"""TDS, the Tagged/Delimited String format: what a model may say of texts, and what messaging standards add."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from engine.node import Range, prop

EMPTY: Final = "<EMPTY>"  # says that there is none, where an empty text means: as usual

_CONTROLS: Final = (
    *("NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI"),
    *("DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US"),
)
MNEMONICS: Final[Mapping[str, str]] = {
    **{name: chr(code) for code, name in enumerate(_CONTROLS)},
    "TAB": "\t",
    "SP": " ",
    "SPACE": " ",
    "DEL": "\x7f",
    "NL": "\x85",
    "LT": "<",
    "GT": ">",
    "EDIFACT_CS": ":",
    "EDIFACT_DS": "+",
    "EDIFACT_ESC_CHAR": "?",
    "EDIFACT_GROUP_TERM": "'",
    "EDIFACT_DEC_NOTATION": ".",
    "EDIFACT_TAGDATA_SEP": "+",
    "X12_CS": ":",
    "X12_DS": "*",
    "X12_GROUP_TERM": "!",
    "X12_TAGDATA_SEP": "*",
    "HL7_FS": "|",
    "HL7_CS": "^",
    "HL7_RS": "~",
    "HL7_SCS": "&",
}
_MNEMONIC: Final = re.compile(r"<(?:U\+([0-9A-Fa-f]{4,6})|([A-Z][A-Z0-9_]*))>")


def expand(text: str) -> str:
    r"""Markup with its mnemonics replaced; what is no mnemonic stays as it is.

    >>> expand("<CR><LF>:"), expand("<X12_DS>"), expand("<U+0041>"), expand("<tag>")
    ('\r\n:', '*', 'A', '<tag>')
    """
    return "" if text == EMPTY else _MNEMONIC.sub(_expanded, text)


def _expanded(found: re.Match[str]) -> str:
    code, name = found.groups()
    if code is None:
        return MNEMONICS.get(name, found[0])
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else found[0]


@dataclass(frozen=True, slots=True)
class Standard:
    """The defaults of a messaging standard where a model says nothing."""

    separation: str = "taggedDelimited"
    group_indicator: str = ""
    group_terminator: str = ""
    delimiter: str = ""
    tag_data_separator: str = ""
    repeating_element_delimiter: str = ""
    escape: str = ""
    quote: str = ""
    reserved: str = ""
    decimal_point: str = "."
    trim: str = "noTrim"
    ccsid: int = 367
    strict: bool = False
    century: int = 53
    true: str = "1"
    false: str = "0"


PLAIN: Final = Standard()
STANDARDS: Final[Mapping[str, Standard]] = {
        "ACORD AL3": Standard("fixedLengthAL3", strict=True, true="Y", false="N"),
        "CSV": Standard("allElementsDelimited", group_terminator="", delimiter=",", quote='"'),
        "EDIFACT": Standard(
            "taggedDelimited", "", "'", ":", "+", "", escape="?", reserved=":+?'", ccsid=367, strict=True
        ),
        "HL7": Standard("taggedDelimited", "", "\r", "|", "|", "~", ccsid=367),
        "SWIFT": Standard(
            "taggedDelimited", "\r\n:", "\r\n-", "\r\n:", ":", decimal_point=",", trim="both", ccsid=37,
            strict=True, century=80,
        ),
        "X12": Standard("taggedDelimited", "", "!", ":", ccsid=367, strict=True),
    }  # fmt: skip


MessagingStandard = Literal[
    "UNKNOWN", "UserDefinedText", "UserDefinedMixed", "ACORD AL3", "CSV", "EDIFACT", "HL7", "SWIFT", "TLOG", "X12"
]
Separation = Literal[
    "",
    "fixedLength",
    "fixedLengthAL3",
    "taggedDelimited",
    "taggedFixedLength",
    "taggedEncodedLength",
    "allElementsDelimited",
    "variableLengthElementsDelimited",
    "useDataPattern",
    "undefined",
]
Suppression = Literal["", "endOfType", "never"]
Trim = Literal["", "noTrim", "leading", "trailing", "both"]
PhysicalType = Literal[
    "text",
    "integer",
    "packedDecimal",
    "externalDecimal",
    "float",
    "timeSeconds",
    "timeMilliseconds",
    "lengthEncodedString1",
    "lengthEncodedString2",
    "nullTerminatedString",
]
EncodingNull = Literal["nullPadFill", "nullLogicalValue", "nullLiteralValue", "nullLiteralFill", "nullEmpty"]


@dataclass(frozen=True, slots=True)
class TdsFormat:
    """The properties of a TDS format for its whole message set; empty texts: as the messaging standard has them.

    Texts may hold mnemonics, such as <CR> or <EDIFACT_DS>; <EMPTY> alone says that there is none.
    """

    messaging_standard: MessagingStandard = prop("UNKNOWN", "The standard that the messages follow.")
    default_ccsid: Annotated[int, Range(0, 65535)] = prop(0, "The CCSID of messages; 0: that of the standard.")
    group_indicator: str = prop("", "What begins a group.")
    group_terminator: str = prop("", "What ends a group.")
    delimiter: str = prop("", "What stands between elements.")
    suppress_absent_element_delimiters: Suppression = prop(
        "", "Whether delimiters of absent elements at a group's end are left out; empty: endOfType."
    )
    tag_data_separator: str = prop("", "What stands between a tag and its data.")
    tag_length: Annotated[int, Range(0, 999999)] = prop(0, "The length of tags that nothing separates from their data.")
    length_of_encoded_length: Annotated[int, Range(0, 999999)] = prop(0, "The length of the field for lengths.")
    extra_chars_in_encoded_length: Annotated[int, Range(0, 999999)] = prop(
        0, "How many characters more than the data a length counts."
    )
    escape_character: str = prop("", "What takes from the character behind it its meaning as markup.")
    quote_character: str = prop("", "What encloses data that holds markup.")
    reserved_characters: str = prop("", "Characters that are escaped or quoted in data.")
    decimal_point: str = prop("", "The decimal point of numbers.")
    trim_fixed_length_string: Trim = prop("", "From which end padding is taken off fixed-length texts on input.")
    truncate_on_output: bool = prop(False, "Whether data that is too long for its length is cut, or refused.")
    strict_numeric_checking: Literal["", "true", "false"] = prop(
        "", "Whether numbers with blanks around them, or with more decimals than their precision, are refused."
    )
    boolean_true_representation: str = prop("", "The text of TRUE; empty: as the standard has it, 1 or Y.")
    boolean_false_representation: str = prop("", "The text of FALSE; empty: as the standard has it, 0 or N.")
    boolean_null_representation: str = prop("", "The text of a boolean that is NULL; empty: that of FALSE.")
    default_date_time_format: str = prop("", "The format of dates and times; empty: as their logical types have it.")
    century_window: Annotated[int, Range(-1, 99)] = prop(
        -1, "Years of two digits below this one are of the century that begins in 2000; -1: as the standard has it."
    )
    time_zone: str = prop("", "The zone of times that name none, such as +01:00; empty: none.")


@dataclass(frozen=True, slots=True)
class TdsGroup:
    """The TDS properties of a group or complex type; empty texts and -1: as the format says for the set."""

    data_element_separation: Separation = prop("", "How elements are told from each other.")
    group_indicator: str = prop("", "What begins the group.")
    group_terminator: str = prop("", "What ends the group.")
    delimiter: str = prop("", "What stands between its elements.")
    suppress_absent_element_delimiters: Suppression = prop("", "As for the set.")
    observe_element_length: bool = prop(False, "Whether elements are padded and cut to their lengths.")
    tag_data_separator: str = prop("", "What stands between a tag and its data.")
    tag_length: Annotated[int, Range(-1, 999999)] = prop(-1, "The length of tags.")
    length_of_encoded_length: Annotated[int, Range(-1, 999999)] = prop(-1, "The length of the field for lengths.")
    extra_chars_in_encoded_length: Annotated[int, Range(-1, 999999)] = prop(-1, "As for the set.")


@dataclass(frozen=True, slots=True)
class TdsField:
    """The TDS properties of a field."""

    physical_type: PhysicalType = prop("text", "How it is kept; what is no text is as long as this and `length` say.")
    tag: str = prop("", "The tag in front of its data; unique in the set.")
    data_pattern: str = prop("", "The regular expression that its data matches.")
    repeating_element_delimiter: str = prop("", "What stands between its occurrences.")
    length: Annotated[int, Range(0, 2**31 - 1)] = prop(0, "How long it is; 0: as long as its data.")
    length_units: Literal["characters", "bytes"] = prop("characters", "What the length counts.")
    length_reference: str = prop("", "An earlier integer field that says how long this one is, by its path.")
    inclusive_length_reference: bool = prop(False, "Whether that length includes the field that says it.")
    justification: Literal["", "left", "right"] = prop("", "Empty: numbers at the right, all else at the left.")
    padding_character: str = prop("", "What fills it up; empty: 0 for numbers, else SPACE.")
    signed: bool = prop(True, "Whether a number may be negative.")
    sign_orientation: Literal["leading", "trailing", "leadingSeparate", "trailingSeparate"] = prop(
        "leading", "Where a number has its sign; that of an external decimal is in a digit, or separate."
    )
    positive_sign: str = prop("", "What is written for the sign of positive numbers.")
    virtual_decimal_point: Annotated[int, Range(-40, 40)] = prop(0, "How many digits stand behind the decimal point.")
    precision: Annotated[int, Range(-1, 40)] = prop(-1, "How many decimal digits are written; -1: all there are.")
    encoding_null: EncodingNull = prop(
        "nullEmpty", "How NULL is represented, where the field may be NULL; nullEmpty: as an empty text."
    )
    encoding_null_value: str = prop("", "The value or character that represents NULL.")
    date_time_format: str = prop("", "The format of a date or time; empty: as the set says.")

"""Messaging standards: what markup each has where a model says nothing, and the mnemonics for markup."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

EMPTY: Final = "<EMPTY>"  # says that there is none, where an empty text means: as usual

_CONTROLS: Final = (
    *("NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI"),
    *("DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US"),
)
MNEMONICS: Final[Mapping[str, str]] = MappingProxyType(
    {
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
)
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


PLAIN: Final = Standard()
STANDARDS: Final[Mapping[str, Standard]] = MappingProxyType(
    {
        "ACORD AL3": Standard("fixedLengthAL3", strict=True),
        "CSV": Standard("allElementsDelimited", group_terminator="", delimiter=",", quote='"'),
        "EDIFACT": Standard(
            "taggedDelimited", "", "'", "+", "+", "", escape="?", reserved=":+?'", ccsid=367, strict=True
        ),
        "HL7": Standard("taggedDelimited", "", "\r", "|", "|", "~", ccsid=367, strict=True),
        "SWIFT": Standard(
            "taggedDelimited", "\r\n:", "\r\n-", "\r\n:", ":", decimal_point=",", trim="both", ccsid=37,
            strict=True, century=80,
        ),
        "X12": Standard("taggedDelimited", "", "!", "*", "*", ccsid=367, strict=True),
    }
)  # fmt: skip

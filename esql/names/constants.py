"""Constants: those for types of elements, such as XMLNSC.Attribute, with their numbers; and those of MQ by name.

Constants for types of elements stand on the parsers that own them; those without a domain are of this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.parser import parser_catalog
from engine.tree.source import KIND, NAME, NAME_VALUE, VALUE, Domain
from engine.tree.step import Types

PLAIN: Final[Mapping[str, int]] = {"Name": NAME, "Value": VALUE, "NameValue": NAME_VALUE}
_EXACT: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class ElementType:
    """A constant for the type of an element, such as XMLNSC.Attribute; Name, Value and NameValue have no domain."""

    domain: str
    name: str

    @property
    def number(self) -> int:
        """The number that it stands for."""
        return constants(self.domain)[self.name]

    @property
    def types(self) -> Types:
        """The types that a path with it accepts: a kind for plain ones, else as its parser says."""
        exact = ((_EXACT if self.domain else KIND, self.number),)
        parser = owner(self.domain) if self.domain else None
        return exact if parser is None else parser.accepted.get(self.name, exact)


def owner(prefix: str) -> Domain | None:
    """Returns the parser whose constants stand behind a prefix, in whatever case that is written.

    >>> owner("soap").name
    'XMLNSC'
    """
    folded = prefix.upper()
    for name in parser_catalog:
        parser = parser_catalog.find(name)
        if parser.constants and folded in {known.upper() for known in (name, *parser.lends)}:
            return parser
    return None


def constants(domain: str) -> Mapping[str, int]:
    """Returns the constants of a domain, or those that stand alone: none where no parser has any of that name."""
    found = owner(domain) if domain else None
    return PLAIN if not domain else {} if found is None else found.constants


def element_type(domain: str, name: str) -> ElementType | None:
    """The constant of a name, in whatever case it is written; None where the domain has none of that name.

    >>> element_type("", "namevalue").number == NAME_VALUE
    True
    """
    title = next((known for known in constants(domain) if known.lower() == name.lower()), None)
    return None if title is None else ElementType(domain.upper(), title)


def types_of_number(number: int) -> Types:
    """Returns what a type clause with a number accepts, where it was computed at run time.

    >>> types_of_number(NAME) == ((KIND, NAME),)
    True
    """
    return ((_EXACT if number & ~KIND else KIND, number),)


@dataclass(frozen=True, slots=True)
class NamedConstant:
    """A constant of MQ or of the OPTIONS of ASBITSTREAM and PARSE, such as MQFMT_STRING and RootBitStream."""

    name: str
    value: int | str | bytes

    @property
    def type(self) -> str:
        """Its type in ESQL."""
        return {int: "INTEGER", str: "CHARACTER", bytes: "BLOB"}[type(self.value)]


_FORMATS = {
    "NONE": "", "ADMIN": "MQADMIN", "CHANNEL_COMPLETED": "MQCHCOM", "CICS": "MQCICS", "COMMAND_1": "MQCMD1",
    "COMMAND_2": "MQCMD2", "DEAD_LETTER_HEADER": "MQDEAD", "DIST_HEADER": "MQHDIST", "EVENT": "MQEVENT",
    "IMS": "MQIMS", "IMS_VAR_STRING": "MQIMSVS", "MD_EXTENSION": "MQHMDE", "PCF": "MQPCF", "REF_MSG_HEADER": "MQHREF",
    "RF_HEADER": "MQHRF", "RF_HEADER_1": "MQHRF", "RF_HEADER_2": "MQHRF2", "STRING": "MQSTR", "TRIGGER": "MQTRIG",
    "WORK_INFO_HEADER": "MQHWIH", "XMIT_Q_HEADER": "MQXMIT",
}  # fmt: skip
_STRUCTURES = ("MD", "MDE", "RFH", "DLH", "CIH", "IIH", "DH", "RMH", "TM", "WIH", "XQH", "GMO", "PMO", "OD")
_NUMBERS = {
    "MQAT": {
        "UNKNOWN": -1, "NO_CONTEXT": 0, "CICS": 1, "MVS": 2, "OS390": 2, "ZOS": 2, "IMS": 3, "OS2": 4, "DOS": 5,
        "AIX": 6, "UNIX": 6, "QMGR": 7, "OS400": 8, "WINDOWS": 9, "CICS_VSE": 10, "WINDOWS_NT": 11, "VMS": 12,
        "GUARDIAN": 13, "NSK": 13, "VOS": 14, "IMS_BRIDGE": 19, "XCF": 20, "CICS_BRIDGE": 21, "NOTES_AGENT": 22,
        "USER": 25, "BROKER": 26, "JAVA": 28, "DQM": 29, "CHANNEL_INITIATOR": 30, "DEFAULT": 6, "USER_FIRST": 65536,
        "USER_LAST": 999999999,
    },
    "MQCCSI": {"DEFAULT": 0, "Q_MGR": 0, "EMBEDDED": -1, "INHERIT": -2, "UNDEFINED": 0},
    "MQEI": {"UNLIMITED": -1},
    "MQENC": {
        "INTEGER_UNDEFINED": 0, "DECIMAL_UNDEFINED": 0, "FLOAT_UNDEFINED": 0, "INTEGER_MASK": 0x00F,
        "DECIMAL_MASK": 0x0F0, "FLOAT_MASK": 0xF00, "INTEGER_NORMAL": 0x001, "INTEGER_REVERSED": 0x002,
        "DECIMAL_NORMAL": 0x010, "DECIMAL_REVERSED": 0x020, "FLOAT_IEEE_NORMAL": 0x100, "FLOAT_IEEE_REVERSED": 0x200,
        "FLOAT_S390": 0x300, "NATIVE": 0x222,
    },
    "MQFB": {
        "NONE": 0, "SYSTEM_FIRST": 1, "SYSTEM_LAST": 65535, "APPL_FIRST": 65536, "APPL_LAST": 999999999, "QUIT": 256,
        "EXPIRATION": 258, "COA": 259, "COD": 260, "CHANNEL_COMPLETED": 262, "CHANNEL_FAIL_RETRY": 263,
        "CHANNEL_FAIL": 264, "APPL_CANNOT_BE_STARTED": 265, "TM_ERROR": 266, "APPL_TYPE_ERROR": 267,
        "STOPPED_BY_MSG_EXIT": 268, "XMIT_Q_MSG_ERROR": 271, "DATA_LENGTH_ZERO": 291, "DATA_LENGTH_NEGATIVE": 292,
        "DATA_LENGTH_TOO_BIG": 293, "BUFFER_OVERFLOW": 294, "LENGTH_OFF_BY_ONE": 295, "IIH_ERROR": 296,
        "NOT_AUTHORIZED_FOR_IMS": 298, "IMS_ERROR": 300, "PAN": 275, "NAN": 276,
    },
    "MQGMO": {
        "NONE": 0, "NO_WAIT": 0, "WAIT": 1, "SYNCPOINT": 2, "NO_SYNCPOINT": 4, "BROWSE_FIRST": 16, "BROWSE_NEXT": 32,
        "ACCEPT_TRUNCATED_MSG": 64, "SYNCPOINT_IF_PERSISTENT": 4096, "FAIL_IF_QUIESCING": 8192, "CONVERT": 16384,
        "LOGICAL_ORDER": 32768, "COMPLETE_MSG": 65536, "ALL_MSGS_AVAILABLE": 131072,
    },
    "MQMD": {"VERSION_1": 1, "VERSION_2": 2, "CURRENT_VERSION": 2},
    "MQMF": {
        "NONE": 0, "SEGMENTATION_INHIBITED": 0, "SEGMENTATION_ALLOWED": 1, "SEGMENT": 2, "LAST_SEGMENT": 4,
        "MSG_IN_GROUP": 8, "LAST_MSG_IN_GROUP": 16,
    },
    "MQMO": {
        "NONE": 0, "MATCH_MSG_ID": 1, "MATCH_CORREL_ID": 2, "MATCH_GROUP_ID": 4, "MATCH_MSG_SEQ_NUMBER": 8,
        "MATCH_OFFSET": 16,
    },
    "MQMT": {
        "SYSTEM_FIRST": 1, "SYSTEM_LAST": 65535, "APPL_FIRST": 65536, "APPL_LAST": 999999999, "REQUEST": 1,
        "REPLY": 2, "REPORT": 4, "DATAGRAM": 8,
    },
    "MQOL": {"UNDEFINED": -1},
    "MQPER": {"NOT_PERSISTENT": 0, "PERSISTENT": 1, "PERSISTENCE_AS_Q_DEF": 2},
    "MQPRI": {"PRIORITY_AS_Q_DEF": -1},
    "MQRFH": {"VERSION_1": 1, "VERSION_2": 2},
    "MQRO": {
        "NONE": 0, "NEW_MSG_ID": 0, "COPY_MSG_ID_TO_CORREL_ID": 0, "DEAD_LETTER_Q": 0, "PAN": 1, "NAN": 2,
        "ACTIVITY": 4, "PASS_CORREL_ID": 64, "PASS_MSG_ID": 128, "COA": 256, "COA_WITH_DATA": 768,
        "COA_WITH_FULL_DATA": 1792, "COD": 2048, "COD_WITH_DATA": 6144, "COD_WITH_FULL_DATA": 14336,
        "PASS_DISCARD_AND_EXPIRY": 16384, "EXPIRATION": 2097152, "EXPIRATION_WITH_DATA": 6291456,
        "EXPIRATION_WITH_FULL_DATA": 14680064, "EXCEPTION": 16777216, "EXCEPTION_WITH_DATA": 50331648,
        "EXCEPTION_WITH_FULL_DATA": 117440512, "DISCARD_MSG": 134217728,
    },
}  # fmt: skip
# Terminals of a node, with the numbers that PROPAGATE may give instead.
TERMINAL_NUMBERS: Final[Mapping[str, int]] = {
    "failure": -1, "out": 0, "out1": 1, "out2": 2, "out3": 3, "out4": 4, "nowhere": -2,
}  # fmt: skip
_IDENTIFIERS = ("MQMI_NONE", "MQCI_NONE", "MQGI_NONE")
MQ_CONSTANTS = (
    *(NamedConstant(f"MQFMT_{name}", text.ljust(8)) for name, text in _FORMATS.items()),
    *(NamedConstant(f"{group}_{name}", value) for group, known in _NUMBERS.items() for name, value in known.items()),
    *(NamedConstant(f"MQ{name}_STRUC_ID", name.ljust(4)) for name in _STRUCTURES),
    *(NamedConstant(name, bytes(24)) for name in _IDENTIFIERS),
    NamedConstant("MQCI_NEW_SESSION", b"AMQ!NEW_SESSION_CORRELID"),
    NamedConstant("MQACT_NONE", bytes(32)),
)

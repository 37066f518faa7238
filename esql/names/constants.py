"""Constants: those for types of elements, such as XMLNSC.Attribute, with their numbers; and those of MQ by name.

Constants for types of elements stand on the parsers that own them; those without a domain are of this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from engine.parser import parser_catalog
from engine.tree.source import KIND, NAME, NAME_VALUE, VALUE, Domain
from engine.tree.step import Types

PLAIN: Final[Mapping[str, int]] = MappingProxyType({"Name": NAME, "Value": VALUE, "NameValue": NAME_VALUE})
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
class MQConstant:
    """A constant of MQ, such as MQFMT_STRING."""

    name: str
    value: int | str | bytes

    @property
    def type(self) -> str:
        """Its type in ESQL."""
        return {int: "INTEGER", str: "CHARACTER", bytes: "BLOB"}[type(self.value)]


_FORMATS = {
    "NONE": "",
    "ADMIN": "MQADMIN",
    "CHANNEL_COMPLETED": "MQCHCOM",
    "CICS": "MQCICS",
    "COMMAND_1": "MQCMD1",
    "COMMAND_2": "MQCMD2",
    "DEAD_LETTER_HEADER": "MQDEAD",
    "DIST_HEADER": "MQHDIST",
    "EVENT": "MQEVENT",
    "IMS": "MQIMS",
    "IMS_VAR_STRING": "MQIMSVS",
    "MD_EXTENSION": "MQHMDE",
    "PCF": "MQPCF",
    "REF_MSG_HEADER": "MQHREF",
    "RF_HEADER": "MQHRF",
    "RF_HEADER_1": "MQHRF",
    "RF_HEADER_2": "MQHRF2",
    "STRING": "MQSTR",
    "TRIGGER": "MQTRIG",
    "WORK_INFO_HEADER": "MQHWIH",
    "XMIT_Q_HEADER": "MQXMIT",
}
_STRUCTURES = ("MD", "MDE", "RFH", "DLH", "CIH", "IIH", "DH", "RMH", "TM", "WIH", "XQH", "GMO", "PMO", "OD")
_NUMBERS = {
    "MQAT_UNKNOWN": -1,
    "MQAT_NO_CONTEXT": 0,
    "MQAT_CICS": 1,
    "MQAT_MVS": 2,
    "MQAT_OS390": 2,
    "MQAT_ZOS": 2,
    "MQAT_IMS": 3,
    "MQAT_OS2": 4,
    "MQAT_DOS": 5,
    "MQAT_AIX": 6,
    "MQAT_UNIX": 6,
    "MQAT_QMGR": 7,
    "MQAT_OS400": 8,
    "MQAT_WINDOWS": 9,
    "MQAT_CICS_VSE": 10,
    "MQAT_WINDOWS_NT": 11,
    "MQAT_VMS": 12,
    "MQAT_GUARDIAN": 13,
    "MQAT_NSK": 13,
    "MQAT_VOS": 14,
    "MQAT_IMS_BRIDGE": 19,
    "MQAT_XCF": 20,
    "MQAT_CICS_BRIDGE": 21,
    "MQAT_NOTES_AGENT": 22,
    "MQAT_USER": 25,
    "MQAT_BROKER": 26,
    "MQAT_JAVA": 28,
    "MQAT_DQM": 29,
    "MQAT_CHANNEL_INITIATOR": 30,
    "MQAT_DEFAULT": 6,
    "MQAT_USER_FIRST": 65536,
    "MQAT_USER_LAST": 999999999,
    "MQCCSI_DEFAULT": 0,
    "MQCCSI_Q_MGR": 0,
    "MQCCSI_EMBEDDED": -1,
    "MQCCSI_INHERIT": -2,
    "MQEI_UNLIMITED": -1,
    "MQCCSI_UNDEFINED": 0,
    "MQENC_INTEGER_UNDEFINED": 0,
    "MQENC_DECIMAL_UNDEFINED": 0,
    "MQENC_FLOAT_UNDEFINED": 0,
    "MQENC_INTEGER_MASK": 0x00F,
    "MQENC_DECIMAL_MASK": 0x0F0,
    "MQENC_FLOAT_MASK": 0xF00,
    "MQENC_INTEGER_NORMAL": 0x001,
    "MQENC_INTEGER_REVERSED": 0x002,
    "MQENC_DECIMAL_NORMAL": 0x010,
    "MQENC_DECIMAL_REVERSED": 0x020,
    "MQENC_FLOAT_IEEE_NORMAL": 0x100,
    "MQENC_FLOAT_IEEE_REVERSED": 0x200,
    "MQENC_FLOAT_S390": 0x300,
    "MQENC_NATIVE": 0x222,
    "MQFB_NONE": 0,
    "MQFB_SYSTEM_FIRST": 1,
    "MQFB_SYSTEM_LAST": 65535,
    "MQFB_APPL_FIRST": 65536,
    "MQFB_APPL_LAST": 999999999,
    "MQFB_QUIT": 256,
    "MQFB_EXPIRATION": 258,
    "MQFB_COA": 259,
    "MQFB_COD": 260,
    "MQFB_CHANNEL_COMPLETED": 262,
    "MQFB_CHANNEL_FAIL_RETRY": 263,
    "MQFB_CHANNEL_FAIL": 264,
    "MQFB_APPL_CANNOT_BE_STARTED": 265,
    "MQFB_TM_ERROR": 266,
    "MQFB_APPL_TYPE_ERROR": 267,
    "MQFB_STOPPED_BY_MSG_EXIT": 268,
    "MQFB_XMIT_Q_MSG_ERROR": 271,
    "MQFB_DATA_LENGTH_ZERO": 291,
    "MQFB_DATA_LENGTH_NEGATIVE": 292,
    "MQFB_DATA_LENGTH_TOO_BIG": 293,
    "MQFB_BUFFER_OVERFLOW": 294,
    "MQFB_LENGTH_OFF_BY_ONE": 295,
    "MQFB_IIH_ERROR": 296,
    "MQFB_NOT_AUTHORIZED_FOR_IMS": 298,
    "MQFB_IMS_ERROR": 300,
    "MQFB_PAN": 275,
    "MQFB_NAN": 276,
    "MQGMO_NONE": 0,
    "MQGMO_NO_WAIT": 0,
    "MQGMO_WAIT": 1,
    "MQGMO_SYNCPOINT": 2,
    "MQGMO_NO_SYNCPOINT": 4,
    "MQGMO_BROWSE_FIRST": 16,
    "MQGMO_BROWSE_NEXT": 32,
    "MQGMO_ACCEPT_TRUNCATED_MSG": 64,
    "MQGMO_SYNCPOINT_IF_PERSISTENT": 4096,
    "MQGMO_FAIL_IF_QUIESCING": 8192,
    "MQGMO_CONVERT": 16384,
    "MQGMO_LOGICAL_ORDER": 32768,
    "MQGMO_COMPLETE_MSG": 65536,
    "MQGMO_ALL_MSGS_AVAILABLE": 131072,
    "MQMD_VERSION_1": 1,
    "MQMD_VERSION_2": 2,
    "MQMD_CURRENT_VERSION": 2,
    "MQMF_NONE": 0,
    "MQMF_SEGMENTATION_INHIBITED": 0,
    "MQMF_SEGMENTATION_ALLOWED": 1,
    "MQMF_SEGMENT": 2,
    "MQMF_LAST_SEGMENT": 4,
    "MQMF_MSG_IN_GROUP": 8,
    "MQMF_LAST_MSG_IN_GROUP": 16,
    "MQMO_NONE": 0,
    "MQMO_MATCH_MSG_ID": 1,
    "MQMO_MATCH_CORREL_ID": 2,
    "MQMO_MATCH_GROUP_ID": 4,
    "MQMO_MATCH_MSG_SEQ_NUMBER": 8,
    "MQMO_MATCH_OFFSET": 16,
    "MQMT_SYSTEM_FIRST": 1,
    "MQMT_SYSTEM_LAST": 65535,
    "MQMT_APPL_FIRST": 65536,
    "MQMT_APPL_LAST": 999999999,
    "MQMT_REQUEST": 1,
    "MQMT_REPLY": 2,
    "MQMT_REPORT": 4,
    "MQMT_DATAGRAM": 8,
    "MQOL_UNDEFINED": -1,
    "MQPER_NOT_PERSISTENT": 0,
    "MQPER_PERSISTENT": 1,
    "MQPER_PERSISTENCE_AS_Q_DEF": 2,
    "MQPRI_PRIORITY_AS_Q_DEF": -1,
    "MQRFH_VERSION_1": 1,
    "MQRFH_VERSION_2": 2,
    "MQRO_NONE": 0,
    "MQRO_NEW_MSG_ID": 0,
    "MQRO_COPY_MSG_ID_TO_CORREL_ID": 0,
    "MQRO_DEAD_LETTER_Q": 0,
    "MQRO_PAN": 1,
    "MQRO_NAN": 2,
    "MQRO_ACTIVITY": 4,
    "MQRO_PASS_CORREL_ID": 64,
    "MQRO_PASS_MSG_ID": 128,
    "MQRO_COA": 256,
    "MQRO_COA_WITH_DATA": 768,
    "MQRO_COA_WITH_FULL_DATA": 1792,
    "MQRO_COD": 2048,
    "MQRO_COD_WITH_DATA": 6144,
    "MQRO_COD_WITH_FULL_DATA": 14336,
    "MQRO_PASS_DISCARD_AND_EXPIRY": 16384,
    "MQRO_EXPIRATION": 2097152,
    "MQRO_EXPIRATION_WITH_DATA": 6291456,
    "MQRO_EXPIRATION_WITH_FULL_DATA": 14680064,
    "MQRO_EXCEPTION": 16777216,
    "MQRO_EXCEPTION_WITH_DATA": 50331648,
    "MQRO_EXCEPTION_WITH_FULL_DATA": 117440512,
    "MQRO_DISCARD_MSG": 134217728,
}
_IDENTIFIERS = ("MQMI_NONE", "MQCI_NONE", "MQGI_NONE")
MQ_CONSTANTS = (
    *(MQConstant(f"MQFMT_{name}", text.ljust(8)) for name, text in _FORMATS.items()),
    *(MQConstant(name, value) for name, value in _NUMBERS.items()),
    *(MQConstant(f"MQ{name}_STRUC_ID", name.ljust(4)) for name in _STRUCTURES),
    *(MQConstant(name, bytes(24)) for name in _IDENTIFIERS),
    MQConstant("MQCI_NEW_SESSION", b"AMQ!NEW_SESSION_CORRELID"),
    MQConstant("MQACT_NONE", bytes(32)),
)

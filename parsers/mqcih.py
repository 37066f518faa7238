"""MQCIH, the CICS information header: what the CICS bridge is told, and says, of a transaction or program."""

from __future__ import annotations

from typing import Final

from engine.parser import parser
from parsers.headers.fields import byte, char, long
from parsers.headers.fixed_header import FixedHeader
from parsers.headers.layout import ANNOUNCING, lay_out

_ONLY: Final = 0x111  # MQCUOWC_ONLY
_AS_DEFAULT: Final = -2  # MQCGWI_DEFAULT
_PROGRAM: Final = 1  # MQCLT_PROGRAM
_AS_INPUT: Final = -1  # MQCODL_AS_INPUT

# Encoding and CodedCharSetId are reserved: IBM asks for zeros, and what follows is in the form of the header itself.
LAYOUT: Final = lay_out(
    "MQCIH",
    "CIH ",
    (
        long("StrucLength"),
        *ANNOUNCING,
        long("ReturnCode"),
        long("CompCode"),
        long("Reason"),
        long("UOWControl", _ONLY),
        long("GetWaitInterval", _AS_DEFAULT),
        long("LinkType", _PROGRAM),
        long("OutputDataLength", _AS_INPUT),
        long("FacilityKeepTime"),
        long("ADSDescriptor"),
        long("ConversationalTask"),
        long("TaskEndStatus"),
        byte("Facility", 8),
        char("Function", 4),
        char("AbendCode", 4),
        char("Authenticator", 8),
        char("Reserved1", 8),
        char("ReplyToFormat", 8),
        char("RemoteSysId", 4),
        char("RemoteTransId", 4),
        char("TransactionId", 4),
        char("FacilityLike", 4),
        char("AttentionId", 4),
        char("StartCode", 4),
        char("CancelCode", 4),
        char("NextTransactionId", 4),
        char("Reserved2", 8),
        char("Reserved3", 8),
    ),
    (
        long("CursorPosition"),
        long("ErrorOffset"),
        long("InputItem"),
        long("Reserved4"),
    ),
    announces=("Format",),
)


@parser
class MqCih(FixedHeader):
    """The CICS information header: 164 bytes in version 1, 180 in version 2."""

    __slots__ = ()
    name = "MQCIH"
    formats = ("MQCICS",)
    layout = LAYOUT

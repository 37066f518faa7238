"""MQIIH, the IMS information header: what the IMS bridge is told, and says, of a transaction."""

from __future__ import annotations

from typing import Final

from engine.parser import parser
from parsers.headers.fields import byte, char, long
from parsers.headers.fixed_header import FixedHeader
from parsers.headers.layout import ANNOUNCING, lay_out

# Encoding and CodedCharSetId are reserved: IBM asks for zeros, and what follows is in the form of the header itself.
LAYOUT: Final = lay_out(
    "MQIIH",
    "IIH ",
    (
        long("StrucLength"),
        *ANNOUNCING,
        char("LTermOverride", 8),
        char("MFSMapName", 8),
        char("ReplyToFormat", 8),
        char("Authenticator", 8),
        byte("TranInstanceId", 16),
        char("TranState", 1),
        char("CommitMode", 1, "0"),
        char("SecurityScope", 1, "C"),
        char("Reserved", 1),
    ),
    announces=("Format",),
)


@parser
class MqIih(FixedHeader):
    """The IMS information header of 84 bytes; MQIMSVS announces an IMS message without one."""

    __slots__ = ()
    name = "MQIIH"
    formats = ("MQIMS",)
    layout = LAYOUT

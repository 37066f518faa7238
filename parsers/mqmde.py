"""MQMDE, the message descriptor extension: what version 2 of an MQMD has, beside one of version 1."""

from __future__ import annotations

from typing import Final

from engine.parser import parser
from parsers.headers.fields import byte, long
from parsers.headers.fixed_header import FixedHeader
from parsers.headers.layout import ANNOUNCING, lay_out

LAYOUT: Final = lay_out(
    "MQMDE",
    "MDE ",
    (
        long("StrucLength"),
        *ANNOUNCING,
        byte("GroupId", 24),
        long("MsgSeqNumber", 1),
        long("Offset"),
        long("MsgFlags"),
        long("OriginalLength", -1),
    ),
    first=2,
)


@parser
class MqMde(FixedHeader):
    """The message descriptor extension of 72 bytes; its only version is 2."""

    __slots__ = ()
    name = "MQMDE"
    formats = ("MQHMDE",)
    layout = LAYOUT

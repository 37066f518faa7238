"""MQDLH, the dead-letter header: why a message could not be delivered, and where it was to go."""

from __future__ import annotations

from typing import Final

from engine.parser import parser
from parsers.headers.fields import char, long, put_date, put_time
from parsers.headers.fixed_header import FixedHeader
from parsers.headers.layout import lay_out

LAYOUT: Final = lay_out(
    "MQDLH",
    "DLH ",
    (
        long("Reason"),
        char("DestQName", 48),
        char("DestQMgrName", 48),
        long("Encoding"),
        long("CodedCharSetId"),
        char("Format", 8),
        long("PutApplType"),
        char("PutApplName", 28),
        put_date("PutDate"),
        put_time("PutTime"),
    ),
)


@parser
class MqDlh(FixedHeader):
    """The dead-letter header of 172 bytes."""

    __slots__ = ()
    name = "MQDLH"
    formats = ("MQDEAD",)
    layout = LAYOUT

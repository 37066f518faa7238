"""MQWIH, the work information header: which service the z/OS workload manager is to give a message to."""

from __future__ import annotations

from typing import Final

from engine.parser import parser
from parsers.headers.fields import byte, char, long
from parsers.headers.fixed_header import FixedHeader
from parsers.headers.layout import ANNOUNCING, lay_out

LAYOUT: Final = lay_out(
    "MQWIH",
    "WIH ",
    (
        long("StrucLength"),
        *ANNOUNCING,
        char("ServiceName", 32),
        char("ServiceStep", 8),
        byte("MsgToken", 16),
        char("Reserved", 32),
    ),
)


@parser
class MqWih(FixedHeader):
    """The work information header of 120 bytes."""

    __slots__ = ()
    name = "MQWIH"
    formats = ("MQHWIH",)
    layout = LAYOUT

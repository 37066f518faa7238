"""MQSAPH, the header of MQSeries link for R/3: which SAP system an IDoc goes to, and as whom."""

from __future__ import annotations

from typing import Final

from engine.parser import parser
from parsers.headers.fields import byte, char, long
from parsers.headers.fixed_header import FixedHeader
from parsers.headers.layout import ANNOUNCING, lay_out

LAYOUT: Final = lay_out(
    "MQSAPH",
    "SAPH",
    (
        long("StrucLength"),
        *ANNOUNCING,
        char("Client", 3),
        char("Language", 1),
        char("HostName", 48),
        char("UserId", 12),
        char("Password", 8),
        char("SystemNumber", 2),
        byte("Reserved", 2),
    ),
)


@parser
class MqSaph(FixedHeader):
    """The SAP header of 108 bytes."""

    __slots__ = ()
    name = "MQSAPH"
    formats = ("MQHSAP",)
    layout = LAYOUT

"""MQWIH, the work information header: which service the z/OS workload manager is to give a message to."""

from __future__ import annotations

from typing import Final

from engine.parser import Follow, Form, Header, Portion, parser
from engine.tree.element import Element
from engine.tree.source import Handle, Source
from parsers.headers.fields import byte, char, long
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
class MqWih(Header):
    """The work information header of 120 bytes."""

    __slots__ = ()
    name = "MQWIH"
    formats = ("MQHWIH",)

    def measure(self, portion: Portion) -> tuple[int, Follow]:
        return LAYOUT.measure(portion)

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return LAYOUT.read(portion)

    def write(self, element: Element, form: Form) -> bytes:
        return LAYOUT.write(element, form)

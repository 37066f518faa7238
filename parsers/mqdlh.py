"""MQDLH, the dead-letter header: why a message could not be delivered, and where it was to go."""

from __future__ import annotations

from typing import Final

from engine.parser import Follow, Form, Header, Portion, parser
from engine.tree.element import Element
from engine.tree.source import Handle, Source
from parsers.headers.fields import char, long, put_date, put_time
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
class MqDlh(Header):
    """The dead-letter header of 172 bytes."""

    __slots__ = ()
    name = "MQDLH"
    formats = ("MQDEAD",)

    def measure(self, portion: Portion) -> tuple[int, Follow]:
        return LAYOUT.measure(portion)

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return LAYOUT.read(portion)

    def write(self, element: Element, form: Form) -> bytes:
        return LAYOUT.write(element, form)

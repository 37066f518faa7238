"""MQRMH, the reference message header: an object that a message tells of, where it came from and where it goes."""

from __future__ import annotations

from typing import Final

from engine.errors import ParserException
from engine.parser import Follow, Form, Portion, parser
from engine.tree.element import Element
from engine.tree.step import step
from parsers.charsets.ccsid import blank, decode, encode
from parsers.headers import fields
from parsers.headers.fields import Field, Kind, byte, char, long
from parsers.headers.layout import ANNOUNCING, LaidOut, changes, lay_out, value

_STRUC_LENGTH_AT: Final = 8


def _span(data: bytes, at: int, field: Field, form: fields.Form, what: str) -> tuple[int, int]:
    """Returns the place of a block's characters in the message, from their length and offset in the structure."""
    start = at - field.at
    length, offset = form.integer(data, at), form.integer(data, at + 4)
    if length == 0:
        return start, start
    whole = form.integer(data, start + _STRUC_LENGTH_AT)
    if length < 0 or offset < 0 or offset + length > whole:
        raise ParserException(
            5009,
            f"{what} at offset {at} says that it has {length} bytes from byte {offset} of a structure of {whole}",
            what,
        )
    return start + offset, start + offset + length


def _read_block(data: bytes, at: int, field: Field, form: fields.Form, what: str) -> str:
    start, end = _span(data, at, field, form, what)
    return decode(data[start:end], form.ccsid, offset=start, what=what)


# A block's place depends on the blocks before it, so it is only put in when all are known.
BLOCK: Final = Kind(_read_block, lambda value, field, form, what: bytes(8))
BLOCKS: Final = ("SrcEnv", "SrcName", "DestEnv", "DestName")

LAYOUT: Final = lay_out(
    "MQRMH",
    "RMH ",
    (
        *ANNOUNCING,
        char("ObjectType", 8),
        byte("ObjectInstanceId", 24),
        *(Field(name, BLOCK, 8, "") for name in BLOCKS),
        long("DataLogicalLength"),
        long("DataLogicalOffset"),
        long("DataLogicalOffset2"),
    ),
)


@parser
class MqRmh(LaidOut):
    """The reference message header of 108 bytes with up to four blocks of characters behind it.

    As in IBM's trees, SrcEnv, SrcName, DestEnv and DestName stand for their lengths and offsets.
    """

    __slots__ = ()
    name = "MQRMH"
    formats = ("MQHREF",)
    layout = LAYOUT

    def measure(self, portion: Portion) -> tuple[int, Follow]:
        laid = LAYOUT.open(portion)
        for name in BLOCKS:
            field = laid.shape.named[name]
            _span(laid.data, laid.start + field.at, field, laid.form, f"MQRMH.{name}")
        return laid.length, laid.follow(portion.follow)

    def write(self, element: Element, form: Form) -> bytes:
        origin = LAYOUT.same_form(element, form)
        changed = changes(element, origin)
        for child in changed:
            LAYOUT.refuse_stranger(child.name)
        fixed = LAYOUT.fixed(element, form)
        touched = any(child.name in BLOCKS for child in changed)
        if origin is not None and not touched and all(element.child(step(name)) for name in BLOCKS):
            return LAYOUT.complete(fixed, origin.after_fields, form)
        return LAYOUT.complete(fixed, _write_blocks(fixed, element, form), form)


def _write_blocks(fixed: bytearray, element: Element, form: Form) -> bytes:
    own = fields.form_of(form.encoding, form.ccsid)
    blocks = b""
    for name in BLOCKS:
        what, field = f"MQRMH.{name}", LAYOUT.newest.named[name]
        said = value(element, name)
        block = encode(fields.characters("" if said is None else said, what), own.ccsid, what=what)
        offset = len(fixed) + len(blocks) if block else 0
        fixed[field.at : field.at + 8] = own.packed(len(block)) + own.packed(offset)
        blocks += block
    return blocks + blank(own.ccsid) * (-len(blocks) % 4)

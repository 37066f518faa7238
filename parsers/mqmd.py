"""MQMD, the message descriptor: its tree over a message from a queue, its bytes, and Descriptors to bytes and back."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from struct import Struct
from typing import Any, Final, cast

from engine.descriptor import FIELDS, LENGTHS, LITTLE_ENDIAN, UTF_8, Descriptor, described
from engine.errors import BrokerError
from engine.message.received import Received
from engine.parser import Follow, Form, Parser, Portion, parser
from engine.tree.element import Element
from engine.tree.source import Handle, Source, Value
from parsers.charsets.ccsid import decode
from parsers.headers import fields
from parsers.headers.fields import TOP, Computed, ComputedFields, byte, char, long, put_date, put_time
from parsers.headers.layout import changes, lay_out, whole

VERSION: Final = 2

# Tenths of a second, or the moment that they end at, which is what a tree may say instead.
_LIFETIME: Final = fields.Kind(
    fields.LONG.read,
    lambda value, field, form, what: fields.LONG.write(
        described("expiry", value) if isinstance(value, datetime) else value, field, form, what
    ),
)
_INTEGERS: Final = (fields.LONG, _LIFETIME)

LAYOUT: Final = lay_out(
    "MQMD",
    "MD  ",
    (
        long("Report"),
        long("MsgType", 8),
        replace(long("Expiry", -1), kind=_LIFETIME),
        long("Feedback"),
        long("Encoding", LITTLE_ENDIAN),
        long("CodedCharSetId", UTF_8),
        char("Format", 8),
        long("Priority"),
        long("Persistence"),
        byte("MsgId", 24),
        byte("CorrelId", 24),
        long("BackoutCount"),
        char("ReplyToQ", 48),
        char("ReplyToQMgr", 48),
        char("UserIdentifier", 12),
        byte("AccountingToken", 32),
        char("ApplIdentityData", 32),
        long("PutApplType"),
        char("PutApplName", 28),
        put_date("PutDate"),
        put_time("PutTime"),
        char("ApplOriginData", 4),
    ),
    (
        byte("GroupId", 24),
        long("MsgSeqNumber", 1),
        long("Offset"),
        long("MsgFlags"),
        long("OriginalLength", -1),
    ),
    announces=(),
    ahead=("Encoding", "CodedCharSetId", "Format", "Version"),
)

# A Descriptor has its fields in the order of the bytes; StrucId and Version come before them.
_NAMES: Final = {held: name for name, held in FIELDS.items()}
_FIELDS: Final = tuple(LAYOUT.newest.named[_NAMES[held]] for held in Descriptor._fields)
_FORMAT: Final = "4si" + "".join("i" if field.kind in _INTEGERS else f"{field.size}s" for field in _FIELDS)
_STRUCTS: Final = {True: Struct("<" + _FORMAT), False: Struct(">" + _FORMAT)}
_OF_BYTES: Final = tuple((n, f.size) for n, f in enumerate(_FIELDS) if f.kind is fields.BYTES)
_OF_TEXT: Final = tuple((n, f.size) for n, f in enumerate(_FIELDS) if f.kind not in {fields.BYTES, *_INTEGERS})


def pack(descriptor: Descriptor, encoding: int = LITTLE_ENDIAN, ccsid: int = UTF_8) -> bytes:
    """A descriptor as an MQMD of version 2: 364 bytes.

    >>> unpack(pack(Descriptor(format="MQSTR"))).format
    'MQSTR'
    """
    form = fields.form_of(encoding, ccsid)
    values: list[Any] = list(descriptor)
    try:
        for number, size in _OF_TEXT:
            values[number] = _padded(values[number], form, size)
        for number, size in _OF_BYTES:
            values[number] = fields.blob(values[number], size, "")
        return _STRUCTS[form.little_endian].pack(_padded("MD", form, 4), VERSION, *values)
    except (struct.error, BrokerError):
        for field, held in zip(_FIELDS, descriptor, strict=True):
            field.write(held, form, "MQMD")  # raises for the one that does not fit, by its name
        raise


def unpack(data: bytes, offset: int = 0, encoding: int = LITTLE_ENDIAN, ccsid: int = UTF_8) -> Descriptor:
    """The descriptor in an MQMD at an offset; of one of version 1 the rest is as a Descriptor's defaults."""
    laid = LAYOUT.open(Portion(data, offset, len(data), Follow("", encoding, ccsid)))
    at, form = offset, laid.form
    if laid.shape.version < VERSION:
        short = laid.shape.length
        data, at = data[offset : offset + short] + pack(Descriptor(), encoding, ccsid)[short:], 0
    values = list(_STRUCTS[form.little_endian].unpack_from(data, at)[2:])
    for number, _ in _OF_TEXT:
        try:
            values[number] = _text(values[number], form.ccsid)
        except BrokerError:
            field = _FIELDS[number]
            decode(values[number], form.ccsid, offset=offset + field.at, what=f"MQMD.{field.name}")
    return Descriptor._make(values)


@lru_cache(maxsize=4096)
def _padded(text: str, form: fields.Form, size: int) -> bytes:
    return fields.padded(text, form, size, "")


@lru_cache(maxsize=4096)
def _text(data: bytes, ccsid: int) -> str:
    return fields.cut(decode(data, ccsid))


def _computed(name: str) -> Callable[[Received], Value]:
    if name not in FIELDS:
        return {
            "SourceQueue": lambda received: received.queue,
            "Transactional": lambda received: received.transactional,
            "Version": lambda received: VERSION,
        }[name]
    held = FIELDS[name]
    if not isinstance(Descriptor._field_defaults[held], str):
        return lambda received: cast("Value", getattr(received.descriptor, held))
    size, reads = LENGTHS[held], {"put_date": fields.as_date, "put_time": fields.as_time}.get(held)
    if reads is not None:
        return lambda received: reads(getattr(received.descriptor, held).ljust(size))
    return lambda received: cast("Value", getattr(received.descriptor, held).ljust(size))


_ORPHANS: Final = ("SourceQueue", "Transactional")
_COMPUTED: Final[Computed] = {name: _computed(name) for name in (*_ORPHANS, *(f.name for f in LAYOUT.newest.shown))}


@parser
class MqMd(Parser):
    """The message descriptor: of a message from a queue as the queue manager gives it, or 324 or 364 bytes.

    SourceQueue and Transactional are not part of an MQMD: a broker adds them to what it gets from a queue.
    """

    __slots__ = ()
    name = "MQMD"

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        if portion.received is not None and not portion.data:
            return ComputedFields(_COMPUTED, portion.received), TOP
        return LAYOUT.read(portion)

    def write(self, element: Element, form: Form) -> bytes:
        source = whole(element)
        if isinstance(source, ComputedFields) and not changes(element, source):
            return pack(source.subject.descriptor, form.encoding, form.ccsid)
        for child in changes(element, LAYOUT.same_form(element, form)):
            if child.name not in _ORPHANS:
                LAYOUT.refuse_stranger(child.name)
        return LAYOUT.complete(LAYOUT.fixed(element, form), b"", form)

"""Records of the store: a message's head and the chunks of a long body, each with a checksum over key and content."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq.packed_descriptor import BACKOUT_COUNT_AT, unpack, with_number
from engine.mq.refusals import Q_DAMAGED, refusal
from engine.mq.store.keys import CHUNK

_ISAL: Final[Any] = import_module("isal.isal_zlib") if find_spec("isal") else zlib  # the same in a ninth of the time
crc32: Final = _ISAL.crc32
VERSION: Final = 1
_HEAD: Final = struct.Struct(">IBBHQIQ")  # checksum, version, form, descriptor's length, expiry, length, body
HEAD_SIZE: Final = _HEAD.size
_CHECKED: Final = struct.Struct(">BBHQIQ")  # the same without the checksum
_CHECKSUM: Final = 4
_NUMBER: Final = 8
_CHECK: Final = struct.Struct(">I")
LONGEST: Final = 2018  # bytes of a record: two of them and their keys fill a page
_PAGE: Final = 4096
LONGEST_ALONE: Final = 4080  # bytes of a record whose body no other has, so that a page of its own is all it takes
_RUN: Final = 16  # pages of a long chunk; a body's last chunks are a page each, so that little is left empty
_PAGE_HEADER: Final = 16
LONG_CHUNK: Final = _RUN * _PAGE - _PAGE_HEADER - _CHECKSUM
SHORT_CHUNK: Final = _PAGE - _PAGE_HEADER - _CHECKSUM
_IN_CHUNKS: Final = 1  # the lowest bit of the form; the others are the number of the codec
_OF_CODEC: Final = 1


class Head:
    """The record of a message in the store, without its body if that is in chunks."""

    __slots__ = ("body", "body_id", "codec", "descriptor", "expires", "length")

    def __init__(self, descriptor: Descriptor, body: bytes | None, place: tuple[int, int, int], expires: int) -> None:
        self.descriptor = descriptor
        self.body = body
        self.body_id, self.length, self.codec = place  # the length is that which is stored
        self.expires = expires


def head(key: bytes, descriptor: bytes, expires: int, place: tuple[int, int, bool], body: bytes) -> bytes:
    """Returns the record of a message; its place is the number of its body, the codec, and True for one in chunks."""
    body_id, codec, in_chunks = place
    form = in_chunks | codec << _OF_CODEC
    fixed = _CHECKED.pack(VERSION, form, len(descriptor), expires, len(body), body_id)
    return checked(key, fixed + descriptor if in_chunks else fixed + descriptor + body)


def _fixed(key: bytes, record: bytes) -> tuple[int, ...]:
    """Returns the fixed part of a record, or refuses one that is damaged."""
    if len(record) < HEAD_SIZE or crc32(record[_CHECKSUM:], crc32(key)) != _CHECK.unpack_from(record)[0]:
        raise damaged(f"the record of a message ({key.hex()}) is not what was written")
    return _HEAD.unpack_from(record)


def read_place(key: bytes, record: bytes) -> tuple[int | None, int]:
    """Returns the number of the body of a record's message where that is in chunks, and when the message expires."""
    _, _, form, _, expires, _, body_id = _fixed(key, record)
    return body_id if form & _IN_CHUNKS else None, expires


def read_head(key: bytes, record: bytes) -> Head:
    """Returns what a record says, or refuses one that is damaged."""
    _, _, form, length, expires, whole, body_id = _fixed(key, record)
    end = HEAD_SIZE + length
    descriptor = unpack(record, HEAD_SIZE, end)
    place = (body_id, whole, form >> _OF_CODEC)
    return Head(descriptor, None if form & _IN_CHUNKS else record[end:], place, expires)


def with_backout_count(key: bytes, record: bytes, count: int) -> bytes:
    """Returns a record with another backout count."""
    read_head(key, record)
    return checked(key, with_number(record, HEAD_SIZE + BACKOUT_COUNT_AT, count)[_CHECKSUM:])


def chunks(body_id: int, body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yields the chunks of a long body, each with its key."""
    if len(body) <= SHORT_CHUNK:
        key = CHUNK.pack(body_id, 0)
        yield key, checked(key, body)
        return
    view, at, number = memoryview(body), 0, 0
    while at < len(body):
        size = LONG_CHUNK if len(body) - at >= LONG_CHUNK else SHORT_CHUNK
        key = CHUNK.pack(body_id, number)
        yield key, checked(key, bytes(view[at : at + size]))
        at, number = at + size, number + 1


def content_of(key: bytes, record: bytes, name: str) -> bytes:
    """Returns what was written behind a checksum, or refuses what is damaged, by its name."""
    if len(record) < _CHECKSUM or crc32(record[_CHECKSUM:], crc32(key)) != _CHECK.unpack_from(record)[0]:
        raise damaged(f"{name} ({key.hex()}) is not what was written")
    return record[_CHECKSUM:]


def read_chunk(key: bytes, record: bytes) -> bytes:
    """Returns a piece of a body, or refuses one that is damaged."""
    return content_of(key, record, "a piece of a message's body")


def read_number(key: bytes, record: bytes) -> int:
    """Returns a counter's number, which is 0 where there is no record, or refuses one that is damaged."""
    return int.from_bytes(content_of(key, record, "a counter")) if record else 0


def number_record(key: bytes, number: int) -> bytes:
    """Returns the record of a counter."""
    return checked(key, number.to_bytes(_NUMBER))


def damaged(text: str) -> MessageException:
    """Returns the error for what in the store is not as it was written."""
    return refusal(Q_DAMAGED, f"the store is damaged: {text}; run `penstock queue-manager check`, and restore a backup")


def checked(key: bytes, content: bytes) -> bytes:
    """Returns a record: content behind its checksum."""
    return _CHECK.pack(crc32(content, crc32(key))) + content

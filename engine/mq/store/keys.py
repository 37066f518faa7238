"""Keys of the store: the order of messages on their queues, their ids, their expiry, and the chunks of bodies."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from engine.mq.queued_message import keys_of

if TYPE_CHECKING:
    from engine.descriptor import Descriptor

ORDER: Final = struct.Struct(">IQ")  # queue, order
EXPIRY: Final = struct.Struct(">QIQ")  # moment, queue, order
CHUNK: Final = struct.Struct(">QI")  # body, number
NUMBER: Final = struct.Struct(">I")
_ID: Final = struct.Struct(">IBQ")  # queue, kind, folded id
ORDER_AT: Final = _ID.size
LAST: Final = (1 << 63) - 1
_EIGHT_BYTES: Final = (1 << 64) - 1


def id_prefix(queue: int, key: bytes) -> bytes:
    """Returns what the index keys of all messages of a queue with an id begin with; `key` is kind and id.

    The id is folded to eight bytes, so that ids that count up stand beside each other; who looks one up compares it.

    >>> id_prefix(1, b"M" + bytes(23) + b"A").hex()
    '000000014d0000000000000041'
    """
    number = int.from_bytes(key[1:])
    return _ID.pack(queue, key[0], (number ^ number >> 64 ^ number >> 128) & _EIGHT_BYTES)


def id_keys(queue: int, order: int, descriptor: Descriptor) -> list[bytes]:
    """Returns the index keys of a message."""
    tail = order.to_bytes(8)
    return [id_prefix(queue, key) + tail for key in keys_of(descriptor)]


def order_of(key: bytes) -> int:
    """Returns the order in the last eight bytes of a key."""
    return int.from_bytes(key[-8:])

"""Keys of the store: the order of messages on their queues, their ids, their expiry, and the chunks of bodies."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from engine.descriptor import NO_ID

if TYPE_CHECKING:
    from engine.descriptor import Descriptor

ORDER: Final = struct.Struct(">IQ")  # queue, order
EXPIRY: Final = struct.Struct(">QIQ")  # moment, queue, order
CHUNK: Final = struct.Struct(">QI")  # body, number
NUMBER: Final = struct.Struct(">I")
_ID: Final = struct.Struct(">BQI")  # kind, folded id, queue: ids that count up stand beside each other over all queues
_ID_OF_MESSAGE: Final = struct.Struct(">BQIQ")  # kind, folded id, and the key of the message
_FOLDED: Final = struct.Struct(">QQQ")
_MSG_ID, _CORREL_ID, _GROUP_ID = b"MCG"  # kinds of ids, as `keys_of` names them
ORDER_AT: Final = _ID.size
LAST: Final = (1 << 63) - 1
_EIGHT_BYTES: Final = (1 << 64) - 1


def id_prefix(queue: int, key: bytes) -> bytes:
    """Returns what the index keys of all messages of a queue with an id begin with; `key` is kind and id.

    The id is folded to eight bytes, so that ids that count up stand beside each other; who looks one up compares it.

    >>> id_prefix(1, b"M" + bytes(23) + b"A").hex()
    '4d000000000000004100000001'
    """
    number = int.from_bytes(key[1:])
    return _ID.pack(key[0], (number ^ number >> 64 ^ number >> 128) & _EIGHT_BYTES, queue)


def id_keys(queue: int, order: int, descriptor: Descriptor) -> list[bytes]:
    """Returns the index keys of a message, whose ids are whole.

    >>> from engine.descriptor import Descriptor
    >>> id_keys(1, 7, Descriptor(msg_id=bytes(23) + b"A")) == [id_prefix(1, b"M" + bytes(23) + b"A") + (7).to_bytes(8)]
    True
    """
    keys = []
    for kind, own in (
        (_MSG_ID, descriptor.msg_id),
        (_CORREL_ID, descriptor.correl_id),
        (_GROUP_ID, descriptor.group_id),
    ):
        if own != NO_ID:
            first, second, third = _FOLDED.unpack(own)
            keys.append(_ID_OF_MESSAGE.pack(kind, first ^ second ^ third, queue, order))
    return keys


def order_of(key: bytes) -> int:
    """Returns the order in the last eight bytes of a key."""
    return int.from_bytes(key[-8:])

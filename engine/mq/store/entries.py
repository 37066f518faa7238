"""Entries of the store's tables for the messages of a unit of work, made before the unit has its transaction."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from engine.mq.admission import ORDER_BITS
from engine.mq.packed_descriptor import pack
from engine.mq.store.body_compression import PLAIN, Packed
from engine.mq.store.keys import EXPIRY, ORDER, id_keys
from engine.mq.store.records import HEAD_SIZE, LONGEST, LONGEST_ALONE, head, number_record

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from engine.descriptor import Descriptor
    from engine.mq.queued_message import Stored

NUMBERS: Final = (1 << ORDER_BITS) - 1
_OWN: Final = 1 << 63  # in the number of a body that is never shared: no number of a shared one has this bit
_COUNT: Final = 8
_FEW: Final = 3  # messages whose body takes less to write with each, if it fits a page, than to count who has it
_OF_UNIT: Final = 4_096  # bytes, beside what its messages take
_OF_MESSAGE: Final = 1_024  # bytes, beside its body


class Entries:
    """The puts into and removals from the tables of one unit of work; `size` is about how many bytes it adds.

    A long body that several messages of the unit have is kept once, with a counter of those that have it beside the
    first. Where a unit does not share, each message has a body of its own, which may be written again later.
    """

    __slots__ = (
        *("_descriptor", "_known", "_packed", "_shared"),
        *("bodies", "changes", "highest", "puts", "removals", "size"),
    )

    def __init__(self) -> None:
        self.puts: list[tuple[str, bytes, bytes]] = []  # table, key, value
        self.bodies: list[tuple[int, bytes]] = []  # long ones, whose chunks are made one by one as they are written
        self.removals: list[tuple[bytes, list[bytes]]] = []  # the key of a message, and those of its ids
        self.changes: dict[int, int] = {}  # of the number of messages, by queue
        self.highest = 0  # of the numbers of messages that are put
        self.size = _OF_UNIT
        self._shared: Container[int] = ()  # bodies that are kept once though each would fit a page
        self._known: dict[int, list[int]] = {}  # number of a long body, and of its further messages, by identity
        self._packed: Packed = {}
        self._descriptor: tuple[Descriptor | None, bytes] = (None, b"")

    def put(self, messages: Sequence[tuple[int, Stored]], packed: Packed, *, shares: bool) -> None:
        """Add the messages that come; `packed` are bodies that are compressed, by identity."""
        self._packed = packed
        if shares and len(messages) > _FEW:
            copies = Counter([id(stored.body) for _, stored in messages])
            self._shared = {identity for identity, count in copies.items() if count > _FEW}
        own, changes = 0 if shares else _OWN, self.changes
        for queue, stored in messages:
            self._put(queue, stored, own)
            changes[queue] = changes.get(queue, 0) + 1
        self.size += _OF_MESSAGE * len(messages)
        for body_id, others in self._known.values():
            if others:
                key = body_id.to_bytes(_COUNT)
                self.puts.append(("references", key, number_record(key, others)))

    def _put(self, queue: int, stored: Stored, own: int) -> None:
        order, descriptor, body, expires = stored.order, stored.descriptor, stored.body, stored.expires
        key, number, puts = ORDER.pack(queue, order), order & NUMBERS, self.puts
        if number > self.highest:  # noqa: PLR1730 - a call of max takes longer
            self.highest = number
        known, packed = self._descriptor
        if known is not descriptor:  # copies have the descriptor of their original
            packed = pack(descriptor)
            self._descriptor = descriptor, packed
        codec, identity = PLAIN, id(body)
        if identity in self._packed:
            codec, body = self._packed[identity]
        body_id, in_chunks = (
            number | own,
            HEAD_SIZE + len(packed) + len(body) > (LONGEST if identity in self._shared else LONGEST_ALONE),
        )
        if in_chunks:
            body_id = self._put_body(identity, body_id, body)
        else:
            self.size += len(body)
        puts.append(("messages", key, head(key, packed, expires, (body_id, codec, in_chunks), body)))
        for index in id_keys(queue, order, descriptor):
            puts.append(("ids", index, b""))
        if expires:
            puts.append(("expiry", EXPIRY.pack(expires, queue, order), b""))

    def _put_body(self, identity: int, body_id: int, body: bytes) -> int:
        """Add a long body, unless a message before has it and shares it; returns its number."""
        known = self._known.get(identity)
        if known is not None and not body_id & _OWN:
            known[1] += 1
            return known[0]
        self._known[identity] = [body_id, 0]
        self.size += len(body)
        self.bodies.append((body_id, body))
        return body_id

    def remove(self, messages: Sequence[tuple[int, Stored]]) -> None:
        """Add the messages that go."""
        changes = self.changes
        for queue, stored in messages:
            order = stored.order
            self.removals.append((ORDER.pack(queue, order), id_keys(queue, order, stored.descriptor)))
            changes[queue] = changes.get(queue, 0) - 1

"""Messages read from a store's tables."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from engine.mq.queued_message import Stored, keys_of
from engine.mq.store.body_compression import unpacked
from engine.mq.store.keys import CHUNK, LAST, ORDER, ORDER_AT, id_keys, id_prefix, order_of
from engine.mq.store.records import damaged, read_chunk, read_head

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from engine.mq.store.environment import Environment

_LOOKED_UP: Final = 64  # messages of one id that are read at once


def stored_of(key: bytes, record: bytes, transaction: Any, environment: Environment) -> Stored:
    """Returns the message of a record, its body read from its chunks."""
    found = read_head(key, record)
    body = found.body
    if body is None:
        body = _joined(found.body_id, found.length, transaction, environment.db["chunks"])
    if len(body) != found.length:
        raise damaged(f"a body of {found.length} bytes has {len(body)}")
    if found.codec:
        body = unpacked(found.codec, body)
    return Stored(order_of(key), found.descriptor, body, found.expires)


def message(queue: int, order: int, environment: Environment) -> Stored | None:
    """Returns a message by its place, or None."""
    key = ORDER.pack(queue, order)
    with environment.read() as transaction:
        record = transaction.get(key, db=environment.db["messages"])
        if record is not None:
            return stored_of(key, record, transaction, environment)
        with transaction.cursor(db=environment.db["messages"]) as cursor:
            _prove_missing(key, cursor, read_head)
        return None


def messages(
    queue: int, order: int, environment: Environment, most: tuple[int, int], but: Container[int]
) -> tuple[list[Stored], int]:
    """Returns messages from an order on, and the order of the one behind them, or LAST where there is none.

    `most` are how many messages and how many bytes at most; those in `but` are passed over.
    """
    found: list[Stored] = []
    size, prefix = 0, ORDER.pack(queue, order)[:4]
    with environment.read() as transaction, transaction.cursor(db=environment.db["messages"]) as cursor:
        if not cursor.set_range(ORDER.pack(queue, order)):
            return found, LAST
        for key, record in cursor.iternext(keys=True, values=True):
            if key[:4] != prefix:
                break
            at = order_of(key)
            if at < order:
                raise damaged(f"messages are not in order (at {key.hex()})")
            order = at + 1
            if len(found) >= most[0] or size >= most[1]:
                return found, at
            if at in but:
                continue
            stored = stored_of(key, record, transaction, environment)
            found.append(stored)
            size += len(stored.body)
    return found, LAST


def with_ids(
    queue: int, keys: tuple[bytes, ...], order: int, environment: Environment, but: Container[int]
) -> tuple[list[Stored], int]:
    """Returns messages that have all these ids, from an order on, and the order to go on from; LAST at the end."""
    prefix, found, wanted = id_prefix(queue, keys[0]), list[Stored](), set(keys)
    db, sought = environment.db, prefix + order.to_bytes(8)
    with environment.read() as transaction, transaction.cursor(db=db["ids"]) as cursor:
        if not cursor.set_range(sought) or cursor.key()[:ORDER_AT] != prefix:
            _prove_missing(sought, cursor, lambda index, _: _indexed(index, transaction, db["messages"]))
            return found, LAST
        for index in islice(cursor.iternext(keys=True, values=False), _LOOKED_UP):
            if index[:ORDER_AT] != prefix:
                return found, LAST
            at = order_of(index)
            order = at + 1
            if at in but:
                continue
            key, record = _indexed(index, transaction, db["messages"])
            if wanted <= set(keys_of(read_head(key, record).descriptor)):
                found.append(stored_of(key, record, transaction, environment))
        return found, order if cursor.key() else LAST
    return found, order


def _indexed(index: bytes, transaction: Any, table: Any) -> tuple[bytes, bytes]:
    """Returns the key and the record of the message that an entry of the index of ids is of."""
    key = index[-ORDER.size :]
    queue, order = ORDER.unpack(key)
    record = transaction.get(key, db=table)
    if record is None:
        raise damaged(f"the index has a message ({key.hex()}) that is not there")
    if index not in id_keys(queue, order, read_head(key, record).descriptor):
        raise damaged(f"the index has a message ({key.hex()}) by an id that it does not have")
    return key, record


def _prove_missing(sought: bytes, cursor: Any, prove: Callable[[bytes, bytes], object]) -> None:
    """Refuse a table that has no entry at a place unless those on both sides of it are what was written.

    A damaged key leads a search past what it looks for, and stands or ends beside the place where it then arrives.
    """
    there = cursor.set_range(sought)
    wrong = there and cursor.key() <= sought
    if there:
        prove(*cursor.item())
        there = cursor.prev()
    else:
        there = cursor.last()
    if wrong or (there and cursor.key() >= sought):
        raise damaged(f"the entries beside {sought.hex()} are not in order")
    if there:
        prove(*cursor.item())


def _joined(body_id: int, length: int, transaction: Any, table: Any) -> bytes:
    pieces: list[bytes] = []
    while length > 0:
        key = CHUNK.pack(body_id, len(pieces))
        record = transaction.get(key, db=table)
        if record is None:
            raise damaged(f"a piece of a body ({key.hex()}) is not there")
        pieces.append(read_chunk(key, record))
        length -= len(pieces[-1])
    return b"".join(pieces)

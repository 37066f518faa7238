"""Records as changes of the store's tables, within a transaction."""

from __future__ import annotations

import json
import time
from collections.abc import Container, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from engine.mq.refusals import BACKED_OUT, refusal
from engine.mq.store.body_compression import NONE
from engine.mq.store.keys import CHUNK, EXPIRY, NUMBER, ORDER, id_keys, order_of
from engine.mq.store.records import (
    checked,
    chunks,
    content_of,
    damaged,
    number_record,
    read_head,
    read_number,
    read_place,
    with_backout_count,
)

if TYPE_CHECKING:
    from engine.mq.store.entries import Entries
    from engine.mq.store.environment import Environment
    from engine.mq.store_changes import Record

AHEAD: Final = 1 << 20  # numbers that are set aside at once, so that a start need not look for the last
CEILING: Final = b"numbers"
_COUNT: Final = 8
_MOST_GONE: Final = 100_000  # queues that were deleted last: units of work may still have messages of them
COMMITTED: Final = b"C"
REFUSED: Final = b"R"


class Counters:
    """The counters of an environment as its last transaction left them: each is read once, and written once in each.

    A transaction that is given up leaves none of them known. `gone` are queues that were deleted: units of work that
    had messages of them then end without these.
    """

    __slots__ = ("_ceiling", "_changes", "_going", "_highest", "_known", "gone")

    def __init__(self) -> None:
        self._known: dict[int, int] = {}  # messages by queue
        self._changes: dict[int, int] = {}
        self._ceiling = 0
        self._highest = 0  # of the numbers of messages that are put
        self.gone: dict[int, None] = {}
        self._going: list[int] = []  # those that go with the transaction

    def add(self, entries: Entries) -> None:
        """Counts messages that come to queues or go, and learns the highest of their numbers."""
        changes = self._changes
        for queue, change in entries.changes.items():
            changes[queue] = changes.get(queue, 0) + change
        if entries.highest > self._highest:  # noqa: PLR1730 - a call of max takes longer
            self._highest = entries.highest

    def begin(self, queue: int) -> None:
        """Gives a queue a counter where it has none."""
        self._changes.setdefault(queue, 0)

    def drop(self, queue: int, transaction: Any, counts: Any) -> None:
        """Removes the counter of a queue that is deleted."""
        self._known.pop(queue, None)
        self._changes.pop(queue, None)
        self.gone[queue] = None
        self._going.append(queue)
        if len(self.gone) > _MOST_GONE:
            del self.gone[next(iter(self.gone))]
        transaction.delete(NUMBER.pack(queue), db=counts)

    def write(self, transaction: Any, db: dict[str, Any]) -> None:
        """Writes what has changed; as many messages come to a queue as a rule as go, which changes nothing."""
        known, counts = self._known, db["counts"]
        for queue, change in self._changes.items():
            key = NUMBER.pack(queue)
            if queue not in known:
                known[queue] = read_number(key, transaction.get(key, b"", db=counts))
            elif not change:
                continue
            known[queue] += change
            transaction.put(key, number_record(key, known[queue]), db=counts)
        self._changes = {}
        if self._highest <= self._ceiling:
            return
        self._ceiling = read_number(CEILING, transaction.get(CEILING, b"", db=db["meta"]))
        if self._highest > self._ceiling:
            self._ceiling = self._highest + AHEAD
            transaction.put(CEILING, number_record(CEILING, self._ceiling), db=db["meta"])

    def forget(self) -> None:
        """Knows nothing any more: the transaction was given up."""
        self._known, self._changes, self._ceiling = {}, {}, 0
        for queue in self._going:
            self.gone.pop(queue, None)
        self._going = []

    def renew(self) -> None:
        """Knows that the transaction before was kept."""
        self._going = []


def write(records: Iterable[Record], transaction: Any, environment: Environment, counters: Counters) -> None:
    """Make the changes of units of work."""
    db, put, gone = environment.db, transaction.put, counters.gone
    counters.renew()
    for record in records:
        entries = record.made(NONE)  # as a rule they are there, made while another transaction was written
        if gone and not gone.keys().isdisjoint(entries.changes):
            entries = _without(gone, record).made(NONE)
        for key, ids in entries.removals:
            _remove(key, ids, transaction, db)
        for table, key, value in entries.puts:
            put(key, value, db=db[table])
        for body_id, body in entries.bodies:
            for key, chunk in chunks(body_id, body):
                put(key, chunk, db=db["chunks"])
        counters.add(entries)
        if record.counts or record.objects or record.decided or record.forgotten or record.refused:
            _write_others(record, transaction, db, counters)
    counters.write(transaction, db)


def _without(gone: Container[int], record: Record) -> Record:
    """Returns a record without the messages of queues that were deleted."""
    puts, removals = ([one for one in some if one[0] not in gone] for some in (record.puts, record.removals))
    return replace(record, puts=puts, removals=removals, entries=None)


def _write_others(record: Record, transaction: Any, db: dict[str, Any], counters: Counters) -> None:
    """Make the changes that are no messages."""
    for queue, order, count in record.counts:
        key = ORDER.pack(queue, order)
        found = transaction.get(key, db=db["messages"])
        if found is not None:
            transaction.put(key, with_backout_count(key, found, count), db=db["messages"])
    if record.objects:
        _define(record, transaction, db, counters)
    if record.decided or record.forgotten or record.refused:
        _decide(record, transaction, db["decisions"])


def _remove(key: bytes, ids: list[bytes], transaction: Any, db: dict[str, Any]) -> None:
    record = transaction.pop(key, db=db["messages"])
    if record is None:
        raise damaged(f"a message that was got ({key.hex()}) is not there")
    body_id, expires = read_place(key, record)
    for index in ids:
        transaction.delete(index, db=db["ids"])
    if expires:
        transaction.delete(EXPIRY.pack(expires, *ORDER.unpack(key)), db=db["expiry"])
    if body_id is not None and not _release(body_id, transaction, db["references"]):
        number = 0
        while transaction.delete(CHUNK.pack(body_id, number), db=db["chunks"]):
            number += 1


def _release(body_id: int, transaction: Any, references: Any) -> bool:
    """Count one message less that has a body; returns False where it was the last, and the body goes with it."""
    key = body_id.to_bytes(_COUNT)
    known = transaction.get(key, db=references)
    if known is None:
        return False
    others = read_number(key, known)
    if others > 1:
        transaction.put(key, number_record(key, others - 1), db=references)
    else:
        transaction.delete(key, db=references)
    return True


def _define(record: Record, transaction: Any, db: dict[str, Any], counters: Counters) -> None:
    """Keep definitions as JSON; a queue that is deleted takes its counter along."""
    for kind, name, values, number in record.objects:
        key = f"{kind} {name}".encode()
        if values is None:
            transaction.delete(key, db=db["objects"])
            if kind == "QLOCAL":
                _clear(number, transaction, db)
                counters.drop(number, transaction, db["counts"])
            continue
        if kind == "QLOCAL":
            counters.begin(number)  # a counter that is missing is damage
        kept = {"kind": kind, "name": name, "number": number, "values": dict(values)}
        transaction.put(key, checked(key, json.dumps(kept).encode()), db=db["objects"])


def _clear(queue: int, transaction: Any, db: dict[str, Any]) -> None:
    """Remove what units of work have of a queue that is deleted; nothing else is there any more."""
    prefix, left = NUMBER.pack(queue), list[tuple[bytes, list[bytes]]]()
    with transaction.cursor(db=db["messages"]) as cursor:
        there = cursor.set_range(ORDER.pack(queue, 0))
        while there and cursor.key()[: len(prefix)] == prefix:
            key, record = cursor.item()
            left.append((key, id_keys(queue, order_of(key), read_head(key, record).descriptor)))
            there = cursor.next()
    for key, ids in left:
        _remove(key, ids, transaction, db)


def objects(transaction: Any, environment: Environment) -> list[dict[str, Any]]:
    """Returns what has been defined, as it was kept."""
    with transaction.cursor(db=environment.db["objects"]) as cursor:
        try:
            return [json.loads(content_of(key, value, "a definition")) for key, value in cursor]
        except ValueError as error:
            raise damaged("the definition of a queue is not what was written") from error


def _decide(record: Record, transaction: Any, decisions: Any) -> None:
    """Keep decisions of two-phase commits; one that was refused before is never decided otherwise."""
    for branch in record.decided:
        if decision(branch, transaction.get(branch, db=decisions)) == REFUSED:
            raise refusal(BACKED_OUT, f"branch {branch.hex()} was refused before: the unit of work is backed out")
        transaction.put(branch, checked(branch, COMMITTED + int(time.time()).to_bytes(_COUNT)), db=decisions)
    for branch in record.refused:
        if decision(branch, transaction.get(branch, db=decisions)) != COMMITTED:
            transaction.put(branch, checked(branch, REFUSED + int(time.time()).to_bytes(_COUNT)), db=decisions)
    for branch in record.forgotten:
        transaction.delete(branch, db=decisions)


def decision(branch: bytes, record: bytes | None) -> bytes:
    """Returns how a branch was decided; nothing where it was not."""
    return b"" if record is None else content_of(branch, record, "the decision of a branch")[:1]

"""Records as changes of the store's tables, within a transaction."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from engine.mq.admission import ORDER_BITS
from engine.mq.refusals import BACKED_OUT, refusal
from engine.mq.store.body_compression import PLAIN, Packed
from engine.mq.store.keys import CHUNK, EXPIRY, NUMBER, ORDER, id_keys
from engine.mq.store.records import (
    LONGEST,
    LONGEST_ALONE,
    checked,
    chunks,
    content_of,
    damaged,
    head,
    number_record,
    read_number,
    read_place,
    with_backout_count,
)

if TYPE_CHECKING:
    from engine.mq.queued_message import Stored
    from engine.mq.store.environment import Environment
    from engine.mq.store_changes import Record

NUMBERS: Final = (1 << ORDER_BITS) - 1
AHEAD: Final = 1 << 20  # numbers that are set aside at once, so that a start need not look for the last
CEILING: Final = b"numbers"
_COUNT: Final = 8
COMMITTED: Final = b"C"
REFUSED: Final = b"R"


class Counters:
    """The counters of an environment as its last transaction left them: each is read once, and written once in each.

    A transaction that is given up leaves none of them known.
    """

    __slots__ = ("_ceiling", "_changes", "_highest", "_known")

    def __init__(self) -> None:
        self._known: dict[int, int] = {}  # messages by queue
        self._changes: dict[int, int] = {}
        self._ceiling = 0
        self._highest = 0  # of the numbers of messages that are put

    def add(self, queue: int, change: int) -> None:
        """Counts messages that come to a queue or go."""
        self._changes[queue] = self._changes.get(queue, 0) + change

    def reach(self, number: int) -> None:
        """Learns the number of a message."""
        if number > self._highest:  # noqa: PLR1730 - a call of max takes longer
            self._highest = number

    def drop(self, queue: int, transaction: Any, counts: Any) -> None:
        """Removes the counter of a queue that is deleted."""
        self._known.pop(queue, None)
        self._changes.pop(queue, None)
        transaction.delete(NUMBER.pack(queue), db=counts)

    def write(self, transaction: Any, db: dict[str, Any]) -> None:
        """Writes what has changed."""
        known, counts = self._known, db["counts"]
        for queue, change in self._changes.items():
            key = NUMBER.pack(queue)
            if queue not in known:
                known[queue] = read_number(key, transaction.get(key, b"", db=counts))
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


def write(records: Iterable[Record], transaction: Any, environment: Environment, counters: Counters) -> None:
    """Make the changes of units of work."""
    for record in records:
        _write(record, transaction, environment, counters)
    counters.write(transaction, environment.db)


def _write(record: Record, transaction: Any, environment: Environment, counters: Counters) -> None:
    db = environment.db
    for queue, stored in record.removals:
        _remove(queue, stored, transaction, environment)
        counters.add(queue, -1)
    if record.puts:
        _put_all(record, transaction, db, counters)
    for queue, order, count in record.counts:
        key = ORDER.pack(queue, order)
        found = transaction.get(key, db=db["messages"])
        if found is not None:
            transaction.put(key, with_backout_count(key, found, count), db=db["messages"])
    if record.objects:
        _define(record, transaction, db, counters)
    if record.decided or record.forgotten or record.refused:
        _decide(record, transaction, db["decisions"])


def _put_all(record: Record, transaction: Any, db: dict[str, Any], counters: Counters) -> None:
    puts, bodies = record.puts, dict[int, int]()
    is_shared = len(puts) > 1 and len({id(stored.body) for _, stored in puts}) < len(puts)
    how = record.packed or {}, LONGEST if is_shared else LONGEST_ALONE
    for queue, stored in puts:
        _put(queue, stored, how, bodies, transaction, db)
        counters.add(queue, 1)
        counters.reach(stored.order & NUMBERS)


def _put(
    queue: int,
    stored: Stored,
    how: tuple[Packed, int],
    bodies: dict[int, int],
    transaction: Any,
    db: dict[str, Any],
) -> None:
    """Put a message; a long body that another of its unit has as well, by `bodies`, is kept once.

    `how` is what bodies are compressed to, and how many bytes a record has with its body in it.
    """
    key, put, (packed, most) = ORDER.pack(queue, stored.order), transaction.put, how
    identity = id(stored.body)
    body_id = bodies.get(identity, stored.order & NUMBERS)
    codec, body = packed.get(identity, (PLAIN, stored.body))
    record, long = head(key, stored, body_id, codec, body, most)
    put(key, record, db=db["messages"])
    if long and identity in bodies:
        _refer(body_id, 1, transaction, db["references"])
    elif long:
        bodies[identity] = body_id
        for chunk, content in chunks(body_id, body):
            put(chunk, content, db=db["chunks"], append=False)
    ids = db["ids"]
    for index in id_keys(queue, stored.order, stored.descriptor):
        put(index, b"", db=ids)
    if stored.expires:
        put(EXPIRY.pack(stored.expires, queue, stored.order), b"", db=db["expiry"])


def _remove(queue: int, stored: Stored, transaction: Any, environment: Environment) -> None:
    db, key = environment.db, ORDER.pack(queue, stored.order)
    record = transaction.pop(key, db=db["messages"])
    if record is None:
        raise damaged(f"a message that was got ({key.hex()}) is not there")
    body_id, expires = read_place(key, record)
    for index in id_keys(queue, stored.order, stored.descriptor):
        transaction.delete(index, db=db["ids"])
    if expires:
        transaction.delete(EXPIRY.pack(expires, queue, stored.order), db=db["expiry"])
    if body_id is not None and not _refer(body_id, -1, transaction, db["references"]):
        number = 0
        while transaction.delete(CHUNK.pack(body_id, number), db=db["chunks"]):
            number += 1


def _refer(body_id: int, change: int, transaction: Any, references: Any) -> bool:
    """Count who else has a body; returns False where nobody has, and it goes with its last message."""
    key = body_id.to_bytes(_COUNT)
    known = read_number(key, transaction.get(key, b"", db=references))
    if known + change > 0:
        transaction.put(key, number_record(key, known + change), db=references)
    elif known:
        transaction.delete(key, db=references)
    return known + change >= 0


def _define(record: Record, transaction: Any, db: dict[str, Any], counters: Counters) -> None:
    """Keep definitions as JSON; a queue that is deleted takes its counter along."""
    for kind, name, values, number in record.objects:
        key = f"{kind} {name}".encode()
        if values is None:
            transaction.delete(key, db=db["objects"])
            counters.drop(number, transaction, db["counts"])
            continue
        if kind == "QLOCAL":
            counters.add(number, 0)  # a counter that is missing is damage
        kept = {"kind": kind, "name": name, "number": number, "values": dict(values)}
        transaction.put(key, checked(key, json.dumps(kept).encode()), db=db["objects"])


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

"""Durable queue managers: made in a folder and opened there, and what of their work goes into the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeGuard

from engine.descriptor import PERSISTENT
from engine.errors import BrokerError, MessageException
from engine.mq.attribute_values import Value, checked_queue_manager_name
from engine.mq.attributes import defaults
from engine.mq.expiry import ExpiryTask
from engine.mq.memory import Budget, Memory
from engine.mq.message_numbers import Numbers
from engine.mq.refusals import STORAGE_MEDIUM_FULL
from engine.mq.security.principals import GROUPS, Principals
from engine.mq.store import store as stores
from engine.mq.store_changes import Placed, Record
from engine.mq.streams import note_failure
from engine.mq.supported_systems import check_place

if TYPE_CHECKING:
    from engine.mq.manager import QueueManager
    from engine.mq.queue import Queue
    from engine.mq.store.store import Store
    from engine.mq.unit import Moved, Spare, Then
    from engine.mq.waiters import Sleep

_DEAD_LETTERS: Final = "SYSTEM.DEAD.LETTER.QUEUE"
_LOCAL: Final = "QLOCAL"


def create(manager: QueueManager, folder: Path, name: str, max_size: int) -> None:
    """Make a queue manager in a folder, with a dead-letter queue."""
    check_place(folder)
    checked_queue_manager_name(name)
    stores.create(folder, name, max_size)
    with opened(manager, folder, 0.0):
        manager.define("QLOCAL", _DEAD_LETTERS, {"DESCR": "messages that can be delivered nowhere else"})
        manager.alter("QMGR", "", {"DEADQ": _DEAD_LETTERS})


def opened(manager: QueueManager, folder: Path, wait: float) -> QueueManager:
    """Returns a queue manager with what is in its folder."""
    check_place(folder)
    manager.store = Lasting(manager, stores.Store(folder, wait))
    try:
        _begin(manager, manager.store, folder)
    except BaseException:
        manager.store.close(in_order=False)  # else nobody could open it before this process ends
        raise
    manager.topics.listen()
    manager.monitoring.change()
    return manager


def _begin(manager: QueueManager, lasting: Lasting, folder: Path) -> None:
    """Give a queue manager what its store holds, and what else is in its folder."""
    store = lasting.store
    manager.name = store.name
    manager.admission.numbers = Numbers(store.name, manager.lock, store.last_number())
    manager.directory.settings |= defaults("QMGR") | {"QMNAME": store.name}
    lasting.restore()
    manager.security.is_lasting = True
    manager.security.principals = Principals(folder / GROUPS)
    manager.configure()


class Lasting:
    """The store as a queue manager uses it. A unit of work's messages are available once the store has it."""

    __slots__ = ("_budget", "_manager", "_passing", "_task", "_told", "store")

    def __init__(self, manager: QueueManager, store: Store) -> None:
        self.store = store
        self._manager = manager
        self._budget = Budget()
        self._task = ExpiryTask(self._expire)
        self._told: dict[str, int] = {}  # why copies were given up, by queue
        self._passing: set[int] = set()  # queues that are not kept, by number
        store.journal.transactions.failed = manager.fail

    def write(self, puts: Moved, taken: Moved, decided: tuple[bytes, ...] = (), spare: Spare = ()) -> None:
        """Make a unit of work last, and its messages available; one that cannot be kept is backed out.

        Where the store is too full, the unit goes without its `spare` copies.
        """

        def finished(error: BrokerError | None) -> None:
            if error is None:
                self._manager.admission.apply(puts, taken)
            elif not (spare and _is_full(error)):
                self._given_up(puts, taken)

        try:
            self.store.journal.commit(self._record(puts, taken, decided), finished)
        except MessageException as error:
            if not (spare and _is_full(error)):
                raise
            self.write(self._without(spare, puts, error), taken, decided)

    def write_then(self, puts: Moved, taken: Moved, decided: tuple[bytes, ...], then: Then, spare: Spare = ()) -> None:
        """Make a unit of work last without waiting for it; `then` learns the outcome."""

        def finished(error: BrokerError | None) -> None:
            if error is None:
                self._manager.admission.apply(puts, taken)
            elif spare and _is_full(error):
                self.write_then(self._without(spare, puts, error), taken, decided, then)
                return
            else:
                self._given_up(puts, taken)
            then(error)

        self.store.journal.submit(self._record(puts, taken, decided), finished)

    def remove(self, taken: Moved) -> None:
        """Remove messages for good that were taken outside any unit of work."""
        record = self._record([], taken)
        if record.removals:
            self.store.journal.commit(record)
        self._manager.admission.apply([], taken)

    def count_backouts(self, taken: Moved) -> None:
        """Keep the backout counts of messages that are put back."""
        record = _backouts(taken)
        if record.counts:
            self.store.journal.commit(record)

    def count_backouts_then(self, taken: Moved, then: Then) -> None:
        """Keep the backout counts of messages without waiting for it."""
        record = _backouts(taken)
        if record.counts:
            self.store.journal.submit(record, then)
        else:
            then(None)

    def absence(self) -> Sleep:
        """Returns the sleep of a thread that waits for a message, and commits nothing meanwhile."""
        return self.store.journal.absence()

    def forget(self, branch: bytes) -> None:
        """Forget a decision that its branch has carried out."""
        self.store.journal.commit(Record(forgotten=(branch,)))

    def refuse(self, branch: bytes) -> bool:
        """Decide that a branch does not commit; returns False where it was decided otherwise before."""
        self.store.journal.commit(Record(refused=(branch,)))
        return not self.store.decisions()[branch]

    def keep(self, kind: str, name: str, values: Mapping[str, Value] | None, queue: Queue | None) -> int:
        """Keep a definition, or that there is none any more; returns the number of the queue."""
        number = 0  # of what is no queue: a topic, a subscription or a policy may be called like one
        if kind == _LOCAL:
            number = self.store.next_queue() if queue is None else queue.number
        self.store.journal.commit(Record(objects=[(kind, name, values, number)]))
        self._passing.discard(number)
        return number

    def restore(self) -> None:
        """Give the queue manager what has been defined, and its queues what they hold."""
        for kept in sorted(self.store.objects(), key=lambda kept: kept.kind == "SUB"):  # behind the topics they name
            self._manager.directory.restore(kept.kind, kept.name, kept.values, kept.number)

    def due(self, moment: int, most: int) -> Iterator[list[tuple[Queue, int]]]:
        """Yields messages whose time has passed, so many at once at most, by their queues and orders."""
        with self._manager.lock:
            queues = {queue.number: queue for queue in list(self._manager.directory.queues.values())}
        for due in self.store.due(moment, most):
            yield [(queues[number], order) for number, order in due if number in queues]

    def furnish(self, queue: Queue) -> None:
        """Give a queue what it holds in the store; one that is not kept has a number of its own as well."""
        is_kept = queue.number > 0
        if not is_kept:
            queue.number = self.store.next_queue()
            self._passing.add(queue.number)
        shelves = self.store.shelves(queue.number, is_kept=is_kept)
        queue.backings = shelves
        queue.memory = Memory(self._budget)
        queue.depth = sum(shelf.count for shelf in shelves)

    def configure(self, settings: Mapping[str, Value]) -> None:
        """Act by the queue manager's attributes: how often a task lets messages expire, and how bodies are kept."""
        self._task.every(int(settings["EXPRYINT"]))
        self.store.journal.transactions.codec = str(settings["COMPLOG"])

    def _expire(self) -> int:
        """Returns how many messages a run of the task removed; none where the queue manager cannot write any more."""
        try:
            return self._manager.expire()
        except BrokerError:
            return 0

    def close(self, *, in_order: bool) -> None:
        """Close the store; in order, what is only in memory is kept as well, but for queues that are not."""
        self._task.stop()
        for queue in list(self._manager.directory.queues.values()) if in_order else ():
            if queue.number in self._passing:
                self._manager.purge(queue.definition.name)
        self.store.close(self._left if in_order else None)

    def _left(self) -> list[Record]:
        """Returns the messages that are only in memory, with those that ended units of work have put back."""
        queues = self._manager.directory.queues.values()
        kept = (
            (queue.number, [one for one in queue.in_memory() if not one.descriptor.persistence]) for queue in queues
        )
        return [Record(puts=[(number, one) for one in puts], shares=False) for number, puts in kept]

    def _record(self, puts: Moved, taken: Moved, decided: tuple[bytes, ...] = ()) -> Record:
        """Returns what of a unit of work goes into the store; the messages that it puts cannot be got before it has."""
        placed: list[Placed] = []
        for queue, stored in puts:
            if stored.descriptor.persistence:
                queue.backings[PERSISTENT].take(stored)  # before the store has them, so nobody can have met them there
                placed.append((queue.number, stored))
        removals = [(queue.number, stored) for queue, stored in taken if stored.descriptor.persistence] if taken else []
        return Record(placed, removals, decided=decided)

    def _without(self, spare: Spare, puts: Moved, error: MessageException) -> Moved:
        """Returns what a unit puts without its spare copies, which are given up."""
        gone: set[int] = set()
        for base, copies in spare:
            self._given_up(copies, [])
            note_failure(base, error, self._told)
            gone.update(stored.order for _, stored in copies)
        return [(queue, stored) for queue, stored in puts if stored.order not in gone]

    def _given_up(self, puts: Moved, taken: Moved) -> None:
        with self._manager.lock:
            for queue, stored in puts:
                queue.backings[stored.descriptor.persistence].forget(stored)
        self._manager.admission.undo(puts, taken)


def _is_full(error: BrokerError) -> TypeGuard[MessageException]:
    """Returns True where the store has no room."""
    return isinstance(error, MessageException) and error.reason == STORAGE_MEDIUM_FULL


def _backouts(taken: Moved) -> Record:
    """Returns the record of backout counts, each one higher, of messages that last."""
    return Record(
        counts=[
            (queue.number, stored.order, stored.descriptor.backout_count + 1)
            for queue, stored in taken
            if stored.descriptor.persistence
        ]
    )

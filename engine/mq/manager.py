"""The queue manager: queues by name, and the units of work that put and get their messages."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from engine.message.topics import ADDRESS
from engine.mq.admission import Admission, Target
from engine.mq.attribute_values import Value
from engine.mq.client import Client
from engine.mq.definitions import QueueDefinition
from engine.mq.directory import Directory
from engine.mq.ended_work import end
from engine.mq.expiry import EXPIRY, Expiry
from engine.mq.message_numbers import Numbers
from engine.mq.monitoring import Monitoring
from engine.mq.mqsc import Answer, run
from engine.mq.protection.unit_protection import Protection
from engine.mq.queue import Queue
from engine.mq.queued_message import Stored
from engine.mq.refusals import Q_MGR_STOPPING, no_local_queue, of_topic, refusal, unknown
from engine.mq.security.authorities import TYPE_OF_KIND
from engine.mq.security.rights import SECURITY, Security
from engine.mq.security.user_view import Guarded
from engine.mq.topics.objects import KINDS
from engine.mq.topics.publishing import Topics
from engine.mq.topics.retained import retained_fitting
from engine.mq.topics.status import STATUS, status
from engine.mq.unit import Moved, Work
from engine.mq.works import Publisher, Works
from engine.work import Arrival, QueueAttributes, Selection

if TYPE_CHECKING:
    from engine.mq.persistence import Lasting
    from engine.mq.queue_handle import Handle

DEAD_LETTER_QUEUE: Final = "SYSTEM.DEAD.LETTER.QUEUE"
_MOST_UNCOMMITTED: Final = 999_999_999
_MOST_TARGETS: Final = 20_000
_SLICE: Final = 1_000  # messages that are purged or expire in one step


class QueueManager(Publisher):
    """A queue manager that keeps its queues in this process.

    >>> from engine.descriptor import Descriptor
    >>> queues = QueueManager("IN", "OUT")
    >>> work = queues.work()
    >>> _ = work.put("IN", Descriptor(), b"hello")
    >>> work.get("IN") is None, work.commit(), work.get("IN").body
    (True, None, b'hello')
    """

    def __init__(
        self,
        *definitions: QueueDefinition | str,
        name: str = "QM",
        open_: bool = False,
        dead_letter_queue: str = DEAD_LETTER_QUEUE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`open_` says that a queue is made when a message is first put to it; no name of one: no dead-letter queue."""
        self.name = name
        self.lock = threading.RLock()
        self.store: Lasting | None = None
        self.version = 0  # of the definitions
        self.targets: dict[str, Target] = {}  # of puts, by the names that have been looked up since the last change
        self.sources: dict[str, Queue] = {}  # of gets
        self.admission = Admission(Numbers(name, self.lock), self.lock, clock)
        self._open = open_
        self._closed = ""
        self.when_ended: Callable[[], None] = lambda: None
        self.directory = Directory(name, self._made, self._keep)
        self.protection = Protection()
        self.policies = self.directory.protected()
        self.security = Security(self.directory.authorities, self.directory.topics)
        self.topics = Topics(self, self.directory)
        self._works = Works[Work]()
        self.expiry = self.admission.expiry = Expiry(self, clock)
        self.monitoring = Monitoring(self, self._works, clock)
        self._administering = threading.RLock()  # as a definition may need a queue of the system, which is defined then
        self.directory.add_all(definitions, dead_letter_queue)
        self.directory.settings |= {"DEADQ": dead_letter_queue, "MAXUMSGS": _MOST_UNCOMMITTED}
        self.configure()
        self.topics.listen()

    @staticmethod
    def connect(folder: str | Path, wait: float | None = None) -> Client:
        """Returns the queue manager of a folder whose process serves its socket, and has so many seconds to answer."""
        return Client(folder, wait=wait)

    def work(self, user: str = "", application: str = "", *, held: bool = False) -> Work:
        """Returns a new unit of work; what it puts has this user and application where its descriptor says none.

        `held` says that the user is held to the authority records; otherwise it acts as the owner, who may do all.
        """
        work = Work(self, user, application, self.security.rights(user) if held else None)
        self._works.add(work)
        self.monitoring.open(work)
        return work

    def acting_for(self, user: str) -> QueueManager | Guarded:
        """Returns the queue manager as a user sees it, who is held to the authority records unless it is the owner."""
        return self if self.security.is_owner(user) else Guarded(self, user)

    @classmethod
    def create(cls, folder: str | Path, name: str = "QM", max_size: int | None = None) -> None:
        """Make a durable queue manager in a folder; its store has so many bytes at most."""
        from engine.mq.persistence import create

        create(cls(dead_letter_queue=""), Path(folder), name, max_size or 0)

    @classmethod
    def open(cls, folder: str | Path, wait: float = 0.0, clock: Callable[[], float] = time.time) -> QueueManager:
        """Returns the queue manager of a folder, in this process; it waits so many seconds for another that has it."""
        from engine.mq.persistence import opened

        return opened(cls(dead_letter_queue="", clock=clock), Path(folder), wait)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End in order: units of work are backed out, nothing more is put or got, and who waits is told."""
        self.topics.drain()
        self.monitoring.close()
        with self._administering:
            if self._closed:
                return
            for work in list(self._works):
                end(work)
            self.fail(f"queue manager {self.name} has ended: open it again")
            if self.store is not None:
                self.store.close(in_order=True)

    def fail(self, why: str) -> None:
        """Refuse everything from now on, and tell who waits; `when_ended` is called."""
        with self.lock:
            self._closed = why
            self.version += 1
            self.targets, self.sources = {}, {}
            for queue in list(self.directory.queues.values()):
                queue.waiters.wake_all()
        self.when_ended()

    @property
    def dead_letter_queue(self) -> str:
        """The name of the dead-letter queue, or nothing."""
        return str(self.directory.settings["DEADQ"])

    def forget_retained(self, topic: str, point: str = "") -> bool:
        """Remove what is retained on a topic, or on those that fit its wildcards; False where nothing is."""
        work = self.work()
        found = [self.topics.forget(one, point, work) for one in retained_fitting(self, topic, point)]
        work.commit()
        return any(found)

    def depth(self, queue: str) -> int:
        """Returns how many messages can be got from a queue now."""
        return 0 if (found := self.find(queue)) is None else found.depth

    def names(self) -> list[str]:
        """Returns the names of all queues, sorted."""
        with self.lock:
            return sorted(self.directory.queues)

    def browse(self, queue: str) -> list[Arrival]:
        """Returns the messages of a queue, in the order in which they would be got; they stay there."""
        if (found := self.find(queue)) is None:
            return []
        with self.lock:
            return [self.arrival(stored) for stored in found.browse()]

    def cursor(self, queue: str, selector: str = "", *, examines: bool = False) -> Iterator[Arrival]:
        """Yields the messages of a queue, which stay there; one that `examines` also where gets are inhibited."""
        work, wanted = self.work(), Selection(browse=True, selector=selector)
        work.examines = examines
        while (arrival := work.get(queue, wanted)) is not None:
            yield arrival

    def define(self, kind: str, name: str, attributes: Mapping[str, object], *, replace: bool = False) -> None:
        """Define a queue or an alias by attributes under MQ's names."""
        with self._administering:
            if kind in KINDS:
                self.topics.define(kind, name, attributes, replace=replace)
            else:
                self.directory.define(kind, name, attributes, replace=replace)
            self.changed()

    def alter(self, kind: str, name: str, attributes: Mapping[str, object]) -> None:
        """Give a queue, an alias or the queue manager other attributes; those that are not named stay."""
        if kind == EXPIRY:
            while self.expire():
                continue
            return
        with self._administering:
            self.security.refresh() if kind == SECURITY else self.directory.alter(kind, name, attributes)
            self.changed()

    def delete(self, kind: str, name: str, *, purge: bool = False, authorities: bool = True) -> None:
        """Delete an alias, a topic, a subscription, or a queue without messages; others only where they are purged.

        The authority records of its name go with it, unless `authorities` says that they stay.
        """
        with self._administering:
            queue = self.directory.queues.get(name)
            if kind in KINDS:
                self.topics.delete(kind, name)
            else:
                if purge and kind == "QLOCAL":
                    self.purge(name)
                self.directory.delete(kind, name, list(self._works), purged=purge)
            if authorities and kind in TYPE_OF_KIND:
                self.directory.authorities.forget(TYPE_OF_KIND[kind], name)
            self.changed()
            if queue is not None:
                with self.lock:
                    queue.waiters.wake_all()

    def display(self, kind: str, pattern: str = "*") -> list[dict[str, Value]]:
        """Returns the attributes of the objects whose names fit a pattern, such as `ORDERS.*`."""
        return (
            status(self, kind, pattern) if kind in STATUS else self.directory.display(kind, pattern, list(self._works))
        )

    def statistics(self) -> list[dict[str, Any]]:
        """Returns what was done to each queue since it was opened, as counts by their names."""
        return self.monitoring.snapshot()

    def mqsc(self, text: str) -> list[Answer]:
        """Carry out a script of MQSC commands, and return what each answered.

        >>> QueueManager().mqsc("DEFINE QLOCAL(ORDERS)")[0].code
        'AMQ8006I'
        """
        return run(self, text)

    def clear(self, name: str) -> None:
        """Remove all messages of a local queue that no unit of work uses; an alias is none."""
        if name in self.directory.aliases:
            raise no_local_queue(name)
        if (queue := self.find(name)) is not None:
            self.directory.check_unused(queue, list(self._works))
            self.purge(name)

    def purge(self, queue: str) -> int:
        """Remove the messages that can be got from a queue, and return how many there were."""
        return sum(iter(lambda: self.purge_some(queue, _SLICE), 0))

    def purge_some(self, queue: str, most: int) -> int:
        """Remove so many messages of a queue at most, and return how many were removed."""
        if (found := self.find(queue)) is None:
            return 0
        with self.lock:
            taken = found.take_some(most)
            found.counts.purged += len(taken)
        self.remove([(found, stored) for stored in taken])
        return len(taken)

    def expire(self, most: int = _SLICE) -> int:
        """Remove messages whose time has passed, so many at most, and return how many were removed."""
        return self.expiry.run(most)

    def decisions(self) -> dict[bytes, bool]:
        """Returns the branches of two-phase commits that are decided: True where they commit, False where refused."""
        return {} if self.store is None else self.store.store.decisions()

    def forget(self, branch: bytes) -> None:
        """Forget a decision that its branch has carried out."""
        if self.store is not None:
            self.store.forget(branch)

    def refuse(self, branch: bytes) -> bool:
        """Decide that a branch does not commit, so that a late commit is refused; returns False where it has been."""
        return self.store is None or self.store.refuse(branch)

    def new_id(self) -> bytes:
        """Returns an id that no other message has."""
        return self.admission.numbers.new_id()

    def new_ids(self, count: int) -> bytes:
        """Returns the first of so many ids that no other message has; their last eight bytes count up."""
        return self.admission.numbers.new_id(count)

    def attributes(self, queue: str) -> QueueAttributes | None:
        """Returns the attributes of a queue, of the one behind an alias, or None where there is none."""
        found = self.directory.behind(queue)
        return None if found is None else found.definition.attributes

    def find(self, queue: str) -> Queue | None:
        """Returns the queue of a name; None where it is not there yet, but would be made by a put."""
        found = self.directory.behind(queue)
        if found is None:
            alias = self.directory.aliases.get(queue)
            if alias is not None and alias.is_of_topic:
                raise of_topic(queue, alias.target)
            if not (self._open and queue):
                raise unknown(queue)
        return found

    def check(self) -> None:
        """Refuse everything once the queue manager has ended."""
        if self._closed:
            raise refusal(Q_MGR_STOPPING, self._closed, self.name)

    def source(self, queue: str) -> Queue | None:
        """Returns the queue that messages are got from by a name; None where a put would make it."""
        self.check()
        with self.lock:
            if (resolved := self.directory.resolve(queue, "GET")) is not None:
                return self.sources.setdefault(queue, resolved[0])
        if not (self._open and queue):
            raise unknown(queue)
        return None

    def target(self, queue: str) -> Target:
        """Returns what messages are put to by a name."""
        self.check()
        self.topics.make_ready(queue)
        with self.lock:
            alias = self.directory.aliases.get(queue)
            if len(self.targets) >= _MOST_TARGETS:  # publishers may name a topic of its own for each message
                self.targets = {}
            if queue.startswith(ADDRESS) or (alias is not None and alias.is_of_topic):
                target = self.topics.target(queue, alias)
            else:
                resolved = self.directory.resolve(queue, "PUT")
                if resolved is None:
                    if not (self._open and queue):
                        raise unknown(queue)
                    made = self.directory.add(QueueDefinition(queue))
                    resolved = made, made.definition
                found, definition = resolved
                longest = min(found.definition.max_message_length, self.admission.longest)
                target = Target(queue, found, definition, longest)
            target.policy = self.policies["PUT"].get(queue)
            self.targets[queue] = target
        return target

    def remove(self, taken: Moved) -> None:
        """Remove messages for good that were taken outside any unit of work."""
        if self.store is not None and taken:
            self.store.remove(taken)

    def release(self, queue: Queue, handle: Handle) -> None:
        """Let others have messages of the keys that a handle had in hand."""
        if queue.in_hand:
            with self.lock:
                queue.in_hand = {key: held for key, held in queue.in_hand.items() if held is not handle}
                queue.waiters.wake_those_in_order()

    def arrival(self, stored: Stored) -> Arrival:
        """Returns a message as it is handed out: its expiry is what remains of it."""
        return self.expiry.arrival(stored)

    def _made(self, definition: QueueDefinition, number: int) -> Queue:
        queue = Queue(definition, self.admission.clock, number)
        if self.store is not None:
            self.store.furnish(queue)
        return queue

    def _keep(self, kind: str, name: str, values: Mapping[str, Value] | None) -> int:
        """Keep what has been defined, where there is a store; returns the number of the queue there."""
        return 0 if self.store is None else self.store.keep(kind, name, values, self.directory.queues.get(name))

    def changed(self) -> None:
        """Let everyone look again at definitions that have changed."""
        with self.lock:
            self.configure()
            self.version += 1
            self.targets, self.sources = {}, {}
            for queue in list(self.directory.queues.values()):
                queue.waiters.wake_all()
        self.topics.listen()
        self.monitoring.change()

    def configure(self) -> None:
        """Act by what the queue manager's own attributes say."""
        self.policies = self.directory.protected()
        settings = self.directory.settings
        self.admission.longest = int(settings["MAXMSGL"])
        self.most_uncommitted = int(settings["MAXUMSGS"])
        if self.store is not None:
            self.store.configure(settings)

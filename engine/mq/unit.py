"""Units of work over queues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import getpid
from typing import TYPE_CHECKING

from engine.descriptor import SEGMENTATION_ALLOWED, Descriptor
from engine.errors import BrokerError
from engine.message.topics import ADDRESS, address
from engine.mq.admission import context_of
from engine.mq.queue_handle import SLICE, Handle
from engine.mq.refusals import too_many
from engine.mq.reports import COD, is_asked, on_arrival, put_report, report
from engine.mq.security.authorities import INQ
from engine.mq.segments import taken_whole
from engine.mq.served_manager import Unfinished
from engine.mq.streams import add_streamed
from engine.mq.turns import interruption, wait_for
from engine.mq.waiting_gets import looked_further
from engine.work import Arrival, QueueAttributes, Selection

if TYPE_CHECKING:
    from engine.mq.accounting import Account
    from engine.mq.manager import QueueManager
    from engine.mq.queue import Queue
    from engine.mq.queued_message import Stored
    from engine.mq.security.rights import Rights
    from engine.mq.topics.retained import Replacement
    from engine.mq.waiters import Sleep

Moved = list[tuple["Queue", "Stored"]]
Spare = Sequence[tuple["Queue", Moved]]  # copies that a unit may do without, by the queue of their originals
Then = Callable[[BrokerError | None], None]


class Work:
    """A unit of work over queues, one behind the other, and what is remembered from one to the next.

    `unfinished` says that a get or a browse ended before the end of its queue, for one that is `sliced`: ask again.
    """

    __slots__ = (
        *("__weakref__", "_changes", "_lasting", "opened", "puts", "account", "context", "copied"),
        *("interrupted", "manager", "patience", "protects", "refused_streams", "sleep", "sliced", "spare", "taken"),
        *("examines", "process", "replacement", "rights", "unfinished", "user"),
    )

    def __init__(
        self, manager: QueueManager, user: str = "", application: str = "", rights: Rights | None = None
    ) -> None:
        self.user = user
        self.process = getpid()  # that works
        self.protects = True  # messages here, by the policies of queues; not where a socket's other end does it
        self.rights = rights  # that the user is held to; None: the owner's, who may do all
        self.examines = False  # it browses for a dump, also where gets are inhibited
        self.patience = 0.0
        self.sliced = self.unfinished = self.interrupted = False
        self.sleep: Sleep | None = None  # of a get that waits
        self.manager = manager
        self.context = context_of(user, application)
        self.opened: dict[str, Handle] = {}
        self._changes: list[Handle] = []  # handles to which it matters how the unit ends
        self.taken: Moved = []
        self.puts: Moved = []
        self.copied = 0  # copies for streams in the unit, which MAXUMSGS does not count
        self.spare: list[tuple[Queue, Moved]] = []  # those that the unit may do without
        self.account: Account | None = None  # of what is done, where accounting is on
        self.refused_streams: dict[str, int] = {}  # why copies were not made, by queue
        self.replacement: Replacement | None = None  # of what is retained
        self._lasting = False  # something of the unit is in the store, or is to be

    def get(
        self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True, wait: float = 0.0
    ) -> Arrival | None:
        manager = self.manager
        opened = self.opened.get(queue)
        if opened is None or opened.version != manager.version:
            opened = self.open(queue)
            if opened is None:
                return None
        if self.rights is not None:
            self.rights.check_get(queue, selection)
        if self.protects and opened.policy is not None:
            return manager.protection.get(self, queue, opened.policy, selection, syncpoint=syncpoint, wait=wait)
        if (self.puts or self.taken) and syncpoint is not False:
            self._check_room()
        if opened.group:
            opened.check_group(selection, in_unit=syncpoint)
        lock = manager.lock
        try:
            lock.acquire(False) or wait_for(lock)
            stored = opened.queue.take(selection, opened)
            opened.seen = opened.queue.arrivals
        finally:
            try:
                lock.release()
            except RuntimeError as error:
                raise interruption(error) from None
        if (stored is None or opened.queue.expired) and (
            stored := looked_further(self, queue, opened, selection, wait, stored)
        ) is None:
            return None
        if selection is not None and selection.browse:
            return manager.arrival(stored)
        alone = not stored.descriptor.msg_flags or opened.note_unit(stored, selection, in_unit=syncpoint)
        taken, whole = ([(opened.queue, stored)], stored) if alone else taken_whole(manager, opened, stored)
        return self.got(taken, whole, syncpoint=syncpoint)

    def get_some(
        self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True, most: int
    ) -> Arrival | Unfinished | None:
        """Get without waiting, and look at so many messages at most; UNFINISHED says to ask again."""
        opened = self.open(queue)
        if opened is None:
            return None
        opened.slice, self.sliced = most, True
        try:
            arrival = self.get(queue, selection, syncpoint=syncpoint)
        finally:
            opened.slice, self.sliced = SLICE, False
        return Unfinished.UNFINISHED if arrival is None and opened.unfinished else arrival

    def commit_then_get(
        self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True, wait: float = 0.0
    ) -> Arrival | None:
        """Commit, and get the next message; over a socket this is one round trip."""
        self.commit()
        return self.get(queue, selection, syncpoint=syncpoint, wait=wait)

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        manager = self.manager
        target = manager.targets.get(queue) or manager.target(queue)
        if self.rights is not None:
            descriptor = self.rights.admitted(target, descriptor, self)
        if (policy := target.policy) is not None and self.protects:
            return manager.protection.put(self, queue, policy, (descriptor, body), syncpoint=syncpoint)
        if (self.puts or self.taken) and syncpoint:
            self._check_room()
        if target.topic is not None:
            return manager.topics.put(target, descriptor, body, self, syncpoint=syncpoint)
        if descriptor.msg_flags & SEGMENTATION_ALLOWED:
            admitted = manager.admission.segments(target, descriptor, body, self.context)
            puts: Moved = [(target.queue, stored) for stored in admitted]
        else:
            puts = [(target.queue, manager.admission.admit(target, descriptor, body, self.context))]
        own = puts[0][1].descriptor
        if target.queue.stream is None:
            self.add(puts, syncpoint=syncpoint)
        else:
            add_streamed(manager, self, target, puts, syncpoint=syncpoint)
        if own.report:
            for made in on_arrival(own, body, manager.name, put_away=queue == self.dead_letter_queue):
                put_report(self, *made, own.reply_to_q, syncpoint=syncpoint)
        return own

    def publish(
        self,
        topic: str,
        descriptor: Descriptor,
        body: bytes,
        *,
        retain: bool = False,
        point: str = "",
        syncpoint: bool = True,
    ) -> Descriptor:
        name = address(topic, retain=retain, point=point) if retain or point else f"{ADDRESS}//{topic}"
        return self.put(name, descriptor, body, syncpoint=syncpoint)

    def add(self, puts: Moved, spare: Spare = (), *, syncpoint: bool = True) -> None:
        """Add messages that have been admitted to the unit, or make them available at once."""
        manager = self.manager
        store = manager.store
        lasting = store is not None and _any_lasts(puts)
        if syncpoint:
            self.puts += puts
            if lasting:
                self._lasting = True
        elif lasting and store is not None:
            store.write(puts, [], spare=spare)
        else:
            manager.admission.apply(puts, [])

    def _check_room(self) -> None:
        """Refuse what is more than MAXUMSGS allows in the unit."""
        if len(self.taken) + len(self.puts) - self.copied >= self.manager.most_uncommitted:
            raise too_many(self.manager.most_uncommitted)

    def authorise(self, user: str, queue: str) -> None:
        self.manager.security.authorise(user, self.manager.targets.get(queue) or self.manager.target(queue))

    def attributes(self, queue: str) -> QueueAttributes | None:
        if self.rights is not None:
            self.rights.check(queue, INQ)
        return self.manager.attributes(queue)

    @property
    def knows_subscribers(self) -> bool:
        """True: a put to a topic can be answered by whether a subscription takes it."""
        return True

    def new_id(self) -> bytes:
        return self.manager.new_id()

    @property
    def dead_letter_queue(self) -> str:
        return self.manager.dead_letter_queue

    @property
    def queue_manager(self) -> str:
        return self.manager.name

    @property
    def is_idle(self) -> bool:
        """True where nothing has been put or got since the unit began."""
        return not (self.puts or self.taken)

    def commit(self, decision: tuple[bytes, ...] = ()) -> None:
        """Make the unit last; `decision` names the branches of other resources that commit with it."""
        store = self.manager.store
        if self.replacement is not None:
            self.manager.topics.send_late(self.replacement, self)
        if store is not None and (self._lasting or decision):
            spare = self.spare
            try:
                store.write(*self._detached(), decision, spare)
            except BaseException:
                self._settle(kept=False)
                raise
        elif self.puts:
            self.manager.admission.apply(self.puts, [])
            self.puts, self.taken, self.spare, self.copied = [], [], [], 0
        elif self.taken:
            self.taken = []
        if self._changes:
            self._settle(kept=True)

    def back_out(self) -> None:
        store = self.manager.store if self._lasting else None
        puts, taken = self._detached()
        try:
            if store is not None and taken:
                store.count_backouts(taken)
        finally:
            if puts or taken:
                self.manager.admission.undo(puts, taken)
            self._settle(kept=False)

    def commit_then(self, then: Then, decision: tuple[bytes, ...] = ()) -> None:
        """Commit without waiting for the store: `then` learns the outcome, perhaps from another thread."""
        store = self.manager.store
        if store is None or not (self._lasting or decision):
            self.commit()
            then(None)
            return
        if self.replacement is not None:
            self.manager.topics.send_late(self.replacement, self)
        spare = self.spare
        puts, taken = self._detached()

        def finished(error: BrokerError | None) -> None:
            self._settle(kept=error is None)
            then(error)

        store.write_then(puts, taken, decision, finished, spare)

    def back_out_then(self, then: Then) -> None:
        """Back out without waiting for the store to keep the backout counts."""
        store = self.manager.store if self._lasting else None
        puts, taken = self._detached()

        def finished(error: BrokerError | None) -> None:
            self.manager.admission.undo(puts, taken)
            self._settle(kept=False)
            then(error)

        if store is not None and taken:
            store.count_backouts_then(taken, finished)
        else:
            finished(None)

    def give_back(self) -> None:
        """Undo the unit as if its gets had never been: backout counts stay as they were."""
        puts, taken = self._detached()
        self.manager.admission.undo(puts, taken, counted=False)
        self._settle(kept=False)

    def interrupt(self) -> None:
        """End a get that waits in another thread, as if its time were over, and let none wait from now on."""
        with self.manager.lock:
            self.interrupted = True
            if self.sleep is not None:
                self.sleep.end()

    def close(self) -> None:
        """Back out what is not committed: nobody has the unit any more."""
        self.back_out()

    def is_amid_group(self, queue: str) -> bool:
        """Returns True where a part of a group of a queue has been got in logical order."""
        return queue in self.opened and self.opened[queue].group != b""

    def uses(self, queue: Queue) -> tuple[int, bool, bool]:
        """Returns how many uncommitted messages of a queue the unit has, and whether it reads and writes it."""
        moved = sum(one is queue for one, _ in (*self.puts, *self.taken))
        return moved, any(opened.queue is queue for opened in list(self.opened.values())), moved > 0

    def put_at_once(self, queue: str, descriptor: Descriptor, body: bytes) -> bool:
        """Put, and commit the unit with it, where nothing of it lasts; False: nothing is done, and it goes by steps."""
        target = self.manager.targets.get(queue)
        if (
            target is None
            or not target.changes_nothing
            or target.topic is not None
            or self.puts
            or self._lasting
            or self.rights is not None
            or self.account is not None
            or self.protects
            or not self.manager.admission.pass_on(target, descriptor, body, self.context)
        ):
            return False
        self.taken = []
        self._settle(kept=True)
        return True

    def open(self, queue: str) -> Handle | None:
        """Returns a queue to get messages from; None where it is not there yet, but would be made by a put."""
        manager = self.manager
        version = manager.version
        found = manager.find(queue) if self.examines else manager.sources.get(queue) or manager.source(queue)
        if found is None:
            return None
        opened = self.opened.get(queue)
        if opened is None or opened.queue is not found:
            opened = self.opened[queue] = Handle(found, self._changes)
        opened.version = version
        opened.policy = manager.policies["GET"].get(queue)
        return opened

    def got(self, taken: Moved, stored: Stored, *, syncpoint: bool | None) -> Arrival:
        """Returns a message that has been taken off its queue, and makes that part of the unit, or final."""
        manager, descriptor = self.manager, stored.descriptor
        lasting = descriptor.persistence and manager.store is not None
        in_unit = bool(descriptor.persistence) if syncpoint is None else syncpoint
        if in_unit:
            self.taken += taken
            if lasting:
                self._lasting = True
        elif lasting:
            manager.remove(taken)
        arrival = manager.arrival(stored) if stored.expires else tuple.__new__(Arrival, (descriptor, stored.body))
        if descriptor.report and is_asked(COD, descriptor):
            put_report(self, *report(COD, *arrival, manager.name), descriptor.reply_to_q, syncpoint=in_unit)
        return arrival

    def as_manager(self, do: Callable[[], object]) -> None:
        """Do something as the queue manager: no rights hold it, and no account has it."""
        rights, self.rights = self.rights, None
        kind, self.__class__ = self.__class__, Work
        try:
            do()
        finally:
            self.rights, self.__class__ = rights, kind

    def _detached(self) -> tuple[Moved, Moved]:
        """Returns what the unit has put and got, and begins another."""
        unit = self.puts, self.taken
        self.puts, self.taken, self.spare, self.copied, self._lasting = [], [], [], 0, False
        return unit

    def _settle(self, *, kept: bool) -> None:
        """Make handles remember, or forget, what they have learnt since the last unit ended."""
        if not self._changes:
            return
        self._changes.clear()
        replacement, self.replacement = self.replacement, None
        if replacement is not None:
            replacement.end(kept=kept)
        for handle in self.opened.values():
            if handle.changed:
                handle.commit() if kept else handle.back_out()
                self.manager.release(handle.queue, handle)


def _any_lasts(puts: Moved) -> bool:
    """Returns True where one of some messages is persistent."""
    for _, stored in puts:  # noqa: SIM110 - a call of any takes longer
        if stored.descriptor.persistence:
            return True
    return False

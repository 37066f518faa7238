"""Queues of an AMQP 1.0 broker, and the unit of work over them: the same flow works there as on the queue manager."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final

from proton import Delivery, Message

from engine.descriptor import NO_ID, PERSISTENT, Descriptor
from engine.errors import MessageException
from engine.message.topics import ADDRESS
from engine.transports.amqp.address import Address, read_address
from engine.transports.amqp.links import CONNECTION_BROKEN, UNKNOWN_OBJECT_NAME, Links, Peer, Received
from engine.transports.amqp.messages import Identifiers, expires_at, put_moment, read_message, write_message
from engine.transports.amqp.missing_features import refuse_selection
from engine.work import Arrival, QueueAttributes, Selection

_EIGHT_BYTES: Final = (1 << 64) - 1
_REMEMBERED: Final = 10_000  # messages that were backed out
_NOTHING: Final = Selection()


class AmqpQueues:
    """A broker that speaks AMQP 1.0, in the place of a queue manager.

    A unit of work is a transaction where the broker has transactions. Elsewhere all that a unit puts is accepted
    before what it gets is: after a failure in between, messages come once more.
    """

    def __init__(self, address: Address | str, name: str = "QM") -> None:
        self.address = read_address(address) if isinstance(address, str) else address
        self.name = name
        self.dead_letter_queue = self.address.dead_letter_queue
        logging.getLogger("proton").setLevel(logging.CRITICAL)  # it reports what is raised here as well
        self.ids = Identifiers()
        self.attributes = QueueAttributes(self.address.backout_threshold, self.address.backout_queue)
        self._failed: OrderedDict[tuple[str, bytes], int] = OrderedDict()
        self._prefix = b"AMQ " + name.encode("ascii", "replace")[:12].ljust(12)
        self._number = int.from_bytes(os.urandom(8))
        self._lock = threading.Lock()

    def work(self) -> AmqpWork:
        """A new unit of work, with a connection of its own."""
        return AmqpWork(self)

    def introduce(self) -> Peer:
        """Connects once, and tells which broker is there and what it can do."""
        links = Links(self.address)
        links.close()
        return links.peer

    def new_id(self) -> bytes:
        """An id that no other message has."""
        with self._lock:
            self._number += 1
            return self._prefix + (self._number & _EIGHT_BYTES).to_bytes(8)

    def count_failure(self, queue: str, msg_id: bytes) -> None:
        """Counts that a message was backed out, for a broker that does not."""
        with self._lock:
            self._failed[queue, msg_id] = self._failed.pop((queue, msg_id), 0) + 1
            if len(self._failed) > _REMEMBERED:
                self._failed.popitem(last=False)

    def failures(self, queue: str, msg_id: bytes) -> int:
        """The times that a message was backed out in this process."""
        return self._failed.get((queue, msg_id), 0) if self._failed else 0

    def forget_failures(self, queue: str, msg_id: bytes) -> None:
        """Says that a message has been got for good."""
        if self._failed:
            with self._lock:
                self._failed.pop((queue, msg_id), None)


@dataclass(slots=True)
class _Unit:
    """The puts and gets since the last commit."""

    taken: list[tuple[str, bytes, Delivery]] = field(default_factory=list)
    puts: list[tuple[str, Message]] = field(default_factory=list)
    selected: set[tuple[str, str]] = field(default_factory=set)  # by ids that no later unit asks for


class AmqpWork:
    """A unit of work over an AMQP broker's queues, used by one thread."""

    __slots__ = ("_interrupted", "_links", "_queues", "_seen", "_unit", "patience")

    def __init__(self, queues: AmqpQueues) -> None:
        self.patience = 0.0
        self._queues = queues
        self._interrupted = False
        self._links: Links | None = None
        self._unit = _Unit()
        self._seen: dict[str, float] = {}  # when a browser last found something

    def get(
        self,
        queue: str,
        selection: Selection | None = None,
        *,
        syncpoint: bool | None = True,
        wait: float = 0.0,
    ) -> Arrival | None:
        wanted = selection or _NOTHING
        links = self._connected()
        selector = refuse_selection(wanted, links.peer, self._queues.ids)
        if wanted.browse and 0 <= wanted.rewind <= time.monotonic() - self._seen.get(queue, 0.0):
            links.forget(queue, selector=selector, browse=True)
        found = self._safely(lambda: _living(links, queue, wait, selector, browse=wanted.browse))
        if selector and not wanted.browse:
            self._unit.selected.add((queue, selector))
        if found is None:
            return None
        message, delivery = found
        descriptor, body = read_message(message, self._queues.ids)
        if failures := self._queues.failures(queue, descriptor.msg_id):
            descriptor = descriptor._replace(backout_count=max(failures, descriptor.backout_count))
        arrival = Arrival(descriptor, body)
        if wanted.browse:
            self._seen[queue] = time.monotonic()
            links.settle([delivery], Delivery.ACCEPTED)
        elif syncpoint or (syncpoint is None and arrival.descriptor.persistence == PERSISTENT):
            self._unit.taken.append((queue, descriptor.msg_id, delivery))
        else:
            self._safely(lambda: links.settle([delivery], Delivery.ACCEPTED))
        return arrival

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        if queue.startswith(ADDRESS):
            problem = f"{queue:.200} is a topic of the queue manager, which no AMQP broker knows: name a queue"
            raise MessageException(UNKNOWN_OBJECT_NAME, problem, queue, reason=UNKNOWN_OBJECT_NAME)
        put = self._completed(descriptor)
        message = write_message(put, body, self._queues.ids)
        links = self._connected()
        self._safely(lambda: links.sender(queue))
        if syncpoint:
            self._unit.puts.append((queue, message))
        else:
            self._safely(lambda: links.confirm([(queue, links.send(queue, message))]))
        return put

    def has_come(self, queue: str) -> bool:
        """Returns True where the next message of a queue is here already, so that a get does not wait for it."""
        return self._links is not None and self._links.has_come(queue)

    def find(self, queue: str) -> None:
        """Raises an error where there is no queue of this name, and the broker does not make one."""
        links = self._connected()
        self._safely(lambda: links.sender(queue))

    def attributes(self, queue: str) -> QueueAttributes | None:
        return self._queues.attributes

    def new_id(self) -> bytes:
        return self._queues.new_id()

    @property
    def dead_letter_queue(self) -> str:
        return self._queues.dead_letter_queue

    @property
    def queue_manager(self) -> str:
        return self._queues.name

    def commit(self) -> None:
        unit = self._unit
        if not (unit.puts or unit.taken or unit.selected):
            return
        links = self._connected()
        self._safely(lambda: _commit(links, unit))
        self._unit = _Unit()
        self._forget_selected(links, unit)
        for queue, msg_id, _ in unit.taken:
            self._queues.forget_failures(queue, msg_id)

    def back_out(self) -> None:
        unit, self._unit = self._unit, _Unit()
        links = self._links
        if links is None or not (unit.taken or unit.selected):
            return
        if not links.peer.counts:
            for queue, msg_id, _ in unit.taken:
                self._queues.count_failure(queue, msg_id)
        self._safely(lambda: links.give_back([delivery for _, _, delivery in unit.taken]))
        self._forget_selected(links, unit)

    def interrupt(self) -> None:
        """Ends a wait for messages soon, and lets no other begin; called by another thread."""
        self._interrupted = True
        links = self._links
        if links is not None:
            links.interrupted = True

    def close(self) -> None:
        """Ends the connection; what is not committed is backed out by the broker."""
        links, self._links, self._unit = self._links, None, _Unit()
        if links is not None:
            links.close()

    def _forget_selected(self, links: Links, unit: _Unit) -> None:
        for queue, selector in unit.selected:
            self._safely(lambda queue=queue, selector=selector: links.forget(queue, selector=selector))

    def _connected(self) -> Links:
        links = self._links
        if links is None:
            links = self._links = Links(self._queues.address)
            links.interrupted = self._interrupted
        return links

    def _safely(self, act: Any) -> Any:
        """Does something at the broker; a connection that broke is given up, and the next get makes a new one."""
        try:
            return act()
        except MessageException as error:
            if error.number == CONNECTION_BROKEN:
                self.close()
            raise

    def _completed(self, descriptor: Descriptor) -> Descriptor:
        """The descriptor with what a queue manager adds to it at a put."""
        changes: dict[str, Any] = {}
        if descriptor.msg_id == NO_ID:
            changes["msg_id"] = self.new_id()
        if not descriptor.put_date:
            changes |= put_moment(time.time())
        if descriptor.priority < 0:
            changes["priority"] = 0
        if descriptor.persistence not in (0, PERSISTENT):
            changes["persistence"] = 0
        if descriptor.backout_count:
            changes["backout_count"] = 0
        return descriptor._replace(**changes) if changes else descriptor


def _living(links: Links, queue: str, wait: float, selector: str, *, browse: bool) -> Received | None:
    """Returns the next message; one that has expired since it was fetched in advance is discarded, as in MQ."""
    end = time.monotonic() + wait
    left = wait
    while (found := links.receive(queue, left, selector=selector, browse=browse)) is not None:
        if not 0 < expires_at(found[0]) <= time.time():
            return found
        links.settle([found[1]], Delivery.ACCEPTED)
        left = wait if wait < 0 else max(0.0, end - time.monotonic())
    return None


def _commit(links: Links, unit: _Unit) -> None:
    """Makes a unit last: by a transaction where it takes one, else by the puts first and the gets behind them."""
    taken = [delivery for _, _, delivery in unit.taken]
    if links.peer.transactions and unit.puts and len(unit.puts) + len(unit.taken) > 1:
        transaction = links.declare()
        sent = [(queue, links.send(queue, message, transaction)) for queue, message in unit.puts]
        links.discharge(transaction, sent, taken)
        return
    if unit.puts:
        links.confirm([(queue, links.send(queue, message)) for queue, message in unit.puts])
    if taken:
        links.settle(taken, Delivery.ACCEPTED)

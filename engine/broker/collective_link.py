"""The link of a broker to its collective: sends on what is published here, and publishes what others have sent.

A message is sent to a queue of each other member. It is taken off the queue here once the AMQP broker has it, so that
it may be sent twice; whoever gets it publishes it once, by the id that it has. What was published is remembered on a
queue, in the unit of work of the publications.
"""

from __future__ import annotations

import hashlib
import logging
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Final, Protocol
from uuid import UUID

from engine.broker.channel import Channel
from engine.broker.collective import Collective
from engine.broker.folder import Folder
from engine.broker.queues import RECEIVED, TRANSMIT, queue_managers
from engine.descriptor import NO_ID, PERSISTENT, UTF_8, Descriptor
from engine.errors import BrokerError, MessageException
from engine.flow.dead_letters import UNPARSEABLE, header
from engine.message.topics import REMOTE, address
from engine.mq.topics.forwarding import Forwarded, packed, unpacked
from engine.mq.topics.retained import RETAINED, kept, retained_at
from engine.transports.amqp import AmqpQueues
from engine.work import Arrival, Selection

_MOST: Final = 100  # messages of one unit of work
_LARGEST: Final = 4 << 20  # bytes of messages behind which a unit is closed
_IDLE: Final = 10.0  # seconds without a message after which a connection that sends is closed
_REMEMBERED: Final = 10_000  # publications of each member
_ID: Final = 16  # bytes
_LOOKS: Final = 2.0  # seconds that whoever receives waits before it says that all is well
_SOONEST: Final = 0.2
_LATEST: Final = 5.0
_LEAVING: Final = 2.0  # seconds that a unit of work is given to end
_GONE: Final = frozenset((2009, 2059, 2161, 2162))  # the queue manager, or the way to it
_ASKED: Final = b"asked".ljust(24, b"\0")
_LETTER: Final = "MQDEAD"
_LOG: Final = logging.getLogger(__name__)


class Queues(Protocol):
    """The queues of an AMQP broker, as far as a link uses them."""

    def get(self, queue: str, *, wait: float = 0.0) -> Arrival | None: ...

    def has_come(self, queue: str) -> bool: ...

    def put(self, queue: str, descriptor: Descriptor, body: bytes) -> Descriptor: ...

    def commit(self) -> None: ...

    def close(self) -> None: ...

    def interrupt(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Member:
    """A broker as a member of its collective; `members` gives the names of all."""

    name: str
    uuid: str
    collective: Collective
    members: Callable[[], Iterable[str]]

    @property
    def others(self) -> list[str]:
        """The names of the other members."""
        return [name for name in self.members() if name != self.name]

    @property
    def key(self) -> bytes:
        """The 24 bytes that stand for the broker."""
        return UUID(self.uuid).bytes.ljust(24, b"\0")


def batch(first: Arrival, following: Callable[[], Arrival | None]) -> list[Arrival]:
    """Returns a message with those that are there behind it, as many as one unit of work takes."""
    found, size = [first], len(first.body)
    while len(found) < _MOST and size < _LARGEST and (more := following()) is not None:
        found.append(more)
        size += len(more.body)
    return found


class Sending:
    """Sends what waits for other queue managers to the queue of each member."""

    name = "sending"

    def __init__(self, member: Member) -> None:
        self._member = member

    def begin(self, manager: Any, work: Any) -> None:
        """Nothing is to be done first."""

    def step(self, work: Any, links: Queues) -> None:
        """Wait for messages, and send them."""
        first = work.get(TRANSMIT, wait=_IDLE)
        if first is None:
            links.close()
            return
        unit = batch(first, lambda: work.get(TRANSMIT))
        others = self._member.others  # read behind the messages: whoever joined before they were published gets them
        for arrival in unit:
            self._send(arrival, links, others)
        links.commit()
        work.commit()

    def _send(self, arrival: Arrival, links: Queues, others: Iterable[str]) -> None:

        said = unpacked(*arrival)
        origin = {"origin": self._member.uuid, "from": self._member.name}
        descriptor, body = packed(said._replace(more={**said.more, **origin}))
        descriptor = descriptor._replace(msg_id=arrival.descriptor.msg_id)
        to = said.more.get("to")
        for name in [to] if to else others:
            links.put(self._member.collective.queue(name), descriptor, body)


@dataclass(slots=True)
class Remembered:
    """The ids of the publications of one member that were published here last, oldest first, by unit of work."""

    units: deque[bytes] = field(default_factory=deque)
    ids: set[bytes] = field(default_factory=set)

    def add(self, unit: bytes) -> None:
        """Remember the ids of a unit."""
        self.units.append(unit)
        self.ids.update(unit[at : at + _ID] for at in range(0, len(unit), _ID))

    def excess(self) -> bytes | None:
        """Returns the oldest unit where so many came after it that none of it comes again."""
        return self.units[0] if self.units and len(self.ids) - len(self.units[0]) // _ID >= _REMEMBERED else None

    def forget(self) -> None:
        """Forget the oldest unit."""
        unit = self.units.popleft()
        self.ids.difference_update(unit[at : at + _ID] for at in range(0, len(unit), _ID))


class Receiving:
    """Publishes what other members have sent, each publication once."""

    name = "receiving"

    def __init__(self, member: Member) -> None:
        self._member = member
        self._queue = member.collective.queue(member.name)
        self._remembered: dict[bytes, Remembered] = {}
        self._manager: Any = None

    def begin(self, manager: Any, work: Any) -> None:
        """Read what was published; a broker that is new in the collective says and asks what is retained."""
        self._manager = manager
        self._remembered = {}
        asked = False
        for arrival in manager.cursor(RECEIVED):
            if arrival.descriptor.correl_id == _ASKED:
                asked = asked or arrival.body == self._member.collective.name.encode()
            else:
                self._of(arrival.descriptor.correl_id).add(arrival.body)
        if not asked:
            while work.get(RECEIVED, Selection(correl_id=_ASKED)) is not None:
                pass  # of the collective that it was in before
            self._ask(work)
            work.commit()

    def step(self, work: Any, links: Queues) -> None:
        """Wait for messages, and publish them."""
        first = links.get(self._queue, wait=_LOOKS)
        if first is None:
            return
        new: dict[bytes, list[bytes]] = {}
        for arrival in batch(first, lambda: links.get(self._queue) if links.has_come(self._queue) else None):
            self._take(arrival, work, new)
        excess = self._note(work, new)
        work.commit()
        for origin, ids in new.items():
            self._of(origin).add(b"".join(ids))
        for origin in excess:
            self._of(origin).forget()
        links.commit()

    def _of(self, origin: bytes) -> Remembered:
        return self._remembered.setdefault(origin, Remembered())

    def _note(self, work: Any, new: dict[bytes, list[bytes]]) -> list[bytes]:
        """Note what is published in the unit, and returns those of whom the oldest unit is forgotten in it."""
        for origin, ids in new.items():
            descriptor = Descriptor(correl_id=origin, persistence=PERSISTENT)
            work.put(RECEIVED, descriptor, b"".join(ids))
        found = [origin for origin in new if self._of(origin).excess() is not None]
        for origin in found:
            work.get(RECEIVED, Selection(correl_id=origin))
        return found

    def _take(self, arrival: Arrival, work: Any, new: dict[bytes, list[bytes]]) -> None:

        try:
            said = unpacked(*arrival)
            origin = UUID(said.more["origin"]).bytes.ljust(24, b"\0")
        except (MessageException, ValueError, KeyError) as error:
            self._put_away(arrival, work, UNPARSEABLE, str(error))
            return
        identity = hashlib.sha256(origin + arrival.descriptor.msg_id).digest()[:_ID]
        if identity in self._of(origin).ids or identity in new.get(origin, ()):
            return
        try:
            self._carry_out(said, work)
        except MessageException as error:
            if error.reason in _GONE:
                raise
            self._put_away(arrival, work, error.reason, f"{said.topic}: {error.text}")
        new.setdefault(origin, []).append(identity)

    def _carry_out(self, said: Forwarded, work: Any) -> None:

        if said.what == "ask":
            self._answer(work, said.more["from"])
        elif said.what == "forget":
            if self._kept_at(said) <= said.at:
                self._manager.forget_retained(said.topic, said.point)
        elif said.what != "kept" or self._kept_at(said) < said.at:
            name = address(said.topic, retain=said.retains, point=said.point, scope=REMOTE, at=said.at)
            work.put(name, said.descriptor, said.body)

    def _kept_at(self, said: Forwarded) -> int:
        """Returns the microsecond at which what is retained here was published, -1 where nothing is."""
        there = RETAINED in self._manager.names()
        return retained_at(self._manager, said.topic, said.point) if there else -1

    def _ask(self, work: Any) -> None:
        """Ask the others for what is retained there, and send them what is retained here."""
        asked = Forwarded("", "", False, 0, Descriptor(persistence=PERSISTENT), b"", "ask")
        work.put(TRANSMIT, *packed(asked))
        self._answer(work, "")
        descriptor = Descriptor(correl_id=_ASKED, persistence=PERSISTENT)
        work.put(RECEIVED, descriptor, self._member.collective.name.encode())

    def _answer(self, work: Any, to: str) -> None:
        """Send what is retained here to a member, or to all."""
        if RETAINED not in self._manager.names():
            return
        for arrival in self._manager.cursor(RETAINED):
            one = kept(*arrival)
            if not one.topic.startswith("$"):
                more = {"to": to} if to else {}
                told = Forwarded(one.topic, one.point, True, one.at, one.descriptor, one.body, "kept", more)
                work.put(TRANSMIT, *packed(told))

    def _put_away(self, arrival: Arrival, work: Any, reason: int, why: str) -> None:
        """Put what cannot be published on the dead-letter queue."""
        queue = work.dead_letter_queue
        text = f"a message of {self._queue} cannot be published: {why}"
        if not queue:
            raise MessageException(reason, f"{text}; define a dead-letter queue", reason=reason)
        above = header(self._queue, arrival.descriptor, work, reason, UTF_8)
        letter = arrival.descriptor._replace(format=_LETTER, coded_char_set_id=UTF_8, msg_id=NO_ID, backout_count=0)
        work.put(queue, letter, above + arrival.body)
        _LOG.error("%s; it is on %s", text, queue)


class Link:
    """The process of a link: a thread that sends and one that receives, each of which begins again after a failure."""

    def __init__(self, folder: Folder, member: Member, channel: Channel) -> None:
        self._folder = folder
        self._member = member
        self._channel = channel
        self._lock = threading.Lock()
        self._wrong: dict[str, str] = {}
        self._open: dict[str, tuple[Any, ...]] = {}
        self._ending = threading.Event()

    def run(self) -> None:
        """Run until SIGTERM."""
        told: SimpleQueue[None] = SimpleQueue()  # which, unlike an Event, a handler may tell while this thread waits
        signal.signal(signal.SIGTERM, lambda *_: told.put(None))
        self._channel.send({"ready": True})
        parts = (Sending(self._member), Receiving(self._member))
        threads = [threading.Thread(target=self._keep_on, args=(part,), daemon=True) for part in parts]
        for thread in threads:
            thread.start()
        told.get()
        self._ending.set()
        with self._lock:
            for work in (work for works in self._open.values() for work in works):
                with suppress(BrokerError, OSError):
                    work.interrupt()
        for thread in threads:
            thread.join(_LEAVING)

    def _keep_on(self, part: Sending | Receiving) -> None:
        pause = _SOONEST
        while not self._ending.is_set():
            began = time.monotonic()
            try:
                self._work(part)
            except (BrokerError, OSError) as error:
                if self._ending.is_set():
                    return
                self._tell(part.name, str(error))
                pause = _SOONEST if time.monotonic() > began + _LATEST else min(2 * pause, _LATEST)
                self._ending.wait(pause)

    def _work(self, part: Sending | Receiving) -> None:

        queues = AmqpQueues(self._member.collective.address())
        with (
            closing(queue_managers().connect(self._folder.queues)) as manager,
            closing(manager.work("", "collective", blamed=False)) as work,
            closing(queues.work()) as links,
        ):
            self._open[part.name] = (work, links)
            part.begin(manager, work)
            while not self._ending.is_set():
                part.step(work, links)
                self._tell(part.name, "")

    def _tell(self, part: str, wrong: str) -> None:
        """Have the supervisor know whether a part works."""
        with self._lock:
            if self._wrong.get(part, "") == wrong:
                return
            self._wrong[part] = wrong
            said = next(filter(None, self._wrong.values()), "")
            self._channel.send({"state": f"waiting: {said}" if said else "running"})
            if wrong:
                _LOG.warning("%s waits: %s", part, wrong)
            else:
                _LOG.info("%s goes on", part)

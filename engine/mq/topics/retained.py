"""Retained publications: the last message of a topic, kept as a message on a queue of the system.

A unit of work that replaces one has it in its hands until it ends. Until then it is what new subscribers are sent, and
they are sent what replaces it when the unit commits.
"""

from __future__ import annotations

import hashlib
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.message.topics import levels_of, wildcards
from engine.mq.properties import join, properties_of, split
from engine.mq.property_types import I8, Property
from engine.mq.refusals import refusal
from engine.mq.topics.copies import Publication
from engine.mq.topics.trie import Trie
from engine.mq.works import Works
from engine.work import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engine.mq.client import Client
    from engine.mq.manager import QueueManager
    from engine.mq.topics.subscription import Subscription
    from engine.mq.unit import Work
    from engine.work import Arrival

PUT_NOT_RETAINED: Final = 2479
RETAINED: Final = "SYSTEM.RETAINED.PUB.QUEUE"
_TOPIC: Final = "mqps.Top"
_POINT: Final = "mqps.Pnt"
_AT: Final = "mqps.Mic"
Mark = tuple[str, str, bytes, int]
_ENDING: Final = 10.0  # seconds for which a unit that is ending is waited for


class Replacement:
    """The retained publications that a unit of work has taken, and those that it puts there, until it ends.

    `late` are those who have subscribed meanwhile, by subscription, topic and point, and what they are sent.
    """

    __slots__ = ("__weakref__", "_units", "before", "is_ending", "kept", "late", "new", "over")

    def __init__(self, units: Replacements) -> None:
        self._units = units
        self.before: list[Publication] = []
        self.new: dict[tuple[str, str], Publication] = {}
        self.late: dict[tuple[str, str, str], Publication] = {}
        self.is_ending = self.kept = False
        self.over = threading.Event()

    def promise(self, name: str, publication: Publication) -> bool:
        """Have a subscription sent a publication with the unit; False where the unit is ending, and has ended then."""
        key = (name, publication.topic, publication.point)
        self.late[key] = publication
        if self.is_ending and self.late.pop(key, None) is not None:
            self.over.wait(_ENDING)
            return False
        return True

    def take_late(self) -> Iterator[tuple[str, Publication]]:
        """Yields the subscriptions that came late and what each is sent, as the unit ends."""
        self.is_ending = True
        while self.late:
            for key in list(self.late):
                publication = self.late.pop(key, None)
                if publication is not None and self.new.get(key[1:]) is publication:
                    yield key[0], publication

    def end(self, *, kept: bool) -> None:
        """Says that the unit has ended, and whether what it did is kept."""
        self.kept = kept
        self._units.end(self)
        self.over.set()


class Replacements(Works[Replacement]):
    """The units of work that replace retained publications, and those that end while somebody reads these."""

    __slots__ = ("_readings",)

    def __init__(self) -> None:
        super().__init__()
        self._readings: dict[int, list[Replacement]] = {}

    @contextmanager
    def reading(self) -> Iterator[list[Replacement]]:
        """Yields the units that end from now on."""
        ended: list[Replacement] = []
        self._readings[id(ended)] = ended
        try:
            yield ended
        finally:
            del self._readings[id(ended)]

    def end(self, unit: Replacement) -> None:
        """Tells those who read that a unit has ended."""
        for ended in list(self._readings.values()):
            ended.append(unit)

    def of(self, work: Work) -> Replacement:
        """Returns that of a unit of work."""
        if work.replacement is None:
            work.replacement = Replacement(self)
            self.add(work.replacement)
            opened = work.open(RETAINED)
            assert opened is not None  # it was defined before
            opened.change()  # so that the unit says when it has ended
        return work.replacement


def retained_id(topic: str, point: str) -> bytes:
    """Returns the correlation id that the retained publication of a topic is found by."""
    return hashlib.sha256(f"{point}\0{topic}".encode()).digest()[:24]


def forget(work: Work, topic: str, point: str) -> bool:
    """Take the retained publication of a topic away in a unit of work; False where there is none."""
    replacement = work.manager.topics.replacements.of(work)
    wanted, found = Selection(correl_id=retained_id(topic, point)), False
    known = list(_dated(work.manager, _on(work.manager, topic, point)))
    replacement.before += known
    replacement.new.pop((topic, point), None)
    while (arrival := work.get(RETAINED, wanted)) is not None:
        found = True
        if all(one.descriptor.msg_id != arrival.descriptor.msg_id for one in known):  # it came between the two
            replacement.before += _dated(work.manager, [arrival])
    return found


def retain(work: Work, publication: Publication) -> None:
    """Put a publication in the place of the one that is retained for its topic, in a unit of work.

    Where it cannot be kept, the one that was there stays.
    """
    topic, point = publication.topic, publication.point
    replacement = work.manager.topics.replacements.of(work)
    taken, before, new = len(work.taken), list(replacement.before), dict(replacement.new)
    forget(work, topic, point)
    descriptor = publication.descriptor._replace(correl_id=retained_id(topic, point))
    said: dict[str, Property] = {_TOPIC: topic, _POINT: point, _AT: I8(publication.at)}
    try:
        work.put(RETAINED, *join(said, descriptor, publication.body))
    except MessageException as error:
        given_back, work.taken = work.taken[taken:], work.taken[:taken]
        work.manager.admission.undo([], given_back, counted=False)
        replacement.before, replacement.new = before, new
        problem = f"a publication on {topic} cannot be retained: {error.text}"
        raise refusal(PUT_NOT_RETAINED, problem, topic) from error
    replacement.new[topic, point] = publication


def retained_at(manager: QueueManager | Client, topic: str, point: str) -> int:
    """Returns the microsecond at which what is retained on a topic was published, or -1 where nothing is."""
    return max((kept(*arrival).at for arrival in _on(manager, topic, point)), default=-1)


def _on(manager: QueueManager | Client, topic: str, point: str) -> Iterator[Arrival]:
    """Yields the messages that are retained on a topic; one, but where units of work put several at the same time."""
    wanted = Selection(correl_id=retained_id(topic, point), browse=True)
    with closing(manager.work()) as work:
        while (arrival := work.get(RETAINED, wanted)) is not None:
            yield arrival


def kept(descriptor: Descriptor, body: bytes) -> Publication:
    """Returns a publication that is kept as retained; it does not say when it expires."""
    said = properties_of(descriptor, body)
    at = said.get(_AT)
    topic, point = str(said.get(_TOPIC, "")), str(said.get(_POINT, ""))
    published = at if isinstance(at, int) else 0  # one of an earlier version does not say so
    _, own, content = split(descriptor, body)
    own = own._replace(backout_count=0)  # those who replaced it in vain are not the subscriber's
    return Publication(topic, point, own, content, 0, retained=True, at=published)


def retained(manager: QueueManager, subscription: Subscription) -> list[Publication]:
    """Returns the retained publications that a subscription fits, of one topic the last, in the order of publication.

    It is sent what units of work put in their place as these commit.
    """
    units, promised = manager.topics.replacements, set[Mark]()
    with units.reading() as ended:
        read = list(_dated(manager, _kept(manager, subscription)))
        going = [unit for unit in units if not unit.over.is_set()]
        for unit in going:
            suiting = (one for one in list(unit.new.values()) if _suits(manager, subscription, one))
            promised.update(_mark(one) for one in suiting if unit.promise(subscription.name, one))
        over = list(ended)
    taken, now = {_mark(one) for unit in over if unit.kept for one in unit.before}, int(manager.admission.clock() * 10)
    for unit in {*going, *over}:
        read += (one._replace(retained=True) for one in (unit.new.values() if unit.kept else unit.before))
    there = (one for one in read if _mark(one) not in taken and not 0 < one.expires <= now)
    found = {one.topic: one for one in sorted(there, key=_at) if _suits(manager, subscription, one)}
    return [one for one in found.values() if _mark(one) not in promised]


def _mark(publication: Publication) -> Mark:
    """Returns what a publication is known by."""
    topic, point, descriptor = publication[:3]
    return topic, point, descriptor.msg_id, publication.at


def _at(publication: Publication) -> int:
    return publication.at


def _suits(manager: QueueManager, subscription: Subscription, publication: Publication) -> bool:
    return publication.point == subscription.point and is_fitting(manager, subscription, publication.topic)


def _dated(manager: QueueManager, arrivals: Iterable[tuple[Descriptor, bytes]]) -> Iterator[Publication]:
    """Yields retained publications with the moment at which each expires."""
    for arrival in arrivals:
        one = kept(*arrival)
        left = one.descriptor.expiry
        yield one._replace(expires=0 if left < 0 else int(manager.admission.clock() * 10) + left)


def retained_topics(manager: QueueManager, point: str) -> list[str]:
    """Returns the topics of a subscription point that something is retained on."""
    if RETAINED not in manager.names():
        return []
    said = [properties_of(*arrival) for arrival in manager.cursor(RETAINED)]
    return list(dict.fromkeys(str(one.get(_TOPIC, "")) for one in said if str(one.get(_POINT, "")) == point))


def _kept(manager: QueueManager, subscription: Subscription) -> Iterator[tuple[Descriptor, bytes]]:
    """Yields the messages that may be wanted: one where the subscription is to one topic, else all."""
    if RETAINED not in manager.names():
        return
    if subscription.wild is not None or subscription.levels is None:
        yield from manager.cursor(RETAINED)
        return
    yield from _on(manager, subscription.topic, subscription.point)


def is_fitting(manager: QueueManager, subscription: Subscription, topic: str) -> bool:
    """Returns True where publications on a topic go to a subscription."""
    return any(found is subscription for found in manager.topics.objects.fitting(topic, subscription.point))


def retained_fitting(manager: QueueManager, topic: str, point: str) -> Iterator[str]:
    """Yields the topics that a topic string fits and that may have something retained."""
    if wildcards(levels_of(topic)) is None:
        yield topic
        return
    trie = Trie[str]()
    trie.add(levels_of(topic), topic)
    yield from (found for found in retained_topics(manager, point) if any(trie.fitting(levels_of(found))))

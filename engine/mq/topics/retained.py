"""Retained publications: the last message of a topic, kept as a message on a queue of the system."""

from __future__ import annotations

import hashlib
from contextlib import closing
from typing import TYPE_CHECKING, Final

from engine.descriptor import Descriptor
from engine.mq.properties import join, properties_of, split
from engine.mq.property_types import I8, Property
from engine.mq.topics.copies import Publication
from engine.work import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.mq.client import Client
    from engine.mq.manager import QueueManager
    from engine.mq.topics.subscription import Subscription
    from engine.mq.unit import Work

RETAINED: Final = "SYSTEM.RETAINED.PUB.QUEUE"
_TOPIC: Final = "mqps.Top"
_POINT: Final = "mqps.Pnt"
_AT: Final = "mqps.Mic"


def retained_id(topic: str, point: str) -> bytes:
    """Returns the correlation id that the retained publication of a topic is found by."""
    return hashlib.sha256(f"{point}\0{topic}".encode()).digest()[:24]


def forget(work: Work, topic: str, point: str) -> bool:
    """Take the retained publication of a topic away in a unit of work; False where there is none."""
    wanted, found = Selection(correl_id=retained_id(topic, point)), False
    while work.get(RETAINED, wanted) is not None:
        found = True
    return found


def retain(work: Work, publication: Publication) -> None:
    """Put a publication in the place of the one that is retained for its topic, in a unit of work."""
    topic, point = publication.topic, publication.point
    forget(work, topic, point)
    descriptor = publication.descriptor._replace(correl_id=retained_id(topic, point))
    said: dict[str, Property] = {_TOPIC: topic, _POINT: point, _AT: I8(publication.at)}
    work.put(RETAINED, *join(said, descriptor, publication.body))


def retained_at(manager: QueueManager | Client, topic: str, point: str) -> int:
    """Returns the microsecond at which what is retained on a topic was published, or -1 where nothing is."""
    wanted, found = Selection(correl_id=retained_id(topic, point), browse=True), -1
    with closing(manager.work()) as work:
        while (arrival := work.get(RETAINED, wanted)) is not None:
            found = max(found, kept(*arrival).at)
    return found


def kept(descriptor: Descriptor, body: bytes) -> Publication:
    """Returns a publication that is kept as retained; it does not say when it expires."""
    said = properties_of(descriptor, body)
    at = said.get(_AT)
    topic, point = str(said.get(_TOPIC, "")), str(said.get(_POINT, ""))
    published = at if isinstance(at, int) else 0  # one of an earlier version does not say so
    _, own, content = split(descriptor, body)
    own = own._replace(backout_count=0)  # those who replaced it in vain are not the subscriber's
    return Publication(topic, point, own, content, 0, retained=True, at=published)


def retained(manager: QueueManager, subscription: Subscription) -> Iterator[Publication]:
    """Yields the retained publications that a subscription fits; of one topic the last."""
    found: dict[str, Publication] = {}
    for arrival in _kept(manager, subscription):
        one = kept(*arrival)
        if one.point == subscription.point and is_fitting(manager, subscription, one.topic):
            expiry = one.descriptor.expiry
            expires = 0 if expiry < 0 else int(manager.admission.clock() * 10) + expiry
            if one.topic not in found or found[one.topic].at <= one.at:
                found[one.topic] = one._replace(expires=expires)
    yield from found.values()


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
    if subscription.wild is not None:
        yield from manager.cursor(RETAINED)
        return
    work = manager.work()
    wanted = Selection(correl_id=retained_id(subscription.topic, subscription.point), browse=True)
    while (arrival := work.get(RETAINED, wanted)) is not None:
        yield arrival


def is_fitting(manager: QueueManager, subscription: Subscription, topic: str) -> bool:
    """Returns True where publications on a topic go to a subscription."""
    return any(found is subscription for found in manager.topics.objects.fitting(topic, subscription.point))

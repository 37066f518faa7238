"""Retained publications: the last message of a topic, kept as a message on a queue of the system."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from engine.descriptor import Descriptor
from engine.mq.properties import join, properties_of, split
from engine.mq.topics.copies import Publication
from engine.work import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.mq.manager import QueueManager
    from engine.mq.topics.subscription import Subscription
    from engine.mq.unit import Work

RETAINED: Final = "SYSTEM.RETAINED.PUB.QUEUE"
_TOPIC: Final = "mqps.Top"
_POINT: Final = "mqps.Pnt"


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
    work.put(RETAINED, *join({_TOPIC: topic, _POINT: point}, descriptor, publication.body))


def retained(manager: QueueManager, subscription: Subscription) -> Iterator[Publication]:
    """Yields the retained publications that a subscription fits; of one topic the last."""
    found: dict[str, Publication] = {}
    for arrival in _kept(manager, subscription):
        said = properties_of(*arrival)
        topic, point = str(said.get(_TOPIC, "")), str(said.get(_POINT, ""))
        if point == subscription.point and is_fitting(manager, subscription, topic):
            _, descriptor, body = split(*arrival)
            expires = 0 if descriptor.expiry < 0 else int(manager.admission.clock() * 10) + descriptor.expiry
            descriptor = descriptor._replace(backout_count=0)  # those who replaced it in vain are not the subscriber's
            found[topic] = Publication(topic, point, descriptor, body, expires, retained=True)
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

"""The status of topics: what holds for each by the topic objects at it and above, and who is there."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from engine.message.topics import levels_of, wildcards
from engine.mq.topics.retained import retained_topics
from engine.mq.topics.trie import Trie

if TYPE_CHECKING:
    from engine.mq.attributes import Value
    from engine.mq.manager import QueueManager

TPSTATUS: Final = "TPSTATUS"


def status(manager: QueueManager, pattern: str) -> list[dict[str, Value]]:
    """Returns the attributes of a topic, or of all topics that are known and fit a pattern with wildcards.

    Topics are known by objects, subscriptions and retained publications at them or below.
    """
    objects = manager.topics.objects
    subscribed = Counter(one.topic for one in list(objects.subscriptions.values()))
    kept = set(retained_topics(manager, ""))
    topics = {pattern}
    if wildcards(levels_of(pattern)) is not None:
        fitting = Trie[str]()
        fitting.add(levels_of(pattern), pattern)
        objects_at = (str(values["TOPICSTR"]) for values in list(objects.topics.named.values()))
        stated = [levels_of(topic) for topic in objects_at if topic]
        stated += [levels_of(topic) for topic in (*subscribed, *kept)]
        known = {levels[:length] for levels in stated for length in range(1, len(levels) + 1)}
        topics = {"/".join(levels) for levels in known if any(fitting.fitting(levels))}
    return [
        {
            "TOPICSTR": topic,
            "ADMIN": objects.topics.name_at(levels_of(topic)),
            **objects.topics.resolved(topic),
            "RETAINED": "YES" if topic in kept else "NO",
            "SUBCOUNT": subscribed[topic],
        }
        for topic in sorted(topics)
    ]

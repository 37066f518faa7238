"""The status of topics, of their subscribers and publishers, of subscriptions, and of publish/subscribe as a whole."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from engine.message.topics import levels_of, wildcards
from engine.mq.admission import stamp_of
from engine.mq.status import connection_id
from engine.mq.topics.retained import retained_topics
from engine.mq.topics.routes import Count
from engine.mq.topics.trie import Trie

if TYPE_CHECKING:
    from engine.mq.attribute_values import Value
    from engine.mq.manager import QueueManager

Row = dict[str, "Value"]
TPSTATUS: Final = "TPSTATUS"
SUBSCRIBERS: Final = "SUBSCRIBERS"  # TYPE(SUB) of TPSTATUS
PUBLISHERS: Final = "PUBLISHERS"  # TYPE(PUB) of it
SBSTATUS: Final = "SBSTATUS"
PUBSUB: Final = "PUBSUB"
STATUS: Final = (TPSTATUS, SUBSCRIBERS, PUBLISHERS, SBSTATUS, PUBSUB)
_PRIVATE: Final = frozenset({"SUB", "TOPICSTR"})  # of a subscription's status, which a topic's does not say of it
_NOBODY: Final = "0" * 48  # no connection: subscriptions are nobody's
_STATES: Final = {"ENABLED": "ACTIVE", "COMPAT": "COMPAT"}


def status(manager: QueueManager, kind: str, pattern: str) -> list[Row]:
    """Returns the status of what a pattern fits: of topics, their subscribers or publishers, or of subscriptions."""
    if kind == TPSTATUS:
        return _topics(manager, pattern)
    if kind == PUBSUB:
        return [_whole(manager)]
    if kind == SBSTATUS:
        return _subscriptions(manager, pattern)
    topics = _fitting(manager, pattern)
    if kind == PUBLISHERS:
        return _publishers(manager, topics)
    found = [one for one in _subscriptions(manager, "*") if one["TOPICSTR"] in topics]
    found.sort(key=lambda one: str(one["TOPICSTR"]))
    return [{"TOPICSTR": one["TOPICSTR"]} | {name: one[name] for name in one if name not in _PRIVATE} for one in found]


def _subscriptions(manager: QueueManager, pattern: str) -> list[Row]:
    sent, found = manager.topics.counted().sent, list[Row]()
    for one in manager.directory.display("SUB", pattern, []):
        count = sent.get(str(one["SUB"]), Count())
        last_date, last_time = _moment(count.last)
        said: Row = {name: one[name] for name in ("SUB", "DURABLE", "SUBID", "SUBTYPE", "SUBUSER", "TOPICSTR")}
        resumed: Row = {"RESMDATE": one["CRDATE"], "RESMTIME": str(one["CRTIME"]).replace(".", ":")}
        told: Row = {"LMSGDATE": last_date, "LMSGTIME": last_time, "NUMMSGS": count.messages}
        found.append(said | resumed | told | {"ACTCONN": _NOBODY})
    return found


def _publishers(manager: QueueManager, topics: set[str]) -> list[Row]:
    """Returns who published last on each topic, and how often that was done."""
    found: list[Row] = []
    for (topic, point), count in sorted(manager.topics.counted().published.items()):
        if topic in topics and not point:
            date, time = _moment(count.last)
            said: Row = {"ACTCONN": connection_id(manager.name, count.publisher), "NUMPUBS": count.messages}
            found.append({"TOPICSTR": topic, **said, "LPUBDATE": date, "LPUBTIME": time})
    return found


def _whole(manager: QueueManager) -> Row:
    """Returns the status of publish/subscribe in this queue manager."""
    state = _STATES.get(str(manager.directory.settings.get("PSMODE", "ENABLED")), "INACTIVE")
    count = len(manager.topics.objects.subscriptions)
    return {
        "QMNAME": manager.name,
        "TYPE": "LOCAL",
        "STATUS": state,
        "SUBCOUNT": count,
        "TPCOUNT": len(_known(manager)),
    }


def _moment(at: int) -> tuple[str, str]:
    """Returns the date and the time of a microsecond as MQSC shows them; nothing where there was none."""
    if not at:
        return "", ""
    date, time = stamp_of(at // 10_000)
    return f"{date[:4]}-{date[4:6]}-{date[6:]}", f"{time[:2]}:{time[2:4]}:{time[4:6]}"


def _known(manager: QueueManager) -> set[tuple[str, ...]]:
    """Returns the topics that objects, subscriptions, publications and what is retained have, and those above them."""
    objects, counted = manager.topics.objects, manager.topics.counted()
    stated = {str(values["TOPICSTR"]) for values in list(objects.topics.named.values())} - {""}
    stated |= {one.topic for one in list(objects.subscriptions.values())} | set(retained_topics(manager, ""))
    stated |= {topic for topic, _ in list(counted.published)}
    levels = [levels_of(topic) for topic in stated]
    return {one[:length] for one in levels for length in range(1, len(one) + 1)}


def _fitting(manager: QueueManager, pattern: str) -> set[str]:
    """Returns a topic, or all known topics that fit a pattern with wildcards."""
    if wildcards(levels_of(pattern)) is None:
        return {pattern}
    fitting = Trie[str]()
    fitting.add(levels_of(pattern), pattern)
    return {"/".join(levels) for levels in _known(manager) if any(fitting.fitting(levels))}


def _topics(manager: QueueManager, pattern: str) -> list[Row]:
    """Returns what holds for each topic by the topic objects at it and above, and who is there."""
    objects = manager.topics.objects
    subscribed = Counter(one.topic for one in list(objects.subscriptions.values()))
    kept = set(retained_topics(manager, ""))
    return [
        {
            "TOPICSTR": topic,
            "ADMIN": objects.topics.name_at(levels_of(topic)),
            **objects.topics.resolved(topic),
            "RETAINED": "YES" if topic in kept else "NO",
            "SUBCOUNT": subscribed[topic],
        }
        for topic in sorted(_fitting(manager, pattern))
    ]

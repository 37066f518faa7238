"""Topic objects: attributes at places of the topic tree, inherited by all topics below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.message.topics import levels_of
from engine.mq.attribute_values import Value
from engine.mq.attributes import defaults
from engine.mq.definitions import longest_expiry

INHERITED: Final = "ASPARENT"
ROOT: Final = "SYSTEM.BASE.TOPIC"  # the object above all topics
_LIMITS: Final = ("CAPEXPRY", "CUSTOM")
_AT_THE_ROOT: Final[Mapping[str, str]] = {
    "PUB": "ENABLED",
    "SUB": "ENABLED",
    "DURSUB": "YES",
    "DEFPRTY": "0",
    "DEFPSIST": "NO",
    "PMSGDLV": "ALLDUR",
    "NPMSGDLV": "ALLAVAIL",
    "USEDLQ": "YES",
    "PUBSCOPE": "ALL",
    "SUBSCOPE": "ALL",
}


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """The settings of one topic; subscriptions with a wildcard in the first `blocked` levels get none of it."""

    publishes: bool
    subscribes: bool
    durable: bool
    priority: int
    persistence: int
    delivery: tuple[str, str]  # of non-persistent publications, of persistent ones
    dead_letters: bool
    blocked: int
    longest_expiry: int
    forwards: bool  # publications also go to other queue managers of a collective,
    hears: bool  # and theirs to subscriptions here


class TopicObjects:
    """The topic objects of a queue manager, by their names and by the topics that they stand at."""

    __slots__ = ("_at", "_names", "changes", "named")

    def __init__(self) -> None:
        self.named: dict[str, dict[str, Value]] = {}
        self.changes = 0
        self._at: dict[tuple[str, ...], dict[str, Value]] = {}
        self._names: dict[tuple[str, ...], str] = {}
        self.put(ROOT, {**defaults("TOPIC"), **_AT_THE_ROOT})

    def put(self, name: str, values: Mapping[str, Value]) -> None:
        """Add an object, or change one that is there; its topic string stays."""
        levels = () if name == ROOT else levels_of(str(values["TOPICSTR"]))
        self.named[name] = self._at[levels] = dict(values)
        self._names[levels] = name
        self.changes += 1

    def remove(self, name: str) -> None:
        """Remove an object."""
        levels = levels_of(str(self.named.pop(name)["TOPICSTR"]))
        del self._at[levels], self._names[levels]
        self.changes += 1

    def name_at(self, levels: tuple[str, ...]) -> str:
        """Returns the name of the object at a topic, or an empty text."""
        return self._names.get(levels, "")

    def is_taken(self, topic: str) -> bool:
        """Returns True where an object stands at a topic."""
        return levels_of(topic) in self._at

    def settings(self, topic: str) -> TopicSettings:
        """Returns what holds for a topic: what the nearest object at it or above says of each attribute."""
        found, limits, blocked = self._inherited(topic)
        return TopicSettings(
            found["PUB"] == "ENABLED",
            found["SUB"] == "ENABLED",
            found["DURSUB"] == "YES",
            int(found["DEFPRTY"]),
            int(found["DEFPSIST"] == "YES"),
            (found["NPMSGDLV"], found["PMSGDLV"]),
            found["USEDLQ"] == "YES",
            blocked,
            longest_expiry(limits),
            found["PUBSCOPE"] == "ALL",
            found["SUBSCOPE"] == "ALL",
        )

    def resolved(self, topic: str) -> dict[str, Value]:
        """Returns the attributes that a topic has of its own or from above, by their names."""
        found, limits, blocked = self._inherited(topic)
        limit = longest_expiry(limits)
        here = blocked == len(levels_of(topic))
        return {**found, "CAPEXPRY": str(limit or "NOLIMIT"), "WILDCARD": "BLOCK" if here else "PASSTHRU"}

    def _inherited(self, topic: str) -> tuple[dict[str, str], dict[str, Value], int]:
        """Returns what the nearest objects say, what limits expiry, and at how many levels wildcards are blocked."""
        levels, found = levels_of(topic), dict(_AT_THE_ROOT)
        blocked, limits = 0, dict[str, Value]()
        for length in range(len(levels) + 1):
            values = self._at.get(levels[:length])
            if values is not None:
                found |= {name: str(values[name]) for name in _AT_THE_ROOT if values[name] != INHERITED}
                limits |= {name: values[name] for name in _LIMITS if values.get(name, INHERITED) not in {INHERITED, ""}}
                if values["WILDCARD"] == "BLOCK":
                    blocked = length
        return found, limits, blocked


def joined(topic: str, below: str) -> str:
    """Returns the topic string that an object's and one below it make: always with a / between, where both are there.

    >>> joined("a", "b"), joined("a", "/b"), joined("a/", "b"), joined("", "b"), joined("a", "")
    ('a/b', 'a//b', 'a//b', 'b', 'a')
    """
    return "/".join(filter(None, (topic, below)))

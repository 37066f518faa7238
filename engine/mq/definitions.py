"""Definitions of queues and aliases, and the attributes under MQ's names that say the same."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from engine.mq.attribute_values import Value, custom_limit
from engine.mq.attributes import defaults
from engine.work import QueueAttributes

_PLAIN: Final = QueueAttributes()


class Stream(NamedTuple):
    """The stream that gets copies of a queue's messages; with `must`, a message that cannot be copied is refused."""

    name: str
    must: bool


@dataclass(frozen=True, slots=True)
class QueueDefinition:
    """The definition of a queue, or of an alias, of which `target` is the queue that it stands for.

    `longest_expiry` is what CAPEXPRY allows, in tenths of seconds; 0: no limit. `values` are all attributes under MQ's
    names, of one that was defined by them.
    """

    name: str
    attributes: QueueAttributes = _PLAIN
    max_depth: int = 999_999_999
    max_message_length: int = 104_857_600
    get_enabled: bool = True
    put_enabled: bool = True
    fifo: bool = False
    target: str = ""
    stream: Stream | None = None
    longest_expiry: int = 0
    values: Mapping[str, Value] = field(default_factory=dict, compare=False)

    @property
    def is_of_topic(self) -> bool:
        """True for an alias whose target is a topic."""
        return self.values.get("TARGTYPE") == "TOPIC"


def queue_of(name: str, values: Mapping[str, Value]) -> QueueDefinition:
    """Returns the definition of a queue with these attributes.

    >>> queue_of("A", defaults("QLOCAL") | {"MAXDEPTH": 5}).max_depth
    5
    """
    return QueueDefinition(
        name,
        QueueAttributes(
            int(values["BOTHRESH"]), str(values["BOQNAME"]), int(values["DEFPSIST"] == "YES"), int(values["DEFPRTY"])
        ),
        int(values["MAXDEPTH"]),
        int(values["MAXMSGL"]),
        values["GET"] == "ENABLED",
        values["PUT"] == "ENABLED",
        values["MSGDLVSQ"] == "FIFO",
        stream=stream_of(values),
        longest_expiry=longest_expiry(values),
        values=values,
    )


def alias_of(name: str, values: Mapping[str, Value]) -> QueueDefinition:
    """Returns the definition of an alias with these attributes."""
    return QueueDefinition(
        name,
        QueueAttributes(default_persistence=int(values["DEFPSIST"] == "YES"), default_priority=int(values["DEFPRTY"])),
        get_enabled=values["GET"] == "ENABLED",
        put_enabled=values["PUT"] == "ENABLED",
        target=str(values["TARGET"]),
        longest_expiry=longest_expiry(values),
        values=values,
    )


def stream_of(values: Mapping[str, Value]) -> Stream | None:
    """Returns where a queue with these attributes streams to."""
    name = str(values.get("STREAMQ", ""))
    return Stream(name, values["STRMQOS"] == "MUSTDUP") if name else None


def longest_expiry(values: Mapping[str, Value]) -> int:
    """Returns the lowest of the limits that CAPEXPRY and CUSTOM of an object set; 0 where neither does.

    >>> longest_expiry({"CAPEXPRY": "NOLIMIT", "CUSTOM": "CAPEXPRY(12000)"})
    12000
    """
    said = (str(values.get("CAPEXPRY", "")), custom_limit(str(values.get("CUSTOM", ""))))
    return min((int(limit) for limit in said if limit.isdecimal()), default=0)


def values_of(kind: str, definition: QueueDefinition) -> dict[str, Value]:
    """Returns the attributes of a definition under MQ's names."""
    if definition.values:
        return dict(definition.values)
    own = definition.attributes
    return defaults(kind) | {
        "BOTHRESH": own.backout_threshold,
        "BOQNAME": own.backout_requeue_queue,
        "DEFPSIST": "YES" if own.default_persistence else "NO",
        "DEFPRTY": own.default_priority,
        "MAXDEPTH": definition.max_depth,
        "MAXMSGL": definition.max_message_length,
        "GET": "ENABLED" if definition.get_enabled else "DISABLED",
        "PUT": "ENABLED" if definition.put_enabled else "DISABLED",
        "MSGDLVSQ": "FIFO" if definition.fifo else "PRIORITY",
    }


def moments(*prefixes: str) -> dict[str, Value]:
    """Returns the attributes that say when an object was created or altered, in local time as MQ has it."""
    now = time.localtime()
    day, hour = time.strftime("%Y-%m-%d", now), time.strftime("%H.%M.%S", now)
    return {f"{prefix}{what}": value for prefix in prefixes for what, value in (("DATE", day), ("TIME", hour))}

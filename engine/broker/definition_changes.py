"""Changes that a broker file makes beside those of flows: queues, data sources, groups, rights and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from engine.broker.definition import SETTINGS
from engine.broker.state import BrokerState, GroupState

_LISTED: Final = {
    "queues": "queue",
    "data_sources": "data source",
    "topics": "topic",
    "subscriptions": "subscription",
}
_PLAIN: Final = {"dead_letter_queue": "deadLetterQueue", "rights": "rights"}


def changes_beside_flows(before: BrokerState, after: BrokerState) -> Iterator[str]:
    """Yields a line for each part of a broker that is another, without its values, which may be secret.

    >>> queues = {"IN": {}, "OUT": {"MAXDEPTH": 7}}
    >>> list(changes_beside_flows(BrokerState("B", queues={"IN": {}}), BrokerState("B", queues=queues)))
    ['+ queue OUT: new']
    """
    for part, name in _LISTED.items():
        yield from _listed(name, getattr(before, part), getattr(after, part))
    for part, name in _PLAIN.items():
        if getattr(before, part) != getattr(after, part):
            yield f"~ {name}: changed"
    for part, name in SETTINGS.items():
        if getattr(before.settings, part) != getattr(after.settings, part):
            yield f"~ {name}: changed"
    old, new = ({group.name: group for group in state.groups} for state in (before, after))
    yield from _listed("execution group", dict.fromkeys(old), dict.fromkeys(new))
    for name in old.keys() & new.keys():
        yield from _of_group(old[name], new[name])


def _listed(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(before.keys() | after.keys()):
        if key not in before:
            yield f"+ {name} {key}: new"
        elif key not in after:
            yield f"- {name} {key}: removed"
        elif before[key] != after[key]:
            yield f"~ {name} {key}: changed"


def _of_group(before: GroupState, after: GroupState) -> Iterator[str]:
    if before.limits != after.limits:
        yield f"~ limits of {after.name}: changed"
    if before.executors != after.executors:
        yield f"~ executors of {after.name}: changed"

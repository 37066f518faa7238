"""Deployments as data: flows and broker files as the state that a broker is to have, and what is another in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import uuid4

from engine.broker.changes import Planned, as_it_ran, changes_of, uses_of
from engine.broker.definition import SETTINGS, Definition, FlowUse
from engine.broker.flow_builds import Candidate, candidate, ready
from engine.broker.state import BrokerState, GroupState
from engine.errors import ConfigurationException
from flows.files import OwnNodes, Shipped


def content_of(shipped: Shipped) -> bytes:
    """Returns a flow's content as the repository keeps it."""
    return json.dumps(shipped.as_data(), separators=(",", ":"), sort_keys=True).encode()


def shipped_of(content: bytes) -> Shipped:
    """Returns the flow that is kept as content."""
    return Shipped.of_data(json.loads(content))


def deployed(
    state: BrokerState, uses: Iterable[FlowUse], *, complete: Iterable[str] = (), own: tuple[OwnNodes, ...] = ()
) -> Planned:
    """Plan flows into their groups; groups that are `complete` keep no others."""
    listed = list(uses)
    by_group: dict[str, list[Candidate]] = {group: [] for group in complete}
    emptied = frozenset(by_group)
    for use in listed:
        made = candidate(use, state, own)
        by_group.setdefault(use.group, []).extend([made] if made else [])
    _refuse_twins(by_group)
    if listed and not any(by_group.values()):
        raise ConfigurationException(f"{listed[0].file} holds a subflow; name a flow that uses it")
    after, changes = state, []
    for group, found in by_group.items():
        before = after.group(group) or GroupState(group, str(uuid4()))
        to_be = replace(before, flows=()) if group in emptied else before
        for one in found:
            to_be = to_be.with_flow(as_it_ran(one.use, before.flow(one.use.name)))
        changes += changes_of(before, to_be, emptied)
        after = after.with_group(to_be)
    every = [candidate for found in by_group.values() for candidate in found]
    return Planned(
        after,
        tuple(changes),
        {one.use.content: (one.use.name, content_of(one.shipped)) for one in every},
        {one.use.name: one.queues for one in every},
        {one.use.name: one.data_sources for one in every},
        tuple(by_group),
    )


def _refuse_twins(by_group: Mapping[str, list[Candidate]]) -> None:
    for group, found in by_group.items():
        files: dict[str, str] = {}
        for one in found:
            other = files.setdefault(one.use.name, one.use.file)
            if other != one.use.file:
                text = f"{other} and {one.use.file} both hold a flow {one.use.name}"
                raise ConfigurationException(f"{text}: deploy one of them into {group}, or rename it")


def defined(state: BrokerState, definition: Definition, own: tuple[OwnNodes, ...] = ()) -> Planned:
    """Plan all that a broker file says: its groups completely, and its queues, data sources, rights and settings."""
    groups = tuple(dict.fromkeys((*definition.groups, *(group.name for group in state.groups))))
    base = replace(
        state,
        dead_letter_queue=definition.dead_letter_queue,
        queues={**definition.queues},
        data_sources=definition.data_sources,
        topics=definition.topics,
        subscriptions=definition.subscriptions,
        rights=definition.rights,
        settings=replace(definition.settings, repository=state.settings.repository),
    )
    planned = deployed(base, definition.flows, complete=groups, own=own)
    after = planned.after
    for group in after.groups:
        if group.name in definition.groups:
            limits = definition.limits.get(group.name, type(group.limits)())
            after = after.with_group(replace(group, limits=limits, executors=definition.executors.get(group.name)))
    kept = tuple(group for group in after.groups if group.name in definition.groups)
    after = replace(after, groups=kept)
    return replace(planned, after=after, others=tuple(_changes_beside_flows(state, after)))


def changed(
    state: BrokerState, flow: str, group: str, values: Mapping[str, str], contents: Callable[[str], bytes]
) -> Planned:
    """Plan a flow with other property values; raises where it has no such property, or cannot run so."""
    after, changes = state, []
    queues: dict[str, tuple[str, ...]] = {}
    for own, use in uses_of(state, flow, group):
        said = {**use.properties, **{name: value for name, value in values.items() if name != "copies"}}
        if use.instances_said:
            said.setdefault("additionalInstances", str(use.additional_instances))
        copies = _copies(values["copies"]) if "copies" in values else use.copies
        laid = replace(use, properties=said, copies=copies)
        one = ready(laid, shipped_of(contents(use.content)), state, own.name)
        to_be = own.with_flow(one.use)
        after = after.with_group(to_be)
        queues[use.name] = one.queues
        changes += changes_of(own, to_be, frozenset())
    return Planned(after, tuple(changes), queues=queues, groups=tuple(dict.fromkeys(c.group for c in changes)))


def _copies(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) <= 256:
        return int(text)
    raise ConfigurationException(f"copies is a number from 1 to 256, not {text:.40}")


_LISTED: Final = {
    "queues": "queue",
    "data_sources": "data source",
    "topics": "topic",
    "subscriptions": "subscription",
}
_PLAIN: Final = {"dead_letter_queue": "deadLetterQueue", "rights": "rights"}


def _changes_beside_flows(before: BrokerState, after: BrokerState) -> Iterator[str]:
    """Yields a line for each part of a broker that is another, without its values, which may be secret.

    >>> queues = {"IN": {}, "OUT": {"MAXDEPTH": 7}}
    >>> list(_changes_beside_flows(BrokerState("B", queues={"IN": {}}), BrokerState("B", queues=queues)))
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

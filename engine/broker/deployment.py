"""Deployments as data: the state that a broker is to have, and what that changes, group by group."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal
from uuid import uuid4

from engine.broker.definition import DEFAULT_GROUP, Definition, FlowUse
from engine.broker.preparing import Candidate, candidate, ready
from engine.broker.state import BrokerState, DeployedUse, GroupState
from engine.catalog import did_you_mean
from engine.errors import ConfigurationException
from flows.shipped import OwnNodes, Shipped

Sign = Literal["+", "~", "-", "="]
SIGNS: Final[Mapping[Sign, str]] = {"+": "new", "~": "changed", "-": "removed", "=": "unchanged"}


@dataclass(frozen=True, slots=True)
class FlowChange:
    """What a deployment means for one flow of one group."""

    sign: Sign
    group: str
    flow: str
    text: str = ""

    def __str__(self) -> str:
        said = f" ({self.text})" if self.text else ""
        return f"{self.sign} {self.group}/{self.flow}: {SIGNS[self.sign]}{said}"


@dataclass(frozen=True, slots=True)
class Planned:
    """A state to come, what it changes, the content that is new in it, and the queues and data sources it needs."""

    after: BrokerState
    changes: tuple[FlowChange, ...] = ()
    contents: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)
    queues: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by flow
    data_sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: tuple[str, ...] = ()

    @property
    def changes_something(self) -> bool:
        """True where anything that is deployed would be another than before."""
        return any(change.sign != "=" for change in self.changes)

    def as_data(self) -> dict[str, Any]:
        """The changes as JSON has them."""
        return {
            "changes": [{"change": SIGNS[c.sign], **asdict(c)} for c in self.changes],
            "digest": self.after.digest,
        }


def content_of(shipped: Shipped) -> bytes:
    """Returns a flow's content as the repository keeps it."""
    return json.dumps(shipped.as_data(), separators=(",", ":"), sort_keys=True).encode()


def shipped_of(content: bytes) -> Shipped:
    """Returns the flow that is kept as content."""
    return Shipped.of_data(json.loads(content))


def group_for(state: BrokerState, group: str) -> str:
    """Returns the group that is meant: the one that is named, else the only one, else the default one."""
    if group:
        return group
    names = [own.name for own in state.groups]
    if DEFAULT_GROUP in names or not names:
        return DEFAULT_GROUP
    if len(names) == 1:
        return names[0]
    raise ConfigurationException(f"{state.name} has the groups {', '.join(names)}: say by -e which of them is meant")


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
            to_be = to_be.with_flow(_as_it_ran(one.use, before.flow(one.use.name)))
        changes += _changes(before, to_be, emptied)
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


def _as_it_ran(use: DeployedUse, before: DeployedUse | None) -> DeployedUse:
    """A flow that replaces one of its name is stopped, traced and counted as that was."""
    if before is None:
        return use
    return replace(use, running=before.running, trace=before.trace, statistics=before.statistics)


def _changes(before: GroupState, after: GroupState, emptied: frozenset[str]) -> list[FlowChange]:
    found = []
    for use in after.flows:
        old = before.flow(use.name)
        if old is None:
            found.append(FlowChange("+", after.name, use.name, use.how))
        elif old.version != use.version:
            found.append(FlowChange("~", after.name, use.name, use.how))
        elif after.name in emptied or old is not use:
            found.append(FlowChange("=", after.name, use.name))
    return [*found, *(FlowChange("-", after.name, u.name) for u in before.flows if after.flow(u.name) is None)]


def defined(state: BrokerState, definition: Definition, own: tuple[OwnNodes, ...] = ()) -> Planned:
    """Plan all that a broker file says: its groups completely, and its queues, data sources, rights and settings."""
    groups = tuple(dict.fromkeys((*definition.groups, *(group.name for group in state.groups))))
    base = replace(
        state,
        queue_manager=definition.queue_manager,
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
    return replace(planned, after=replace(after, groups=kept))


def undeployed(state: BrokerState, flows: Iterable[str], group: str = "") -> Planned:
    """Plan a broker without these flows."""
    after, changes = state, []
    for flow in flows:
        for own, use in uses_of(after, flow, group):
            after = after.with_group(replace(own, flows=tuple(other for other in own.flows if other is not use)))
            changes.append(FlowChange("-", own.name, use.name))
    return Planned(after, tuple(changes), groups=tuple(dict.fromkeys(change.group for change in changes)))


def rolled_back(state: BrokerState, group: GroupState, parent: int, flows: tuple[DeployedUse, ...]) -> Planned:
    """Plan a group as it was deployed before: `parent` is the number of the version before that."""
    again = tuple(_as_it_ran(use, group.flow(use.name)) for use in flows)
    after = replace(group, flows=again, number=group.parent, parent=parent)
    return Planned(state.with_group(after), tuple(_changes(group, after, frozenset())), groups=(group.name,))


def changed(
    state: BrokerState, flow: str, group: str, values: Mapping[str, str], contents: Callable[[str], bytes]
) -> Planned:
    """Plan a flow with other property values; raises where it has no such property, or cannot run so."""
    after, changes = state, []
    queues: dict[str, tuple[str, ...]] = {}
    for own, use in uses_of(state, flow, group):
        said = {**use.properties, **{name: value for name, value in values.items() if name != "copies"}}
        additional = values.get("additionalInstances", str(use.additional_instances))
        copies = _copies(values["copies"]) if "copies" in values else use.copies
        laid = replace(use, properties={**said, "additionalInstances": additional}, copies=copies)
        one = ready(laid, shipped_of(contents(use.content)), state, own.name)
        to_be = own.with_flow(one.use)
        after = after.with_group(to_be)
        queues[use.name] = one.queues
        changes += _changes(own, to_be, frozenset())
    return Planned(after, tuple(changes), queues=queues, groups=tuple(dict.fromkeys(c.group for c in changes)))


def _copies(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) <= 256:
        return int(text)
    raise ConfigurationException(f"copies is a number from 1 to 256, not {text:.40}")


def switched(state: BrokerState, flows: Iterable[str], group: str, **values: Any) -> Planned:
    """Plan flows that run, are traced or are counted in another way; without names, all flows."""
    after, changes = state, []
    named = list(flows) or [use.name for own in state.groups for use in own.flows]
    for flow in dict.fromkeys(named):
        for own, use in uses_of(after, flow, group):
            made = replace(use, **values)
            if made != use:
                changes.append(FlowChange("~", own.name, use.name))
                after = after.with_group((after.group(own.name) or own).with_flow(made))
    return Planned(after, tuple(changes))


def uses_of(state: BrokerState, flow: str, group: str = "") -> list[tuple[GroupState, DeployedUse]]:
    """Returns where a flow is deployed; raises where it is not."""
    if found := state.uses_of(flow, group):
        return found
    names = [use.name for own in state.groups for use in own.flows if group in {"", own.name}]
    where = f"the group {group} of {state.name}" if group else state.name
    raise ConfigurationException(f"there is no flow {flow} in {where}{did_you_mean(flow, names)}")

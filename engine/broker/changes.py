"""Plans of changes to what a broker runs: the state to come, and what is another in it, flow by flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal
from uuid import uuid4

from engine.broker.definition import DEFAULT_GROUP
from engine.broker.state import BrokerState, DeployedUse, GroupState
from engine.catalog import did_you_mean
from engine.errors import ConfigurationException

Sign = Literal["+", "~", "-", "="]
EXISTS: Final = 8087
NOT_THERE: Final = 8013
SIGNS: Final[Mapping[Sign, str]] = {"+": "new", "~": "changed", "-": "removed", "=": "unchanged"}

_SAID_TO_RUN: Final = {"Automatic": True, "Manual": False}  # by startMode; Maintained: as it was


@dataclass(frozen=True, slots=True)
class FlowChange:
    """The change that a deployment makes to one flow of one group."""

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
    others: tuple[str, ...] = ()  # changes to what is no flow, for each of which a right to the whole broker is needed

    def as_data(self) -> dict[str, Any]:
        """The changes as JSON has them."""
        return {
            "changes": [{"change": SIGNS[c.sign], **asdict(c)} for c in self.changes],
            "others": list(self.others),
            "digest": self.after.digest,
        }


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


def as_it_ran(use: DeployedUse, before: DeployedUse | None) -> DeployedUse:
    """Returns a flow that is traced and counted as the one of its name that it replaces, and runs as startMode says.

    Maintained is as that did, Automatic in any case, Manual once someone starts it.
    """
    said = _SAID_TO_RUN.get(use.start_mode)
    if before is None:
        return use if said is None else replace(use, running=said)
    running = before.running if said is None else said
    return replace(use, running=running, trace=before.trace, statistics=before.statistics, by_origin=before.by_origin)


def begun(state: BrokerState) -> Planned:
    """Plan a broker that starts: flows whose startMode is Automatic run, and those whose is Manual do not."""
    after, changes = state, []
    for group in state.groups:
        for use in group.flows:
            running = _SAID_TO_RUN.get(use.start_mode, use.running)
            if running != use.running:
                after = after.with_group((after.group(group.name) or group).with_flow(replace(use, running=running)))
                changes.append(FlowChange("~", group.name, use.name, "runs" if running else "stopped"))
    return Planned(after, tuple(changes))


def changes_of(before: GroupState, after: GroupState, emptied: frozenset[str]) -> list[FlowChange]:
    """Returns what is another in a group; flows that stay are only told of in groups that were `emptied` first."""
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


def with_new_group(state: BrokerState, name: str) -> Planned:
    """Plan a broker with one more execution group, in which no flows are yet."""
    if state.group(name) is not None:
        raise ConfigurationException(f"{state.name} has an execution group {name} already", number=EXISTS)
    after = state.with_group(GroupState(name, str(uuid4())))
    return Planned(after, (FlowChange("+", name, ""),), groups=(name,))


def without_group(state: BrokerState, name: str) -> Planned:
    """Plan a broker without an execution group and its flows."""
    group = state.group(name)
    if group is None:
        raise ConfigurationException(f"{state.name} has no execution group {name}", number=NOT_THERE)
    others = tuple(other for other in state.groups if other is not group)
    changes = [FlowChange("-", name, use.name) for use in group.flows] or [FlowChange("-", name, "")]
    return Planned(replace(state, groups=others), tuple(changes), groups=(name,))


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
    again = tuple(as_it_ran(use, group.flow(use.name)) for use in flows)
    after = replace(group, flows=again, number=group.parent, parent=parent)
    return Planned(state.with_group(after), tuple(changes_of(group, after, frozenset())), groups=(group.name,))


def switched(state: BrokerState, flows: Iterable[str], group: str, **values: Any) -> Planned:
    """Plan flows that run, are traced or are counted in another way; without names, all flows."""
    after, changes = state, []
    check_group(state, group)
    named = list(flows) or [use.name for own in state.groups for use in own.flows if group in {"", own.name}]
    for flow in dict.fromkeys(named):
        for own, use in uses_of(after, flow, group):
            made = replace(use, **values)
            if made != use:
                changes.append(FlowChange("~", own.name, use.name))
                after = after.with_group((after.group(own.name) or own).with_flow(made))
    return Planned(after, tuple(changes))


def check_group(state: BrokerState, group: str) -> None:
    """Raises a ConfigurationException where a group is named that the broker does not have."""
    if group and state.group(group) is None:
        names = [own.name for own in state.groups]
        text = f"{state.name} has no execution group {group}{did_you_mean(group, names)}"
        raise ConfigurationException(text, number=NOT_THERE)


def uses_of(state: BrokerState, flow: str, group: str = "") -> list[tuple[GroupState, DeployedUse]]:
    """Returns where a flow is deployed; raises where it is not."""
    if found := state.uses_of(flow, group):
        return found
    check_group(state, group)
    names = [use.name for own in state.groups for use in own.flows if group in {"", own.name}]
    where = f"the group {group} of {state.name}" if group else state.name
    raise ConfigurationException(f"there is no flow {flow} in {where}{did_you_mean(flow, names)}", number=NOT_THERE)

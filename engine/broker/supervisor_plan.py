"""Plans: what a supervisor runs, made of a broker's state and the content of its flows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from engine.broker.definition import Settings
from engine.broker.state import BrokerState, DeployedUse, digest_of, use_of_data


@dataclass(frozen=True, slots=True)
class Plan:
    """The flows that are to run in each group, as data that the group's process is sent."""

    broker: str = ""
    uuid: str = ""
    generation: int = -1
    settings: Settings = field(default_factory=Settings)
    groups: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    data_sources: Mapping[str, Any] = field(default_factory=dict)

    @property
    def running(self) -> list[str]:
        """The groups that run."""
        return [name for name, group in self.groups.items() if group["running"]]

    def of_group(self, name: str) -> dict[str, Any]:
        """Returns what the process of a group is to know."""
        group = self.groups[name]
        amqp = {group: said for group, said in self.settings.amqp.items() if group == name}
        around = {"dataSources": self.data_sources, "traces": self.settings.traces, "amqp": amqp}
        return {"limits": group["limits"], "flows": group["flows"], **around}

    def uses(self) -> Iterable[tuple[str, str, DeployedUse]]:
        """Yields the flows that run, each with its group and the group's UUID."""
        for name in self.running:
            for flow in self.groups[name]["flows"]:
                yield name, self.groups[name]["uuid"], use_of_data(flow["use"])

    def as_data(self) -> dict[str, Any]:
        """The plan as it is sent."""
        return asdict(self)

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Plan:
        """The plan that was sent."""
        return cls(**{**data, "settings": Settings(**data["settings"])})


def _around(state: BrokerState, group: str) -> list[Any]:
    """Returns the settings that workers of a group are made with."""
    amqp = state.settings.amqp.get(group)
    return [state.settings.traces, *([] if amqp is None else [dict(amqp)])]


def plan_of(state: BrokerState, contents: Callable[[Iterable[str]], Mapping[str, bytes]]) -> Plan:
    """Returns what is to run of a broker; `contents` gives content by hash."""
    running = {group.name: [use for use in group.flows if use.running] for group in state.groups}
    found = contents({use.content for uses in running.values() for use in uses})
    sources = {name: dict(said) for name, said in state.data_sources.items()}
    groups = {
        group.name: {
            "uuid": group.uuid,
            "running": group.running,
            "limits": asdict(group.limits),
            "flows": [
                {
                    "key": digest_of([use.version, asdict(group.limits), sources, *_around(state, group.name)]),
                    "use": asdict(use),
                    "content": json.loads(found[use.content]),
                }
                for use in running[group.name]
            ],
        }
        for group in state.groups
    }
    return Plan(state.name, state.uuid, state.generation, state.settings, groups, sources)

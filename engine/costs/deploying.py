"""Deploying scenarios: their flows, found by name, and what one still waits for before it can be measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from engine.costs.scenarios import PUBLICATION, Scenario
from engine.flow import Flow
from engine.node import node_catalog
from engine.runtime import DeployedFlow, deploy
from engine.transports.memory import MemoryQueues, subscribe
from engine.work import UnitOfWork
from flows.files import load_flow
from flows.programs import binder
from flows.reader import read_flow

Folders: TypeAlias = tuple[Path, ...]
Transport: TypeAlias = "Callable[..., Queues]"


class Queues(Protocol):
    """The queues of one run."""

    def work(self) -> UnitOfWork:
        """A new unit of work over them."""
        ...

    def depth(self, queue: str) -> int:
        """How many messages can be got from a queue now."""
        ...

    def define(self, kind: str, name: str, attributes: Mapping[str, object]) -> None:
        """Define an object, such as a subscription."""
        ...


IN: Final = "COSTS.IN"
OUT: Final = "COSTS.OUT"
MOST_GROUPS: Final = 1  # this process is one execution group; more of them are processes of a broker
_NOT_DURABLE: Final = "needs durable queues: persistent messages on queues in memory end with the process"
_NO_PROCESSES: Final = "needs the execution groups of a broker, each of them a process"


def own_folders() -> Folders:
    """Where the flows of scenarios are that ship."""
    return tuple(sorted(path for path in Path(str(files("engine.costs") / "flows")).iterdir() if path.is_dir()))


def flow_file(scenario: Scenario, folders: Folders) -> Path | None:
    """The file of a scenario's flow, or None where there is none yet."""
    return next((found for folder in folders if (found := folder / f"{scenario.flow_name}.yaml").is_file()), None)


def hindrance(scenario: Scenario, folders: Folders, *, persistent: bool) -> str:
    """Why a scenario cannot be measured in this process; nothing where it can."""
    file = flow_file(scenario, folders)
    if file is None:
        return scenario.needs or f"needs its flow: {scenario.flow_name}.yaml"
    missing = ", ".join(dict.fromkeys(_missing_types(file)))
    if missing:
        return f"needs the node {missing}"
    if scenario.groups > MOST_GROUPS:
        return _NO_PROCESSES
    return "" if transport(persistent=persistent) is not None else _NOT_DURABLE


def _missing_types(file: Path) -> Iterator[str]:
    flow = read_flow(file.read_bytes(), str(file)).flow
    for use in flow.nodes if flow else ():
        if use.type and node_catalog.get(use.type) is None:
            yield use.type


def deployed(scenario: Scenario, folders: Folders) -> tuple[DeployedFlow, ...]:
    """The scenario's flow for each thread that runs it: its copies, and the instances that each says it has."""
    file = flow_file(scenario, folders)
    assert file is not None
    flow = load_flow(str(file))
    return tuple(instance for _ in range(scenario.copies) for instance in _instances(flow))


def _instances(flow: Flow) -> Iterable[DeployedFlow]:
    programs = binder(flow)
    first = deploy(flow, bind=programs)
    yield first
    for _ in range(1, first.instances(first.entrances[0])):
        yield deploy(flow, bind=programs)


def transport(*, persistent: bool) -> Transport | None:
    """What has queues for such messages, opened by their names; None where there is none yet."""
    return None if persistent else MemoryQueues


def queues(scenario: Scenario, *, persistent: bool = False) -> Queues:
    """The queues that the flow and its drivers work with."""
    opened = transport(persistent=persistent)
    assert opened is not None
    made = opened(IN, OUT, *subscriptions(scenario))
    if scenario.flow_name == PUBLICATION:
        subscribe(made, (), dict.fromkeys((OUT, *subscriptions(scenario)), "costs/#"))
    return made


def subscriptions(scenario: Scenario) -> tuple[str, ...]:
    """The queues of subscribers that no driver reads."""
    return tuple(f"COSTS.SUBSCRIBER.{number}" for number in range(1, scenario.subscribers + 1))

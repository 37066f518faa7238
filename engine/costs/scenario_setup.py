"""Sets scenarios up: their flows, found by name, their queues and databases, and what one still waits for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, TypeAlias

from engine.costs.scenarios import PUBLICATION, ByHand, Scenario
from engine.databases.coordination import Coordinator
from engine.databases.definitions import Definition
from engine.databases.sources import Sources
from engine.databases.work import with_databases
from engine.flow.definition import Flow
from engine.mq import QueueManager
from engine.node import node_catalog
from engine.runtime.deployment import DeployedFlow, deploy
from engine.transports.memory import MemoryQueues, subscribe
from flows.files import load_flow
from flows.programs import binder
from flows.reader import read_flow

if TYPE_CHECKING:
    import sqlalchemy as sa

    from engine.databases.sources import Sources
    from engine.mq import QueueManager
    from engine.runtime.deployment import DeployedFlow
    from engine.work import UnitOfWork


Folders: TypeAlias = tuple[Path, ...]
IN: Final = "COSTS.IN"
OUT: Final = "COSTS.OUT"
MOST_GROUPS: Final = 1  # this process is one execution group; more of them are processes of a broker
NO_PROCESSES: Final = "needs the execution groups of a broker, each of them a process"


def own_folders() -> Folders:
    """Returns where the flows of scenarios are that ship."""
    return tuple(sorted(path for path in Path(str(files("engine.costs") / "flows")).iterdir() if path.is_dir()))


def flow_file(scenario: Scenario, folders: Folders) -> Path | None:
    """The file of a scenario's flow, or None where there is none yet."""
    return next((found for folder in folders if (found := folder / f"{scenario.flow_name}.yaml").is_file()), None)


def hindrance(scenario: Scenario, folders: Folders) -> str:
    """Why a scenario cannot be measured in this process; nothing where it can."""
    file = flow_file(scenario, folders)
    if file is None:
        return f"needs its flow: {scenario.flow_name}.yaml"
    missing = ", ".join(dict.fromkeys(_missing_types(file)))
    if missing:
        return f"needs the node {missing}"
    return NO_PROCESSES if scenario.groups > MOST_GROUPS else ""


def _missing_types(file: Path) -> Iterator[str]:
    flow = read_flow(file.read_bytes(), str(file)).flow
    for use in flow.nodes if flow else ():
        if use.type and node_catalog.get(use.type) is None:
            yield use.type


def deployed(scenario: Scenario, folders: Folders, sources: Sources | None = None) -> tuple[DeployedFlow, ...]:
    """Returns the scenario's flow for each thread that runs it: its copies, and the instances that each says it has."""
    file = flow_file(scenario, folders)
    assert file is not None
    flow = load_flow(str(file))
    return tuple(instance for _ in range(scenario.copies) for instance in _instances(flow, sources))


def _instances(flow: Flow, sources: Sources | None) -> Iterable[DeployedFlow]:
    programs = binder(flow, sources=sources)
    first = deploy(flow, bind=programs)
    yield first
    for _ in range(1, first.instances(first.entrances[0])):
        yield deploy(flow, bind=programs)


@contextmanager
def opened(scenario: Scenario, *, persistent: bool) -> Iterator[QueueManager]:
    """Opens the queues that the flow and its drivers work with: in memory, or durable for persistent messages."""
    if not persistent:
        yield queues(scenario)
        return
    with durable_queues(IN, OUT, *subscriptions(scenario)) as made:
        _subscribe(made, scenario)
        yield made


def queues(scenario: Scenario) -> QueueManager:
    """Returns the queues of a scenario in memory."""
    made = MemoryQueues(IN, OUT, *subscriptions(scenario))
    _subscribe(made, scenario)
    return made


def _subscribe(made: QueueManager, scenario: Scenario) -> None:
    if scenario.flow_name == PUBLICATION:
        subscribe(made, (), dict.fromkeys((OUT, *subscriptions(scenario)), "costs/#"))


def subscriptions(scenario: Scenario) -> tuple[str, ...]:
    """The queues of subscribers that no driver reads."""
    return tuple(f"COSTS.SUBSCRIBER.{number}" for number in range(1, scenario.subscribers + 1))


SOURCE: Final = "COSTS"
_FOLDER: Final = "penstock-costs-"

@dataclass(frozen=True, slots=True)
class Database:
    """The data source that a scenario's flow works with, and the program by hand on a database of its own."""

    sources: Sources
    by_hand: ByHand


@contextmanager
def durable_queues(*names: str) -> Iterator[QueueManager]:
    """Opens a queue manager with these queues, which keeps what is persistent."""
    with TemporaryDirectory(prefix=_FOLDER) as place:
        folder = Path(place) / "queues"
        QueueManager.create(folder)
        with QueueManager.open(folder) as manager:
            for name in names:
                manager.define("QLOCAL", name, {})
            yield manager


@contextmanager
def database(made_by_hand: Callable[[sa.Engine], ByHand]) -> Iterator[Database]:
    """Opens a database for a flow, and one like it for the program by hand."""
    from sqlalchemy import create_engine  # noqa: PLC0415 - most scenarios do without

    from engine.costs.hand_written import fill  # noqa: PLC0415 - as above

    with TemporaryDirectory(prefix=_FOLDER) as place:
        engines = [create_engine(f"sqlite:///{place}/{name}.db") for name in ("flow", "hand")]
        sources = Sources([Definition(SOURCE, f"sqlite:///{place}/flow.db")])
        try:
            for engine in engines:
                fill(engine)
            yield Database(sources, made_by_hand(engines[1]))
        finally:
            sources.close()
            for engine in engines:
                engine.dispose()


def with_data_sources(
    queues: QueueManager, work: UnitOfWork, sources: Sources | None, flow: DeployedFlow
) -> UnitOfWork:
    """Returns a unit of work with data sources, the queue manager as its coordinator where the flow asks for that."""
    coordinated = sources is not None and flow.properties.coordinated_transaction
    return with_databases(work, sources, flow.properties, Coordinator(queues) if coordinated else None)

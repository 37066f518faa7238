"""Lasting: durable queues and databases of scenarios, in temporary folders that are removed behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, TypeAlias

from engine.databases.coordination import Coordinator
from engine.databases.definitions import Definition
from engine.databases.sources import Sources
from engine.databases.work import with_databases
from engine.mq import QueueManager

if TYPE_CHECKING:
    import sqlalchemy as sa

    from engine.runtime.deployment import DeployedFlow
    from engine.work import UnitOfWork

SOURCE: Final = "COSTS"
_FOLDER: Final = "penstock-costs-"

ByHand: TypeAlias = Callable[[bytes], bytes]


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

    from engine.costs.limits_of_databases import fill  # noqa: PLC0415 - as above

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

"""A unit of work over queues and databases."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from engine.databases.session import Session
from engine.work import Dated

if TYPE_CHECKING:
    from engine.databases.coordination import Coordinator
    from engine.databases.sources import Sources
    from engine.work import UnitOfWork


class Coordinated(Protocol):
    """The properties of a flow that concern its units of work."""

    @property
    def coordinated_transaction(self) -> bool:
        """The unit's databases and queues are committed in two phases."""
        ...


def with_databases(
    work: UnitOfWork,
    sources: Sources | None,
    flow: Coordinated,
    coordinator: Coordinator | None = None,
    *,
    held: Session | None = None,
) -> UnitOfWork:
    """A unit of work with the databases of data sources, if there are any; `held` is a session that goes on."""
    if sources is None:
        return work
    kind = DatedDatabaseWork if isinstance(work, Dated) else DatabaseWork
    session = held or Session(sources, coordinated=flow.coordinated_transaction)
    return kind(work, session, coordinator if flow.coordinated_transaction else None)


class DatabaseWork:
    """A unit of work over queues, with databases that are committed before the queues are.

    What fails between the two is done again: a message is never lost, and a row may be written twice.
    """

    def __init__(self, work: UnitOfWork, session: Session, coordinator: Coordinator | None = None) -> None:
        self.databases = session
        self._coordinator = coordinator
        self._connection = "" if coordinator is None else coordinator.connection()
        self._work: Any = work
        self.get = work.get
        self.put = work.put
        self.attributes = work.attributes
        self.new_id = work.new_id

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    @property
    def patience(self) -> float:
        """Returns the number of seconds that an entrance node waits for a message."""
        return float(self._work.patience)

    @patience.setter
    def patience(self, seconds: float) -> None:
        self._work.patience = seconds

    @property
    def dead_letter_queue(self) -> str:
        """The queue for what can be delivered nowhere else."""
        return str(self._work.dead_letter_queue)

    @property
    def queue_manager(self) -> str:
        """The name of the queue manager whose queues these are."""
        return str(self._work.queue_manager)

    def commit(self) -> None:
        """Commit the databases, then the queues; with a coordinator all of them as one."""
        if self._coordinator is not None:
            self._coordinator.commit(self.databases, self._work, self._connection)
            return
        self.databases.commit()
        self._work.commit()

    def back_out(self) -> None:
        """Undo what was done to databases and queues."""
        try:
            self.databases.back_out()
        finally:
            self._work.back_out()


class DatedDatabaseWork(DatabaseWork):
    """A unit of work over queues and databases that says itself when it is."""

    @property
    def now(self) -> datetime:
        """The moment of all that it does, in GMT."""
        moment: datetime = self._work.now
        return moment

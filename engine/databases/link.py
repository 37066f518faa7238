"""Links: a connection to a data source while a unit of work lasts, or many that are prepared together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from engine.databases.errors import BROKEN, NO_COLUMN, DatabaseException, refusal
from engine.databases.sources import Source
from engine.databases.sql import Plan
from engine.databases.statements import Answer, Warned

_UNIT: Final = "penstock_unit"
_LOCKED: Final = "55P03"
_NO_SUPPORT: Final = "0A000"
# What another transaction holds that is prepared as well is not free before all are decided: waiting on is no use.
_PATIENCE: Final = "SET LOCAL lock_timeout = '60s'"
_NOT_FOUND: Final = Warned(100, "02000", 0, "no row was found")


class Link:
    """The part of a unit of work at one data source; no transaction begins before the first write."""

    __slots__ = ("__weakref__", "_connection", "_cursor", "_held", "_protected", "lost", "opened", "source", "wrote")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.opened = False  # a transaction has begun
        self.wrote = False  # and something in it has succeeded
        self.lost = False  # what it has done is gone: the unit can only be backed out
        self._protected = False
        self._held: Any = None
        self._connection: Any = None
        self._cursor: Any = None

    def execute(self, plan: Plan, values: Sequence[Any]) -> Answer:
        """Execute a statement; a broken connection is replaced once, if nothing has been written."""
        if self.lost:
            raise self._gone()
        try:
            return self._executed(plan, values)
        except self.source.driver.errors as error:
            failed, again = self._refused(error)
        if not again:
            raise failed from failed.__cause__
        try:
            return self._executed(plan, values)
        except self.source.driver.errors as error:
            failed, _ = self._refused(error)
        raise failed from failed.__cause__

    def _executed(self, plan: Plan, values: Sequence[Any]) -> Answer:
        if self._connection is None:
            self._connect()
        driver = self.source.driver
        if self.opened:
            driver.protect(self._connection, first=not self._protected)
            self._protected = True
        elif self._must_open(plan):
            self._open()
            self.opened = True
        given = values if plan.in_order else [values[number] for number in plan.order]
        cursor = self._cursor
        if plan.binders:
            given = [value if bind is None else bind(value) for bind, value in zip(plan.binders, given, strict=True)]
        driver.execute(cursor, plan.sql, given, prepared=plan.prepared)
        if cursor.description is None:
            self.wrote = self.opened
            return Answer((), (), _NOT_FOUND if not cursor.rowcount else None)
        rows = cursor.fetchall()
        self.wrote = self.opened
        names = plan.names or tuple(column[0] for column in cursor.description)
        for place, read in plan.readers:
            rows = [(*row[:place], read(row[place]), *row[place + 1 :]) for row in rows]
        return Answer(names, rows)

    def _must_open(self, plan: Plan) -> bool:  # a held link looks at what it has begun
        """Returns True if a statement needs a unit of work."""
        return plan.writes

    def _open(self) -> None:
        """Begin a unit of work."""
        self.source.driver.begin(self._connection)

    def _keep(self) -> None:
        """Make the unit of work last."""
        self.source.driver.commit(self._connection)

    def _undo(self) -> None:
        """Undo the unit of work."""
        self.source.driver.rollback(self._connection)

    def _connect(self) -> None:
        self._held = self.source.connect()
        self.source.lent(self)
        self._connection = self._held.dbapi_connection
        self._cursor = self.source.driver.cursor(self._connection)

    def _refused(self, error: BaseException) -> tuple[DatabaseException, bool]:
        """Returns the exception for a failed statement, and True if it may be tried again with another connection."""
        driver, failed = self.source.driver, self.source.failure(error)
        if failed.sqlstate.endswith(NO_COLUMN):
            self.source.forget()
        if self._connection is None:
            return failed, False
        if driver.is_broken(self._connection, error):
            self.lost = self.wrote
            self.discard()
            return failed, not self.lost
        if self.opened:
            self._recover()
        return failed, False

    def _recover(self) -> None:
        """Leave the transaction usable behind a statement that failed, with what it has done so far."""
        driver = self.source.driver
        try:
            if self.wrote:
                self.lost = not driver.restore(self._connection)
            else:
                self._undo()
                self.opened = self._protected = False
        except driver.errors:
            self.lost = self.wrote
            self.discard()

    def _gone(self) -> DatabaseException:
        text = "the connection was lost, and what the unit of work had written with it"
        return refusal(self.source.name, self.source.driver.name, BROKEN, 0, text)

    @property
    def connection(self) -> Any:
        """The connection of the driver, made if there is none."""
        if self._connection is None:
            self._connect()
        return self._connection

    def check_kept(self) -> None:
        """Raise a DatabaseException if what was written is lost."""
        if self.lost:
            raise self._gone()

    def commit(self) -> None:
        """Make what was written last; raises where that is not so."""
        self.check_kept()
        if self.opened:
            try:
                self._keep()
            except self.source.driver.errors as error:
                failed = self.source.failure(error)
                self.discard()
                raise failed from failed.__cause__
        self.release()

    def prepare(self, gid: str) -> None:
        """End the first phase of a two-phase commit."""
        self.check_kept()
        try:
            self.source.driver.prepare(self._connection, gid)
        except self.source.driver.errors as error:
            failed = self.source.failure(error)
            if self.source.driver.is_broken(self._connection, error):
                self.discard()
            raise failed from failed.__cause__
        self.opened = self.wrote = self._protected = False

    def end_prepared(self, gid: str, *, commits: bool) -> None:
        """End the second phase, by the connection of the first or, where that is gone, by another."""
        if not commits and self.opened:  # it was not prepared
            self.back_out()
            return
        try:
            if self._connection is None:
                self.source.end_prepared(gid, commits=commits)
            else:
                self.source.driver.resolve(self._connection, gid, commits=commits)
        except self.source.driver.errors as error:
            is_broken = self._connection is not None and self.source.driver.is_broken(self._connection, error)
            self.discard()
            if not is_broken:
                raise self.source.failure(error) from None
            self.source.end_prepared(gid, commits=commits)
        self.release()

    def back_out(self) -> None:
        """Undo what was written; a connection that cannot do so is closed, which does."""
        if self.opened and self._connection is not None:
            try:
                self._undo()
            except self.source.driver.errors:
                self.discard()
        self.lost = False
        self.release()

    def release(self) -> None:
        """Be ready for the next unit of work; the connection stays with whoever has it, as most will need it again."""
        self.opened = self.wrote = self._protected = False

    def close(self) -> None:
        """Give the connection back."""
        held, self._held = self._held, None
        self._connection = self._cursor = None
        self.release()
        if held is not None:
            held.close()

    def discard(self) -> None:
        """Close the connection for good."""
        held, self._held = self._held, None
        self._connection = self._cursor = None
        self.opened = self.wrote = self._protected = False
        if held is not None:
            held.invalidate()
            held.close()


class HeldLink(Link):
    """A link whose transaction lasts over many units of work, each of them a savepoint.

    When its connection is lost, so is what earlier units have written: such a link never works again.
    """

    __slots__ = ("_waited", "_writes", "begun")

    def __init__(self, source: Source, *, writes: bool = True) -> None:
        super().__init__(source)
        self.begun = False  # something may have been written that is not prepared yet
        self._writes = writes
        self._waited = False  # for what another transaction does not let go

    def _must_open(self, plan: Plan) -> bool:
        return plan.writes or self.begun

    def _open(self) -> None:
        driver = self.source.driver
        if not self._writes:
            raise self._unable("a node with transaction commit cannot write here: give it transaction automatic")
        if not driver.prepares:
            raise self._unable(
                "this database cannot prepare what is written: --effects at-least-once writes all the same"
            )
        if not self.begun:
            driver.begin(self._connection)
            self.begun = True
            driver.command(self._connection, _PATIENCE)
        driver.command(self._connection, f"SAVEPOINT {_UNIT}")

    def _unable(self, text: str) -> DatabaseException:
        return refusal(self.source.name, self.source.driver.name, _NO_SUPPORT, 0, text)

    def _keep(self) -> None:
        self.source.driver.command(self._connection, f"RELEASE SAVEPOINT {_UNIT}")

    def _undo(self) -> None:
        self.source.driver.command(self._connection, f"ROLLBACK TO SAVEPOINT {_UNIT}")
        self._keep()

    def _refused(self, error: BaseException) -> tuple[DatabaseException, bool]:
        failed, again = super()._refused(error)
        if failed.sqlstate.endswith(_LOCKED):
            self._waited = True
            self.discard()
        return failed, again and not self._waited

    def _gone(self) -> DatabaseException:
        if not self._waited:
            return super()._gone()
        text = (
            "another task has changed the same row, and keeps it to the end of the round: let one task do both, by"
            " orderMode or --instances 1"
        )
        return refusal(self.source.name, self.source.driver.name, _LOCKED, 0, text)

    def back_out(self) -> None:
        """Undo the unit of work, and nothing of those before it."""
        super().back_out()
        self.lost = self.begun and self._connection is None

    def discard(self) -> None:
        """Close the connection for good, and with it give up what was written."""
        super().discard()
        self.lost = self.begun

    def prepare(self, gid: str) -> None:
        """Prepare what all units have written."""
        super().prepare(gid)
        self.begun = False

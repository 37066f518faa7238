"""Held links: units of work that are parts of one transaction, which is prepared in the end for others to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.databases.errors import DatabaseException, refusal
from engine.databases.link import Link

if TYPE_CHECKING:
    from engine.databases.sources import Source
    from engine.databases.sql import Plan

_UNIT: Final = "penstock_unit"
_LOCKED: Final = "55P03"
_NO_SUPPORT: Final = "0A000"
# What another transaction holds that is prepared as well is not free before all are decided: waiting on is no use.
_PATIENCE: Final = "SET LOCAL lock_timeout = '60s'"


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

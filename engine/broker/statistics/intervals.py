"""Intervals of statistics: when a broker's supervisor closes them, and the processes that publish their records."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from engine.broker.channel import Channel
from engine.broker.children import fork
from engine.broker.logs import hand_to
from engine.broker.plans import Plan
from engine.broker.state import DeployedUse
from engine.broker.statistics.publishing import publish
from engine.broker.statistics.records import RecordCode
from engine.broker.statistics.snapshots import Snapshots, archive_of
from engine.errors import BrokerError

if TYPE_CHECKING:
    from engine.broker.supervisor import Supervisor


class Intervals:
    """The statistics of a running broker."""

    def __init__(self, supervisor: Supervisor, log: int) -> None:
        self._supervisor = supervisor
        self._log = log  # the descriptor that processes hand their lines to
        self._snapshots = Snapshots(supervisor.folder)
        self._told_end = False

    def begin(self) -> None:
        """Begin the first intervals."""
        settings, loop = self._supervisor.plan.settings, self._supervisor.loop
        loop.after(settings.statistics_interval, self._count)
        loop.after(settings.archive_interval * 60, self._archive)

    def change(self, before: Plan, after: Plan) -> None:
        """Publish what flows have done that are deployed anew, counted otherwise, or no longer run."""
        there = {(group, use.name): use for group, _, use in after.uses()}
        ended: dict[RecordCode, list[tuple[str, DeployedUse]]] = {}
        for group, _, use in before.uses():
            now = there.get((group, use.name))
            if now is None:
                ended.setdefault("Shutdown", []).append((group, use))
            elif now.statistics != use.statistics:
                ended.setdefault("StatsSettingsModified", []).append((group, use))
            elif now.version != use.version:
                ended.setdefault("ReDeploy", []).append((group, use))
        self._publish([record for code, uses in ended.items() for record in self._archives(uses, code)])

    def end(self) -> bool:
        """Publish once what flows have done until the broker stops; returns True where a process does so now."""
        if self._told_end:
            return False
        self._told_end = True
        return self._publish(self._archives(self._running(), "Shutdown"))

    def _running(self) -> list[tuple[str, DeployedUse]]:
        return [(group, use) for group, _, use in self._supervisor.plan.uses()]

    def _count(self) -> None:
        """Close an interval of snapshots, and begin the next."""
        supervisor = self._supervisor
        try:
            if not self._told_end:
                self._publish(self._snapshots.take(supervisor.plan))
        except OSError as error:
            supervisor.log.tell(f"statistics cannot be written: {error}", "ERROR")
        supervisor.loop.after(supervisor.plan.settings.statistics_interval, self._count)

    def _archive(self) -> None:
        """Publish what flows have done since their statistics were switched on."""
        self._publish(self._archives(self._running(), "MajorInterval"))
        self._supervisor.loop.after(self._supervisor.plan.settings.archive_interval * 60, self._archive)

    def _archives(self, uses: Iterable[tuple[str, DeployedUse]], code: RecordCode) -> list[dict[str, Any]]:
        supervisor = self._supervisor
        counted = [(group, use) for group, use in uses if use.statistics != "none"]
        try:
            state = supervisor.repository.load() if counted else None
            return [archive_of(supervisor.folder, state, group, use, code) for group, use in counted if state]
        except (BrokerError, OSError) as error:
            supervisor.log.tell(f"statistics cannot be archived: {error}", "ERROR")
            return []

    def _publish(self, records: list[dict[str, Any]]) -> bool:
        """Publish records in a process of its own, as nothing may hold the supervisor; False where there are none."""
        if not records:
            return False
        folder, most = self._supervisor.folder, self._supervisor.plan.settings.statistics_interval

        def work(_: Channel) -> None:
            hand_to(self._log, "statistics")
            signal.setitimer(signal.ITIMER_REAL, most)
            with suppress(BrokerError, OSError):
                publish(folder, records)

        fork(work, [self._log]).channel.close()
        return True

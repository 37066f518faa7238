"""Intervals of statistics: when the supervisor closes them, and the processes that publish their records on topics."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from engine.broker.channel import Channel
from engine.broker.child_processes import fork
from engine.broker.folder import Folder
from engine.broker.logs import hand_to
from engine.broker.queues import queue_managers
from engine.broker.state import DeployedUse
from engine.broker.statistics.records import ROOT, RecordCode, as_xml
from engine.broker.statistics.snapshots import Snapshots, archives_of
from engine.broker.supervisor_plan import Plan
from engine.broker.workload_limits import BELOW, FINISHED, Event, Thresholds
from engine.descriptor import NON_PERSISTENT, PERSISTENT, Descriptor
from engine.errors import BrokerError

if TYPE_CHECKING:
    from engine.broker.supervisor import Supervisor


def topics_of(record: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the topics of a record: as XML, and as JSON.

    >>> flow = {"BrokerLabel": "B", "ExecutionGroupName": "G", "MessageFlowName": "F"}
    >>> topics_of({ROOT: {"RecordType": "SnapShot", "MessageFlow": flow}})[0]
    '$SYS/Broker/B/StatisticsAccounting/SnapShot/G/F'
    """
    content = record[ROOT]
    flow = content["MessageFlow"]
    start = f"$SYS/Broker/{flow['BrokerLabel']}"
    end = f"{content['RecordType']}/{flow['ExecutionGroupName']}/{flow['MessageFlowName']}"
    return f"{start}/StatisticsAccounting/{end}", f"{start}/Statistics/JSON/{end}"


def publications_of(records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Descriptor, bytes]]:
    """Yields the publications of records; snapshots are not persistent, archives are."""
    for record in records:
        persistence = PERSISTENT if record[ROOT]["RecordType"] == "Archive" else NON_PERSISTENT
        descriptor = Descriptor(format="MQSTR", persistence=persistence)
        xml, data = topics_of(record)
        yield xml, descriptor, as_xml(record)
        yield data, descriptor, json.dumps(record).encode()


def events_of(plan: Plan, events: Iterable[Event]) -> Iterator[tuple[str, Descriptor, bytes]]:
    """Yields the publications of events, which are not persistent."""
    for event in events:
        group_uuid = str(plan.groups.get(event.group, {}).get("uuid", ""))
        yield event.topic(plan.broker), Descriptor(format="MQSTR"), event.as_xml(plan.broker, plan.uuid, group_uuid)


def publish(folder: Folder, publications: Iterable[tuple[str, Descriptor, bytes]]) -> None:
    """Publish what has a topic, a descriptor and a body, retained."""
    manager = queue_managers().connect(folder.queues)
    try:
        for topic, descriptor, body in publications:
            manager.publish(topic, descriptor, body, retain=True, point="")
    finally:
        manager.close()


class Intervals:
    """The statistics of a running broker."""

    def __init__(self, supervisor: Supervisor, log: int) -> None:
        self._supervisor = supervisor
        self._log = log  # the descriptor that processes hand their lines to
        self._snapshots = Snapshots(supervisor.folder)
        self._thresholds = Thresholds()
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
            elif now.counting != use.counting:
                ended.setdefault("StatsSettingsModified", []).append((group, use))
            elif now.version != use.version:
                ended.setdefault("ReDeploy", []).append((group, use))
        self._publish([record for code, uses in ended.items() for record in self._archives(uses, code)])

    def end(self) -> bool:
        """Publish once what flows have done until the broker stops; returns True where a process does so now."""
        if self._told_end:
            return False
        self._told_end = True
        return self._publish(self._archives(self._running(), "Shutdown"), self._thresholds.crossed([]))

    def tell(self, event: Event) -> None:
        """Log an event of the workload, and publish it."""
        self._publish([], [event])

    def _running(self) -> list[tuple[str, DeployedUse]]:
        return [(group, use) for group, _, use in self._supervisor.plan.uses()]

    def _count(self) -> None:
        """Close an interval of snapshots, and begin the next."""
        supervisor = self._supervisor
        try:
            if not self._told_end:
                records = self._snapshots.take(supervisor.plan)
                self._publish(records, self._thresholds.crossed(self._snapshots.rates))
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
            told = [archives_of(supervisor.folder, state, group, use, code) for group, use in counted if state]
            return [record for records in told for record in records]
        except (BrokerError, OSError) as error:
            supervisor.log.tell(f"statistics cannot be archived: {error}", "ERROR")
            return []

    def _publish(self, records: list[dict[str, Any]], events: Sequence[Event] = ()) -> bool:
        """Publish records, and events, which are logged too; returns False where there are none.

        A process of its own does so, as nothing may hold the supervisor.
        """
        if not records and not events:
            return False
        for event in events:
            self._supervisor.log.tell(event.text, "INFO" if event.kind in {FINISHED, BELOW} else "WARNING", event.group)
        plan = self._supervisor.plan
        publications = [*publications_of(records), *events_of(plan, events)]
        folder, most = self._supervisor.folder, plan.settings.statistics_interval

        def work(_: Channel) -> None:
            hand_to(self._log, "statistics")
            signal.setitimer(signal.ITIMER_REAL, most)
            with suppress(BrokerError, OSError):
                publish(folder, publications)

        fork(work, [self._log]).channel.close()
        return True

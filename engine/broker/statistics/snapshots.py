"""Snapshots: what each flow did in the last interval, written by the supervisor; and archives, read at any time."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from engine.broker.folder import Folder
from engine.broker.state import BrokerState, DeployedUse
from engine.broker.statistics import slots
from engine.broker.statistics.records import Counted, RecordCode, Subject, record
from engine.broker.statistics.slots import folder_of, slots_in
from engine.broker.statistics.totals import Totals, totals_of
from engine.broker.supervisor_plan import Plan

_SNAPSHOT: Final = "snapshot.json"


class Snapshots:
    """The counts at the end of the last interval, from which the next snapshot is taken."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        every = (place for place in folder.statistics.glob("*/*") if place.is_dir())
        self._before = {str(slot.file): totals_of(slot) for place in every for slot in slots_in(place)}
        self._began = time.time()
        self.rates: list[tuple[str, DeployedUse, float]] = []  # messages a second of the last interval, by flow

    def take(self, plan: Plan) -> list[dict[str, Any]]:
        """Write a snapshot of each flow that is counted, and begin the next interval; returns the records."""
        records: list[dict[str, Any]] = []
        began, self._began = self._began, time.time()
        self.rates = []
        for group, uuid, use in plan.uses():
            if use.statistics == "none" and not use.notified_rate:
                continue
            place = folder_of(self._folder.statistics, group, use.name, use.statistics)
            place.mkdir(parents=True, exist_ok=True)
            threads: dict[int, Totals] = {}
            for slot in slots_in(place):
                number = int(slot.file.name.partition("-")[0])
                interval = slot.words[slots.INTERVAL]
                found = totals_of(slot, interval)
                slot.words[slots.INTERVAL] = interval + 1
                done = found.since(self._before.get(str(slot.file)))
                self._before[str(slot.file)] = found
                threads[number] = threads[number] + done if number in threads else done
                slot.close()
            counted = Counted(began, self._began, threads)
            messages = counted.whole.counts[slots.MESSAGES]
            self.rates.append((group, use, messages / max(self._began - began, 0.001)))
            if use.statistics == "none":
                continue
            subject = Subject(plan.broker, plan.uuid, group, uuid, use.name, use.instances)
            said = record("SnapShot", "Snapshot", subject, counted)
            _write(place / _SNAPSHOT, said)
            records.append(said)
        return records


def _write(file: Path, said: dict[str, Any]) -> None:
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.write_text(json.dumps(said), encoding="utf-8")
    beside.replace(file)


def archive_of(
    folder: Folder, state: BrokerState, group: str, use: DeployedUse, code: RecordCode = "MajorInterval"
) -> dict[str, Any]:
    """Returns the archive record of a flow: all that it has done since its statistics were switched on.

    `code` is the reason why the record is made now.
    """
    threads: dict[int, Totals] = {}
    began = time.time()
    for slot in slots_in(folder_of(folder.statistics, group, use.name, use.statistics)):
        number = int(slot.file.name.partition("-")[0])
        began = min(began, slot.began)
        threads[number] = threads.get(number, Totals()) + totals_of(slot)
        slot.close()
    own = state.group(group)
    subject = Subject(state.name, state.uuid, group, own.uuid if own else "", use.name, use.instances)
    return record("Archive", code, subject, Counted(began, time.time(), threads))


def snapshot_of(folder: Folder, group: str, use: DeployedUse) -> dict[str, Any] | None:
    """Returns the latest snapshot record of a flow, or None."""
    file = folder_of(folder.statistics, group, use.name, use.statistics) / _SNAPSHOT
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found


def records_of(folder: Folder, state: BrokerState, flow: str = "", only: str = "") -> Iterator[dict[str, Any]]:
    """Yields the archive and the latest snapshot of each flow that is counted."""
    for group in state.groups:
        for use in group.flows:
            if (
                use.statistics == "none"
                or only not in {"", group.name}
                or flow not in {"", use.name, use.name.rpartition(".")[2]}
            ):
                continue
            yield archive_of(folder, state, group.name, use)
            if (found := snapshot_of(folder, group.name, use)) is not None:
                yield found


def forget(folder: Folder, group: str, flow: str, level: str) -> None:
    """Take away what was counted of a flow at a level."""
    shutil.rmtree(folder_of(folder.statistics, group, flow, level), ignore_errors=True)

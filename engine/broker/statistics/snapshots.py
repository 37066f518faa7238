"""Snapshots: what each flow did in the last interval, written by the supervisor; and archives, read at any time."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine.broker.changes import Planned, switched
from engine.broker.folder import Folder
from engine.broker.repository.repository import Change
from engine.broker.state import BrokerState, DeployedUse
from engine.broker.statistics import slots
from engine.broker.statistics.records import Counted, RecordCode, Subject, record
from engine.broker.statistics.slots import ANONYMOUS, Slot, folder_of, slots_in
from engine.broker.statistics.totals import Totals, added, totals_of
from engine.broker.supervisor_plan import Plan

if TYPE_CHECKING:
    from engine.broker.administration import Broker

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
            place = folder_of(self._folder.statistics, group, use.name, use.counting)
            place.mkdir(parents=True, exist_ok=True)
            counted = {
                origin: Counted(began, self._began, threads)
                for origin, threads in _by_origin(place, self._counted_since).items()
            }
            messages = {origin: one.whole.counts[slots.MESSAGES] for origin, one in counted.items()}
            self.rates.append((group, use, sum(messages.values()) / max(self._began - began, 0.001)))
            if use.statistics == "none":
                continue
            subject = Subject(plan.broker, plan.uuid, group, uuid, use.name, use.instances)
            told = [origin for origin, count in messages.items() if count] or list(counted)[:1]
            said = [record("SnapShot", "Snapshot", subject.of(origin), counted[origin]) for origin in told]
            _write(place / _SNAPSHOT, said)
            records += said
        return records

    def _counted_since(self, slot: Slot) -> Totals:
        """Returns what was counted in a slot since the last interval ended, and begins the next one."""
        interval = slot.words[slots.INTERVAL]
        found = totals_of(slot, interval)
        slot.words[slots.INTERVAL] = interval + 1
        done = found.since(self._before.get(str(slot.file)))
        self._before[str(slot.file)] = found
        return done


def _by_origin(place: Path, counted: Callable[[Slot], Totals]) -> dict[str, dict[int, Totals]]:
    """Returns the counts of a flow by accounting origin and by thread; of a flow that has none, those of nobody."""
    found: dict[str, dict[int, Totals]] = {}
    for slot in slots_in(place):
        threads, number = found.setdefault(slot.origin, {}), slot.number
        done = counted(slot)
        threads[number] = threads[number] + done if number in threads else done
        slot.close()
    return found or {ANONYMOUS: {}}


def _write(file: Path, said: list[dict[str, Any]]) -> None:
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.write_text(json.dumps(said), encoding="utf-8")
    beside.replace(file)


def archives_of(
    folder: Folder, state: BrokerState, group: str, use: DeployedUse, code: RecordCode = "MajorInterval"
) -> list[dict[str, Any]]:
    """Returns the archive records of a flow, one an accounting origin: what it did since it is counted so.

    `code` is the reason why the records are made now.
    """
    began = time.time()

    def counted(slot: Slot) -> Totals:
        nonlocal began
        began = min(began, slot.began)
        return totals_of(slot)

    found = _by_origin(folder_of(folder.statistics, group, use.name, use.counting), counted)
    own, now = state.group(group), time.time()
    subject = Subject(state.name, state.uuid, group, own.uuid if own else "", use.name, use.instances)
    return [record("Archive", code, subject.of(origin), Counted(began, now, found[origin])) for origin in sorted(found)]


def done_by(folder: Folder, group: str, use: DeployedUse) -> Totals:
    """Returns the counts of a flow since it is counted so, whatever the origins of its messages."""
    found = _by_origin(folder_of(folder.statistics, group, use.name, use.counting), totals_of)
    return added(totals for threads in found.values() for totals in threads.values())


def snapshots_of(folder: Folder, group: str, use: DeployedUse) -> list[dict[str, Any]]:
    """Returns the latest snapshot records of a flow, one for each accounting origin that had messages."""
    file = folder_of(folder.statistics, group, use.name, use.counting) / _SNAPSHOT
    try:
        found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else [found]


def records_of(folder: Folder, state: BrokerState, flow: str = "", only: str = "") -> Iterator[dict[str, Any]]:
    """Yields the archives and the latest snapshots of each flow that is counted."""
    for group in state.groups:
        for use in group.flows:
            if (
                use.statistics == "none"
                or only not in {"", group.name}
                or flow not in {"", use.name, use.name.rpartition(".")[2]}
            ):
                continue
            yield from archives_of(folder, state, group.name, use)
            yield from snapshots_of(folder, group.name, use)


def forget(folder: Folder, group: str, use: DeployedUse) -> None:
    """Take away what was counted of a flow as it was counted then."""
    shutil.rmtree(folder_of(folder.statistics, group, use.name, use.counting), ignore_errors=True)


def count_otherwise(broker: Broker, flows: Iterable[str], group: str, said: str, values: Mapping[str, Any]) -> Planned:
    """Count flows in another way from now on, beginning at nothing; without names all flows, perhaps of one group."""
    before = broker.repository.load()

    def change(planned: Planned) -> Change:
        return Change("statistics", f"{said}: " + ", ".join(f"{c.group}/{c.flow}" for c in planned.changes))

    planned = broker.change(
        lambda state: switched(state, flows, group, **values), change, right="operate", deploys=False
    )
    for changed in planned.changes:
        for _, use in before.uses_of(changed.flow, changed.group):
            forget(broker.folder, changed.group, use)
    return planned

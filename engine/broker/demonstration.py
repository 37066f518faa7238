"""A demonstration: a broker with sample flows, a kill in the middle of its work, and what comes of it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import flows
from engine.broker import queues
from engine.broker.administration import Broker, create
from engine.broker.definition import Definition, FlowUse
from engine.broker.file_writer import broker_text
from engine.broker.start import start_apart
from engine.broker.statistics import slots
from engine.broker.statistics.snapshots import done_by
from engine.descriptor import PERSISTENT, Descriptor
from engine.errors import ConfigurationException

SALES: Final = 2000
_SAMPLES: Final = Path(flows.__path__[0]) / "samples"
_KILLED: Final = "Prices"
_PATIENCE: Final = 40.0
_QUEUES: Final[dict[str, dict[str, str | int]]] = {
    "SALES.IN": {"BOTHRESH": 2, "BOQNAME": "SALES.BACKOUT"},
    "ORDERS.IN": {"MAXDEPTH": 5000},
    **{
        name: {}
        for name in (
            *("SALES.BACKOUT", "SALES.PRICED", "SALES.LARGE", "SALES.SMALL"),
            *("ORDERS.ACCEPTED", "ORDERS.AUDIT", "ORDERS.REJECTED"),
        )
    },
}


def definition(folder: Path) -> Definition:
    """Returns the broker that is shown: three sample flows in three execution groups."""
    files = (("Prices", "archive/archive.yaml"), ("Sizes", "archive/large.yaml"), ("Orders", "orders/orders.yaml"))
    uses = tuple(FlowUse(os.path.relpath(_SAMPLES / file, folder), group) for group, file in files)
    return Definition(uses, "DEMO", queues=_QUEUES, groups=tuple(group for group, _ in files))


def demonstrate(folder: Path) -> Iterator[str]:
    """Run a broker in a folder that is not there yet; yields what happens, a line each."""
    if folder.exists():
        raise ConfigurationException(f"{folder} is there already: remove it, or name another folder")
    folder.mkdir(parents=True)
    (folder / "broker.yaml").write_text(broker_text(definition(folder)), encoding="utf-8")
    broker = create(folder)
    began = time.monotonic()
    yield f"A broker is in {folder}, with a queue manager and a repository of its own: 3 flows in 3 execution groups."
    start_apart(broker.folder)
    try:
        yield from _worked(broker, time.monotonic() - began)
    finally:
        broker.stop()
    yield "The broker has stopped; its queues, its log and its history are in the folder."
    yield f"Next: penstock broker start {folder} --detach; penstock stats {folder}; penstock broker logs {folder}"
    yield f"      penstock deploy {folder} FLOW.yaml; penstock top {folder}; penstock broker stop {folder}"


def _worked(broker: Broker, seconds: float) -> Iterator[str]:
    processes = _processes(broker)
    groups = f"{len(processes) - 1} groups, each a process, with workers for their flows"
    yield f"It was ready after {seconds:.1f} s: {groups}."
    with queues.reached(broker.folder) as reached:
        _put(reached, "ORDERS.IN", [file.read_bytes() for file in sorted((_SAMPLES / "orders/messages").iterdir())])
        _put(reached, "SALES.IN", [_sale(number) for number in range(1, SALES + 1)])
        yield f"{SALES:,} sales and 4 orders were put, persistently, and the flows set to work."
        _until(lambda: _done(reached) > SALES // 8, "the flows to begin")
        killed = processes[_KILLED]
        os.kill(killed, signal.SIGKILL)
        yield f"In the middle of it, after {_done(reached):,} sales, the group {_KILLED} (process {killed}) was killed."
        _until(lambda: _processes(broker).get(_KILLED) not in {None, killed}, "the group to come back")
        again = _processes(broker)[_KILLED]
        yield f"The supervisor started it again as process {again}; what it had in hand came again from its queue."
        _until(lambda: _done(reached) >= SALES, "all sales to come out")
        large, small, bad = (reached.depth(f"SALES.{name}") for name in ("LARGE", "SMALL", "BACKOUT"))
        total = f"{large + small + bad:,}, none lost, none twice"
        yield f"{large:,} large sales, {small:,} small ones, {bad} to look at: {total}."
        first = next(iter(reached.cursor("SALES.LARGE")))
        yield f"The first answer: {first.body.decode(errors='replace'):.100}"
    yield _statistics(broker)


def _statistics(broker: Broker) -> str:
    state = broker.repository.load()
    said = []
    for group in state.groups:
        for use in group.flows:
            counts = done_by(broker.folder, group.name, use).counts
            each = counts[slots.CPU] / 1000 / max(1, counts[slots.MESSAGES])
            said.append(f"{use.name.rpartition('.')[2]} {counts[slots.MESSAGES]:,} at {each:,.0f} µs")
    return f"Statistics, messages and CPU each: {', '.join(said)}."


def _sale(number: int) -> bytes:
    sold = number * 7 % 9 + 1 if number % 1000 else 0  # one in a thousand sells nothing, and fails
    return f"<Sale><Id>{number}</Id><Count>{sold}</Count><Price>{number * 37 % 17}.99</Price></Sale>".encode()


def _put(reached: Any, queue: str, bodies: list[bytes]) -> None:
    work = reached.work()
    for number, body in enumerate(bodies, 1):
        work.put(queue, Descriptor(format="MQSTR", persistence=PERSISTENT), body)
        if not number % 100:
            work.commit()
    work.commit()


def _done(reached: Any) -> int:
    """Returns the number of messages on the queues that sales end on."""
    return sum(reached.depth(f"SALES.{name}") for name in ("LARGE", "SMALL", "BACKOUT"))


def _processes(broker: Broker) -> dict[str, int]:
    status = broker.status() or {"processes": []}
    return {one["name"]: one["process"] for one in status["processes"] if one["process"]}


def _until(is_so: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + _PATIENCE
    while not is_so():
        if time.monotonic() > until:
            raise ConfigurationException(
                f"the demonstration has waited {_PATIENCE:.0f} s for {what}: see the broker's log"
            )
        time.sleep(0.02)

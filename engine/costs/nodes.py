"""The node costs: every row of the report's tables measured here, or with the reason why it cannot be yet.

Drivers put a message, take what comes of it, and put the next, so that the flow is never without work. Each has one
message on its way. The report's ran as jobs of their own; here their turn comes on the thread that has just carried a
message, so what they do is processor time of this process, as theirs was of that machine.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Final

from engine.catalog import did_you_mean
from engine.costs.broker import SECTIONS, runs_of
from engine.costs.measuring import BROKEN, cpu, cpu_ms, cpu_percent, own_cpu_seconds, processors, rss_mib, spread
from engine.costs.results import Key, Node, Row, Run, Taken, published
from engine.costs.sample_messages import Sample
from engine.costs.scenarios import (
    IN,
    OUT,
    Scenario,
    database,
    deployed,
    hindrance,
    opened,
    scenarios,
    subscriptions,
    with_data_sources,
)
from engine.descriptor import PERSISTENT
from engine.errors import BrokerError, ConfigurationException
from engine.runtime.accounting import meter
from engine.work import UnitOfWork

DRIVERS: Final = 15  # as the report had; on its machine they kept the broker busy
SECONDS: Final = 0.25
RUNS: Final = 5
_SHARE_BY_HAND: Final = 0.2  # of a run's time, for the program by hand in turn with it
_SHARE_BEFORE: Final = 0.4  # to warm up, and once more to see what each node costs


@dataclass(frozen=True, slots=True)
class How:
    """The way rows are measured: the seconds of one run, and the numbers of runs and drivers."""

    seconds: float = SECONDS
    runs: int = RUNS
    drivers: int = DRIVERS


def chosen(patterns: Sequence[str] = (), sizes: Sequence[int] = ()) -> tuple[Key, ...]:
    """The report's rows of scenarios with these names or patterns of names, and of these sizes; of all, without any.

    >>> [key.message_bytes for key in chosen(["filter"], [1024])]
    [1024, 1024]
    """
    known = tuple(scenarios())
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise ConfigurationException(f"no scenario called {pattern}{did_you_mean(pattern, known)}")
    measured = sorted({key.message_bytes for key in published()})
    for size in sizes:
        if size not in measured:
            raise ConfigurationException(f"no scenario has messages of {size} bytes: {', '.join(map(str, measured))}")
    found = tuple(key for key in published() if _wanted(key, patterns, sizes))
    if not found:
        raise ConfigurationException(f"{', '.join(patterns)} has no messages of that size: leave --size away")
    return found


def _wanted(key: Key, patterns: Sequence[str], sizes: Sequence[int]) -> bool:
    by_name = not patterns or any(fnmatchcase(key.scenario, pattern) for pattern in patterns)
    return by_name and (not sizes or key.message_bytes in sizes)


def rows(wanted: Sequence[Key], how: How) -> Iterator[Row]:
    """Measure these rows one after the other: in this process, but for the parallel ones, which take a broker's."""
    for key in wanted:
        scenario = scenarios()[key.scenario]
        reason = hindrance(scenario)
        if key.section in SECTIONS and not reason:
            runs, memory = runs_of(scenario, key, how.seconds, how.runs)
            yield Row(key, "broker", taken(runs, (), drivers=0, nodes=(), rss_mib=memory))
            continue
        yield Row(key, "memory", None if reason else measured(scenario, key, how), reason)


def measured(scenario: Scenario, key: Key, how: How) -> Taken:
    """One row: what it does is proven first; then it warms up, and runs in turn with the program by hand."""
    sample = scenario.message(key.message_bytes)
    if key.persistent:
        sample = sample._replace(descriptor=sample.descriptor._replace(persistence=PERSISTENT))
    with closing(Stand(scenario, sample, how.drivers)) as stand:
        stand.run(how.seconds * _SHARE_BEFORE)
        runs, limits = [], []
        for _ in range(how.runs):
            gc.collect()
            runs.append(stand.run(how.seconds))
            if stand.by_hand is not None:
                limits.append(_by_hand_ms(stand.by_hand, sample.body, how.seconds * _SHARE_BY_HAND))
        nodes = tuple(Node(*each) for each in stand.nodes(how.seconds * _SHARE_BEFORE).items())
        return taken(runs, limits, drivers=stand.drivers, nodes=nodes, rss_mib=rss_mib())


def _by_hand_ms(program: Callable[[bytes], bytes], body: bytes, seconds: float) -> float:
    """The processor milliseconds that one run of a program takes, seen over so many seconds."""
    count, step, spent = 0, 1, 0.0
    while spent < seconds:
        spent += cpu(partial(program, body), step) * step
        count, step = count + step, min(2 * step, 256)
    return spent / count * 1000


def taken(
    runs: Sequence[Run], limits: Sequence[float], *, drivers: int, nodes: tuple[Node, ...], rss_mib: float
) -> Taken:
    """Returns what runs have found, by the report's formula."""
    count = processors()
    rates = [run.messages / run.seconds for run in runs]
    percents = [cpu_percent(run.cpu_seconds, run.seconds, count) for run in runs]
    costs = [cpu_ms(percent, count, rate) for percent, rate in zip(percents, rates, strict=True)]
    return Taken(
        runs=len(runs),
        messages=sum(run.messages for run in runs),
        drivers=drivers,
        rate=spread(rates),
        cpu_percent=spread(percents),
        cpu_ms=spread(costs),
        limit_ms=spread(limits) if limits else None,
        nodes=nodes,
        rss_mib=rss_mib,
    )


class Stand:
    """A scenario that is ready to run: its flow deployed, its drivers' messages on their way; until it is closed."""

    __slots__ = (
        *("_around", "_expected", "_flow", "_others", "_queues", "_sample", "_scenario", "_work"),
        *("by_hand", "drivers"),
    )

    def __init__(self, scenario: Scenario, sample: Sample, drivers: int) -> None:
        self._scenario = scenario
        self._sample = sample
        self.by_hand = scenario.by_hand
        self._others = subscriptions(scenario)
        with ExitStack() as around:
            lasts = sample.descriptor.persistence == PERSISTENT
            self._queues = around.enter_context(opened(scenario, persistent=lasts))
            sources = None
            if scenario.on_database is not None:
                sources, self.by_hand = around.enter_context(database(scenario.on_database))
            self._expected = sample.body if self.by_hand is None else self.by_hand(sample.body)
            self._flow = deployed(scenario, sources)
            self._work = with_data_sources(self._queues, self._queues.work(), sources, self._flow)
            self.drivers = drivers
            self._begin()
            self._around = around.pop_all()

    def close(self) -> None:
        """Close its queues and its database, and remove what they kept."""
        self._around.close()

    def _begin(self) -> None:
        """Prove what the flow does by one message, then put the message of each driver."""
        work = self._queues.work()
        work.put(IN, *self._sample, syncpoint=False)
        self._carry()
        self._check(self._reply(work))
        for _ in range(self.drivers):
            work.put(IN, *self._sample, syncpoint=False)

    def run(self, seconds: float) -> Run:
        """Let the flow run for so long."""
        before, started = own_cpu_seconds(), time.perf_counter()
        messages = self._drive(started + seconds)
        return Run(time.perf_counter() - started, own_cpu_seconds() - before, messages)

    def nodes(self, seconds: float) -> dict[str, float]:
        """Processor milliseconds a message of each node that one comes to, and of all around them under no label."""
        stations = self._flow.stations
        before = {label: station.evaluate for label, station in stations.items()}
        measured = meter(stations)
        try:
            messages = self._drive(time.perf_counter() + seconds)
            accounts = measured.settled().items()
            return {label: spent.nanoseconds / 1e6 / messages for label, spent in accounts if spent.nanoseconds}
        finally:
            for label, station in stations.items():
                station.evaluate = before[label]

    def _drive(self, until: float) -> int:
        """Carry messages one after the other, a driver's turn behind each."""
        driver, clock = self._queues.work(), time.perf_counter
        descriptor, body = self._sample
        messages, reply = 0, self._expected
        while clock() < until or not messages:
            self._carry()
            reply = self._reply(driver)
            driver.put(IN, descriptor, body, syncpoint=False)
            messages += 1
        self._check(reply)
        return messages

    def _carry(self) -> None:
        """Have the flow carry a message."""
        outcome = self._flow.process(self._flow.entrances[0], self._work, patient=False)
        if outcome is None:
            raise self._wrong("no message comes back to the drivers")
        if outcome.error is not None:
            raise self._wrong(f"its flow fails: {outcome.error}") from outcome.error

    def _reply(self, work: UnitOfWork) -> bytes:
        """The message that a driver reads; those of the other subscribers are taken off their queues."""
        arrival = work.get(OUT, syncpoint=False)
        if arrival is None:
            raise self._wrong(f"its flow puts nothing on {OUT}")
        for other in self._others:
            if work.get(other) is None:
                raise self._wrong(f"its flow puts nothing on {other}")
        if self._others:
            work.commit()
        return arrival.body

    def _check(self, reply: bytes) -> None:
        if reply != self._expected:
            raise self._wrong("its flow does not write what the program by hand does, so what it costs says nothing")

    def _wrong(self, what: str) -> BrokerError:
        return BrokerError(BROKEN, f"{self._scenario.name}, {len(self._sample.body)} bytes: {what}")

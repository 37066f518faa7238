"""The node costs: every row of the report's tables measured here, or with the reason why it cannot be yet."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from engine.catalog import did_you_mean
from engine.costs.broker_runs import SECTIONS, runs_of
from engine.costs.drivers import Stand
from engine.costs.messages import Sample
from engine.costs.processes import cpu_ms, cpu_percent, processors, rss_mib
from engine.costs.results import Key, Node, Row, Run, Spread, Taken, published
from engine.costs.scenario_setup import NO_PROCESSES, Folders, hindrance, own_folders
from engine.costs.scenarios import Scenario, scenarios
from engine.descriptor import PERSISTENT
from engine.errors import ConfigurationException

GROUP: Final = "nodes"
DRIVERS: Final = 15  # as the report had; on its machine they kept the broker busy
SECONDS: Final = 0.25
RUNS: Final = 5
_SHARE_BY_HAND: Final = 0.2  # of a run's time, for the program by hand in turn with it
_SHARE_BEFORE: Final = 0.4  # to warm up, and once more to see what each node costs


@dataclass(frozen=True, slots=True)
class How:
    """The way rows are measured: the seconds of one run, the numbers of runs and drivers, and the use of brokers."""

    seconds: float = SECONDS
    runs: int = RUNS
    drivers: int = DRIVERS
    brokers: bool = True  # rows that need one are measured on a broker of their own


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
            raise ConfigurationException(f"no scenario has messages of {size} bytes: {_listed(measured)}")
    found = tuple(key for key in published() if _wanted(key, patterns, sizes))
    if not found:
        raise ConfigurationException(f"{', '.join(patterns)} has no messages of that size: leave --size away")
    return found


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))


def _wanted(key: Key, patterns: Sequence[str], sizes: Sequence[int]) -> bool:
    by_name = not patterns or any(fnmatchcase(key.scenario, pattern) for pattern in patterns)
    return by_name and (not sizes or key.message_bytes in sizes)


def rows(wanted: Sequence[Key], how: How, folders: Folders | None = None) -> Iterator[Row]:
    """Measure these rows one after the other: in this process, but for the parallel ones, which take a broker's."""
    places = own_folders() if folders is None else folders
    for key in wanted:
        scenario = scenarios()[key.scenario]
        reason = hindrance(scenario, places)
        if how.brokers and key.section in SECTIONS and reason in {"", NO_PROCESSES}:
            yield Row(key, "broker", on_a_broker(scenario, key, how, places))
            continue
        yield Row(key, "memory", None if reason else measured(scenario, key, how, places), reason)


def on_a_broker(scenario: Scenario, key: Key, how: How, folders: Folders) -> Taken:
    """One row whose flows are processes of a broker."""
    runs, memory = runs_of(scenario, key, how.seconds, how.runs, folders)
    return taken(runs, (), drivers=0, nodes=(), rss_mib=memory)


def measured(scenario: Scenario, key: Key, how: How, folders: Folders) -> Taken:
    """One row: what it does is proven first; then it warms up, and runs in turn with the program by hand."""
    sample = scenario.message(key.message_bytes)
    if key.persistent:
        sample = sample._replace(descriptor=sample.descriptor._replace(persistence=PERSISTENT))
    with closing(Stand(scenario, sample, folders, how.drivers)) as stand:
        return _measured(stand, sample, how)


def _measured(stand: Stand, sample: Sample, how: How) -> Taken:
    stand.run(how.seconds * _SHARE_BEFORE)
    by_hand = stand.by_hand
    runs, limits = [], []
    for _ in range(how.runs):
        gc.collect()
        runs.append(stand.run(how.seconds))
        if by_hand is not None:
            limits.append(_by_hand_ms(by_hand, sample.body, how.seconds * _SHARE_BY_HAND))
    nodes = stand.nodes(how.seconds * _SHARE_BEFORE)
    return taken(
        runs,
        limits,
        drivers=stand.drivers,
        nodes=tuple(Node(label, spent) for label, spent in nodes.items()),
        rss_mib=rss_mib(),
    )


def _by_hand_ms(program: Callable[[bytes], bytes], body: bytes, seconds: float) -> float:
    """The processor milliseconds that one run of a program takes, seen over so many seconds."""
    count, step, spent = 0, 1, 0.0
    while spent < seconds:
        started = time.process_time()
        for _ in range(step):
            program(body)
        spent += time.process_time() - started
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


def spread(values: Sequence[float]) -> Spread:
    """The median and the quartiles of repeated runs.

    >>> spread([3.0, 1.0, 2.0])
    Spread(median=2.0, low=1.5, high=2.5)
    """
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)

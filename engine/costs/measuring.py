"""Measuring: programs that take turns, their figures beside bounds, and what the system says of processes."""

from __future__ import annotations

import gc
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar

import psutil

from engine.budget import with_room
from engine.errors import BrokerError, MessageException

T = TypeVar("T")

Program: TypeAlias = Callable[[], object]
Rate: TypeAlias = Callable[[], float]
Worker: TypeAlias = Callable[[float], int]  # told when to end, by time.perf_counter; returns how much it did
Unit: TypeAlias = Literal["x", "µs", "s", "bytes", "/s"]

ROUNDS: Final = 9
BROKEN: Final = 2230  # a program or flow that does not do its work
_SLICE: Final = 0.02  # seconds of CPU that one program runs before the next has its turn


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over repeated runs: the median, and the quartiles about it."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One figure beside its bound; `beside` is what the program by hand takes, where there is one."""

    group: str  # added by engine.costs, whose table names the groups
    name: str
    microseconds: float | None
    value: float
    bound: float
    unit: Unit
    low: float
    high: float
    beside: float | None = None
    at_least: bool = False  # the bound is the least that the figure may be, not the most

    @property
    def met(self) -> bool:
        """Returns whether the figure is within its bound."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def data(self) -> dict[str, Any]:
        """Returns the figure as JSON has it."""
        told = asdict(self) | {"met": self.met}
        if not self.at_least:
            del told["at_least"]
        return told


Benchmark = Callable[..., Iterator[Measured]]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a group as it is declared: what is measured, its bound, and which way the bound goes."""

    name: str
    bound: float
    unit: Unit = "x"
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A row as it is declared whose figure is the processor time of a program beside that of another of its kind.

    `workload` makes both: of `base` the one that another stands beside, of `own` the one that is measured. What is
    `alike` must return the same.
    """

    name: str
    bound: float
    workload: Callable[[Any], Program]
    base: Any
    own: Any
    alike: bool = False


def table(figures: Sequence[Measured]) -> str:
    """Returns the figures as a table of text."""
    head = ("benchmark", "µs", "by hand µs", "figure", "quartiles", "bound", "")
    return "\n".join(aligned([head, *(_row(figure) for figure in figures)]))


def aligned(rows: Sequence[Sequence[str]], words: int = 1) -> Iterator[str]:
    """Yields rows as lines with cells below each other, of which the first ones are words and begin at the left."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:words], widths[:words], strict=True)]
        cells += (cell.rjust(width) for cell, width in zip(row[words:], widths[words:], strict=True))
        yield "  ".join(cells).rstrip()


def _row(figure: Measured) -> tuple[str, ...]:
    unit = figure.unit if figure.unit == "x" else f" {figure.unit}"
    return (
        figure.name,
        "" if figure.microseconds is None else f"{figure.microseconds:.1f}",
        "" if figure.beside is None else f"{figure.beside:.1f}",
        f"{figure.value:.2f}{unit}",
        f"{figure.low:.2f} to {figure.high:.2f}",
        f"{'at least ' if figure.at_least else ''}{figure.bound:g}{unit}",
        "met" if figure.met else "NOT MET",
    )


def side_by_side(programs: Mapping[str, Program], *, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Returns the microseconds that each program took in turn, run for a slice several times over."""

    def measured() -> dict[str, list[float]]:
        counts = {name: _calibrated(program) for name, program in programs.items()}
        runs = {name: lambda name=name: cpu(programs[name], counts[name]) * 1e6 for name in programs}
        return in_turn(runs, rounds)

    with made_ready():
        return with_room(measured)


@contextmanager
def made_ready() -> Iterator[None]:
    """Sweeps out what earlier programs have left, and lets what is there stay, as engine.cli.run does for flows."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _calibrated(program: Program) -> int:
    program()
    count = 1
    while (spent := cpu(program, count) * count) < _SLICE / 4:
        count *= 2
    return max(1, round(count * _SLICE / spent))


def cpu(program: Program, count: int = 1) -> float:
    """Returns the seconds of processor time that a run of a program takes, all threads together."""
    started = time.process_time()
    for _ in range(count):
        program()
    return (time.process_time() - started) / count


def spread(values: Sequence[float]) -> Spread:
    """Returns the median of what was measured several times, with its quartiles.

    >>> spread([3.0, 1.0, 2.0])
    Spread(median=2.0, low=1.5, high=2.5)
    """
    low, median, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return Spread(median, low, high)


def divided(own: Sequence[float], base: Sequence[float]) -> list[float]:
    """Returns ratios turn by turn."""
    return [ours / theirs for ours, theirs in zip(own, base, strict=True)]


def cost_beside(row: Row, base: Program, own: Program, *, alike: str = "", rounds: int = ROUNDS) -> Measured:
    """Returns the processor time of a program beside another's; with `alike` both must return the same."""
    if alike and base() != own():
        raise BrokerError(BROKEN, f"{alike}: the programs do not write the same, so their cost says nothing")
    seen = side_by_side({"base": base, "own": own}, rounds=rounds)
    return time_beside(row, seen["own"], seen["base"], microseconds=statistics.median(seen["own"]))


def compared(pairs: Iterable[Pair]) -> Iterator[Measured]:
    """Yields the figure of each pair."""
    for pair in pairs:
        base, own = pair.workload(pair.base), pair.workload(pair.own)
        yield cost_beside(Row(pair.name, pair.bound), base, own, alike=pair.name if pair.alike else "")


def figure(
    row: Row, values: Sequence[float], beside: float | None = None, *, microseconds: float | None = None
) -> Measured:
    """Returns what was measured several times, or once, beside its bound."""
    found = spread(values)
    figures = microseconds, found.median, row.bound, row.unit, found.low, found.high, beside
    return Measured("", row.name, *figures, row.at_least)


def time_beside(
    row: Row, own: Sequence[float], base: Sequence[float], scale: float = 1, *, microseconds: float | None = None
) -> Measured:
    """Returns a program's times beside those of another that took turns with it; 1 is so many microseconds."""
    return figure(row, divided(own, base), statistics.median(base) * scale, microseconds=microseconds)


def rates_beside(row: Row, rates: Mapping[str, list[float]]) -> Measured:
    """Returns the rates of the second of two programs that took turns beside the first's; the bound is the least."""
    base, own = rates.values()
    return figure(replace(row, at_least=True), divided(own, base), 1e6 / statistics.median(base))


def rate_beside(row: Row, base: Rate, own: Rate) -> Measured:
    """Returns the rate of a program beside that of another, with which it takes turns; the bound is the least."""
    return rates_beside(row, in_turn({"base": base, "own": own}))


def in_turn(runs: Mapping[str, Rate], rounds: int = 5) -> dict[str, list[float]]:
    """Returns what programs that take turns return, each several times."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            found[name].append(run())
    return found


def repeated(act: Program, each: int = 1) -> Worker:
    """Returns what does something until it is told to end, once at least; each time counts for so many."""

    def run(end: float) -> int:
        done = 0
        while not done or time.perf_counter() < end:
            act()
            done += each
        return done

    return run


def by_turns(base: Rate, own: Rate, rounds: int) -> tuple[list[float], list[float]]:
    """Returns what two programs return that run one behind the other, by turns the one and the other first."""
    found: tuple[list[float], list[float]] = [], []
    for number in range(rounds):
        for side in (1, 0) if number % 2 else (0, 1):
            found[side].append((base, own)[side]())
    return found


def rate(act: Program, seconds: float) -> float:
    """Returns how often a second something can be done."""
    begun = time.perf_counter()
    return repeated(act)(begun + seconds) / (time.perf_counter() - begun)


def rate_of_all(workers: Sequence[Worker], seconds: float, clock: Callable[[], float] = time.perf_counter) -> float:
    """Returns how much a second of a clock threads do together."""
    end, begun = time.perf_counter() + seconds, clock()
    with ThreadPoolExecutor(len(workers)) as threads:
        done = sum(found.result() for found in [threads.submit(work, end) for work in workers])
    return done / (clock() - begun)


_PROGRAM: Final = "import sys; sys.path.insert(0, sys.argv.pop(1)); from engine.cli import main; main()"
_PATIENCE: Final = 60.0  # seconds until a process that was started takes connections
_MEBIBYTE: Final = 1024 * 1024


def penstock(*words: str) -> list[str]:
    """Returns what starts a command of Penstock in a process of its own."""
    return [sys.executable, "-c", _PROGRAM, str(Path(__file__).resolve().parents[2]), *words]


def once_there(reach: Callable[[], T], pause: float = 0.01) -> T:
    """Returns what a call returns as soon as the process that it reaches, and that was started, takes connections."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return reach()
        except (MessageException, OSError):
            if time.monotonic() > end:
                raise
        time.sleep(pause)


def processors() -> int:
    """Returns how many processors this process may run on."""
    own = psutil.Process()
    return len(own.cpu_affinity()) if hasattr(own, "cpu_affinity") else psutil.cpu_count() or 1


def cpu_percent(cpu_seconds: float, seconds: float, count: int) -> float:
    """Returns how busy all processors were, on average.

    >>> cpu_percent(1.0, 1.0, 2)
    50.0
    """
    return 100 * cpu_seconds / (seconds * count)


def cpu_ms(percent: float, count: int, rate: float) -> float:
    """Returns processor milliseconds a message by the report's formula: the busy share of all processors, by the rate.

    >>> round(cpu_ms(79.43, 2, 1175.64), 3)
    1.351
    """
    return percent / 100 * count / rate * 1000


def own_cpu_seconds() -> float:
    """Returns what this process with all its threads has taken, and those of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def cpu_seconds_of(pid: int) -> float:
    """Returns what another process has taken, all its threads together, where possible to the nanosecond."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) names its clock on Linux
    except OSError:
        spent = psutil.Process(pid).cpu_times()
        return float(spent.user + spent.system)


def keep_on_one_processor(pid: int) -> None:
    """Let a process with all its threads run on the first of this process's processors alone, if the system can."""
    if hasattr(os, "sched_setaffinity"):
        first = min(os.sched_getaffinity(0))
        for thread in psutil.Process(pid).threads():
            os.sched_setaffinity(thread.id, {first})


def family() -> list[psutil.Process]:
    """Returns this process and all that come of it."""
    own = psutil.Process()
    return [own, *own.children(recursive=True)]


def family_cpu_seconds() -> float:
    """Returns what this process, all that come of it, and those of them that have ended have taken."""
    return _over_family(lambda process: sum(process.cpu_times()[:4]))  # user and system, its own and its children's


def family_rss_mib() -> float:
    """Returns how much memory they have in hand; pages that they share count for each."""
    return _over_family(lambda process: rss_mib(process.pid))


def _over_family(figure_of: Callable[[psutil.Process], float]) -> float:
    total = 0.0
    for process in family():
        with suppress(psutil.Error):  # it has ended meanwhile
            total += figure_of(process)
    return total


def rss_mib(pid: int | None = None) -> float:
    """Returns the memory that a process has in hand, this one without a number, in MiB."""
    return float(psutil.Process(pid).memory_info().rss) / _MEBIBYTE


def machine() -> dict[str, str]:
    """Returns what this runs on: the processor, how many of it, the memory, the system, Python and lxml."""
    from lxml import etree  # noqa: PLC0415  # for its version alone

    numbers = ".".join(map(str, etree.LXML_VERSION[:3]))
    libxml2 = ".".join(map(str, etree.LIBXML_VERSION))
    return {
        "processor": _processor(),
        "processors": str(processors()),
        "memory": f"{psutil.virtual_memory().total / _MEBIBYTE / 1024:.1f} GiB",
        "system": platform.platform(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "lxml": f"{numbers} with libxml2 {libxml2}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())

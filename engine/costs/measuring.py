"""Measuring: the CPU of several programs run in turn in one process, so that what disturbs one disturbs all."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias

from engine.room import with_room


@dataclass(frozen=True, slots=True)
class Measured:
    """One figure beside its bound; `beside` is what the program by hand takes, where there is one."""

    group: str
    name: str
    microseconds: float | None
    value: float
    bound: float
    unit: Literal["x", "µs", "s", "bytes", "/s"]
    low: float
    high: float
    beside: float | None = None
    at_least: bool = False  # the bound is the least that the figure may be, not the most

    @property
    def met(self) -> bool:
        """Returns whether the figure is within its bound."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def data(self) -> dict[str, Any]:
        """The figure as JSON has it."""
        told = asdict(self) | {"met": self.met}
        if not self.at_least:
            del told["at_least"]
        return told


Benchmark = Callable[[], Iterator[Measured]]


def table(figures: list[Measured]) -> str:
    """The figures as a table of text."""
    head = ("benchmark", "µs", "by hand µs", "figure", "quartiles", "bound", "")
    rows = [head, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


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


Program: TypeAlias = Callable[[], object]

ROUNDS: Final = 9
_SLICE: Final = 0.02  # seconds of CPU that one program runs before the next has its turn


@dataclass(frozen=True, slots=True)
class Timing:
    """CPU microseconds a run: the median over the rounds, and the quartiles about it."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Beside:
    """Programs measured beside each other; `ratios` are to the first, taken round by round."""

    timings: Mapping[str, Timing]
    ratios: Mapping[str, Timing]


def side_by_side(programs: Mapping[str, Program], *, rounds: int = ROUNDS) -> Beside:
    """Run each program for a slice in turn, several times over."""
    with made_ready():
        seen = with_room(lambda: _measured(programs, rounds))
    first = next(iter(seen.values()))
    ratios = {name: [own / base for own, base in zip(each, first, strict=True)] for name, each in seen.items()}
    return Beside(
        {name: _timing(each) for name, each in seen.items()},
        {name: _timing(each) for name, each in ratios.items()},
    )


def _measured(programs: Mapping[str, Program], rounds: int) -> dict[str, list[float]]:
    seen: dict[str, list[float]] = {name: [] for name in programs}
    counts = {name: _calibrated(program) for name, program in programs.items()}
    for _ in range(rounds):
        for name, program in programs.items():
            seen[name].append(_cpu(program, counts[name]))
    return seen


@contextmanager
def made_ready() -> Iterator[None]:
    """What earlier programs have left is swept out, and what is there stays, as where flows run: see engine.cli.run."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _calibrated(program: Program) -> int:
    program()
    count = 1
    while (spent := _cpu(program, count) * count / 1e6) < _SLICE / 4:
        count *= 2
    return max(1, round(count * _SLICE / spent))


def _cpu(program: Program, count: int) -> float:
    started = time.process_time()
    for _ in range(count):
        program()
    return (time.process_time() - started) / count * 1e6


def _timing(values: list[float]) -> Timing:
    low, median, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return Timing(median, low, high)

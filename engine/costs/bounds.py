"""Bounds: what was measured, what it may be at most or must be at least, and a table of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal


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

"""Curves: how rate and cost move with more instances, copies, execution groups and subscribers, on each system."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from engine.costs.published import published
from engine.costs.report.lines import divided
from engine.costs.report.wording import kind
from engine.costs.results import Key, Results

System: TypeAlias = Literal["ours", "report", "spark"]

SCALING: Final[Mapping[str, str]] = MappingProxyType(
    {"7.8.1": "instances of the flow", "7.8.2": "copies of the flow", "7.8.3": "execution groups"}
)
SUBSCRIBERS: Final = ("7.6", "7.11")
_LAST_NUMBER: Final = re.compile(r"(?a:_(\d{1,6})(_subscribers?)?)\Z")


@dataclass(frozen=True, slots=True)
class At:
    """One point of a curve: how many there are, the rate, and what a message costs."""

    number: int
    rate: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Curve:
    """One system's figures for one size and persistence, by number."""

    system: System
    message_bytes: int
    persistent: bool
    points: tuple[At, ...]

    @property
    def kind(self) -> str:
        """Size and persistence."""
        return kind(Key("", "", self.persistent, self.message_bytes))

    def gain(self, point: At) -> float | None:
        """Returns how many times the rate of the first point it is."""
        first = self.points[0]
        return divided(point.rate, first.rate) if first.number == 1 else None


def scaling(results: Results, section: str) -> tuple[Curve, ...]:
    """The curves of one of the sections of SCALING: ours, the report's, and Spark's."""
    return _curves(results, lambda key: key.section == section)


def subscribers(results: Results) -> tuple[Curve, ...]:
    """The curves of publications by the number of subscribers, the report's figure 15."""
    return _curves(results, lambda key: key.section in SUBSCRIBERS)


def _curves(results: Results, wanted: Callable[[Key], bool]) -> tuple[Curve, ...]:
    """Curves for the sizes that the results name, measured or not; the report's stand beside them."""
    named = {row.key for row in results.rows if wanted(row.key)}
    kinds = sorted({(key.persistent, key.message_bytes) for key in named})
    points: dict[tuple[System, bool, int], list[At]] = {}
    for system, key, point in _points(results):
        if wanted(key) and (key.persistent, key.message_bytes) in kinds:
            points.setdefault((system, key.persistent, key.message_bytes), []).append(point)
    systems: tuple[System, ...] = ("ours", "spark", "report")
    return tuple(
        Curve(system, message_bytes, persistent, tuple(sorted(found, key=lambda at: at.number)))
        for persistent, message_bytes in kinds
        for system in systems
        if (found := points.get((system, persistent, message_bytes)))
    )


def _points(results: Results) -> Iterator[tuple[System, Key, At]]:
    for row in results.rows:
        if row.taken and (number := _number(row.key)):
            system: System = "spark" if row.place == "spark" else "ours"
            yield system, row.key, At(number, row.taken.rate.median, row.taken.cpu_ms.median)
    for key, figures in published().items():
        if number := _number(key):
            yield "report", key, At(number, figures.rate, figures.cpu_ms)


def _number(key: Key) -> int:
    found = _LAST_NUMBER.search(key.scenario)
    return int(found[1]) if found else 0

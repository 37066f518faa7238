"""Scales: where on a chart a value stands, and which values are written beside the axis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final, Protocol

_LINE: Final = 17  # of room that a value beside an upright axis needs
_LETTER: Final = 6.4
_SMALLEST: Final = 1e-9
_SMALLEST_STEP: Final = log10(2)  # of 1, 2, 5, 10, in decades
_STEPS: Final = (1, 2, 2.5, 5, 10)


class Scale(Protocol):
    """A scale as charts use it."""

    def at(self, value: float) -> float:
        """Returns where a value stands."""

    def ticks(self) -> tuple[float, ...]:
        """The values written beside it."""


@dataclass(frozen=True, slots=True)
class Log:
    """A scale on which equal ways are equal ratios."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        along = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return self.start + along * (self.end - self.start)

    def ticks(self) -> tuple[float, ...]:
        first, last = floor(log10(self.low) + 1e-9), ceil(log10(self.high) - 1e-9)
        decade = abs(self.end - self.start) / (log10(self.high) - log10(self.low))
        longest = max(len(tick_text(self.low)), len(tick_text(self.high)))
        room = _LINE if self.start > self.end else _LETTER * longest + 8
        parts = (1, 2, 5) if decade * _SMALLEST_STEP >= room else (1,)
        step = ceil(room / decade)
        found = (part * 10.0**decade for decade in range(first, last + 1, step) for part in parts)
        return tuple(tick for tick in found if self.low * 0.999 <= tick <= self.high * 1.001)


@dataclass(frozen=True, slots=True)
class Linear:
    """A scale on which equal ways are equal differences, from nothing."""

    high: float
    start: float
    end: float
    low: float = 0

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> tuple[float, ...]:
        step = _step((self.high - self.low) / 5)
        return tuple(number * step for number in range(ceil(self.low / step), floor(self.high / step + 1e-9) + 1))


def drawable(value: float | None) -> bool:
    """Whether a value has a place on a scale of ratios: nothing has none, and next to nothing would be all of it."""
    return value is not None and value >= _SMALLEST


def log_scale(values: Iterable[float], start: float, end: float) -> Log:
    """A scale for these values, from a round one to a round one, ten times as much at least.

    Values that are not drawable have no place on it.

    >>> log_scale([0.034, 7.0], 0, 100)
    Log(low=0.02, high=10.0, start=0, end=100)
    """
    found = [value for value in values if drawable(value)] or [1.0]
    low, high = _round_down(min(found)), _round_up(max(found))
    if high < low * 9.99:
        low, high = 10.0 ** floor(log10(low)), 10.0 ** ceil(log10(high))
    if high < low * 9.99:
        low, high = low / 10, high * 10
    return Log(low, high, start, end)


def linear_scale(values: Iterable[float], start: float, end: float) -> Linear:
    """A scale from nothing to a round value above these.

    >>> linear_scale([3.1], 0, 100)
    Linear(high=4.0, start=0, end=100, low=0)
    """
    most = max([*values, 0.0]) or 1.0
    step = _step(most / 5)
    return Linear(ceil(most / step - 1e-9) * step, start, end)


def tick_text(value: float) -> str:
    """A value beside an axis.

    >>> tick_text(0.05), tick_text(2000.0)
    ('0.05', '2,000')
    """
    return f"{value:,.10g}" if 1e-6 <= abs(value) < 1e9 or value == 0 else f"{value:g}"


def _round_down(value: float) -> float:
    decade = 10.0 ** floor(log10(value))
    return max(part * decade for part in (1, 2, 5) if part * decade <= value * (1 + 1e-9)) if decade else value


def _round_up(value: float) -> float:
    decade = 10.0 ** floor(log10(value))
    return min(part * decade for part in (1, 2, 5, 10) if part * decade >= value * (1 - 1e-9)) if decade else value


def _step(least: float) -> float:
    decade = 10.0 ** floor(log10(least))
    return min(part * decade for part in _STEPS if part * decade >= least * (1 - 1e-9))

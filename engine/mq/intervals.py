"""Intervals of STATIME and ACCTIME: clocks that run one interval after the other, and which queue is on which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.mq.attribute_values import Value

OF_MANAGER: Final = "QMGR"
DEFAULT: Final = "30"
_HOUR: Final = 3_600  # the interval of 0, which begins with the hour


def seconds_of(text: str) -> int:
    """Returns how many seconds an interval lasts that is minutes, or minutes and seconds.

    >>> seconds_of("0.05"), seconds_of("1.00"), seconds_of("30"), seconds_of("0")
    (5, 60, 1800, 3600)
    """
    minutes, _, seconds = text.partition(".")
    return 60 * int(minutes) + int(seconds or 0) or _HOUR


def is_on(attribute: str, manager: Mapping[str, Value], queue: Mapping[str, Value]) -> bool:
    """Returns True where STATQ or ACCTQ is on for a queue, by itself or by the queue manager."""
    own, of_all = queue.get(attribute, OF_MANAGER), manager.get(attribute, "OFF")
    return of_all != "NONE" and (own == "ON" or (own == OF_MANAGER and of_all == "ON"))


def interval_of(attribute: str, manager: Mapping[str, Value]) -> str:
    """Returns the interval of a queue manager; that of accounting is that of statistics where it says so."""
    text = str(manager.get(attribute, DEFAULT))
    return str(manager.get("STATIME", DEFAULT)) if text == "-1" else text


class Clock:
    """Intervals of one length after another, until it is set otherwise at the end of one."""

    __slots__ = ("began", "ends", "text")

    def __init__(self, text: str, now: float) -> None:
        self.text = text
        self.began = now
        self.ends = now
        self._set(now)

    def turn(self, text: str, now: float) -> None:
        """Begin the next interval."""
        self.text = text
        self.began = now
        self._set(now if text == "0" or now - self.ends > seconds_of(text) else self.ends)

    def begin_with(self, text: str) -> None:
        """Let an interval of the default length, which nobody has set, have the first that is set."""
        if self.text == DEFAULT != text:
            self.text = text
            self._set(self.began)

    def _set(self, start: float) -> None:
        length = seconds_of(self.text)
        self.ends = (start // length + 1) * length if self.text == "0" else start + length

"""Choices: bytes as the decisions of a generator, so that what mutates bytes mutates what is generated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")


class Choices:
    """The decisions that bytes stand for, taken from their start; zeros where they have ended."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def below(self, count: int) -> int:
        """A number from 0 on, less than the count, of at most 256."""
        found = self._data[self._at] % count if self._at < len(self._data) else 0
        self._at += 1
        return found

    def of(self, options: Sequence[_T]) -> _T:
        """One of some options."""
        return options[self.below(len(options))]

    def chance(self, one_in: int) -> bool:
        """True once in so many."""
        return self.below(one_in) == 1

    @property
    def rest(self) -> bytes:
        """What no decision was taken from."""
        return self._data[self._at :]

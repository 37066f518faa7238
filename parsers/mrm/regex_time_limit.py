"""The time that the regular expressions of a model may take of one message, all of them together."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import regex

LONGEST: Final = 1.0  # seconds
_LEAST: Final = 1e-6


class RegexTimeLimit:
    """The seconds that are left for one message."""

    __slots__ = ("_left",)

    def __init__(self, seconds: float = LONGEST) -> None:
        self._left = seconds

    def match(self, pattern: regex.Pattern[str], text: str, start: int, end: int) -> regex.Match[str] | None:
        """The match that begins at the start; TimeoutError once no time is left."""
        return self._timed(lambda left: pattern.match(text, start, end, timeout=left))

    def fullmatch(self, pattern: regex.Pattern[str], text: str) -> regex.Match[str] | None:
        """The match of a whole text; TimeoutError once no time is left."""
        return self._timed(lambda left: pattern.fullmatch(text, timeout=left))

    def _timed(self, search: Callable[[float], regex.Match[str] | None]) -> regex.Match[str] | None:
        if self._left <= 0:
            raise TimeoutError
        begun = perf_counter()
        try:
            return search(max(self._left, _LEAST))
        finally:
            self._left -= perf_counter() - begun

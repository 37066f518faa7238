"""The room of a store: what its file and its disk have left, and the part of it that only removals may use."""

from __future__ import annotations

import logging
from typing import Final

from engine.mq.store.environment import Environment

_RESERVE: Final = 8  # the part of a full store that only removals may use
_LEAST_RESERVE: Final = 1 << 18
_LEFT_ON_DISK: Final = 1 << 17  # bytes that only removals may use, as each needs some before it gives any
_LOOKED_AT_DISK: Final = 1 << 16  # bytes that are written between two looks at what the disk has left
_WARNED_AT: Final = 0.85  # of what messages may fill
_CALM_AT: Final = 0.75  # below that the next warning may come
_LOG: Final = logging.getLogger("penstock.store")


class Room:
    """The room that is left in a store."""

    __slots__ = ("_environment", "_is_short", "_reserve", "_unseen", "_warned")

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._reserve = max(environment.size // _RESERVE, min(_LEAST_RESERVE, environment.size // 2))
        self._is_short = True  # of room on the disk, or not looked at yet
        self._unseen = 0  # bytes that were added since the last look
        self._warned = False  # that the store is nearly full

    def is_full(self, more: int) -> bool:
        """Returns True where only the reserve is left; warns once when little more than that is."""
        environment, most = self._environment, self._environment.size - self._reserve
        extent = environment.extent() + more
        self._unseen += more
        if self._is_short or self._unseen > _LOOKED_AT_DISK:  # to look takes longer than to make an entry
            self._is_short, self._unseen = environment.is_out_of_room(more + _LEFT_ON_DISK), 0
        if extent <= _WARNED_AT * most and not self._is_short:
            return False
        used = environment.used() + more
        if used > _WARNED_AT * most and not self._warned:
            text = "the store in %s is %d %% full: get or purge messages, or give it a larger --max-size"
            _LOG.warning(text, environment.path, min(100, 100 * used // most))
        self._warned = used > (_CALM_AT if self._warned else _WARNED_AT) * most
        if extent > most:
            return used > most
        return self._is_short and used + _LEFT_ON_DISK > environment.extent()  # the file has few free pages either

"""Invocations of a node, beside its messages: the time, the time zone, random numbers."""

from __future__ import annotations

import random
import time as system
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from engine.parser import Parser, parser_catalog
from esql.values.types import SECOND

Zone: TypeAlias = Callable[[], timedelta]


def local_zone() -> timedelta:
    """Returns how far the system's time zone is from GMT at this moment."""
    return datetime.now().astimezone().utcoffset() or timedelta()


def system_clock() -> datetime:
    """The time, in GMT."""
    return datetime.now(UTC)


class Invocation:
    """One invocation, as functions see it: the moment it began, which stays the same, and the zone then.

    >>> from datetime import timedelta
    >>> here = Invocation(lambda: datetime(2003, 5, 23, 9, 11, 12, tzinfo=UTC), lambda: timedelta(hours=1))
    >>> here.local_now
    datetime.datetime(2003, 5, 23, 10, 11, 12)
    """

    __slots__ = ("_displacement", "_now", "_randoms", "clock", "displace", "doze")

    def __init__(
        self,
        clock: Callable[[], datetime] = system_clock,
        displace: Zone = local_zone,
        *,
        doze: Callable[[float], None] = system.sleep,
    ) -> None:
        self.clock = clock
        self.displace = displace
        self.doze = doze
        self._now: datetime | None = None
        self._displacement: timedelta | None = None
        self._randoms: dict[str, random.Random] = {}

    def parser(self, name: str) -> Parser | None:
        """The parser of a name."""
        return parser_catalog.get(name)

    @property
    def now(self) -> datetime:
        """The moment of the invocation, in GMT."""
        if self._now is None:
            self._now = self.clock()
        return self._now

    @property
    def local_now(self) -> datetime:
        """The moment of the invocation, in local time and without a zone."""
        return self.now.replace(tzinfo=None) + self.zone()

    def zone(self) -> timedelta:
        """The displacement of local time from GMT, in whole minutes."""
        if self._displacement is None:
            self._displacement = timedelta(minutes=self.displace() // timedelta(microseconds=60 * SECOND))
        return self._displacement

    def grow(self, size: int) -> None:
        """Say that a string of so many characters is about to be made."""

    def random(self, routine: str) -> random.Random:
        """The sequence of random numbers that a routine draws from."""
        found = self._randoms.get(routine)
        if found is None:
            found = self._randoms[routine] = random.Random()  # noqa: S311 - ESQL's RAND promises no secrets
        return found

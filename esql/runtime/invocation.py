"""Invocations of a node, beside its messages: the time, the time zone, codecs, random numbers."""

from __future__ import annotations

import random
import time as system
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeAlias

from engine.parser import Parser, parser_catalog
from esql.values.errors import NO_CONVERSION, ValueFailure
from esql.values.types import SECOND

Zone: TypeAlias = Callable[[], timedelta]


class Codec(Protocol):
    """Text to bytes and back by CCSID and encoding; parsers.charsets.ccsid as a module is one."""

    def decode(self, data: bytes, ccsid: int, encoding: int) -> str:
        """The text of bytes."""
        ...

    def encode(self, text: str, ccsid: int, encoding: int) -> bytes:
        """The bytes of text."""
        ...


class NoCodec:
    """A codec that knows CCSID 1208 (UTF-8) and 819 (ISO 8859-1) only, for values without a broker around them."""

    __slots__ = ()

    def decode(self, data: bytes, ccsid: int, encoding: int) -> str:
        try:
            return data.decode(self._name(ccsid))
        except UnicodeDecodeError as error:
            text = f"the bytes X'{data[:20].hex()}' are no characters of CCSID {ccsid}"
            raise ValueFailure(2130, NO_CONVERSION, text, str(ccsid)) from error

    def encode(self, text: str, ccsid: int, encoding: int) -> bytes:
        try:
            return text.encode(self._name(ccsid))
        except UnicodeEncodeError as error:
            at = error.start
            message = f"the character U+{ord(text[at]):04X} at position {at + 1} cannot be converted to CCSID {ccsid}"
            raise ValueFailure(2136, NO_CONVERSION, message, str(ccsid)) from error

    def _name(self, ccsid: int) -> str:
        name = {1208: "utf-8", 819: "latin-1"}.get(ccsid)
        if name is None:
            text = f"CCSID {ccsid} is not known without a codec: give Invocation one"
            raise ValueFailure(2130, NO_CONVERSION, text, str(ccsid))
        return name


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

    __slots__ = ("_displacement", "_now", "_randoms", "clock", "codec", "displace", "doze")

    def __init__(
        self,
        clock: Callable[[], datetime] = system_clock,
        displace: Zone = local_zone,
        *,
        codec: Codec | None = None,
        doze: Callable[[float], None] = system.sleep,
    ) -> None:
        self.clock = clock
        self.displace = displace
        self.codec = NoCodec() if codec is None else codec
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

"""Units of messages that a command puts: each is put once, also where processes of the queue manager come and go."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import typer

from engine.cli.queue_manager_access import ENDING, PATIENCE
from engine.errors import BrokerError, ConfigurationException, MessageException

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.work import UnitOfWork

_KEPT: Final = 1 << 24  # bytes of a unit that can be put once more
_PAUSE: Final = 0.05


class Given(NamedTuple):
    """A message to put, and its place in the input."""

    place: str
    descriptor: Descriptor
    body: bytes


class Units:
    """The units in which messages are put; one that has not been done is given once more, unless it is large."""

    __slots__ = ("_failed", "_given", "_kept", "_left", "_most", "done")

    def __init__(self, given: Iterator[Given], most: int) -> None:
        self.done = 0
        self._given = given
        self._most = most
        self.begin()

    def begin(self) -> None:
        """Begin the next unit."""
        self._kept: list[Given] = []
        self._left = _KEPT  # bytes that may be kept
        self._failed = 0.0  # the moment at which it first was not done

    def unit(self) -> Iterator[Given]:
        """Yields the messages of a unit, first those that were given before."""
        yield from tuple(self._kept)
        for given in islice(self._given, self._most - len(self._kept)):
            self._left -= len(given.body)
            if self._left >= 0:
                self._kept.append(given)
            yield given

    def can_repeat(self) -> bool:
        """Returns True where all of a unit that was not done can be given once more, and it has not failed for long."""
        now = time.monotonic()
        self._failed = self._failed or now
        return self._left >= 0 and now < self._failed + PATIENCE


def put_units(work: UnitOfWork, queue: str, units: Units, *, as_json: bool) -> bool:
    """Put units; returns False where the connection ended before one was done, and it is to be put once more."""
    from engine.mq.connection import UnsentError

    some = -1
    while some:
        try:
            some, lines = _put_unit(work, queue, units.unit(), as_json=as_json)
        except BrokerError as error:
            if isinstance(error, UnsentError) and units.can_repeat():
                time.sleep(_PAUSE)
                return False
            if units.done or as_json:
                error.text = f"{error.text}; {_are_in(units.done)}"
                if isinstance(error, ConfigurationException):  # stdout has messages alone, and no list of problems
                    raise BrokerError(error.number, error.text) from error
            raise
        units.done += some
        units.begin()
        _print_lines(lines, units.done)
    return True


def _put_unit(work: UnitOfWork, queue: str, given: Iterator[Given], *, as_json: bool) -> tuple[int, list[str]]:
    """Put some messages and commit them; returns how many, and the lines that say what they are."""
    from engine.mq.message_json import to_line

    lines: list[str] = []
    some = 0
    for place, descriptor, body in given:
        try:
            full = work.put(queue, descriptor, body)
        except BrokerError as error:
            work.back_out()
            if isinstance(error, MessageException) and error.reason in ENDING:
                raise before_commit(error) from error
            error.text = f"{place}: {error.text}" if place else error.text
            raise
        some += 1
        if as_json:
            lines.append(to_line(full, body))
    work.commit()
    return some, lines


def before_commit(error: MessageException) -> MessageException:
    """Returns the error of a put in a unit, which is not done: it may be put once more where a process ended."""
    from engine.mq.connection import UnsentError

    return UnsentError(error.number, error.text, reason=error.reason) if error.reason in ENDING else error


def _print_lines(lines: list[str], done: int) -> None:
    """Print what was put; where nobody can read it, the error says how many messages are in."""
    try:
        for line in lines:
            typer.echo(line)
    except OSError as error:
        error.strerror = f"{error.strerror}; {_are_in(done)}"
        raise


def _are_in(done: int) -> str:
    return f"{done:,} {'message is' if done == 1 else 'messages are'} in"

"""Incidents: errors that were caught, that failed a message, or for which one was put away, counted by reason."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from engine.errors import LOCAL_ERROR, BrokerError, Place
from engine.flow.dead_letters import TOLD_PUT_AWAY

Kind: TypeAlias = Literal["caught", "failed", "put away"]

KINDS: Final[tuple[Kind, ...]] = ("caught", "failed", "put away")
NOT_SAID: Final = 2648  # the number of a message that was backed out as often as its threshold says
_LOG: Final = logging.getLogger(LOCAL_ERROR)


class Reason(NamedTuple):
    """The reason that several errors have in common: their kind, number and node."""

    kind: Kind
    number: int
    node: str


class Incident(NamedTuple):
    """An error and what became of it; `by` is the node that caught it."""

    kind: Kind
    error: BrokerError
    by: str = ""

    @property
    def reason(self) -> Reason:
        """The reason that it is counted by."""
        return Reason(self.kind, self.error.number, self.error.place.of_node)

    def as_data(self) -> dict[str, Any]:
        """Returns the incident as JSON has it."""
        number, node = self.reason[1:]
        found = {"kind": self.kind, "number": number, "node": node, "error": explained(self.error)}
        return found | ({"by": self.by} if self.by else {})


@dataclass(slots=True)
class Reasons:
    """The number of errors of each reason, with the text of the first."""

    counts: dict[Reason, int] = field(default_factory=dict)
    texts: dict[Reason, str] = field(default_factory=dict)

    def add(self, incidents: Iterable[Incident]) -> None:
        """Counts incidents."""
        for incident in incidents:
            reason = incident.reason
            if reason not in self.counts:
                self.counts[reason] = 0
                self.texts[reason] = explained(incident.error)
            self.counts[reason] += 1

    def total(self, kind: Kind) -> int:
        """Returns how many incidents of a kind there were."""
        return sum(count for reason, count in self.counts.items() if reason.kind == kind)

    def in_order(self) -> list[Reason]:
        """Returns the reasons, by their kinds and the most frequent first."""
        return sorted(self.counts, key=lambda reason: (KINDS.index(reason.kind), -self.counts[reason]))

    def lines(self) -> Iterator[str]:
        """Yields a line for each reason: how many, what became of them, number, node and the first text."""
        width = max((len(f"{count:,}") for count in self.counts.values()), default=0)
        for reason in self.in_order():
            yield f"{self.counts[reason]:>{width},}  {reason.kind}: {self.texts[reason]}"

    def as_data(self) -> list[dict[str, Any]]:
        """Returns the reasons as JSON has them."""
        return [
            reason._asdict() | {"count": self.counts[reason], "text": self.texts[reason]} for reason in self.in_order()
        ]


class PutAway(logging.Handler):
    """Listens to the local error log, which alone says that a message was put away; `taken` empties the list."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self._found: list[BrokerError | None] = []

    def emit(self, record: logging.LogRecord) -> None:
        match record.args:
            case (why, str(), int(number)) if number in TOLD_PUT_AWAY:
                self._found.append(why if isinstance(why, BrokerError) else None)

    def taken(self, last: BrokerError | None = None) -> list[BrokerError]:
        """Returns the errors that messages were put away for; where the log names none, it is the last that was met."""
        found, self._found = self._found, []
        unknown = last or BrokerError(NOT_SAID, "the message was backed out too often", place=Place())
        return [error or unknown for error in found]


@contextmanager
def put_away_heard() -> Iterator[PutAway]:
    """Yields what hears of messages that are put away while a block runs."""
    heard = PutAway()
    with heard_by(heard, logging.DEBUG):
        yield heard


@contextmanager
def heard_by(handler: logging.Handler, level: int = logging.INFO, *, alone: bool = False) -> Iterator[None]:
    """Has a handler hear the local error log while a block runs; `alone`, without the handlers that all logs have."""
    before = _LOG.level, _LOG.propagate
    _LOG.addHandler(handler)
    _LOG.setLevel(level)
    _LOG.propagate = _LOG.propagate and not alone
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        _LOG.setLevel(before[0])
        _LOG.propagate = before[1]


def explained(error: BaseException) -> str:
    """Returns an error with what caused it."""
    texts: list[str] = []
    at: BaseException | None = error
    while at is not None:
        said = at.text if isinstance(at, BrokerError) else str(at)
        if not any(said in text for text in texts):
            texts.append(_with_node(at))
        at = at.__cause__
    return "; because ".join(texts)


def _with_node(error: BaseException) -> str:
    """Returns an error, and its node where its place is one in a file."""
    if not isinstance(error, BrokerError):
        return str(error)
    place = error.place
    return f"{error} (in {place.of_node})" if place.file and place.node else str(error)

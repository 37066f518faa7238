"""Workload management: messages over processingTimeoutSec, rates over notificationThresholdMsgsPerSec, and events."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from lxml import etree

from engine.broker.state import DeployedUse
from engine.broker.statistics.metering import Listening

if TYPE_CHECKING:
    from engine.message.assembly import Message
    from engine.runtime.deployment import Outcome, Station

TIMED_OUT: Final = "ProcessingTimeout"
FINISHED: Final = "ProcessingFinished"
ABOVE: Final = "AboveThreshold"
BELOW: Final = "BelowThreshold"


@dataclass(frozen=True, slots=True)
class Event:
    """Something about the workload of a flow that is logged and published; `values` are its numbers by name."""

    kind: str
    group: str
    flow: str
    text: str
    values: Mapping[str, str]

    def topic(self, broker: str) -> str:
        """Returns the topic that IBM's brokers publish it on.

        >>> Event("AboveThreshold", "G", "F", "", {}).topic("B")
        '$SYS/Broker/B/WorkloadManagement/AboveThreshold/G/F'
        """
        return f"$SYS/Broker/{broker}/WorkloadManagement/{self.kind}/{self.group}/{self.flow}"

    def as_xml(self, broker: str, uuid: str, group_uuid: str) -> bytes:
        """Returns the event in the form of a broker's event messages.

        >>> Event("AboveThreshold", "G", "F", "", {"rate": "7"}).as_xml("B", "1", "2")[-92:-24]
        b'<AboveThreshold><MessageFlow label="F" rate="7"/></AboveThreshold></'
        """
        root = etree.Element("Broker", uuid=uuid, label=broker, version="1")
        group = etree.SubElement(root, "ExecutionGroup", uuid=group_uuid, label=self.group)
        etree.SubElement(etree.SubElement(group, self.kind), "MessageFlow", {"label": self.flow, **self.values})
        return etree.tostring(root)


@dataclass(frozen=True, slots=True)
class Overrun:
    """A message that takes longer than it may, or has: seconds since it was received."""

    kind: str
    seconds: float
    in_hand: bool = False


class Deadline:
    """The time that each message of one thread may take from the point at which its entrance has received it.

    The thread itself notes when messages come and go; another one asks for `overruns`, also of the message in hand.
    """

    __slots__ = ("_began", "_limit", "_over", "_told")

    def __init__(self, seconds: float, entrance: Station) -> None:
        entrance.node = Listening(entrance.node, self._received)
        self._limit = seconds
        self._began = 0.0  # when the message in hand was received; 0: there is none
        self._told = 0.0  # the beginning of the message that has been told of
        self._over: deque[tuple[float, float]] = deque()  # messages that have ended too late, and how long they took

    def _received(self, message: Message | None) -> None:
        self._began = 0.0 if message is None else monotonic()

    def done(self, outcome: Outcome | None) -> None:
        """Note that the message in hand has ended."""
        began, self._began = self._began, 0.0
        if began and (took := monotonic() - began) > self._limit:
            self._over.append((began, took))

    def broken(self, error: Exception) -> None:
        """Note that the message in hand, if there is one, has ended."""
        self.done(None)

    def overruns(self) -> Iterator[Overrun]:
        """Yields what is late and has not been told yet."""
        while self._over:
            began, took = self._over.popleft()
            if began != self._told:
                yield Overrun(TIMED_OUT, took)
            yield Overrun(FINISHED, took)
        began = self._began
        if began and began != self._told and (takes := monotonic() - began) > self._limit:
            self._told = began
            yield Overrun(TIMED_OUT, takes, in_hand=True)


def event_of_overrun(said: Mapping[str, Any], group: str, flow: str) -> Event:
    """Returns the event of a message that takes longer than it may, as a worker has `said` it."""
    limit = f"the {said['limit']} s of processingTimeoutSec"
    values = {"processingTimeoutSec": str(said["limit"]), "elapsedSeconds": f"{said['seconds']:.3f}"}
    if said["kind"] == FINISHED:
        text = f"a message of {flow} that took longer than {limit} has ended after {said['seconds']:.1f} s"
    elif said["restarts"]:
        text = f"a message of {flow} takes longer than {limit}: it is backed out, and the execution group starts again"
    else:
        text = f"a message of {flow} takes longer than {limit}"
    return Event(said["kind"], group, flow, text, values)


class Thresholds:
    """The flows whose rate is above their notificationThresholdMsgsPerSec, as of the last interval."""

    def __init__(self) -> None:
        self._above: dict[tuple[str, str], Event] = {}

    def crossed(self, rates: Iterable[tuple[str, DeployedUse, float]]) -> list[Event]:
        """Returns an event for each flow that went above its threshold in an interval, or came back below.

        Flows without a rate no longer run; they are not above theirs.
        """
        before, self._above = self._above, {}
        found: list[Event] = []
        for group, use, rate in rates:
            key, limit = (group, use.name), use.notified_rate
            kind = ABOVE if limit and rate > limit else BELOW
            text = f"{use.name} takes {rate:.1f} messages a second, {kind[:5].lower()} its threshold of {limit}"
            values = {"notificationThresholdMsgsPerSec": str(limit), "messageRate": f"{rate:.1f}"}
            event = Event(kind, group, use.name, text, values)
            if kind == ABOVE:
                self._above[key] = event
                if key in before:
                    before.pop(key)
                else:
                    found.append(event)
            elif before.pop(key, None):
                found.append(event)
        return [*found, *map(_ended, before.values())]


def _ended(above: Event) -> Event:
    values = {**above.values, "messageRate": "0.0"}
    return Event(BELOW, above.group, above.flow, f"{above.flow} has ended, and is below its threshold", values)

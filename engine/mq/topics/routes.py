"""Routes: where publications on a topic go, and what was published there, by whom and when last."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from engine.mq.admission import Target
    from engine.mq.topics.copies import Copy
    from engine.mq.topics.settings import TopicSettings

_MOST: Final = 20_000  # topics that are remembered


class Traffic:
    """The publications on a topic since its route was looked up: how often, when last, and in which unit of work.

    Each publication is a message for every subscription of the route, but for `parted`, which the copies count.
    """

    __slots__ = ("count", "is_retired", "last", "parted", "publisher")

    def __init__(self) -> None:
        self.count = self.parted = 0
        self.last = 0  # microseconds since 1970
        self.publisher = 0
        self.is_retired = False  # its route is looked up no more

    def part(self, copies: Iterable[Copy], refused: Iterable[Copy]) -> None:
        """Counts a publication that only some of the subscriptions were sent."""
        self.parted += 1
        without = {id(copy) for copy in refused}
        for copy in copies:
            if id(copy) not in without:
                copy.sent += 1
                copy.last = self.last


class Route(NamedTuple):
    """The copies that publications on a topic make, one for each subscription that fits, and the topic's settings.

    `onward` is the queue of publications for other queue managers, where they are sent these.
    """

    copies: list[Copy]
    selective: bool  # some of the subscriptions have a selector
    settings: TopicSettings
    onward: Target | None
    traffic: Traffic


class Count(NamedTuple):
    """The number of messages, the time of the last of them, and its publisher."""

    messages: int = 0
    last: int = 0
    publisher: int = 0


class Counts:
    """The messages of all topics, by topic and subscription point, and of all subscriptions, by name."""

    __slots__ = ("_lock", "published", "sent")

    def __init__(self) -> None:
        self.published: dict[tuple[str, str], Count] = {}
        self.sent: dict[str, Count] = {}
        self._lock = threading.Lock()

    def add(self, routes: Mapping[tuple[str, str], Route]) -> None:
        """Adds up what routes have seen since this was done last, while others publish."""
        with self._lock:
            for place, route in list(routes.items()):
                if route.traffic.count or route.traffic.parted:
                    self._add(place, route)
            while len(self.published) > _MOST:
                del self.published[next(iter(self.published))]

    def note(self, place: tuple[str, str], route: Route, copies: list[Copy], refused: list[Copy]) -> None:
        """Counts a publication that only some subscriptions were sent, or by a route that is looked up no more."""
        if refused or copies is not route.copies:
            route.traffic.part(copies, refused)
        if route.traffic.is_retired:
            self.add({place: route})

    def retire(self, routes: Mapping[tuple[str, str], Route]) -> None:
        """Adds up what routes have seen that are looked up no more; who still publishes by them counts that itself."""
        for route in list(routes.values()):
            route.traffic.is_retired = True
        self.add(routes)

    def _add(self, place: tuple[str, str], route: Route) -> None:
        traffic = route.traffic
        count, parted, last = traffic.count, traffic.parted, traffic.last
        traffic.count -= count  # what has come since stays
        traffic.parted -= parted
        whole = count - parted
        for copy in route.copies:
            sent = copy.sent
            copy.sent -= sent
            self._send(copy.subscription.name, sent + whole, max(copy.last, last if whole else 0))
        known = self.published.pop(place, Count())
        self.published[place] = Count(known.messages + count, last, traffic.publisher)

    def send(self, subscription: str, messages: int, last: int) -> None:
        """Counts messages for a subscription."""
        with self._lock:
            self._send(subscription, messages, last)

    def _send(self, subscription: str, messages: int, last: int) -> None:
        known = self.sent.get(subscription, Count())
        self.sent[subscription] = Count(known.messages + messages, max(known.last, last))

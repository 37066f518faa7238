"""Accounting origins: messages are counted for whom a flow names in Environment.Broker.Accounting.Origin."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from engine.broker.statistics import slots
from engine.broker.statistics.extremes import interval_bank
from engine.broker.statistics.slots import ANONYMOUS, NodeShape, Slot, in_memory, opened

if TYPE_CHECKING:
    from pathlib import Path

    from engine.errors import BrokerError
    from engine.message.assembly import Message
    from engine.runtime.deployment import Outcome

_LONGEST: Final = 32  # bytes of an origin
_MOST: Final = 1000  # origins of a thread, behind which others count as nobody's: messages may say what they like
_OPEN: Final = 64  # slots, each of which takes a file


def origin_of(message: Message) -> str:
    """Returns the origin that the flow has set last, cut to 32 bytes; Anonymous where it has set none.

    >>> from engine.message.assembly import Message
    >>> from engine.tree.element import Element
    >>> from engine.tree.step import step
    >>> message = Message(Element("Root"))
    >>> origin_of(message)
    'Anonymous'
    >>> accounting = message.environment.ensure(step("Broker")).ensure(step("Accounting"))
    >>> accounting.ensure(step("Origin")).value = "Sales department, northern region"
    >>> origin_of(message)
    'Sales department, northern regio'
    """
    found = message.environment.at("Broker", "Accounting", "Origin")
    if found is None or found.value is None:
        return ANONYMOUS
    return str(found.value).encode("utf-8", "replace")[:_LONGEST].decode("utf-8", "ignore") or ANONYMOUS


class OriginMeter:
    """Adds what was counted of each message in `staged` to the slot of the message's origin.

    The waits since the message before it count for its origin, too.
    """

    __slots__ = ("_counters", "_extremes", "_file", "_known", "_open", "_shapes", "staged")

    def __init__(self, file: Callable[..., Path], shapes: Sequence[NodeShape]) -> None:
        """`file` returns the file of the slot of an origin."""
        self.staged = in_memory(shapes)
        self._counters = _counters_in(self.staged)
        self._extremes = _extremes_in(self.staged)
        self._file = file
        self._shapes = shapes
        self._open: OrderedDict[str, Slot] = OrderedDict()
        self._known: set[str] = set()

    def done(self, outcome: Outcome | None) -> None:
        """Count a message for its origin."""
        if outcome is not None:
            self._move(self._slot(origin_of(outcome.message)))

    def broken(self, error: BrokerError) -> None:
        """Leave what was counted for the next message."""

    def _move(self, slot: Slot) -> None:
        """Add what is staged to a slot of the same nodes, and begin it at nothing."""
        own, words, bank = self.staged.words, slot.words, interval_bank(slot)
        for place in self._counters:
            words[place] += own[place]
            own[place] = 0
        for first, size in self._extremes:
            for place in range(first, first + size, 2):
                for kept in (place, place + size * bank):
                    _widen(words, kept, own[place], own[place + 1])
                own[place], own[place + 1] = 0, slots.NONE_YET
        own[slots.INTERVAL] += 1  # so that meters ask anew what is largest and smallest

    def _slot(self, origin: str) -> Slot:
        if origin not in self._known and len(self._known) >= _MOST:
            origin = ANONYMOUS
        slot = self._open.get(origin)
        if slot is None:
            self._known.add(origin)
            slot = self._open[origin] = opened(self._file(origin=origin), self._shapes)
            if len(self._open) > _OPEN:
                self._open.popitem(last=False)[1].close()
        self._open.move_to_end(origin)
        return slot


def _counters_in(slot: Slot) -> tuple[int, ...]:
    """Returns the places of the counters in a slot, which are the same in each slot of these nodes."""
    places = [*range(slots.MESSAGES, slots.INTERVALS)]
    for node in slot.nodes:
        at = slot.places[node.label]
        places += range(at, at + slots.NODE_EXTREMES)
        places += range(at + slots.NODE_TERMINALS, at + node.words)
    return tuple(places)


def _extremes_in(slot: Slot) -> tuple[tuple[int, int], ...]:
    """Returns where the largest and smallest values begin in a slot, and how many words they take in each bank."""
    of_nodes = [(slot.places[node.label] + slots.NODE_EXTREMES, 2 * len(slots.OF_NODE)) for node in slot.nodes]
    return (slots.EXTREMES, 2 * len(slots.OF_FLOW)), *of_nodes


def _widen(words: memoryview[int], place: int, largest: int, smallest: int) -> None:
    """Keep the largest and the smallest of values at a place, to which others are added."""
    words[place] = max(words[place], largest)
    if smallest >= 0 and (words[place + 1] < 0 or smallest < words[place + 1]):
        words[place + 1] = smallest

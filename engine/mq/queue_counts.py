"""Counts of what is done to a queue: kept always, and written at intervals where statistics are on."""

from __future__ import annotations

from operator import attrgetter, sub
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.mq.queue import Queue
    from engine.mq.queued_message import Stored
    from engine.work import Selection

_PAIRS: Final = ("puts", "put_bytes", "gets", "get_bytes", "browses", "browse_bytes", "times", "timed")
_NUMBERS: Final = (
    *("puts_failed", "gets_failed", "browses_failed", "not_queued", "expired", "purged"),
    *("streamed", "stream_failed"),
)
_EACH: Final = 63  # one in so many messages and one is measured
_ALL_TIMED: Final = 16  # and all of the first that come in an interval
_MOST_TIMED: Final = 1_000
_NEVER: Final = 1 << 62  # more than any number of arrivals, or any depth

_pairs: Final = attrgetter(*_PAIRS)
_numbers: Final = attrgetter(*_NUMBERS)
_calls: Final = attrgetter("puts", "gets", "browses", *_NUMBERS)
Seen = dict[str, tuple[int, ...] | int]
Mark = tuple[list[int] | int, ...]


class Counts:
    """The counters of a queue since it was opened; pairs are of non-persistent messages and of persistent ones.

    The time that messages stay is measured on the first that come in an interval, then on one in sixty-four.
    """

    __slots__ = (*_PAIRS, *_NUMBERS, "came", "high", "is_watched", "low", "next_timed", "noted_below", "_all_until")

    def __init__(self) -> None:
        self.puts = [0, 0]
        self.put_bytes = [0, 0]
        self.gets = [0, 0]
        self.get_bytes = [0, 0]
        self.browses = [0, 0]
        self.browse_bytes = [0, 0]
        self.times = [0, 0]  # microseconds that the messages stayed that were measured
        self.timed = [0, 0]  # and how many they were
        self.puts_failed = 0
        self.gets_failed = 0
        self.browses_failed = 0
        self.not_queued = 0  # messages that someone waited for
        self.expired = 0
        self.purged = 0
        self.streamed = 0  # messages of which copies were made
        self.stream_failed = 0  # messages of which no copy was made
        self.high = 0  # depth since the last interval began
        self.low = 0
        self.is_watched = False  # an interval runs
        self.came: dict[int, float] = {}  # messages that are measured, by order
        self.next_timed = _NEVER  # the number of the arrival that is measured next
        self.noted_below = -1  # the depth below which a get is noted: any, while messages are measured
        self._all_until = 0  # the last of the arrivals that are all measured

    def note_arrival(self, stored: Stored, queue: Queue) -> None:
        """Begin to measure how long a message stays."""
        arrivals = queue.arrivals
        self.next_timed = arrivals + 1 if arrivals < self._all_until else (arrivals | _EACH) + 1
        if len(self.came) < _MOST_TIMED and not stored.descriptor.backout_count:
            self.came[stored.order] = queue.now()
            self.noted_below = _NEVER

    def note_taken(self, stored: Stored, selection: Selection | None, queue: Queue) -> None:
        """Count a message that was got or browsed."""
        persistence, length = stored.descriptor.persistence, len(stored.body)
        if selection is not None and selection.browse:
            self.browses[persistence] += 1
            self.browse_bytes[persistence] += length
            return
        self.gets[persistence] += 1
        self.get_bytes[persistence] += length
        if queue.depth < self.low:  # noqa: PLR1730 - a call of min takes longer
            self.low = queue.depth
        if self.came and stored.order in self.came:
            self.times[persistence] += max(0, int((queue.now() - self.came.pop(stored.order)) * 1e6))
            self.timed[persistence] += 1
        if not self.came:
            self.noted_below = self.low if self.is_watched else -1

    def note_nothing(self, selection: Selection | None) -> None:
        """Count a get or a browse that found nothing."""
        if selection is not None and selection.browse:
            self.browses_failed += 1
        else:
            self.gets_failed += 1

    def seen(self) -> Seen:
        """Returns all counts as they are now."""
        found: Seen = dict(zip(_PAIRS, map(tuple, _pairs(self)), strict=True))
        found.update(zip(_NUMBERS, _numbers(self), strict=True))
        return found

    def mark(self) -> Mark:
        """Returns those counts, as they are now, of which one changes whatever is done, for `is_at`."""
        return tuple(list(one) if isinstance(one, list) else one for one in _calls(self))

    def is_at(self, mark: Mark) -> bool:
        """Returns True where nothing was counted since a mark."""
        found: Mark = _calls(self)
        return found == mark

    def begin(self, queue: Queue, *, watched: bool) -> Seen:
        """Begin an interval of a queue, and return the counts at its beginning."""
        self.high = self.low = queue.depth
        self._all_until = queue.arrivals + _ALL_TIMED
        self.next_timed = queue.arrivals + 1 if watched else _NEVER
        self.is_watched = watched
        if not watched:
            self.came = {}
        self.noted_below = _NEVER if self.came else self.low if watched else -1
        return self.seen()


def since(before: Seen, now: Seen) -> Seen:
    """Returns what was counted between two moments.

    >>> since({"puts": (1, 0), "expired": 2}, {"puts": (3, 1), "expired": 2})
    {'puts': (2, 1), 'expired': 0}
    """
    return {name: _less(value, before[name]) for name, value in now.items()}


def _less(value: tuple[int, ...] | int, then: tuple[int, ...] | int) -> tuple[int, ...] | int:
    if isinstance(value, int):
        assert isinstance(then, int)  # what a name is does not change
        return value - then
    assert isinstance(then, tuple)
    return tuple(map(sub, value, then))


def average(times: Seen) -> list[int]:
    """Returns how long messages stayed, in microseconds: non-persistent ones and persistent ones; 0 for none."""
    taken, counted = times["times"], times["timed"]
    assert isinstance(taken, tuple) and isinstance(counted, tuple)  # noqa: PT018 - they are pairs
    return [total // max(1, count) for total, count in zip(taken, counted, strict=True)]

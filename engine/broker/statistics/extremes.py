"""Extremes: the largest and the smallest values that a slot keeps, of all time and of an interval."""

from __future__ import annotations

from collections.abc import Iterable

from engine.broker.statistics import slots
from engine.broker.statistics.slots import Slot


def interval_bank(slot: Slot) -> int:
    """Returns which of the two banks the values of this interval go to, 1 or 2, emptied when the interval is new."""
    words = slot.words
    interval = words[slots.INTERVAL]
    odd = interval & 1
    if words[slots.INTERVALS + odd] != interval:
        words[slots.INTERVALS + odd] = interval
        first = slots.EXTREMES + 6 * (1 + odd)
        for place in range(first, first + 6, 2):
            words[place], words[place + 1] = 0, slots.NONE_YET
        for at in slot.places.values():
            first = at + slots.NODE_EXTREMES + 4 * (1 + odd)
            for place in range(first, first + 4, 2):
                words[place], words[place + 1] = 0, slots.NONE_YET
    return 1 + odd


def note_extremes(words: memoryview[int], place: int, values: Iterable[int]) -> None:
    """Keep the largest and the smallest of values, from a place on."""
    for value in values:
        words[place] = max(words[place], value)
        if value < words[place + 1] or words[place + 1] < 0:
            words[place + 1] = value
        place += 2

"""A CWF record as a lazy source: a field is found by its layout, and decoded when it is looked at."""

from __future__ import annotations

from typing import Any, Final

from engine.budget import pay
from engine.errors import ParserException
from engine.tree.element import Element
from engine.tree.source import Source, Value
from engine.tree.step import Step
from parsers.mrm.cwf.layout import Choice, Item, Layout, Reference, Run
from parsers.mrm.model import UNBOUNDED
from parsers.mrm.simple_values import GARBLED, REFERENCE, UNKNOWN, cut_off, garbled

_LEAST_PLACES: Final = 100_000  # that any record may have, with or without bytes
_PLACES: Final = 16  # and beyond these for each byte
_NO_PLACES: Final[tuple[Any, ...]] = ()
_NO_RUNS: Final[list[Run]] = []  # of what has no slots, and where these are not laid yet


class Place:
    """The place of an occurrence of an item, or an option of a choice, in records; of fixed records, in all of them."""

    __slots__ = ("all", "at", "end", "item", "layout", "made", "runs", "up")

    def __init__(self, item: Item, layout: Layout | None, at: int, end: int, up: Place | None) -> None:
        self.item = item
        self.layout = layout
        self.at = at
        self.end = end
        self.up = up
        self.runs: list[Run] = _NO_RUNS if layout is None else layout.runs or _NO_RUNS
        self.made: dict[Any, Place] = {}
        self.all: tuple[Place, ...] | None = None if layout is not None else _NO_PLACES

    def nth(self, slot: int, number: int, item: Item) -> Place:
        """The n-th occurrence of an item, counted from 0; there must be so many."""
        key = slot, number
        found = self.made.get(key)
        if found is None:
            run = self.runs[slot]
            if run.places is not None:
                found = run.places[number]
            else:
                at = self.at + run.start + number * run.stride
                found = Place(item, item.inner, at, at + item.size, self)
            self.made[key] = found
        return found

    def option(self, slot: int, choice: Choice, number: int) -> Place:
        """The place of an option of a choice."""
        key = slot, number
        found = self.made.get(key)
        if found is None:
            run = self.runs[slot]
            if run.places is not None:
                found = run.places[number]
            else:
                at = self.at + run.start
                found = Place(self.item, choice.options[number], at, at + choice.size, self)
            self.made[key] = found
        return found


class Endless(ParserException):
    """A record of which so much was tried that no choice may try more of it."""


class Record(Source):
    """The bytes of one message; a handle is a Place."""

    __slots__ = ("_left", "asked", "data", "plan", "top")

    def __init__(self, data: bytes, top: Place, plan: object) -> None:
        self.data = data
        self._left = _LEAST_PLACES + _PLACES * len(data)
        self.plan = plan
        self.top = top
        self.asked: dict[tuple[Place, int], list[int]] | None = None

    def count(self, item: Item, places: int = 1) -> None:
        """Count places that are made: a record of a few bytes may say that it has any number that take none."""
        self._left -= places
        pay(places)
        if self._left < 0:
            why = "with it the record has more fields than it can hold: look at the counts and lengths in it"
            raise Endless(REFERENCE, f"{item.what}: {why}", item.what)

    def value(self, handle: Place) -> Value:
        return handle.item.decode(self.data, handle.at, handle.end)

    def children(self, handle: Place) -> tuple[Place, ...]:
        found = handle.all
        if found is None:
            layout = handle.layout
            assert layout is not None
            found = tuple(self._places(handle, layout))
            if not layout.has_choice:
                handle.all = found
        return found

    def _places(self, place: Place, layout: Layout) -> list[Place]:
        found: list[Place] = []
        for number, slot in enumerate(layout.slots):
            if isinstance(slot, Choice):
                for option in self._chosen(place, number, slot):
                    inner = place.option(number, slot, option)
                    found += self.children(inner)
            else:
                found += [place.nth(number, nth, slot) for nth in range(place.runs[number].times)]
        return found

    def _chosen(self, place: Place, slot: int, choice: Choice) -> list[int]:
        """The options of a choice that were asked for; where none was, the one that a field names, or the first."""
        if choice.identity is not None:
            return [_identified(self, place, choice)]
        return ((self.asked or {}).get((place, slot))) or [0]

    def element(self, handle: Place, parent: Element) -> Element:
        item = handle.item
        return Element(item.name, item.namespace, item.type, self, handle, parent)

    def first(self, handle: Place, wanted: Step) -> Place | None:
        layout = handle.layout
        if layout is None:
            return None
        for slot, option, item in layout.names.get(wanted.name or "", ()):
            if not wanted.matches(item):
                continue
            if option < 0:
                return handle.nth(slot, 0, item) if handle.runs[slot].times else None
            found = self.first(self._ask(handle, slot, option), wanted)
            if found is not None:
                return found
        return None

    def _ask(self, handle: Place, slot: int, option: int) -> Place:
        if self.asked is None:
            self.asked = {}
        asked = self.asked.setdefault((handle, slot), [])
        if option not in asked:
            asked.append(option)
        assert handle.layout is not None
        choice = handle.layout.slots[slot]
        assert isinstance(choice, Choice)
        return handle.option(slot, choice, option)

    def every(self, handle: Place, wanted: Step) -> list[Place]:
        layout, found = handle.layout, []
        if layout is None:
            return []
        seen: set[tuple[int, int]] = set()
        for slot, option, item in layout.names.get(wanted.name or "", ()):
            if not wanted.matches(item) or (slot, option) in seen:
                continue
            seen.add((slot, option))
            if option < 0:
                found += [handle.nth(slot, number, item) for number in range(handle.runs[slot].times)]
            else:
                found += self.every(self._ask(handle, slot, option), wanted)
        return found


def open_record(data: bytes, root: Item, fixed: Place | None, plan: object) -> Record:
    """A record over the bytes of one message, which must be neither too short nor too long.

    `fixed` is the place of the whole where every record has the same layout.
    """
    assert root.inner is not None
    top = fixed or Place(root, root.inner, 0, 0, None)
    record = Record(data, top, plan)
    if fixed is None:
        lay(record, top)
    if len(data) != top.end:
        raise _wrong_length(record, top)
    return record


def _wrong_length(record: Record, top: Place) -> ParserException:
    data = record.data
    if len(data) > top.end:
        what = f"{top.item.what} ends at offset {top.end}, and {len(data) - top.end} bytes follow"
        rest = data[top.end : top.end + 40].hex()
        return ParserException(GARBLED, f"{what}: X'{rest}'", top.item.what, str(top.end), rest)
    place: Place | None = top
    while place is not None:
        cut, place = place, _cut(place, len(data))
    return cut_off(cut.item.what, data, cut.at, cut.end - cut.at)


def _cut(place: Place, length: int) -> Place | None:
    """The first in a place that ends behind a record of that length."""
    if place.layout is None or not place.runs:
        return None
    for number, (slot, run) in enumerate(zip(place.layout.slots, place.runs, strict=True)):
        if isinstance(slot, Choice):
            inner = place.option(number, slot, 0)
        elif run.places is not None:
            inner = next((one for one in run.places if one.end > length), place)
        else:
            start = place.at + run.start
            nth = max(0, (length - start) // run.stride) if run.stride else 0
            inner = place.nth(number, nth, slot) if nth < run.times else place
        if inner is not place and inner.end > length:
            return inner
    return None


def fixed_place(root: Item) -> Place | None:
    """The place of a whole message whose layout never varies."""
    layout = root.inner
    assert layout is not None
    if not layout.is_fixed or (layout.is_aligned and _places_in(layout) > _LEAST_PLACES):
        return None
    top = Place(root, layout, 0, layout.size, None)
    if layout.is_aligned:
        lay(None, top)
    return top


def _places_in(layout: Layout) -> int:
    slots = [slot for slot in layout.slots if isinstance(slot, Item)]
    return sum(slot.most * (1 if slot.inner is None else 1 + _places_in(slot.inner)) for slot in slots)


def lay(record: Record | None, place: Place) -> None:
    """Find where the slots of a place stand, and its end; without a record where no slot varies."""
    layout = place.layout
    assert layout is not None
    if record is not None:
        record.count(place.item, len(layout.slots))
    if layout.runs is not None:
        place.end = place.at + layout.size
        if record is not None and place.end > len(record.data):
            raise _wrong_length(record, place)
        return
    place.runs = runs = []
    at = place.at
    for slot in layout.slots:
        if isinstance(slot, Choice):
            run, at = _lay_choice(record, place, slot, at)
        else:
            run, at = _lay_item(record, place, slot, at)
        runs.append(run)
    place.end = at


def _lay_choice(record: Record | None, place: Place, choice: Choice, at: int) -> tuple[Run, int]:
    if choice.size:
        if record is not None and at + choice.size > len(record.data):
            raise cut_off(place.item.what, record.data, at, choice.size)
        return Run(at - place.at, 1, choice.size), at + choice.size
    places: list[Place] = []
    only = None if choice.identity is None or record is None else _identified(record, place, choice)
    for number, option in enumerate(choice.options):
        inner = Place(place.item, option if only in {None, number} else Layout(()), at, at, place)
        try:
            lay(record, inner)
        except Endless:
            raise
        except ParserException:
            if not places:
                raise
            inner = Place(place.item, Layout(()), at, at, place)  # bytes that are another option need not be this one
            inner.runs = []
        places.append(inner)
    return Run(at - place.at, 1, 0, tuple(places)), max(inner.end for inner in places)


def _identified(record: Record, place: Place, choice: Choice) -> int:
    """The option of the message that a field before says is there."""
    assert choice.identity is not None
    said = str(record.value(_target(place, choice.identity))).strip()
    if said not in choice.names:
        name, known = ".".join(choice.identity.path), ", ".join(choice.names)
        text = f"{place.item.what}: {name} says that message {said} is in it; the messages are {known}"
        raise ParserException(UNKNOWN, text, place.item.what, said)
    return choice.names.index(said)


def _lay_item(record: Record | None, place: Place, item: Item, at: int) -> tuple[Run, int]:
    at += item.lead
    count = item.most if item.count is None else _counted(record, place, item)
    if item.size and item.align == 1 and (item.inner is None or not item.inner.is_aligned):
        stride = item.size + item.trail
        left = None if record is None else len(record.data) - at
        if count == UNBOUNDED:
            assert left is not None
            count = -(-left // stride)
        if left is not None and count * stride - item.trail > left and count:
            assert record is not None
            whole = max(0, left) // stride
            raise cut_off(item.what, record.data, at + whole * stride, item.size)
        return Run(at - place.at, count, stride), at + count * stride
    places: list[Place] = []
    while count != len(places) and not (count == UNBOUNDED and at >= len(record.data if record else b"")):
        at += -at % item.align
        if record is not None:
            record.count(item)
        inner = _lay_one(record, place, item, at)
        if inner.end <= at and count == UNBOUNDED:
            raise garbled(item.what, b"" if record is None else record.data, at, at, "has no end: it takes no bytes")
        places.append(inner)
        at = inner.end + item.trail
    start = places[0].at - place.at if places else at - place.at
    return Run(start, len(places), 0, tuple(places)), at


def _lay_one(record: Record | None, place: Place, item: Item, at: int) -> Place:
    made = Place(item, item.inner, at, at, place)
    if item.inner is not None:
        lay(record, made)
        return made
    stored = item.stored
    assert stored is not None
    if item.length is not None:
        assert record is not None
        units = _referred(record, place, item.length, item)
        if item.inclusive:
            units -= _target(place, item.length).item.size
        if units < 0:
            raise _bad_reference(item, units)
        made.end = at + units * stored.unit
        if stored.span is not None:
            made.end = stored.span(record.data, at, units)
    elif stored.size:
        made.end = at + stored.size
    else:
        assert record is not None
        assert stored.measure is not None
        made.end = stored.measure(record.data, at, len(record.data))
    if record is not None and made.end > len(record.data):
        raise cut_off(item.what, record.data, at, made.end - at)
    return made


def _counted(record: Record | None, place: Place, item: Item) -> int:
    assert record is not None
    assert item.count is not None
    count = _referred(record, place, item.count, item)
    if item.most not in {UNBOUNDED} and count > item.most:
        text = f"{item.what} occurs {count} times, as {'.'.join(item.count.path)} says, and may {item.most} times"
        raise ParserException(REFERENCE, text, item.what, str(count))
    return count


def _target(place: Place, reference: Reference) -> Place:
    at: Place = place
    for _ in range(reference.hops):
        assert at.up is not None
        at = at.up
    for name in reference.path:
        at = _first_of(at, name, reference)
    return at


def _first_of(place: Place, name: str, reference: Reference) -> Place:
    """The first field of a name in a place, in whichever option of a choice, as long as the bytes are that option."""
    assert place.layout is not None
    if name in place.layout.names:
        number, option, item = place.layout.names[name][0]
        slot = place.layout.slots[number]
        if isinstance(slot, Choice):
            return _first_of(place.option(number, slot, option), name, reference)
        if number < len(place.runs) and place.runs[number].times:
            return place.nth(number, 0, item)
    text = f"{place.item.what}: {'.'.join(reference.path)}, which another field refers to, is not in the record"
    raise ParserException(REFERENCE, text, place.item.what)


def _referred(record: Record, place: Place, reference: Reference, item: Item) -> int:
    """Returns what a field says that counts or measures another."""
    target = _target(place, reference)
    value: Any = record.value(target)
    try:
        count = int(value)
    except (TypeError, ValueError, OverflowError) as error:  # text, a float that is no number, or none that is finite
        raise _bad_reference(item, value, reference) from error
    if count != value or count < 0:
        raise _bad_reference(item, value, reference)
    return count


def _bad_reference(item: Item, value: object, reference: Reference | None = None) -> ParserException:
    name = "" if reference is None else f" of {'.'.join(reference.path)}"
    text = f"{item.what}: the value{name} must be a whole number that is not negative, not {value}"
    return ParserException(REFERENCE, text, item.what, str(value))

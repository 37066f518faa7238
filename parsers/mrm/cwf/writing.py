"""Writing CWF: what has changed is laid over the bytes of the record, or all fields are written in their order.

Elements that are not where the model has them count as self-defining, which CWF has no room for, and are left out; what
is missing gets its default. An element that has none, or a value that does not fit, is an error.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from engine.budget import pay
from engine.errors import BrokerError, ParserException
from engine.message.received import Part
from engine.tree.element import Element
from engine.tree.sharing import appended_children, changed_children, written
from engine.tree.source import Source, Value
from engine.tree.states import EDITED, RESTRUCTURED, SHARES
from parsers.mrm.cwf.layout import Choice, Item, Layout, Reference
from parsers.mrm.cwf.record import Place, Record
from parsers.mrm.model import UNBOUNDED
from parsers.mrm.simple_values import LARGEST, MISMATCH, REFERENCE, unfit

_MOST_ABSENT: Final = 1_000_000
_ALIGNMENT: Final = 16  # a multiple of every alignment


class Plan(NamedTuple):
    """A message compiled for one encoding and CCSID: its layout, its place where that is fixed, what fills gaps."""

    root: Item
    fixed: Place | None
    pad: bytes
    fields: int = 0


def origin_of(element: Element, plan: Plan) -> Record | None:
    """The record that an element was read from, if it was in the form that is to be written."""
    source: Source | None = written(element).source
    if isinstance(source, Part):
        source = source.source
    return source if isinstance(source, Record) and source.plan is plan else None


def patched(element: Element, record: Record) -> bytes | None:
    """The record with what was changed in it since; None where more than the content of fields has changed."""
    data = bytearray(record.data)
    held = written(element)
    return bytes(data) if _patch(held, data) else None


def _patch(element: Element, data: bytearray) -> bool:
    if element.state & RESTRUCTURED or appended_children(element):
        return False
    for place, child in changed_children(element):
        held = written(child)
        item: Item = place.item
        if item.stored is None:
            if held.source is None or held.value is not None or not _patch(held, data):
                return False
            continue
        if item.referred or held.state & RESTRUCTURED:
            return False
        size = place.end - place.at
        raw = encoded(item, child.value, size if item.stored.size or item.length else -1)
        if len(raw) != size:
            return False
        data[place.at : place.end] = raw
    return True


def encoded(item: Item, value: Any, size: int) -> bytes:
    """The bytes of a value; NULL where the field takes none stands for its default."""
    assert item.stored is not None
    if value is None and not item.model.nullable:
        if item.model.default is None:
            raise unfit(item.what, value, "takes a value")
        value = item.model.default
    return item.stored.encode(value, size)


class _Around:
    """A group that is being written: what its fields said so far, for the references to them."""

    __slots__ = ("groups", "up", "values")

    def __init__(self, up: _Around | None) -> None:
        self.up = up
        self.values: dict[str, tuple[Any, int]] = {}
        self.groups: dict[str, _Around] = {}

    def take_up(self, inner: _Around) -> None:
        """Take over what fields of an option said: they stand in the group that has the choice."""
        for name, said in inner.values.items():
            self.values.setdefault(name, said)
        for name, group in inner.groups.items():
            self.groups.setdefault(name, group)

    def look_up(self, reference: Reference) -> tuple[Any, int]:
        """The value of a field that was written before, and how many bytes it took."""
        at = self
        for _ in range(reference.hops):
            assert at.up is not None
            at = at.up
        *groups, name = reference.path
        try:
            for group in groups:
                at = at.groups[group]
            return at.values[name]
        except KeyError as error:
            path = ".".join(reference.path)
            raise ParserException(REFERENCE, f"{path} has no value, and another field refers to it", path) from error


def rendered(element: Element, plan: Plan) -> bytes:
    """All fields of a message, in their order."""
    writer = _Writer(plan)
    assert plan.root.inner is not None
    writer.layout(plan.root.inner, list(element), _Around(None), plan.root.what)
    return bytes(writer.out)


class _Children:
    """The children of an element, by name and place among them."""

    __slots__ = ("_places", "after", "elements")

    def __init__(self, elements: list[Element]) -> None:
        self.elements = elements
        self.after = 0  # where the sequence has come to
        self._places: dict[tuple[str, str], list[int]] | None = None

    def _places_of(self, item: Item) -> Sequence[int]:
        """The places of an item's elements; nobody asks for them where all stand in the order of the model."""
        if self._places is None:
            self._places = {}
            for number, element in enumerate(self.elements):
                self._places.setdefault((element.name, element.namespace), []).append(number)
        return self._places.get((item.name, item.namespace), ())

    def next(self, item: Item) -> int:
        """The place of the next element for an item, -1 where there is none."""
        places = self._places_of(item)
        at = bisect_left(places, self.after)
        return places[at] if at < len(places) else -1

    def take(self, item: Item, *, anywhere: bool) -> list[Element]:
        """The elements for the occurrences of an item: those that stand together."""
        elements = self.elements
        if anywhere:
            return [elements[number] for number in self._places_of(item)]
        start, most = self.after, len(elements)
        if start == most:
            return []
        name, namespace = item.name, item.namespace
        if elements[start].name != name or elements[start].namespace != namespace:
            start = self.next(item)
            if start < 0:
                return []
        end = start + 1
        while end < most and elements[end].name == name and elements[end].namespace == namespace:
            end += 1
        self.after = end
        return elements[start:end]


class _Writer:
    """Writes one message."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._left = _MOST_ABSENT
        self.out = bytearray()

    def layout(self, layout: Layout, elements: list[Element], around: _Around, what: str) -> None:
        children = _Children(elements)
        pay(len(layout.slots) + len(elements))
        for slot in layout.slots:
            if isinstance(slot, Choice):
                self._choice(slot, children, around, what)
            else:
                self._item(slot, children.take(slot, anywhere=layout.unordered), around)

    def _fill(self, count: int) -> None:
        if count > 0:
            if len(self.out) + count > LARGEST:
                raise self._too_long(len(self.out) + count)
            self.out += self._plan.pad * count

    def _too_long(self, size: int) -> ParserException:
        root = self._plan.root
        return ParserException(REFERENCE, f"{root.what} has {size:,} bytes or more, and takes {LARGEST:,}", root.what)

    def _item(self, item: Item, found: list[Element], around: _Around) -> None:
        if item.lead:
            self._fill(item.lead)
        count = item.most if item.count is None and item.most != UNBOUNDED else self._count(item, found, around)
        padded = item.align > 1 or item.trail
        for element in found if len(found) <= count else found[:count]:
            if padded:
                self._occurrence(item, element, around)
            else:
                self._one(item, element, around)
        if count > len(found):
            self._absent(item, count - len(found), around)

    def _occurrence(self, item: Item, element: Element | None, around: _Around) -> None:
        if item.align > 1:
            self._fill(-len(self.out) % item.align)
        self._one(item, element, around)
        if item.trail:
            self._fill(item.trail)

    def _absent(self, item: Item, count: int, around: _Around) -> None:
        """Write occurrences that are not in the tree, of which a count may ask for any number.

        Their bytes differ by what alignment adds alone, so those that follow where it is the same again are copies.
        """
        start = len(self.out)
        self._take(item, 1)
        self._occurrence(item, None, around)  # that it has no default is said before that there are too many
        self._take(item, count - 1)
        for done in range(1, count):
            size = len(self.out) - start
            if size % _ALIGNMENT == 0:
                again, left = divmod(count - done, done)
                if len(self.out) + again * size > LARGEST:
                    raise self._too_long(len(self.out) + again * size)
                self.out += self.out[start:] * again
                for _ in range(left):
                    self._occurrence(item, None, around)
                return
            self._occurrence(item, None, around)

    def _take(self, item: Item, count: int) -> None:
        """Count occurrences that are written though they are not in the tree."""
        self._left -= count
        if self._left < 0 or len(self.out) > LARGEST:
            why = f"of what is absent a record takes at most {_MOST_ABSENT:,} occurrences and {LARGEST:,} bytes"
            raise ParserException(REFERENCE, f"{item.what}: {why}: look at the counts in it", item.what)

    def _count(self, item: Item, found: list[Element], around: _Around) -> int:
        if item.count is not None:
            count = around.look_up(item.count)[0]
            most = item.most if item.most != UNBOUNDED else 2**31
            if not isinstance(count, int) or not 0 <= count <= most:
                name = ".".join(item.count.path)
                text = f"{item.what} may occur {item.model.min_occurs} to {most} times, and {name} says {count}"
                raise ParserException(REFERENCE, text, item.what, str(count))
            return count
        return len(found)

    def _one(self, item: Item, element: Element | None, around: _Around) -> None:
        if item.inner is not None:
            inner = _Around(around)
            around.groups.setdefault(item.name, inner)
            self.layout(item.inner, [] if element is None else list(element), inner, item.what)
            return
        if element is None:
            raw, value = None, self._default(item)
        else:
            raw = self._untouched(item, element)
            value = element.value if raw is None or item.referred else None
        self.out += raw if raw is not None else encoded(item, value, self._size(item, around))
        if item.referred:
            around.values.setdefault(item.name, (_whole(value, item), item.size))  # readers look at the first

    def _untouched(self, item: Item, element: Element) -> bytes | None:
        """The bytes that a field was read from, where they still are what is to be written."""
        held = written(element) if element.state & SHARES else element
        source = held.source
        if not isinstance(source, Record) or held.state & EDITED or item.length is not None:
            return None
        place = held.handle
        if source.plan is not self._plan or place.item is not item:
            return None
        return source.data[place.at : place.end]

    def _default(self, item: Item) -> Value:
        if item.model.default is None:
            text = (
                f"{item.what} is missing, and has no default: set it, in the order of the message definition;"
                f" what stands out of order counts as missing"
            )
            raise ParserException(MISMATCH, text, self._plan.root.what, item.what)
        return item.model.default

    def _size(self, item: Item, around: _Around) -> int:
        assert item.stored is not None
        if item.length is None:
            size = item.stored.size
            return size if 0 < size <= LARGEST else self._fitting(size) or -1
        units, own = around.look_up(item.length)
        units -= own if item.inclusive else 0
        if units < 0:
            name = ".".join(item.length.path)
            raise ParserException(REFERENCE, f"{item.what}: {name} says it is {units} long", item.what, str(units))
        return self._fitting(units * item.stored.unit) if item.stored.unit else -1

    def _fitting(self, size: int) -> int:
        if size > LARGEST:
            raise self._too_long(size)
        return size

    def _choice(self, choice: Choice, children: _Children, around: _Around, what: str) -> None:
        best = self._option(choice, children)
        start = len(self.out)
        layout = choice.options[0 if best is None else best]
        region = None if best is None else self._region(children, layout)
        for slot in layout.slots:
            inner = _Around(around)
            if isinstance(slot, Choice):
                self._choice(slot, children, inner, what)
            else:
                self._item(slot, children.take(slot, anywhere=layout.unordered), inner)
            around.take_up(inner)
        if choice.referred:
            self._read_back(choice, start, around)
        rest = start + choice.size - len(self.out)
        if rest > 0:
            self.out += b"" if region is None else region[-rest:]
            self._fill(start + choice.size - len(self.out))

    def _read_back(self, choice: Choice, start: int, around: _Around) -> None:
        """Learn what the bytes of an option say by the other options, where a count refers to a field of these."""
        data = bytes(self.out[start:])
        for option in choice.options:
            around.take_up(_said_in(option, data, 0))

    def _option(self, choice: Choice, children: _Children) -> int | None:
        """The option of which something stands in the tree; of several, one that was changed."""
        found = []
        for number, option in enumerate(choice.options):
            places = [at for routes in option.names.values() for *_, item in routes if (at := children.next(item)) >= 0]
            if places:
                first = min(places)
                changed = any(written(children.elements[at]).state & EDITED for at in places)
                fresh = any(written(children.elements[at]).source is None for at in places)
                found.append((not (changed or fresh), first, number))
        return min(found)[2] if found else None

    def _region(self, children: _Children, layout: Layout) -> bytes | None:
        """The bytes of the choice in the record that its elements were read from."""
        for routes in layout.names.values():
            at = children.next(routes[0][2])
            held = written(children.elements[at]) if at >= 0 else None
            source = None if held is None else held.source
            if held is not None and isinstance(source, Record) and source.plan is self._plan:
                above: Place | None = held.handle.up
                while above is not None and above.layout is not layout:
                    above = above.up
                if above is not None:
                    return source.data[above.at : above.end]
        return None


def _said_in(layout: Layout, data: bytes, at: int) -> _Around:
    """Returns the values of fields that others refer to, in the bytes of a layout that does not vary."""
    said = _Around(None)
    for slot, run in zip(layout.slots if layout.runs else (), layout.runs or (), strict=True):
        start = at + run.start
        if isinstance(slot, Choice):
            for option in slot.options:
                said.take_up(_said_in(option, data, start))
        elif slot.inner is not None:
            said.groups.setdefault(slot.name, _said_in(slot.inner, data, start))
        elif slot.referred and start + slot.size <= len(data):
            with suppress(BrokerError):
                said.values.setdefault(slot.name, (slot.decode(data, start, start + slot.size), slot.size))
    return said


def _whole(value: Any, item: Item) -> Any:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise unfit(item.what, value, "takes a whole number, as others refer to it") from error

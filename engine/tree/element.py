"""Element: the lazy, copy-on-write message tree; engine.tree.states says how it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from engine.errors import BrokerError
from engine.tree.links import (
    Indexes,
    Repeats,
    ask_types,
    check_detached,
    enter,
    expand,
    give_value,
    leave,
    link,
    mark_edited,
    release,
    replace_content,
    restructure,
)
from engine.tree.source import EXPAND, NAME, UNREAD, Domain, Handle, Mark, Source, Value, leading, owner_of
from engine.tree.states import EDITED, EXPANDED, LOOSE, READ_ONLY, REPLACED, TYPED, VALUED
from engine.tree.step import Step, other_case, step

_NEAR: Final = 8  # linked children that are looked at before an index is made
_NEW: Final = EXPANDED | EDITED


class Element:
    """A named place in a message tree, with a value, children, or both.

    `raw_type` and `raw_value` are those that were read or given, before a domain or a first child has its say, and
    `first_linked` to `previous_linked` the children and siblings as far as they are linked, which those of an expanded
    element all are: anyone may read these, and only engine.tree sets them. The last three slots are engine.tree's own:
    the first child that each step has led to, the children made alone by the places of the source, and indexes.
    """

    __slots__ = (
        *("name", "namespace", "source", "handle", "parent", "domain", "state", "raw_type", "raw_value"),
        *("first_linked", "last_linked", "next_linked", "previous_linked"),
        *("found_by_step", "found_by_place", "indexes"),
    )

    def __init__(
        self,
        name: str,
        namespace: str = "",
        type_: int = NAME,
        source: Source | None = None,
        handle: Handle = None,
        parent: Element | None = None,
    ) -> None:
        self.name = name
        self.namespace = namespace
        self.raw_type = type_
        self.source: Source = source  # type: ignore[assignment]  # None where there is nothing left to read
        self.handle = handle
        self.parent = parent
        self.first_linked: Element | None = None
        self.last_linked: Element | None = None
        self.next_linked: Element | None = None
        self.previous_linked: Element | None = None
        self.found_by_step: dict[Step, Element] | None = None
        self.found_by_place: dict[Handle, Element] | None = None
        self.indexes: Indexes | None = None
        self.domain: Domain | None = None
        self.raw_value: Value = None if source is None else UNREAD
        self.state = _NEW if source is None else 0

    @property
    def value(self) -> Value:
        """The element's value; text that leads its content counts as such."""
        value = self.raw_value
        if value is UNREAD:
            value = self.raw_value = self.source.value(self.handle)
        if value is None and self.first_linked is not None:
            leads = leading(self)
            if leads is not None:
                return leads.value
        return value

    @value.setter
    def value(self, value: Value) -> None:
        if not self.state & EDITED:
            mark_edited(self)
        if self.first_linked is not None:
            leads, own = leading(self), self.source.value(self.handle) if self.raw_value is UNREAD else self.raw_value
            if own is None and leads is not None:
                leads.value = value
                return
        if not self.state & VALUED:
            self.state |= VALUED
            if self.raw_type == NAME and (above := self.parent) is not None and (self.source or above.state & TYPED):
                give_value(above, self)
        self.raw_value = value

    @property
    def type(self) -> int:
        """The element's type; a name that was given a value has become the domain's kind of field."""
        if self.raw_type != NAME or not self.state & VALUED or (valued := self.owner.valued_type) == NAME:
            return self.raw_type
        return valued if self.first_child is None or self.state & VALUED else NAME

    @property
    def owner(self) -> Domain:
        """The domain that the element belongs to: its own, or that of the nearest element above which has one."""
        return owner_of(self)

    def change(self, *, name: str | None = None, namespace: str | None = None, type_: int | None = None) -> None:
        """Give the element another name, namespace or type where it stands."""
        parent = self.parent
        if parent is None:
            mark_edited(self)
        else:
            restructure(parent)
            leave(parent, self)
        self.state |= REPLACED
        self.name = self.name if name is None else name
        self.namespace = self.namespace if namespace is None else namespace
        self.raw_type = self.raw_type if type_ is None else type_
        if parent is not None:
            enter(parent, self)

    def child(self, wanted: Step) -> Element | None:
        """The first child that the step matches."""
        found = self.found_by_step
        if found is not None:
            known = found.get(wanted)
            if known is not None:
                return known
        if wanted.types:
            ask_types(self)
        if not self.state & EXPANDED:
            handle = self.source.first(self.handle, wanted) if wanted.name else EXPAND
            if handle is EXPAND:
                expand(self)
            elif handle is not None:
                if (places := self.found_by_place) is None:
                    places = self.found_by_place = {}
                known = places.get(handle)
                if known is None:
                    known = places[handle] = self.source.element(handle, self)
                if (found := self.found_by_step) is None:
                    found = self.found_by_step = {}
                found[wanted] = known
                return known
        return self._linked(wanted)

    def _linked(self, wanted: Step) -> Element | None:
        name, at, near = wanted.name, self.first_linked, _NEAR
        while at is not None and near:
            if (name is None or at.name == name) and wanted.matches(at):
                found = self.found_by_step = self.found_by_step or {}
                found[wanted] = at
                return at
            at = at.next_linked
            near -= 1
        known = None if at is None else self._indexed(wanted)
        if known is None:
            other = other_case(wanted, self) if self.state & LOOSE else None
            return None if other is None else self._linked(other)
        found = self.found_by_step = self.found_by_step or {}
        found[wanted] = known
        return known

    def _indexed(self, wanted: Step) -> Element | None:
        if wanted.name is not None:
            if self.indexes is None:
                self.indexes = Indexes()
            first = self.indexes.first(self, wanted, wanted.name)
            if not isinstance(first, Mark):
                return first
        linked = self._repeats(wanted).linked
        return linked[0] if linked else None

    def nth(self, wanted: Step, number: int) -> Element | None:
        """The n-th child that the step matches, counted from 1."""
        repeats = self._repeats(wanted)
        at = number - 1
        if at < 0:
            return None
        placed = repeats.placed
        if at < len(placed):
            return self.child_in(placed[at])
        at -= len(placed)
        repeats.asked = at
        return repeats.linked[at] if at < len(repeats.linked) else None

    def nth_last(self, wanted: Step, number: int) -> Element | None:
        """The n-th child from the end that the step matches, counted from 1."""
        return self.nth(wanted, self.count(wanted) - number + 1) if number > 0 else None

    def count(self, wanted: Step) -> int:
        """Returns how many children the step matches."""
        return len(self._repeats(wanted))

    def every(self, wanted: Step) -> list[Element]:
        """All children that the step matches, as they are now."""
        repeats = self._repeats(wanted)
        return [self.child_in(handle) for handle in repeats.placed] + repeats.linked

    def at(self, *names: str) -> Element | None:
        """The element that a path of plain names leads to: the first child of each."""
        found: Element | None = self
        for name in names:
            found = None if found is None else found.child(step(name))
        return found

    @property
    def first_child(self) -> Element | None:
        """The first child."""
        if not self.state & EXPANDED:
            expand(self)
        return self.first_linked

    @property
    def last_child(self) -> Element | None:
        """The last child."""
        if self.last_linked is None and not self.state & EXPANDED:
            place = self.source.last(self.handle)
            if place is None:
                return None
            if place is not EXPAND:
                if (places := self.found_by_place) is None:
                    places = self.found_by_place = {}
                return places.get(place) or places.setdefault(place, self.source.element(place, self))
            expand(self)
        return self.last_linked

    @property
    def next_sibling(self) -> Element | None:
        """The element after this one, below the same parent."""
        if self.next_linked is None and self.parent is not None and not self.parent.state & EXPANDED:
            expand(self.parent)
        return self.next_linked

    @property
    def previous_sibling(self) -> Element | None:
        """The element before this one, below the same parent."""
        if self.previous_linked is None and self.parent is not None and not self.parent.state & EXPANDED:
            expand(self.parent)
        return self.previous_linked

    def __iter__(self) -> Iterator[Element]:
        """The children, in order; the one that was given out last may be detached meanwhile."""
        at = self.first_child
        while at is not None:
            following = at.next_linked
            yield at
            at = at.next_linked if at.parent is self else following

    def add(self, name: str, value: Value = None, *, namespace: str = "", type_: int = NAME) -> Element:
        """Append a new child."""
        if not self.state & EDITED:
            mark_edited(self)
        child = Element(name, namespace, type_, None, None, self)
        link(self, child)
        if value is not None:
            child.raw_value = value
            child.state |= VALUED
        return child

    def ensure(self, wanted: Step) -> Element:
        """The first child that the step matches, appended if there is none."""
        known = self.child(wanted) if self.first_linked or not self.state & EXPANDED else None
        return known or self.ensure_new(wanted)

    def ensure_nth(self, wanted: Step, number: int, note: Callable[[], None] | None = None) -> Element:
        """The n-th child that the step matches; one after the last is appended, and noted, others are an error."""
        repeats = self._repeats(wanted)
        placed, linked, at = repeats.placed, repeats.linked, number - 1
        if 0 <= at < len(placed):
            return self.child_in(placed[at])
        at -= len(placed)
        if 0 <= at < len(linked):
            repeats.asked = at
            return linked[at]
        if at == len(linked) and repeats.wanted is wanted:  # of a row they may be those of a name in another case
            repeats.seen = child = self.ensure_new(wanted)
            linked.append(child)
            if note is not None:
                note()
            return child
        count = 0 if self.indexes is None else len(self.indexes.repeats[wanted])
        raise BrokerError(2527, f"{self.name} has {count} of {wanted.name}, so [{number}] cannot be created yet")

    def ensure_new(self, wanted: Step, value: Value = UNREAD) -> Element:
        """A new last child that the step matches, with a value if one is given."""
        if not self.state & EDITED:
            mark_edited(self)
        type_ = wanted.types[0][1] if wanted.types else NAME
        child = Element(wanted.name or "", wanted.namespace or "", type_, None, None, self)
        if value is not UNREAD:
            child.raw_value = value
            child.state |= VALUED
        child.previous_linked = last = self.last_linked
        if last is None:
            self.first_linked = child
        else:
            last.next_linked = child
        self.last_linked = child
        return child

    def append(self, child: Element) -> None:
        """Make a detached element the last child."""
        if (
            child.parent is not None
            or child.state & READ_ONLY
            or child.first_linked
            or child.found_by_place
            or child is self
        ):
            check_detached(child, self)
        if not self.state & EDITED:
            mark_edited(self)
        child.parent = self
        link(self, child)
        if child.source is not None:
            child.state |= REPLACED

    def insert(self, child: Element, *, before: Element) -> None:
        """Make a detached element a child, in front of another."""
        check_detached(child, self)
        if before.parent is not self:
            raise BrokerError(2556, f"{before.name} is no child of {self.name}, so nothing can be put in front of it")
        restructure(self)
        child.parent = self
        child.state |= REPLACED
        previous = before.previous_linked
        child.previous_linked, child.next_linked, before.previous_linked = previous, before, child
        if previous is None:
            self.first_linked = child
        else:
            previous.next_linked = child
        enter(self, child)

    def detach(self) -> Element:
        """Take the element, with all below it, out of its tree."""
        parent = self.parent
        if parent is None:
            return self
        restructure(parent)
        leave(parent, self)
        previous, following = self.previous_linked, self.next_linked
        if previous is None:
            parent.first_linked = following
        else:
            previous.next_linked = following
        if following is None:
            parent.last_linked = previous
        else:
            following.previous_linked = previous
        self.parent = self.previous_linked = self.next_linked = None
        return self

    def clear(self) -> None:
        """Take away the value and all children."""
        if self.parent is not None or self.state & READ_ONLY:
            replace_content(self)
        release(self)
        self.source = None  # type: ignore[assignment]
        self.handle = self.first_linked = self.last_linked = self.raw_value = None
        self.found_by_step = self.found_by_place = self.indexes = None
        self.state = _NEW

    def child_in(self, handle: Handle) -> Element:
        """The child in a place of the source, while the element is not expanded."""
        if (places := self.found_by_place) is None:
            places = self.found_by_place = {}
        return places.get(handle) or places.setdefault(handle, self.source.element(handle, self))

    def _repeats(self, wanted: Step) -> Repeats:
        known = None if self.indexes is None else self.indexes.repeats.get(wanted)
        if known is None:
            placed: Sequence[Handle] = ()
            if wanted.types:
                ask_types(self)
            if not self.state & EXPANDED:
                answer: Any = self.source.every(self.handle, wanted) if wanted.name else EXPAND
                if answer is EXPAND:
                    expand(self)
                else:
                    placed = answer
            if self.indexes is None:
                self.indexes = Indexes()
            known = Repeats(wanted, placed)
            known.follow(self.first_linked)
            self.indexes.repeats[wanted] = known  # last: another thread that finds it finds all of it
        elif known.seen is not self.last_linked:
            known.follow(self.first_linked)
        if self.state & LOOSE and not known and (other := other_case(wanted, self)) is not None:
            return self._repeats(other)
        return known

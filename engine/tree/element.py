"""Element: the lazy, copy-on-write message tree; engine.tree.states says how it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from engine.budget import pay_for_many
from engine.errors import BrokerError
from engine.tree.links import UNTOLD, Repeats, ask_types, check_detached, enter, leave, named, release, retype, valued
from engine.tree.source import EXPAND, NAME, UNREAD, Domain, Handle, Source, Value, leading, owner_of
from engine.tree.states import EDITED, EXPANDED, LOOSE, READ_ONLY, REPLACED, RESTRUCTURED, SHARES, TYPED, VALUED
from engine.tree.step import Step, other_case, step

_LINKS: Final = ("_first", "_last", "_next", "_previous", "parent")
_NEW: Final = EXPANDED | EDITED


class Element:
    """A named place in a message tree, with a value, children, or both."""

    __slots__ = (*_LINKS, "_found", "_type", "_value", "domain", "handle", "name", "namespace", "source", "state")

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
        self._type = type_
        self.source: Source = source  # type: ignore[assignment]  # None where there is nothing left to read
        self.handle = handle
        self.parent = parent
        self._first: Element | None = None
        self._last: Element | None = None
        self._next: Element | None = None
        self._previous: Element | None = None
        self._found: dict[Any, Any] | None = None
        self.domain: Domain | None = None
        self._value: Value = None if source is None else UNREAD
        self.state = _NEW if source is None else 0

    # What an element is

    @property
    def value(self) -> Value:
        """The element's value; text that leads its content counts as such."""
        value = self._value
        if value is UNREAD:
            value = self._value = self.source.value(self.handle)
        if value is None and self._first is not None:
            leads = leading(self)
            if leads is not None:
                return leads.value
        return value

    @value.setter
    def value(self, value: Value) -> None:
        if not self.state & EDITED:
            self._touch()
        if self._first is not None:
            leads, own = leading(self), self.source.value(self.handle) if self._value is UNREAD else self._value
            if own is None and leads is not None:
                leads.value = value
                return
        if not self.state & VALUED:
            self.state |= VALUED
            if self._type == NAME and (above := self.parent) is not None and (self.source or above.state & TYPED):
                valued(above, self)
        self._value = value

    @property
    def type(self) -> int:
        """The element's type; a name that was given a value has become the domain's kind of field."""
        if self._type != NAME or not self.state & VALUED or (valued := self.owner.valued_type) == NAME:
            return self._type
        return valued if self.first_child is None or self.state & VALUED else NAME

    @property
    def owner(self) -> Domain:
        """The domain that the element belongs to: its own, or that of the nearest element above which has one."""
        return owner_of(self)

    def change(self, *, name: str | None = None, namespace: str | None = None, type_: int | None = None) -> None:
        """Give the element another name, namespace or type where it stands."""
        parent = self.parent
        if parent is None:
            self._touch()
        else:
            parent._restructure()
            leave(parent._found, self)
        self.state |= REPLACED
        self.name = self.name if name is None else name
        self.namespace = self.namespace if namespace is None else namespace
        self._type = self._type if type_ is None else type_
        if parent is not None:
            enter(parent._found, self)

    # Looking for children

    def child(self, wanted: Step) -> Element | None:
        """The first child that the step matches."""
        found = self._found
        if found is not None:
            known: Element | None = found.get(wanted)
            if known is not None:
                return known
        if wanted.types:
            ask_types(self)
        if not self.state & EXPANDED:
            handle = self.source.first(self.handle, wanted) if wanted.name else EXPAND
            if handle is EXPAND:
                self._expand()
            elif handle is not None:
                if (found := self._found) is None:
                    found = self._found = {}
                known = found.get(handle)
                if known is None:
                    known = found[handle] = self.source.element(handle, self)
                found[wanted] = known
                return known
        return self._linked(wanted)

    def _linked(self, wanted: Step) -> Element | None:
        name, at, near = wanted.name, self._first, 8
        while at is not None and near:
            if (name is None or at.name == name) and wanted.matches(at):
                if self._found is None:
                    self._found = {}
                self._found[wanted] = at
                return at
            at = at._next
            near -= 1
        known = None if at is None else named(self, wanted)
        if known is None and self.state & LOOSE and (other := other_case(wanted, self)) is not None:
            return self._linked(other)
        if known is not UNTOLD:
            return known
        linked = self._repeats(wanted).linked
        if linked:
            self._found[wanted] = linked[0]  # type: ignore[index]  # _repeats has set it
        return linked[0] if linked else None

    def nth(self, wanted: Step, number: int) -> Element | None:
        """The n-th child that the step matches, counted from 1."""
        repeats = self._repeats(wanted)
        at = number - 1
        if at < 0:
            return None
        placed = repeats.placed
        if at < len(placed):
            return self._made(placed[at])
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
        return [self._made(handle) for handle in repeats.placed] + repeats.linked

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
            self._expand()
        return self._first

    @property
    def last_child(self) -> Element | None:
        """The last child."""
        if self._last is None and not self.state & EXPANDED:
            self._expand()
        return self._last

    @property
    def next_sibling(self) -> Element | None:
        """The element after this one, below the same parent."""
        if self._next is None and self.parent is not None and not self.parent.state & EXPANDED:
            self.parent._expand()
        return self._next

    @property
    def previous_sibling(self) -> Element | None:
        """The element before this one, below the same parent."""
        if self._previous is None and self.parent is not None and not self.parent.state & EXPANDED:
            self.parent._expand()
        return self._previous

    def __iter__(self) -> Iterator[Element]:
        """The children, in order; the one that was given out last may be detached meanwhile."""
        at = self.first_child
        while at is not None:
            following = at._next
            yield at
            at = at._next if at.parent is self else following

    # Changing the tree

    def add(self, name: str, value: Value = None, *, namespace: str = "", type_: int = NAME) -> Element:
        """Append a new child."""
        if not self.state & EDITED:
            self._touch()
        child = Element(name, namespace, type_, None, None, self)
        self._link(child)
        if value is not None:
            child._value = value
            child.state |= VALUED
        return child

    def ensure(self, wanted: Step) -> Element:
        """The first child that the step matches, appended if there is none."""
        return (self.child(wanted) if self._first or not self.state & EXPANDED else None) or self.ensure_new(wanted)

    def ensure_nth(self, wanted: Step, number: int) -> Element:
        """The n-th child that the step matches; the one after the last is appended, one further off is an error."""
        if (known := self.nth(wanted, number)) is not None:
            return known
        if number != (count := len(self._found[wanted.each])) + 1:  # type: ignore[index]  # nth has set it
            raise BrokerError(2527, f"{self.name} has {count} of {wanted.name}, so [{number}] cannot be created yet")
        return self.ensure_new(wanted)

    def ensure_new(self, wanted: Step) -> Element:
        """A new last child that the step matches."""
        if not self.state & EDITED:
            self._touch()
        type_ = wanted.types[0][1] if wanted.types else NAME
        child = Element(wanted.name or "", wanted.namespace or "", type_, None, None, self)
        child._previous = last = self._last
        if last is None:
            self._first = child
        else:
            last._next = child
        self._last = child
        return child

    def append(self, child: Element) -> None:
        """Make a detached element the last child."""
        if child.parent is not None or child.state & READ_ONLY or child._first or child._found or child is self:
            check_detached(child, self)
        if not self.state & EDITED:
            self._touch()
        child.parent = self
        self._link(child)
        if child.source is not None:
            child.state |= REPLACED

    def insert(self, child: Element, *, before: Element) -> None:
        """Make a detached element a child, in front of another."""
        check_detached(child, self)
        if before.parent is not self:
            raise BrokerError(2556, f"{before.name} is no child of {self.name}, so nothing can be put in front of it")
        self._restructure()
        child.parent = self
        child.state |= REPLACED
        previous = before._previous
        child._previous, child._next, before._previous = previous, before, child
        if previous is None:
            self._first = child
        else:
            previous._next = child
        enter(self._found, child)

    def detach(self) -> Element:
        """Take the element, with all below it, out of its tree."""
        parent = self.parent
        if parent is None:
            return self
        parent._restructure()
        leave(parent._found, self)
        previous, following = self._previous, self._next
        if previous is None:
            parent._first = following
        else:
            previous._next = following
        if following is None:
            parent._last = previous
        else:
            following._previous = previous
        self.parent = self._previous = self._next = None
        return self

    def clear(self) -> None:
        """Take away the value and all children."""
        if self.parent is not None or self.state & READ_ONLY:
            self._placed_anew()
        release(self)
        self.source = None  # type: ignore[assignment]
        self.handle = self._found = self._first = self._last = self._value = None
        self.state = _NEW

    # How it is kept

    def _made(self, handle: Handle) -> Element:
        if (found := self._found) is None:
            found = self._found = {}
        known: Element = found.get(handle) or found.setdefault(handle, self.source.element(handle, self))
        return known

    def _link(self, child: Element) -> None:
        child._previous = last = self._last
        if last is None:
            self._first = child
        else:
            last._next = child
        self._last = child

    def _expand(self) -> None:
        """Make all children; those found before keep their identity, those appended stay last."""
        source, found = self.source, self._found or {}
        made = [found.get(handle) or source.element(handle, self) for handle in source.children(self.handle)]
        pay_for_many(len(made))
        shares = self.state & SHARES
        appended, last = self._first, self._last
        self._first = self._last = self._found = None
        self.state |= EXPANDED
        for child in made:
            origin = child.handle if child.state & SHARES else child
            if not shares and (child.state & REPLACED or origin.source is None):
                self.state |= RESTRUCTURED
            self._link(child)
        if shares:
            self._value = UNREAD
        elif (leads := leading(self)) is not None:
            if self.state & VALUED:
                leads._value = self._value
                leads.state |= EDITED | VALUED
                self.state &= ~VALUED
            self._value = None
        if appended is not None:
            self._link(appended)
            self._last = last

    def _repeats(self, wanted: Step) -> Repeats:
        known: Repeats | None = None if self._found is None else self._found.get(wanted.each)
        if known is None:
            placed: Sequence[Handle] = ()
            if wanted.types:
                ask_types(self)
            if not self.state & EXPANDED:
                answer: Any = self.source.every(self.handle, wanted) if wanted.name else EXPAND
                if answer is EXPAND:
                    self._expand()
                else:
                    placed = answer
            self._found = self._found or {}
            known = self._found[wanted.each] = Repeats(wanted, placed)
        if known.seen is not self._last:
            known.follow(self._first)
        if self.state & LOOSE and not known and (other := other_case(wanted, self)) is not None:
            return self._repeats(other)
        return known

    def _touch(self) -> None:
        """Mark the way to the root as edited; a read-only tree refuses."""
        at: Element | None = self
        while at is not None and not at.state & EDITED:
            if at.state & READ_ONLY:
                raise BrokerError(2556, f"{self.name} is part of an input tree, which cannot be changed: copy it first")
            at = at.parent
        at = self
        while at is not None and not at.state & EDITED:
            if at.state & SHARES:
                at.source.take_over(at)
            at.state |= EDITED
            at = at.parent

    def _restructure(self) -> None:
        self._touch()
        if not self.state & EXPANDED:
            self._expand()
        self.state |= RESTRUCTURED

    def _placed_anew(self) -> None:
        """Before the content is replaced: the parent is edited, and cannot be patched where it lost the place."""
        parent = self.parent
        (self if parent is None else parent)._touch()
        if parent is not None:
            retype(parent, self)
            parent.state |= RESTRUCTURED if parent.state & EXPANDED else 0

"""Plain objects that stand for elements, a source over them, and a tree as a writer sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from engine.tree.element import Element
from engine.tree.sharing import appended_children, changed_children, written
from engine.tree.source import EXPAND, NAME, NAME_VALUE, VALUE, Source
from engine.tree.states import EDITED, EXPANDED, RESTRUCTURED, VALUED
from engine.tree.step import Step


@dataclass(eq=False)
class Plain:
    """An element as anyone would write it first: everything made, nothing shared."""

    name: str
    kind: int = NAME
    own: object = None
    children: list[Plain] = field(default_factory=list)
    parent: Plain | None = None
    valued: bool = False
    namespace: str = ""

    def __post_init__(self) -> None:
        for child in self.children:
            child.parent = self

    @property
    def lead(self) -> Plain | None:
        """The child that holds the element's value."""
        first = self.children[0] if self.children else None
        return first if self.own is None and first is not None and first.kind == VALUE else None

    @property
    def value(self) -> object:
        return self.own if self.lead is None else self.lead.value

    def set(self, value: object) -> None:
        if self.lead is not None:
            self.lead.set(value)
        else:
            self.own, self.valued = value, True

    @property
    def type(self) -> int:
        return NAME_VALUE if self.kind == NAME and self.valued else self.kind

    @property
    def root(self) -> Plain:
        return self if self.parent is None else self.parent.root

    def matching(self, wanted: Step) -> list[Plain]:
        return [child for child in self.children if wanted.matches(child)]

    def add(self, child: Plain, at: int | None = None) -> None:
        self.children.insert(len(self.children) if at is None else at, child)
        child.parent = self

    def detach(self) -> None:
        if self.parent is not None:
            self.parent.children.remove(self)
            self.parent = None

    def release(self) -> list[Plain]:
        released, self.children = self.children, []
        for child in released:
            child.parent = None
        return released

    def twin(self) -> Plain:
        children = [child.twin() for child in self.children]
        return Plain(self.name, self.kind, self.own, children, None, self.valued, self.namespace)

    def picture(self) -> tuple[Any, ...]:
        return self.name, self.namespace, self.type, self.value, tuple(child.picture() for child in self.children)


class Sample(Source):
    """Plain objects as a source that answers by name, or counts, or does neither."""

    __slots__ = ("counts", "names")

    def __init__(self, names: bool, counts: bool) -> None:
        self.names = names
        self.counts = counts

    def value(self, handle: Plain) -> object:
        return handle.value

    def children(self, handle: Plain) -> Iterable[Plain]:
        return handle.children

    def element(self, handle: Plain, parent: Element) -> Element:
        return Element(handle.name, handle.namespace, handle.kind, self, handle, parent)

    def first(self, handle: Plain, wanted: Step) -> Any:
        return next(iter(handle.matching(wanted)), None) if self.names else EXPAND

    def every(self, handle: Plain, wanted: Step) -> Any:
        return handle.matching(wanted) if self.counts else EXPAND


def described(element: Element) -> tuple[Any, ...]:
    """An element as a writer sees it: what its source has, and what is said to differ from that."""
    held = written(element)
    place = held.handle
    if isinstance(held.source, Sample) and not held.state & EDITED:
        children = place.picture()[-1]
    elif held.source is None or held.state & RESTRUCTURED:
        children = tuple(described(child) for child in held)
    else:
        changed = dict(changed_children(held))
        assert not changed.keys() - set(place.children)
        kept = [described(changed[p]) if p in changed else p.picture() for p in place.children]
        if kept and held.state & VALUED and not held.state & EXPANDED and place.children[0].kind == VALUE:
            kept[0] = (*kept[0][:3], held.value, *kept[0][4:])
        children = (*kept, *(described(child) for child in appended_children(held)))
    return element.name, element.namespace, element.type, element.value, children

"""Facts: folders whose fields are computed one by one when they are asked for, from what is known of a message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from engine.message.assembly import Received
from engine.tree.element import Element
from engine.tree.source import NAME_VALUE, Source, Value
from engine.tree.step import Step
from parsers.headers.layout import is_field

Table: TypeAlias = Mapping[str, Callable[[Received], Value]]


class Facts(Source):
    """The facts about a received message as a source; a handle is the name of a field, None the folder itself."""

    __slots__ = ("received", "table")

    def __init__(self, table: Table, received: Received) -> None:
        self.table = table
        self.received = received

    def value(self, handle: str | None) -> Value:
        return None if handle is None else self.table[handle](self.received)

    def children(self, handle: str | None) -> Iterable[str]:
        return self.table if handle is None else ()

    def element(self, handle: str, parent: Element) -> Element:
        return Element(handle, "", NAME_VALUE, self, handle, parent)

    def first(self, handle: str | None, wanted: Step) -> str | None:
        if handle is not None or not is_field(wanted):
            return None
        if wanted.name is None:
            return next(iter(self.table))
        return wanted.name if wanted.name in self.table else None

    def every(self, handle: str | None, wanted: Step) -> tuple[str, ...]:
        if handle is None and wanted.name is None and is_field(wanted):
            return tuple(self.table)
        found = self.first(handle, wanted)
        return () if found is None else (found,)

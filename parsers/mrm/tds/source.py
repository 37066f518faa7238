"""Text as the source of a tree: fields by their places, values read when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from engine.tree.element import Element
from engine.tree.source import NAME, NAME_VALUE, Handle, Source, Value
from parsers.mrm.tds.message_plan import Place
from parsers.mrm.tds.reading import Reading

if TYPE_CHECKING:
    from engine.parser import Portion
    from engine.tree.step import Step
    from parsers.mrm.tds.message_plan import Plans
    from parsers.mrm.tds.scanning import Coding

TOP = None
_FEW: Final = 8  # fields that are looked through for all of a name rather than put in order by their names
_MANY: Final = 64  # and these for the first of a name


class Text(Source):
    """One message that was read; a handle is a Place, or TOP for the message itself."""

    __slots__ = ("_by_name", "_reading", "coding", "fields", "plans")

    def __init__(self, plans: Plans, portion: Portion, coding: Coding) -> None:
        self.plans = plans
        self.coding = coding
        self._reading = Reading(plans, portion, coding)
        self.fields = self._reading.whole()
        self._by_name: dict[Handle, dict[str, list[Place]]] = {}

    def text(self, place: Place) -> str:
        """A field's text, as it was read."""
        return self._reading.text[place.start : place.end]

    def value(self, handle: Handle) -> Value:
        if handle is TOP or handle.children is not None:
            return None
        return self._reading.value(handle)

    def children(self, handle: Handle) -> Sequence[Place]:
        if handle is TOP:
            return self.fields
        places: list[Place] = handle.children or []
        return places

    def element(self, handle: Place, parent: Element) -> Element:
        namespace = "" if handle.plan is None else handle.plan.field.namespace
        type_ = NAME_VALUE if handle.children is None else NAME
        return Element(handle.name, namespace, type_, self, handle, parent)

    def first(self, handle: Handle, wanted: Step) -> Handle:
        places, name = self.children(handle), wanted.name
        for place in places if len(places) <= _MANY else self._called(handle, name):
            if place.name == name and _fits(place, wanted):
                return place
        return None

    def every(self, handle: Handle, wanted: Step) -> list[Place]:
        return [place for place in self._called(handle, wanted.name) if _fits(place, wanted)]

    def _called(self, handle: Handle, name: str | None) -> Sequence[Place]:
        places = self.children(handle)
        if len(places) <= _FEW:
            return [place for place in places if place.name == name]
        by_name = self._by_name.get(handle)
        if by_name is None:
            by_name = {}
            for place in places:
                by_name.setdefault(place.name, []).append(place)
            self._by_name[handle] = by_name  # last: another thread that finds it finds all of it
        return by_name.get(name or "", ())


def _fits(place: Place, wanted: Step) -> bool:
    """Returns whether a step to the name of a place leads to it."""
    namespace = "" if place.plan is None else place.plan.field.namespace
    if wanted.namespace is not None and wanted.namespace != namespace:
        return False
    type_ = NAME_VALUE if place.children is None else NAME
    return not wanted.types or any(type_ & mask == value for mask, value in wanted.types)

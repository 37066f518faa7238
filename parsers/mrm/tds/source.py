"""Text as the source of a tree: fields by their places, values read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

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


class Text(Source):
    """One message that was read; a handle is a Place, or TOP for the message itself."""

    __slots__ = ("_coding", "_reading", "fields", "plans")

    def __init__(self, plans: Plans, portion: Portion, coding: Coding) -> None:
        self.plans = plans
        self._coding = coding
        self._reading = Reading(plans, portion, coding)
        self.fields = self._reading.whole()

    def is_in(self, plans: Plans, coding: Coding) -> bool:
        """Returns whether text of that form can stand as it was read."""
        return self.plans is plans and self._coding is coding

    def text(self, place: Place) -> str:
        """A field's text, as it was read."""
        return self._reading.text[place.start : place.end]

    def value(self, handle: Handle) -> Value:
        if handle is TOP or handle.children is not None:
            return None
        return self._reading.value(handle)

    def children(self, handle: Handle) -> Iterable[Place]:
        if handle is TOP:
            return self.fields
        places: list[Place] = handle.children or []
        return places

    def element(self, handle: Place, parent: Element) -> Element:
        namespace = "" if handle.plan is None else handle.plan.field.namespace
        type_ = NAME_VALUE if handle.children is None else NAME
        return Element(handle.name, namespace, type_, self, handle, parent)

    def first(self, handle: Handle, wanted: Step) -> Handle:
        return next((place for place in self.children(handle) if _matches(place, wanted)), None)

    def every(self, handle: Handle, wanted: Step) -> list[Place]:
        return [place for place in self.children(handle) if _matches(place, wanted)]


def _matches(place: Place, wanted: Step) -> bool:
    if wanted.name is not None and wanted.name != place.name:
        return False
    namespace = "" if place.plan is None else place.plan.field.namespace
    if wanted.namespace is not None and wanted.namespace != namespace:
        return False
    type_ = NAME_VALUE if place.children is None else NAME
    return not wanted.types or any(type_ & mask == value for mask, value in wanted.types)

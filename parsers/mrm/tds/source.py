"""Text as the source of a tree: fields by their places, values read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.source import NAME, NAME_VALUE, Handle, Source, Value
from engine.tree import Element
from parsers.ccsid import encode
from parsers.mrm.tds.places import Place
from parsers.mrm.tds.reading import Reading

if TYPE_CHECKING:
    from engine.step import Step
    from parsers.mrm.tds.plan import Plans

TOP = None


class Text(Source):
    """One message that was read; a handle is a Place, or TOP for the message itself."""

    __slots__ = ("_ccsid", "_reading", "fields", "plans")

    def __init__(self, plans: Plans, text: str, ccsid: int, encoding: int) -> None:
        self.plans = plans
        self._ccsid = (ccsid, encoding)
        self._reading = Reading(plans, text, lambda characters: encode(characters, ccsid, encoding))
        self.fields = self._reading.whole()

    def is_in(self, plans: Plans, ccsid: int, encoding: int) -> bool:
        """Whether text of that form can stand as it was read."""
        return self.plans is plans and self._ccsid == (ccsid, encoding)

    def text(self, place: Place) -> str:
        """A field's text, as it was read."""
        return self._reading.text[place.start : place.end]

    def value(self, handle: Handle) -> Value:
        if handle is TOP or handle.children is not None:
            return None
        data = self._reading.data(handle)
        if handle.plan is None:
            return data
        spelling = handle.plan.spelling
        if spelling.is_binary:
            return encode(data, *self._ccsid, what=handle.name)
        value: Value = spelling.read(data, fixed=handle.fixed)
        return value

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

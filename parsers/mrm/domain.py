"""MRM: the parser of messages that message sets describe, whatever their wire format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.parser import Form, Parser, Portion, Template, parser
from engine.received import Part
from engine.sharing import written
from engine.source import NAME
from engine.tree import Element
from parsers.mrm.library import Library
from parsers.mrm.validation import validate

if TYPE_CHECKING:
    from engine.source import Handle, Source

_NO_SETS: Final = Library()
_VALIDATED: Final = frozenset({"content", "contentAndValue"})


@parser
class Mrm(Parser):
    """A body as the fields of a message; which message, of which set and in which format, its template says.

    The one in the catalogue knows no message sets; a deployment binds one that knows its own.
    """

    __slots__ = ("library",)
    name = "MRM"

    def __init__(self, library: Library = _NO_SETS) -> None:
        self.library = library

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        source, top = self.library.codec(portion.template).read(portion)
        if portion.options.validation in _VALIDATED:
            element = Element(self.name, "", NAME, source, top)
            element.domain = self
            self.validate(element, portion.template, values=portion.options.validation == "contentAndValue")
        return source, top

    def write(self, element: Element, form: Form) -> bytes:
        template = form.template
        if not any(template[1:]):
            source = written(element).source
            template = source.portion.template if isinstance(source, Part) else template
        return self.library.codec(template).write(element, form)

    def validate(self, element: Element, template: Template, *, values: bool) -> None:
        validate(element, self.library.definition(template), values=values)

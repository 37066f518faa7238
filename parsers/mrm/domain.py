"""MRM: the parser of messages that message sets describe, whatever their wire format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.message.assembly import Part
from engine.message.validation import Validation
from engine.message.validation import validate as validate_as_asked
from engine.parser import Form, Parser, Portion, Template, parser
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import NAME
from parsers.mrm.library import Library
from parsers.mrm.validation import validate

if TYPE_CHECKING:
    from engine.tree.source import Handle, Source

_NO_SETS: Final = Library()


@parser
class Mrm(Parser):
    """A body as the fields of a message; which message, of which set and in which format, its template says.

    The one in the catalogue knows no message sets; a deployment binds one that knows its own.
    """

    __slots__ = ("library",)
    name = "MRM"
    has_models = True

    def __init__(self, library: Library = _NO_SETS) -> None:
        self.library = library

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        source, top = self.library.codec(portion.template).read(portion)
        wanted = portion.options.validation
        if wanted != "none":
            element = Element(self.name, "", NAME, source, top)
            element.domain = self
            validate_as_asked(self, element, portion.template, Validation(wanted, portion.options.action))
        return source, top

    def write(self, element: Element, form: Form) -> bytes:
        return self.library.codec(_known(form.template, element)).write(element, form)

    def validate(self, element: Element, template: Template, *, values: bool) -> None:
        validate(element, self.library.definition(_known(template, element)), values=values)


def _known(template: Template, element: Element) -> Template:
    """The template, or where it says nothing, that by which the element was read."""
    source = written(element).source if not any(template[1:]) else None
    return source.portion.template if isinstance(source, Part) else template

"""Domain: what the three XML parsers have in common, from a portion to a document and from a body to bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.parser import Form, Parser, Portion
from engine.received import Part
from engine.sharing import written
from engine.source import Handle, Source
from parsers.ccsid import codec
from parsers.markup.document import TOP, Document
from parsers.markup.flavour import Flavour
from parsers.markup.prolog import read_prolog
from parsers.markup.reading import read_document
from parsers.markup.writing import Writer

if TYPE_CHECKING:
    from engine.tree import Element

_BLANK: Final = b" \t\r\n\0"


class Nothing(Source):
    """The source of a body without a document."""

    __slots__ = ()

    def value(self, handle: Handle) -> None:
        return None

    def children(self, handle: Handle) -> tuple[()]:
        return ()


_NOTHING: Final = Nothing()


def read_markup(portion: Portion, flavour: Flavour) -> tuple[Source, Handle]:
    """Read a document lazily; a body of nothing but blanks has no document."""
    if portion.end - portion.start < 8 and not portion.bytes.strip(_BLANK):
        return _NOTHING, None
    root, data = read_document(portion, flavour.keep)
    return Document(root, data, flavour, read_prolog(data)), TOP


def write_markup(element: Element, form: Form, flavour: Flavour) -> bytes:
    """The bytes of a document; characters that the CCSID lacks are written as references."""
    info = codec(form.ccsid, form.encoding)
    held = written(element)
    part = held.source
    recoded = isinstance(part, Part) and part.portion.follow.ccsid != form.ccsid
    text = Writer(flavour, form.ccsid).body(element, _iana(info.name) if recoded else "")
    return info.encode(text, "xmlcharrefreplace")[0]


def _iana(name: str) -> str:
    """The name by which an XML declaration calls a codec."""
    if name.startswith("cp125"):
        return f"windows-{name[2:]}"
    return f"IBM{name[2:]}" if name.startswith("cp") else name.upper().replace("ISO8859", "ISO-8859")


class Markup(Parser):
    """A parser of one flavour."""

    __slots__ = ()
    flavour: Flavour

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return read_markup(portion, self.flavour)

    def write(self, element: Element, form: Form) -> bytes:
        return write_markup(element, form, self.flavour)

"""XML, XMLNS and XMLNSC: the domains of XML documents, from a portion to a lazy document and from a body to bytes."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from engine.errors import ParserException
from engine.message.assembly import Part
from engine.parser import Form, Options, Parser, Portion, parser
from engine.tree.sharing import written
from engine.tree.source import Handle, Source
from engine.tree.states import SHARES
from parsers.charsets.ccsid import codec, with_ccsid
from parsers.markup import element_types
from parsers.markup.document import TOP, Document
from parsers.markup.element_types import Flavour
from parsers.markup.prolog import read_prolog
from parsers.markup.reading import read_document
from parsers.markup.text import encode, name_of_codec
from parsers.markup.without_namespaces import read_unspaced
from parsers.markup.writing import Writer, with_one_value

if TYPE_CHECKING:
    from engine.parser import Portion
    from engine.tree.element import Element
    from engine.tree.source import Handle, Source


class Nothing(Source):
    """The source of a body without a document."""

    __slots__ = ()

    def value(self, handle: Handle) -> None:
        return None

    def children(self, handle: Handle) -> tuple[()]:
        return ()


_NOTHING: Final = Nothing()
_MARKING: Final = frozenset({"utf-16", "utf-32"})  # codecs that write a byte order mark themselves


def read_markup(portion: Portion, flavour: Flavour) -> tuple[Source, Handle]:
    """Read a document lazily; a body of nothing but blanks has no document."""
    try:
        read = read_document(portion, flavour.keep, spaces=flavour.spaces)
    except ParserException as error:
        unspaced = None if flavour.spaces else read_unspaced(portion, error)
        if unspaced is not None:
            return unspaced
        told = with_ccsid(error, portion, "<")
        raise told from told.__cause__
    if read is None:
        return _NOTHING, None
    return Document(read, flavour, read_prolog(read[1], read[2])), TOP


class Markup(Parser):
    """A parser of one flavour."""

    __slots__ = ()
    may_be_empty = False
    flavour: Flavour

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return read_markup(portion, self.flavour)

    def write(self, element: Element, form: Form) -> bytes:
        """The bytes of a document; characters that the CCSID lacks are written as references.

        A declaration that was read names the new encoding where the document is written in another CCSID; it is left
        alone otherwise, whatever it says, and so is one that the flow has written.
        """
        info = codec(form.ccsid, form.encoding)
        held = written(element) if element.state & SHARES else element
        part, document, encoding = held.source, None, ""
        if part.__class__ is Part:
            content = part.source or part.content
            if content.__class__ is Document and content.flavour.compact == self.flavour.compact:
                document = content
            if part.portion.follow.ccsid != form.ccsid:
                encoding = name_of_codec(info.name)
        data = None if document is None or encoding else with_one_value(document, held)
        if document is None or data is None:
            text = Writer(self.flavour, form.ccsid, encoding).body(held, document)
        elif document.encoding == info.name:
            return data
        else:
            text = data.decode(document.encoding)
        if encoding or info.name in _MARKING:
            text = text.removeprefix("\ufeff")
        return encode(text, info, form.ccsid)


@parser
class Xml(Markup):
    """The generic XML domain: a prefix is part of a name, and everything in a document shows."""

    __slots__ = ()
    name = "XML"
    type_names = element_types.GENERIC_NAMES
    constants = element_types.GENERIC_CONSTANTS
    valued_type = element_types.ELEMENT
    beside = element_types.GENERIC_BESIDE
    flavour = element_types.XML


@parser
class Xmlns(Markup):
    """Reads and writes XML with namespaces."""

    __slots__ = ()
    name = "XMLNS"
    type_names = element_types.GENERIC_NAMES
    constants = element_types.GENERIC_CONSTANTS
    valued_type = element_types.ELEMENT
    beside = element_types.GENERIC_BESIDE
    flavour = element_types.XMLNS


@lru_cache(maxsize=8)
def _flavour(options: Options) -> Flavour:
    return element_types.compact_flavour(
        mixed=options.retain_mixed_content,
        comments=options.retain_comments,
        instructions=options.retain_processing_instructions,
    )


@parser
class Xmlnsc(Markup):
    """The compact XML domain: text is folded into fields, and only what carries data is kept unless asked for."""

    __slots__ = ()
    name = "XMLNSC"
    type_names = element_types.COMPACT_NAMES
    constants = element_types.COMPACT_CONSTANTS
    accepted = element_types.COMPACT_ACCEPTED
    lends = ("SOAP",)
    valued_type = element_types.FIELD
    beside = element_types.COMPACT_BESIDE
    flavour = element_types.XMLNSC

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return read_markup(portion, _flavour(portion.options))

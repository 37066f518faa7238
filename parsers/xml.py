"""XML: the generic XML domain, in which a prefix is part of a name and everything in a document shows."""

from __future__ import annotations

from engine.parser import parser
from parsers.markup import flavour, kinds
from parsers.markup.domain import Markup


@parser
class Xml(Markup):
    """Reads and writes generic XML."""

    __slots__ = ()
    name = "XML"
    type_names = kinds.GENERIC_NAMES
    valued_type = kinds.ELEMENT
    beside = kinds.GENERIC_BESIDE
    flavour = flavour.XML

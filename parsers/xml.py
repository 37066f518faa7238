"""XML: the generic XML domain, in which a prefix is part of a name and everything in a document shows."""

from __future__ import annotations

from engine.parser import parser
from parsers.markup import element_types, flavour
from parsers.markup.domain import Markup


@parser
class Xml(Markup):
    """Reads and writes generic XML."""

    __slots__ = ()
    name = "XML"
    type_names = element_types.GENERIC_NAMES
    constants = element_types.GENERIC_CONSTANTS
    valued_type = element_types.ELEMENT
    beside = element_types.GENERIC_BESIDE
    flavour = flavour.XML

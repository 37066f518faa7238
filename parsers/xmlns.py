"""XMLNS: the XML domain that knows namespaces, in which everything in a document shows."""

from __future__ import annotations

from engine.parser import parser
from parsers.markup import element_types, flavour
from parsers.markup.domain import Markup


@parser
class Xmlns(Markup):
    """Reads and writes XML with namespaces."""

    __slots__ = ()
    name = "XMLNS"
    type_names = element_types.GENERIC_NAMES
    constants = element_types.GENERIC_CONSTANTS
    valued_type = element_types.ELEMENT
    beside = element_types.GENERIC_BESIDE
    flavour = flavour.XMLNS

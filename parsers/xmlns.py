"""XMLNS: the XML domain that knows namespaces, in which everything in a document shows."""

from __future__ import annotations

from engine.parser import parser
from parsers.markup import flavour, kinds
from parsers.markup.domain import Markup


@parser
class Xmlns(Markup):
    """Reads and writes XML with namespaces."""

    __slots__ = ()
    name = "XMLNS"
    type_names = kinds.GENERIC_NAMES
    valued_type = kinds.ELEMENT
    beside = kinds.GENERIC_BESIDE
    flavour = flavour.XMLNS

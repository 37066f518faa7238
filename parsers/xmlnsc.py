"""XMLNSC: the compact XML domain: text is folded into fields, and only what carries data is kept unless asked for."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from engine.parser import Options, parser
from parsers.markup import element_types, flavour
from parsers.markup.domain import Markup, read_markup

if TYPE_CHECKING:
    from engine.parser import Portion
    from engine.tree.source import Handle, Source


@lru_cache(maxsize=8)
def _flavour(options: Options) -> flavour.Flavour:
    return flavour.compact(
        mixed=options.retain_mixed_content,
        comments=options.retain_comments,
        instructions=options.retain_processing_instructions,
    )


@parser
class Xmlnsc(Markup):
    """Reads and writes XML with namespaces, compactly."""

    __slots__ = ()
    name = "XMLNSC"
    type_names = element_types.COMPACT_NAMES
    constants = element_types.COMPACT_CONSTANTS
    accepted = element_types.COMPACT_ACCEPTED
    lends = ("SOAP",)
    valued_type = element_types.FIELD
    beside = element_types.COMPACT_BESIDE
    flavour = flavour.XMLNSC

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return read_markup(portion, _flavour(portion.options))

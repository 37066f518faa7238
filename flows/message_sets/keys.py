"""Keys of the tables of a message-set file: the declarations that its reader, writer and schema share."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Final, get_args

from engine.node import Property, camel_case, properties_of
from parsers.mrm.model import Composition, Content, Interpretation, Kind, SimpleType
from parsers.mrm.wire_format import WireFormat, wire_format_catalog

SET: Final = ("messageSet", "identifier", "documentation", "defaultFormat", "formats", "types", "messages")
GROUP: Final = ("composition", "content", "members", "documentation", "physical")
INLINE: Final = ("composition", "content", "members", "groupPhysical")  # the group of one field or message
MESSAGE: Final = ("type", "namespace", "documentation", "physical", *INLINE)
FACETS: Final = {camel_case(facet.name): facet.name for facet in fields(SimpleType) if facet.name != "kind"}
COUNTS: Final = frozenset({"length", "minLength", "maxLength", "totalDigits", "fractionDigits"})
OCCURS: Final = ("minOccurs", "maxOccurs", "repeatReference")
VALUES: Final = ("default", "fixed", "nullable", "interpretValueAs")
FIELD: Final = ("field", "type", "namespace", *OCCURS, *VALUES, *FACETS, "documentation", "physical", *INLINE)
INNER: Final = ("group", "content", "members", "documentation", "physical")

KINDS: Final[tuple[str, ...]] = get_args(Kind)
COMPOSITIONS: Final[tuple[str, ...]] = get_args(Composition)
CONTENTS: Final[tuple[str, ...]] = get_args(Content)
INTERPRETATIONS: Final[tuple[str, ...]] = get_args(Interpretation)
UNBOUNDED_WORD: Final = "unbounded"


@lru_cache(maxsize=64)
def declared(kind: str, owner: str) -> tuple[type | None, tuple[Property, ...]]:
    """The dataclass in which a kind of wire format keeps what it says of an owner, and its properties.

    >>> made, properties = declared("CWF", "field")
    >>> made.__name__, properties[1].name
    ('CwfField', 'length')
    """
    wire_format: WireFormat = wire_format_catalog.find(kind)
    made: type | None = getattr(wire_format, owner)
    return made, () if made is None else properties_of(made)

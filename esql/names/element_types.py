"""The constants for types of elements, such as XMLNSC.Attribute: their numbers, and what a path means by them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.parser import parser_catalog
from engine.tree.source import KIND, NAME, NAME_VALUE, VALUE
from engine.tree.step import Types

_GENERIC: Final = MappingProxyType({"Name": NAME, "Value": VALUE, "NameValue": NAME_VALUE})
_EXACT: Final = 0xFFFFFFFF
_QUOTES: Final = 0xFFFFFF8E  # the last bit says which quotes an attribute was written in, and these how its value was
_HOWEVER: Final = 0xFFFFFF8C  # these bits say how a text was written: plain, as CDATA, as both, in a form of XML Schema

# Options of PARSE that say what of a document is kept; those that keep nothing are 0.
RETAIN_MIXED: Final = 1 << 20
RETAIN_COMMENTS: Final = 1 << 21
RETAIN_INSTRUCTIONS: Final = 1 << 22

# Other names for types that a domain calls by one.
_SYNONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tag": "Element",
        "attr": "Attribute",
        "pcdata": "Content",
        "Field": "PCDataField",
        "Value": "PCDataValue",
        "DoubleAttribute": "Attribute",
        "DoubleNamespaceDecl": "NamespaceDecl",
        "DoubleEntityDefinition": "EntityDefinition",
        "AsIsElementContent": "AsisElementContent",
        "MixedContent": "PCDataValue",
        "NameSpaceDecl": "NamespaceDecl",
        "EntityReference": "EntityReferenceStart",
        "Element": "Folder",
    }
)
_MASKS: Final[Mapping[str, int]] = MappingProxyType(
    {
        **dict.fromkeys(("Attribute", "NamespaceDecl", "NameSpaceDecl", "EntityDefinition"), _QUOTES),
        **dict.fromkeys(("Field", "Value"), _HOWEVER),
    }
)
_OF: Final[Mapping[str, str]] = MappingProxyType({"SOAP": "XMLNSC"})  # whose constants these domains have
_OWN: Final[Mapping[tuple[str, str], int]] = MappingProxyType(
    {
        ("JSON", "Object"): 0x01000000,
        ("JSON", "Array"): 0x01001000,
        ("MQRFH2", "Field"): NAME_VALUE,
        ("MQRFH", "Field"): NAME_VALUE,
        ("XMLNSC", "gYear"): 0x10,  # what stands beside a type, as base64Binary does
        ("XMLNSC", "gMonth"): 0x20,
        ("XMLNSC", "gDay"): 0x30,
        ("XMLNSC", "gYearMonth"): 0x40,
        ("XMLNSC", "gMonthDay"): 0x50,
        ("XMLNSC", "MixedContentRetainAll"): RETAIN_MIXED,
        ("XMLNSC", "MixedContentRetainNone"): 0,
        ("XMLNSC", "CommentsRetainAll"): RETAIN_COMMENTS,
        ("XMLNSC", "CommentsRetainNone"): 0,
        ("XMLNSC", "ProcessingInstructionsRetainAll"): RETAIN_INSTRUCTIONS,
        ("XMLNSC", "ProcessingInstructionsRetainNone"): 0,
    }
)


def element_type(domain: str, name: str) -> int | None:
    """The number of a constant; None where the domain, or the type in it, is not known here.

    >>> element_type("", "NameValue") == NAME_VALUE
    True
    """
    if not domain:
        return _GENERIC.get(name)
    domain = _OF.get(domain, domain)
    own = _OWN.get((domain, name))
    parser = parser_catalog.get(domain)
    if own is not None or parser is None:
        return own
    numbers = {title: number for number, title in parser.type_names.items()}
    return numbers.get(name, numbers.get(_SYNONYMS.get(name, "")))


def types_of_constant(domain: str, name: str) -> Types | None:
    """What a type clause with this constant accepts: a kind of element for the plain ones, both ways to quote.

    XMLNSC.Field and XMLNSC.Value are text however it was written; XMLNSC.Element is any element, with text or without.
    """
    number = element_type(domain, name)
    if number is None:
        return None
    if not domain:
        return ((KIND, number),)
    if _OF.get(domain, domain) != "XMLNSC":
        return ((_EXACT, number),)
    if name == "Element":
        return ((_EXACT, number), (_HOWEVER, NAME_VALUE))
    return ((_MASKS.get(name, _EXACT), number),)


def types_of_number(number: int) -> Types:
    """What a type clause with a number accepts, where it was computed at run time.

    >>> types_of_number(NAME) == ((KIND, NAME),)
    True
    """
    if number & ~KIND == 0:
        return ((KIND, number),)
    return ((_EXACT, number),)

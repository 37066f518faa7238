"""The constants for types of elements, such as XMLNSC.Attribute: their numbers, and what a path means by them.

They stand on the parsers that own them; those without a domain are of this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.parser import parser_catalog
from engine.tree.source import KIND, NAME, NAME_VALUE, VALUE, Domain
from engine.tree.step import Types

PLAIN: Final[Mapping[str, int]] = MappingProxyType({"Name": NAME, "Value": VALUE, "NameValue": NAME_VALUE})
_EXACT: Final = 0xFFFFFFFF


def owner(prefix: str) -> Domain | None:
    """Returns the parser whose constants stand behind a prefix, in whatever case that is written.

    >>> owner("soap").name
    'XMLNSC'
    """
    folded = prefix.upper()
    for name in parser_catalog:
        parser = parser_catalog.find(name)
        if parser.constants and folded in {known.upper() for known in (name, *parser.lends)}:
            return parser
    return None


def constants(domain: str) -> Mapping[str, int]:
    """Returns the constants of a domain, or those that stand alone: none where no parser has any of that name."""
    found = owner(domain) if domain else None
    return PLAIN if not domain else {} if found is None else found.constants


def element_type(domain: str, name: str) -> int | None:
    """The number of a constant; None where the domain, or the type in it, is not known here.

    >>> element_type("", "NameValue") == NAME_VALUE
    True
    """
    return constants(domain).get(name)


def types_of_constant(domain: str, name: str) -> Types | None:
    """Returns the types that a clause with this constant accepts: a kind for plain ones, else as its parser says."""
    number = element_type(domain, name)
    if number is None:
        return None
    if not domain:
        return ((KIND, number),)
    found = owner(domain)
    return ((_EXACT, number),) if found is None else found.accepted.get(name, ((_EXACT, number),))


def types_of_number(number: int) -> Types:
    """Returns what a type clause with a number accepts, where it was computed at run time.

    >>> types_of_number(NAME) == ((KIND, NAME),)
    True
    """
    if number & ~KIND == 0:
        return ((KIND, number),)
    return ((_EXACT, number),)

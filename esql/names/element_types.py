"""The constants for types of elements, such as XMLNSC.Attribute: their numbers, and what a path means by them.

They stand on the parsers that own them; those without a domain are of this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from engine.parser import parser_catalog
from engine.tree.source import KIND, NAME, NAME_VALUE, VALUE, Domain
from engine.tree.step import Types

PLAIN: Final[Mapping[str, int]] = MappingProxyType({"Name": NAME, "Value": VALUE, "NameValue": NAME_VALUE})
_EXACT: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class ElementType:
    """A constant for the type of an element, such as XMLNSC.Attribute; Name, Value and NameValue have no domain."""

    domain: str
    name: str

    @property
    def number(self) -> int:
        """The number that it stands for."""
        return constants(self.domain)[self.name]

    @property
    def types(self) -> Types:
        """The types that a path with it accepts: a kind for plain ones, else as its parser says."""
        exact = ((_EXACT if self.domain else KIND, self.number),)
        parser = owner(self.domain) if self.domain else None
        return exact if parser is None else parser.accepted.get(self.name, exact)


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


def element_type(domain: str, name: str) -> ElementType | None:
    """The constant of a name, in whatever case it is written; None where the domain has none of that name.

    >>> element_type("", "namevalue").number == NAME_VALUE
    True
    """
    title = next((known for known in constants(domain) if known.lower() == name.lower()), None)
    return None if title is None else ElementType(domain.upper(), title)


def types_of_number(number: int) -> Types:
    """Returns what a type clause with a number accepts, where it was computed at run time.

    >>> types_of_number(NAME) == ((KIND, NAME),)
    True
    """
    return ((_EXACT if number & ~KIND else KIND, number),)

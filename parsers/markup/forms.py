"""Forms: the values of XMLNSC in the forms of XML Schema that the types of elements and attributes ask for."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Final

from parsers.markup import kinds
from parsers.markup.text import text_of

if TYPE_CHECKING:
    from engine.source import Value
    from engine.tree import Element
    from parsers.markup.flavour import Flavour

_DATES: Final[dict[int, Callable[[str], str]]] = {
    kinds.G_YEAR: lambda day: day[:4],
    kinds.G_MONTH: lambda day: f"--{day[5:7]}",
    kinds.G_DAY: lambda day: f"---{day[8:]}",
    kinds.G_YEAR_MONTH: lambda day: day[:7],
    kinds.G_MONTH_DAY: lambda day: f"--{day[5:]}",
}


def formed(element: Element, value: Value, flavour: Flavour) -> str:
    """A value in the form that the type of its element asks for, or as the domain writes such values."""
    if flavour.compact and (form := element._type & kinds.FORM):
        if form == kinds.BASE64 and value.__class__ is bytes:
            return b64encode(value).decode("ascii")
        if form in _DATES and value.__class__ is date:
            return _DATES[form](value.isoformat())
    return text_of(value, compact=flavour.compact)

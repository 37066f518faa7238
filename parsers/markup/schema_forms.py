"""Forms: the values of XMLNSC in the forms of XML Schema that the types of elements and attributes ask for."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Final

from parsers.markup import element_types
from parsers.markup.text import text_of

if TYPE_CHECKING:
    from engine.tree.element import Element
    from engine.tree.source import Value
    from parsers.markup.flavour import Flavour

_DATES: Final[dict[int, Callable[[str], str]]] = {
    element_types.G_YEAR: lambda day: day[:4],
    element_types.G_MONTH: lambda day: f"--{day[5:7]}",
    element_types.G_DAY: lambda day: f"---{day[8:]}",
    element_types.G_YEAR_MONTH: lambda day: day[:7],
    element_types.G_MONTH_DAY: lambda day: f"--{day[5:]}",
}


def formed(element: Element, value: Value, flavour: Flavour) -> str:
    """A value in the form that the type of its element asks for, or as the domain writes such values."""
    if flavour.compact and (form := element._type & element_types.FORM):
        if form == element_types.BASE64 and value.__class__ is bytes:
            return b64encode(value).decode("ascii")
        if form in _DATES and value.__class__ is date:
            return _DATES[form](value.isoformat())
    return text_of(value, compact=flavour.compact)

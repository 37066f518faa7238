"""Markup: elements of a page, whose texts are never taken for markup, written as HTML that is XML as well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from lxml import etree

Element: TypeAlias = etree._Element
Content: TypeAlias = str | Element
Attributes: TypeAlias = Mapping[str, str | int | float]

_VOID: Final = frozenset({"br", "link", "meta", "path", "circle", "rect", "line", "polyline"})
_NONE: Final[Attributes] = {}


def element(name: str, attributes: Attributes = _NONE, *contents: Content) -> Element:
    """An element with its attributes and what stands in it.

    >>> etree.tostring(element("td", {"class": "n", "colspan": 2}, "a < b ", element("b", {}, "c")))
    b'<td class="n" colspan="2">a &lt; b <b>c</b></td>'
    """
    made = etree.Element(name, {key: _clean(_written(value)) for key, value in attributes.items()})
    if name not in _VOID:
        made.text = ""  # an end tag, without which a browser reads on into it
    last: Element | None = None
    for content in contents:
        if not isinstance(content, str):
            made.append(content)
            last = content
        elif last is None:
            made.text = (made.text or "") + _clean(content)
        else:
            last.tail = (last.tail or "") + _clean(content)
    return made


def scrolled(label: str, *contents: Content) -> Element:
    """A part that is wider than a narrow window: it scrolls by itself, with the keyboard too."""
    return element("div", {"class": "scroll", "tabindex": 0, "role": "region", "aria-label": label}, *contents)


def table(caption: str, heads: Iterable[Element], bodies: Iterable[Element], *, kind: str = "") -> Element:
    """A table with its caption, rows of heads, and bodies, in a part that scrolls."""
    parts = [element("caption", {}, element("span", {}, caption)), element("thead", {}, *heads), *bodies]
    return scrolled(caption, element("table", {"class": kind} if kind else {}, *parts))


def head_row(*names: str, texts: int = 1) -> Element:
    """A row of heads, the first `texts` of which stand over words and the others over figures."""
    cells = (
        element("th", {"scope": "col"} if place < texts else {"scope": "col", "class": "n"}, name)
        for place, name in enumerate(names)
    )
    return element("tr", {}, *cells)


def row(head: Content, *cells: Content, texts: int = 0, kind: str = "") -> Element:
    """A row: its head, cells of words, then cells of figures."""
    first = element("th", {"scope": "row"}, head)
    others = (element("td", {} if place < texts else {"class": "n"}, cell) for place, cell in enumerate(cells))
    return element("tr", {"class": kind} if kind else {}, first, *others)


def body(rows: Sequence[Element]) -> Element:
    """Rows as the body of a table."""
    return element("tbody", {}, *rows)


def written(page: Element) -> str:
    """The whole page as text."""
    return "<!DOCTYPE html>\n" + etree.tostring(page, encoding="unicode") + "\n"


def _written(value: str | float) -> str:
    return value if isinstance(value, str) else f"{round(value, 2):g}" if isinstance(value, float) else str(value)


def _clean(text: str) -> str:
    """A text without what XML cannot hold, and without what turns the order of letters about."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)

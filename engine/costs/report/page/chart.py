"""Charts: the frame of a picture, its legend, and the marks that stand for the systems compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from engine.costs.report.page.markup import Attributes, Content, Element, element, scrolled

Shape: TypeAlias = str

LETTER: Final = 6.6  # how wide a letter of a chart's text is, about, with some room
_RADIUS: Final = 5.0
_SMALL: Final = 400  # as wide as charts that may grow with their window


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a legend: a mark, if it has one, how it is coloured, and what it stands for."""

    shape: Shape
    colour: str
    text: str


OURS: Final = Entry("disc", "ours", "ours")
REPORT: Final = Entry("diamond", "report", "the report, 2002")
BY_HAND: Final = Entry("tick", "hand", "by hand, here")
SPARK: Final = Entry("square", "spark", "ours on Spark")


def picture(name: str, about: str, width: float, height: float, contents: Sequence[Content]) -> Element:
    """A picture with a name and a description that are read out where it cannot be seen."""
    frame: Attributes = {"viewBox": f"0 0 {width:g} {height:g}", "role": "img", "aria-label": f"{name}. {about}"}
    size: Attributes = {"width": width, "height": height}
    if width > _SMALL:
        size = {**size, "style": f"max-width:{width:g}px"}
    return element("svg", {**frame, **size}, element("title", {}, name), element("desc", {}, about), *contents)


def figure_with(caption: str, *drawn: Element) -> Element:
    """Pictures side by side where there is room, and what is said below them."""
    panels = element(
        "div",
        {"class": "panels two" if len(drawn) == 2 else "panels"},
        *(scrolled(each.get("aria-label", ""), each) for each in drawn),
    )
    return element("figure", {}, panels, element("figcaption", {}, caption))


def small_multiples(charts: Sequence[tuple[str, Element]]) -> Element:
    """Small charts alike, each below its name."""
    figures = (element("figure", {}, element("figcaption", {}, name), drawn) for name, drawn in charts)
    return element("div", {"class": "small"}, *figures)


def legend_line(entries: Sequence[Entry]) -> Element:
    """A legend above charts that share it."""
    parts = []
    for entry in entries:
        frame: Attributes = {"viewBox": "0 0 30 14", "width": 30, "height": 14, "aria-hidden": "true"}
        course = line(0, 7, 30, 7, f"course {entry.colour}")
        marks = [mark(entry.shape, entry.colour, 15, 7)] if entry.shape else []
        drawn = element("svg", frame, course, *marks)
        parts.append(element("span", {}, drawn, f" {entry.text}"))
    return element("p", {"class": "keys"}, *parts)


def text(x: float, y: float, words: str, *, kind: str = "", anchor: str = "start") -> Element:
    """Words in a picture."""
    found: dict[str, str | float] = {"x": x, "y": y}
    if kind:
        found["class"] = kind
    if anchor != "start":
        found["text-anchor"] = anchor
    return element("text", found, words)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Element:
    """A straight line."""
    return element("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": kind})


def mark(shape: Shape, colour: str, x: float, y: float, tip: str = "") -> Element:
    """A mark at a place; `tip` is shown where a pointer rests on it."""
    drawn = _SHAPES[shape](x, y)
    drawn.set("class", f"{'point ' if tip else ''}{colour} {shape}")
    if tip:
        drawn.append(element("title", {}, tip))
    return drawn


def legend(x: float, y: float, entries: Sequence[Entry]) -> list[Element]:
    """Entries in a row, from a place on."""
    found: list[Element] = []
    for entry in entries:
        found += [mark(entry.shape, entry.colour, x + _RADIUS, y - 4), text(x + 16, y, entry.text, kind="key")]
        x += 16 + LETTER * len(entry.text) + 18
    return found


def _disc(x: float, y: float) -> Element:
    return element("circle", {"cx": x, "cy": y, "r": _RADIUS})


def _square(x: float, y: float) -> Element:
    return element("rect", {"x": x - 4.5, "y": y - 4.5, "width": 9, "height": 9})


def _diamond(x: float, y: float) -> Element:
    return element("path", {"d": f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z"})


def _triangle(x: float, y: float) -> Element:
    return element("path", {"d": f"M{x:.1f} {y - 6:.1f}l5.8 10h-11.6z"})


def _tick(x: float, y: float) -> Element:
    return element("path", {"d": f"M{x:.1f} {y - 7:.1f}v14"})


_SHAPES: Final[Mapping[Shape, Callable[[float, float], Element]]] = MappingProxyType(
    {"disc": _disc, "square": _square, "diamond": _diamond, "triangle": _triangle, "tick": _tick}
)

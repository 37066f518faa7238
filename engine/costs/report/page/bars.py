"""Bars: what a whole is made of, each row's parts as shares of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.costs.report.page.chart import LETTER, line, picture, text
from engine.costs.report.page.markup import Element, element
from engine.costs.report.wording import figure

WIDTH: Final = 1000
_ROW: Final = 26
_BAR: Final = 18
_BOTTOM: Final = 44
_NOTES: Final = 90
COLOURS: Final = 7  # that parts have; the last is for all others
REST: Final = "around the nodes"  # has a colour of its own


@dataclass(frozen=True, slots=True)
class Bar:
    """A row: what it is called, and its parts with their names."""

    label: str
    parts: tuple[tuple[str, float], ...]

    @property
    def whole(self) -> float:
        """All parts together."""
        return sum(value for _, value in self.parts)


def bars(name: str, about: str, unit: str, rows: Sequence[Bar]) -> Element:
    """The chart; the colour of a part goes by its name."""
    colours = part_colours(rows)
    left = max([60.0, *(LETTER * len(row.label) + 16 for row in rows)])
    right = WIDTH - _NOTES
    key, top = _key(colours)
    height = top + _ROW * len(rows) + _BOTTOM
    contents = [*key]
    for share in range(0, 101, 25):
        x = left + (right - left) * share / 100
        contents.append(line(x, top - 4, x, height - _BOTTOM + 4, "grid"))
        contents.append(text(x, height - _BOTTOM + 18, f"{share} %", kind="tick", anchor="middle"))
    contents.append(text((left + right) / 2, height - 6, "share of a message's CPU", kind="axis", anchor="middle"))
    for number, row in enumerate(rows):
        contents += _drawn(row, left, right, top + _ROW * number, colours)
        note = f"{figure(row.whole)} {unit}"
        contents.append(text(WIDTH - 6, top + _ROW * number + 17, note, kind="note", anchor="end"))
    return picture(name, about, WIDTH, height, contents)


def part_colours(rows: Sequence[Bar]) -> Mapping[str, int]:
    """A number for the colour of each name, those in most rows first; of more than colours, the others share one."""
    counts = Counter(name for row in rows for name, _ in row.parts)
    shares: dict[str, float] = {}
    for row in rows:
        for name, value in row.parts:
            shares[name] = shares.get(name, 0) + (value / row.whole if row.whole else 0)
    first = sorted((name for name in counts if name != REST), key=lambda name: (-counts[name], -shares[name]))
    colours = {name: min(place, COLOURS - 1) for place, name in enumerate(first)}
    return {**colours, REST: COLOURS} if REST in counts else colours


def _key(colours: Mapping[str, int]) -> tuple[list[Element], float]:
    """The legend, in as many lines as it needs, and where the rows begin below it."""
    entries = [(name, colour) for name, colour in colours.items() if colour < COLOURS - 1]
    others = [name for name, colour in colours.items() if colour == COLOURS - 1]
    entries += [(others[0] if len(others) == 1 else f"{len(others)} other nodes", COLOURS - 1)] if others else []
    entries += [(REST, COLOURS)] if REST in colours else []
    found: list[Element] = []
    x, y = 8.0, 8.0
    for name, colour in entries:
        needed = 20 + LETTER * len(name) + 16
        if x + needed > WIDTH and x > 8:
            x, y = 8.0, y + 20
        found.append(element("rect", {"x": x, "y": y, "width": 12, "height": 12, "class": f"part p{colour}"}))
        found.append(text(x + 18, y + 11, name, kind="key"))
        x += needed
    return found, y + 32


def _drawn(row: Bar, left: float, right: float, top: float, colours: Mapping[str, int]) -> Iterator[Element]:
    yield text(left - 10, top + 17, row.label, kind="label", anchor="end")
    x, y = left, top + (_ROW - _BAR) / 2
    for name, value in row.parts:
        width = (right - left) * value / row.whole if row.whole else 0
        share = f"{value / row.whole:.0%}" if row.whole else ""
        tip = element("title", {}, f"{row.label}, {name}: {figure(value)} ms, {share}")
        frame = {"x": x, "y": y, "width": round(width, 2), "height": _BAR}
        yield element("rect", {**frame, "class": f"part p{colours[name]}"}, tip)
        if width > LETTER * len(name) + 8:
            yield text(x + width / 2, y + 13, name, kind="inside", anchor="middle")
        x += width

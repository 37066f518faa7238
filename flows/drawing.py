"""A flow drawn with characters, for terminals: boxes from left to right, in as many rows as the width needs."""

from __future__ import annotations

import textwrap
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from engine.errors import printable
from engine.flow.definition import Flow, Wire, layers
from flows.layout import Arrangement, Item, Link, Net, Rows, arrange, place

WIDEST_TEXTS: Final = (24, 16, 10)  # wrapped to so many columns; the narrow ones where the width needs it
LEFT, RIGHT, UP, DOWN = 1, 2, 4, 8
ACROSS, UPRIGHT = LEFT | RIGHT, UP | DOWN


class Pen(NamedTuple):
    """The characters of a drawing: lines by the directions they lead to, and boxes by their corners."""

    lines: Mapping[int, str]
    corners: str
    leaving: str
    arrow: str


_UNICODE: Final = "╴╶─╵╯╰┴╷╮╭┬│┤├┼"  # by LEFT | RIGHT | UP | DOWN, from 1 to 15
_ASCII: Final = "---|+++|+++|+++"
INK: Final = Pen(dict(enumerate(_UNICODE, 1)), "┌┐└┘", "├", "▶")
TYPEWRITER: Final = Pen(dict(enumerate(_ASCII, 1)), "++++", "|", ">")


class Block(NamedTuple):
    """A box with lines of text, or without a box the name of a node that is drawn elsewhere."""

    lines: tuple[str, ...]
    boxed: bool

    @property
    def width(self) -> int:
        """Returns how many characters wide it is, with its border or the blank before it."""
        return max(map(columns, self.lines)) + (4 if self.boxed else 2)


def draw_text(flow: Flow, width: int, *, unicode: bool = True, routes: Iterable[tuple[str, str]] = ()) -> str:
    """A picture of a flow at most `width` characters wide, unless a single box is wider.

    `routes` are ways without a wire, which only put nodes that are routed to behind those that route.
    """
    pen = INK if unicode else TYPEWRITER
    order = layers(flow, routes)
    layer_of = {label: number for number, layer in enumerate(order) for label in layer}
    known = [wire for wire in flow.wires if wire.source in layer_of and wire.target in layer_of]
    forward = [wire for wire in known if layer_of[wire.source] < layer_of[wire.target]]
    pictures = [] if order else [f"{flow.name} has no nodes"]
    start = 0
    while start < len(order):
        picture, start = _widest(flow, order, forward, start, (width, pen))
        pictures.append(picture)
    rest = [str(wire) for wire in flow.wires if wire not in forward]
    if rest:
        pictures.append("\n".join(["not drawn:", *(f"  {wire}" for wire in rest)]))
    # A label from another format may hold what a terminal would obey.
    text = printable("\n\n".join(pictures), "\n")
    return text if unicode else "".join(c if c.isascii() else "?" * _columns(c) for c in text)


def _widest(
    flow: Flow, order: Sequence[Sequence[str]], wires: Sequence[Wire], start: int, paper: tuple[int, Pen]
) -> tuple[str, int]:
    """The picture of as many layers as the width holds, and the layer that comes next."""
    width, pen = paper

    def drawn(end: int, widest: int) -> tuple[str, bool]:
        picture = _Canvas(*_band(flow, order[start:end], wires, widest), pen).draw()
        return picture, max(map(columns, picture.splitlines())) <= width

    for widest in WIDEST_TEXTS:
        best, fits = drawn(start + 1, widest)
        if fits:
            break
    end, step, limit = start + 1, 1, len(order)
    while end < limit:  # in growing steps, and back in shrinking ones where a step was too large
        further = min(end + step, limit)
        picture, fits = drawn(further, WIDEST_TEXTS[0])
        if fits:
            best, end, step = picture, further, 2 * step
        else:
            limit, step = further - 1, max(1, (further - end) // 2)
    return best, end


def _band(
    flow: Flow, order: Sequence[Sequence[str]], wires: Sequence[Wire], widest: int
) -> tuple[Mapping[str, Block], Arrangement]:
    """A row of boxes, some layers of the flow, with names for what their wires lead to in other rows.

    Texts are wrapped to a width.
    """
    blocks = {}
    placed: list[list[str]] = [[], *(list(layer) for layer in order), []]
    layer_of = {label: number for number, layer in enumerate(placed) for label in layer}
    for label in layer_of:
        use = flow.node(label)
        kind = f"({use.type or use.subflow})" if use else ""
        blocks[label] = Block((*_wrapped(label, widest), *_wrapped(kind, max(widest, 16))), boxed=True)
    ends = []
    for wire in wires:
        source, target = wire.source, wire.target
        if source not in layer_of and target not in layer_of:
            continue
        if target not in layer_of:
            target = f"\0{layer_of[source]} to {wire.target}"
            blocks[target] = Block(_wrapped(wire.target, widest), boxed=False)
            placed[layer_of[source] + 1].append(target)
        if source not in layer_of:
            source = f"\0from {layer_of[wire.target]} {wire.source}"
            blocks[source] = Block(_wrapped(wire.source, widest), boxed=False)
            placed[layer_of[wire.target] - 1].append(source)
        ends.append((source, wire.source_terminal, target, wire.target_terminal))
    return blocks, arrange([list(dict.fromkeys(layer)) for layer in placed if layer], ends)


def _wrapped(text: str, widest: int) -> tuple[str, ...]:
    return tuple(textwrap.wrap(text, widest)) or ("",)


def columns(text: str) -> int:
    """Returns how many columns a terminal needs for a text."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class _Canvas:
    """Draws one band; `cells` are characters, `lines` the directions in which each net of wires leads at a cell."""

    def __init__(self, blocks: Mapping[str, Block], made: Arrangement, pen: Pen) -> None:
        self._blocks = blocks
        self._made = made
        self._pen = pen
        rows = Rows(self._height, self._output, self._input, gap=0)
        self._cells: dict[tuple[int, int], str] = {}
        self._lines: dict[tuple[int, int], dict[Net, int]] = defaultdict(lambda: defaultdict(int))
        self._placed = place(self._made, rows)
        self._tops = self._placed.tops

    def draw(self) -> str:
        """The picture."""
        left = 0
        for number, layer in enumerate(self._made.layers):
            middle = left + max(self._reach(item) for item in layer)
            tracks = self._placed.tracks[number]
            right = middle + 2 * self._placed.width(number) + self._arrow_room(number)
            for item in layer:
                self._block(item, left)
            for link in self._made.links:
                if link.source.layer == number:
                    edge = left + (0 if link.source.is_bend else self._blocks[link.source.key].width)
                    self._wire(link, edge, middle + 2 * tracks.get(Net(link.target, link.target_terminal), 0), right)
            left = right
        return self._text()

    def _height(self, item: Item) -> int:
        if item.is_bend:
            return 1
        block = self._blocks[item.key]
        ports = max(len(self._made.outputs.get(item, ())), len(self._made.inputs.get(item, ())))
        return max(len(block.lines), ports) + (2 if block.boxed else 0)

    def _border(self, item: Item) -> int:
        return 0 if item.is_bend or not self._blocks[item.key].boxed else 1

    def _output(self, item: Item, terminal: str) -> int:
        return self._made.outputs[item].index(terminal) + self._border(item)

    def _input(self, item: Item, terminal: str) -> int:
        return self._made.inputs[item].index(terminal) + self._border(item)

    def _reach(self, item: Item) -> int:
        """Returns how far a block and the names of its outputs reach."""
        if item.is_bend:
            return 1
        names = [columns(name) + 3 for name in self._made.outputs.get(item, ())]
        return self._blocks[item.key].width + max(names, default=1)

    def _arrow_room(self, number: int) -> int:
        links = [link for link in self._made.links if link.source.layer == number]
        names = [columns(link.target_terminal) for link in links if link.target_terminal not in ("", "in")]
        return 2 + max(names, default=0)

    def _block(self, item: Item, left: int) -> None:
        if item.is_bend:
            return
        block, top, height = self._blocks[item.key], self._tops[item], self._height(item)
        for number, line in enumerate(block.lines):
            self._write(top + number + self._border(item), left + (2 if block.boxed else 1), line)
        if not block.boxed:
            return
        right, bottom = left + block.width - 1, top + height - 1
        across, upright = self._pen.lines[ACROSS], self._pen.lines[UPRIGHT]
        for column in range(left + 1, right):
            self._cells[top, column] = self._cells[bottom, column] = across
        for row in range(top + 1, bottom):
            self._cells[row, left] = self._cells[row, right] = upright
        corners = ((top, left), (top, right), (bottom, left), (bottom, right))
        self._cells.update(zip(corners, self._pen.corners, strict=True))

    def _write(self, row: int, column: int, text: str) -> None:
        for character in text:
            width = _columns(character)
            if width:
                self._cells[row, column] = character
                self._cells.update({(row, column + extra): "" for extra in range(1, width)})
                column += width
            else:
                self._cells[row, column - 1] = self._cells.get((row, column - 1), "") + character

    def _wire(self, link: Link, edge: int, track: int, right: int) -> None:
        """The wire from the edge of its source over its track to the next layer, with its name and its arrow."""
        start = self._tops[link.source] + self._output(link.source, link.terminal)
        end = self._tops[link.target] + self._input(link.target, link.target_terminal)
        net = Net(link.target, link.target_terminal)
        if start == end:
            self._across(net, start, edge, right)
        else:
            self._across(net, start, edge, track)
            self._across(net, end, track + 1, right)
            self._lines[start, track][net] |= LEFT | (DOWN if start < end else UP)
            self._lines[end, track][net] |= RIGHT | (UP if start < end else DOWN)
            for row in range(min(start, end) + 1, max(start, end)):
                self._lines[row, track][net] |= UPRIGHT
        if not link.source.is_bend:
            self._write(start, edge + 1, link.terminal)
            if self._blocks[link.source.key].boxed:
                self._cells[start, edge - 1] = self._pen.leaving
        if not link.target.is_bend:
            name = "" if link.target_terminal == "in" else link.target_terminal
            self._write(end, right - 1 - columns(name), name + self._pen.arrow)

    def _across(self, net: Net, row: int, start: int, end: int) -> None:
        for column in range(start, end):
            self._lines[row, column][net] |= ACROSS

    def _text(self) -> str:
        for cell, nets in self._lines.items():
            if cell not in self._cells:
                self._cells[cell] = self._pen.lines[_joined(tuple(nets.values()))]
        width: dict[int, int] = defaultdict(int)
        for row, column in self._cells:
            width[row] = max(width[row], column + 1)
        rows = [[" "] * width[row] for row in range(max(width) + 1)]
        for (row, column), character in self._cells.items():
            rows[row][column] = character
        return "\n".join("".join(row).rstrip() for row in rows)


def _joined(directions: Sequence[int]) -> int:
    """Returns what a cell shows: lines that meet, or the upright one where two only cross."""
    if set(directions) == {ACROSS, UPRIGHT}:
        return UPRIGHT
    found = 0
    for one in directions:
        found |= one
    return found

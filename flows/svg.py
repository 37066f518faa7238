"""A flow as a picture: a self-contained SVG, boxes coloured by what their nodes are for, wires with terminal names.

Positions are in pixels: boxes, and the corners of wires.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from engine.errors import printable
from engine.flow.definition import Flow, NodeUse, Types, Wire, layers
from engine.flow.label_routes import NO_NAMES, Names, label_routes
from engine.node import Category, node_catalog
from flows.drawing import columns
from flows.layout import NO_LAYOUT, Item, Layout, Net, Rows, arrange, place

UNIT: Final = 10  # all boxes and wires stand on rows of this height; the terminals of a box are two apart
MARGIN: Final = 30
TRACK: Final = 14
ARROW: Final = 24
LANE: Final = 20
WIDEST_TEXT: Final = 24
LETTER: Final = 8.4  # the width of a letter of a label, with some to spare, since fonts differ
SMALL_LETTER: Final = 6.6


class Box(NamedTuple):
    """A node in the picture: where it is and what is written in it."""

    use: NodeUse
    lines: tuple[str, ...]
    x: int
    y: int
    width: int
    height: int


class Path(NamedTuple):
    """A wire in the picture, or a part of one; the middle corners of a curved one are those that it bends towards."""

    corners: tuple[tuple[int, int], ...]
    name: str = ""
    target_name: str = ""
    arrow: bool = True
    backward: bool = False
    curved: bool = False


class Picture(NamedTuple):
    """All that is to be drawn, and the wires that cannot be because they lead to or from nothing."""

    boxes: tuple[Box, ...]
    paths: tuple[Path, ...]
    loose: tuple[Wire, ...]
    left: int
    top: int
    right: int
    bottom: int


def picture(flow: Flow, layout: Layout, routes: Iterable[tuple[str, str]]) -> Picture:
    """The picture of a flow; where the layout has positions wires are curves between them."""
    drawn = _Drawn(flow, routes)
    if layout:
        boxes = {label: _moved(box, layout) for label, box in drawn.boxes.items()}
        paths = [drawn.curve(wire, boxes) for wire in (*drawn.forward, *drawn.backward)]
    else:
        boxes = drawn.boxes
        paths = [*drawn.straight_paths(), *drawn.backward_paths()]
    corners = [corner for path in paths for corner in path.corners]
    corners += [(box.x, box.y) for box in boxes.values()]
    corners += [(box.x + box.width, box.y + box.height) for box in boxes.values()]
    across, down = sorted(x for x, _ in corners or [(0, 0)]), sorted(y for _, y in corners or [(0, 0)])
    edges = (across[0] - MARGIN, down[0] - MARGIN, across[-1] + MARGIN, down[-1] + MARGIN)
    return Picture(tuple(boxes.values()), tuple(paths), drawn.loose, *edges)


def _moved(box: Box, layout: Layout) -> Box:
    x, y = layout.get(box.use.label, (box.x, box.y))
    return box._replace(x=x, y=y)


class _Drawn:
    """One flow arranged in layers, and its measures."""

    def __init__(self, flow: Flow, routes: Iterable[tuple[str, str]]) -> None:
        order = layers(flow, routes)
        layer_of = {label: number for number, layer in enumerate(order) for label in layer}
        wires = tuple(dict.fromkeys(flow.wires))
        self.loose = tuple(w for w in wires if w.source not in layer_of or w.target not in layer_of)
        tied = [wire for wire in wires if wire not in self.loose]
        self.forward = [wire for wire in tied if layer_of[wire.source] < layer_of[wire.target]]
        self.backward = [wire for wire in tied if wire not in self.forward]
        ends = [(w.source, w.source_terminal, w.target, w.target_terminal) for w in self.forward]
        self._made = arrange(order, ends)
        self._lines = {use.label: _lines(use) for use in flow.nodes}
        self._outputs = _ports(self._made.outputs, ((w.source, w.source_terminal) for w in self.backward))
        self._inputs = _ports(self._made.inputs, ((w.target, w.target_terminal) for w in self.backward))
        rows = Rows(self._height, self._output, self._input, gap=2)
        self._placed = place(self._made, rows)
        self._columns = tuple(self._measured())
        self.boxes = {use.label: box for use in flow.nodes if (box := self._box(use, layer_of[use.label]))}

    def _height(self, item: Item) -> int:
        if item.is_bend:
            return 1
        ports = max(len(self._outputs[item.key]), len(self._inputs[item.key]))
        return 2 * max(len(self._lines[item.key]), ports)

    def _output(self, item: Item, terminal: str) -> int:
        return 0 if item.is_bend else self._port(item, self._outputs[item.key], terminal)

    def _input(self, item: Item, terminal: str) -> int:
        return 0 if item.is_bend else self._port(item, self._inputs[item.key], terminal)

    def _port(self, item: Item, ports: Sequence[str], terminal: str) -> int:
        return self._height(item) // 2 - (len(ports) - 1) + 2 * ports.index(terminal)

    def _measured(self) -> Iterator[tuple[int, int, int]]:
        """For each layer where its boxes begin and end, and where the wires behind it begin to turn."""
        left = MARGIN
        for number, layer in enumerate(self._made.layers):
            labels = [item.key for item in layer if not item.is_bend]
            right = left + max((_text_width(line) for label in labels for line in self._lines[label]), default=0)
            names = [columns(name) for label in labels for name in self._outputs[label]]
            turn = right + round(SMALL_LETTER * max(names, default=0)) + 16
            yield left, right, turn
            entered = [link.target_terminal for link in self._made.links if link.source.layer == number]
            room = max((columns(name) for name in entered if name not in ("", "in")), default=0)
            left = turn + TRACK * self._placed.width(number) + ARROW + round(SMALL_LETTER * room)

    def _box(self, use: NodeUse, layer: int) -> Box:
        item = Item(use.label, layer)
        left, right, _ = self._columns[layer]
        top = MARGIN + UNIT * self._placed.tops[item]
        return Box(use, self._lines[use.label], left, top, right - left, UNIT * self._height(item))

    def straight_paths(self) -> Iterator[Path]:
        """Wires that run along rows and change them on tracks."""
        for link in self._made.links:
            number = link.source.layer
            left, right, turn = self._columns[number]
            start = MARGIN + UNIT * (self._placed.tops[link.source] + self._output(link.source, link.terminal))
            end = MARGIN + UNIT * (self._placed.tops[link.target] + self._input(link.target, link.target_terminal))
            track = turn + TRACK * self._placed.tracks[number].get(Net(link.target, link.target_terminal), 0)
            first = (left if link.source.is_bend else right, start)
            last = (self._columns[number + 1][0], end)
            corners = (first, last) if start == end else (first, (track, start), (track, end), last)
            name = "" if link.target_terminal == "in" else link.target_terminal
            yield Path(corners, link.terminal, name, arrow=not link.target.is_bend)

    def backward_paths(self) -> Iterator[Path]:
        """Wires that lead back run below everything."""
        lane = max((box.y + box.height for box in self.boxes.values()), default=0)
        for number, wire in enumerate(self.backward):
            lane += LANE
            aside = 4 * (number % 4)  # so that wires from or to one column can be told apart
            (x, y), (end_x, end_y) = self._ends(wire, self.boxes)
            turn = self._columns[self._layer(wire.source)][2] - 12 + aside
            before = end_x - ARROW + aside
            corners = ((x, y), (turn, y), (turn, lane), (before, lane), (before, end_y), (end_x, end_y))
            yield Path(corners, wire.source_terminal, _target_name(wire), backward=True)

    def curve(self, wire: Wire, boxes: Mapping[str, Box]) -> Path:
        """The wire as a curve between boxes that stand anywhere."""
        (x, y), end = self._ends(wire, boxes)
        turn = x + round(SMALL_LETTER * columns(wire.source_terminal)) + 12
        near = end[0] - ARROW // 2
        pull = min(80, max(30, abs(near - turn) // 2))
        corners = ((x, y), (turn, y), (turn + pull, y), (near - pull, end[1]), (near, end[1]), end)
        return Path(corners, wire.source_terminal, _target_name(wire), backward=wire in self.backward, curved=True)

    def _layer(self, label: str) -> int:
        return next(i.layer for layer in self._made.layers for i in layer if i.key == label and not i.is_bend)

    def _ends(self, wire: Wire, boxes: Mapping[str, Box]) -> tuple[tuple[int, int], tuple[int, int]]:
        source, target = boxes[wire.source], boxes[wire.target]
        start = self._output(Item(wire.source, 0), wire.source_terminal)
        end = self._input(Item(wire.target, 0), wire.target_terminal)
        return (source.x + source.width, source.y + UNIT * start), (target.x, target.y + UNIT * end)


def _ports(made: Mapping[Item, tuple[str, ...]], more: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = defaultdict(tuple)
    found.update({item.key: terminals for item, terminals in made.items() if not item.is_bend})
    for label, terminal in more:
        found[label] = tuple(dict.fromkeys((*found[label], terminal)))
    return found


def _target_name(wire: Wire) -> str:
    return "" if wire.target_terminal == "in" else wire.target_terminal


def _lines(use: NodeUse) -> tuple[str, ...]:
    return (*textwrap.wrap(use.label, WIDEST_TEXT), textwrap.shorten(use.type or use.subflow, WIDEST_TEXT + 8))


def _text_width(line: str) -> int:
    return max(100, round(LETTER * columns(line)) + 24)


# What a category looks like: the filling and the edge of its boxes; all text on them is dark.
COLOURS: Final[Mapping[Category, tuple[str, str]]] = {
    "input": ("#e3f4e4", "#3b8f45"),
    "output": ("#e2eefb", "#2f74b8"),
    "transformation": ("#fdf3d7", "#b98a14"),
    "routing": ("#efe7fa", "#7a54b4"),
    "database": ("#dff3f3", "#2b8a8a"),
    "error": ("#fde6e4", "#c04a3f"),
    "diagnosis": ("#eceff2", "#6b7885"),
    "subflow": ("#f6e9dd", "#a5673f"),
}
UNKNOWN: Final = ("#ffffff", "#8a8f96")
ROUNDING: Final = 6
FOOTNOTE: Final = 18
STYLE: Final = (
    "text{font-family:'DejaVu Sans','Segoe UI',Helvetica,Arial,sans-serif;fill:#1c2530}"
    ".l{font-size:13px;font-weight:600;text-anchor:middle}.t{font-size:11px;fill:#4a5563;text-anchor:middle}"
    ".n{font-size:10px;fill:#39424e;paint-order:stroke;stroke:#ffffff;stroke-width:2px;stroke-linejoin:round}"
    ".e{text-anchor:end}.w{fill:none;stroke:#5b6672;stroke-width:1.5}.b{stroke-dasharray:5 3}"
)


def draw_svg(
    flow: Flow,
    layout: Layout = NO_LAYOUT,
    *,
    types: Types | None = None,
    labels: Names = NO_NAMES,
) -> str:
    """A picture of a flow, which needs nothing but itself; `layout` says where nodes stand, if it says so.

    `labels` are those that nodes are known to send to, where that is known.
    """
    known = types or Types(node_catalog, {})
    made = picture(flow, layout, label_routes(flow, known.catalog, labels))
    notes = [_escaped(f"not drawn: {wire}") for wire in made.loose]
    needed = max([round(SMALL_LETTER * len(note)) + 2 * MARGIN for note in notes], default=0)
    width, height = max(made.right - made.left, needed), made.bottom - made.top + FOOTNOTE * len(notes)
    frame = f"{made.left} {made.top} {width} {height}"
    wires = "; ".join(map(str, flow.wires))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="{frame}" role="img">',
        f"<title>{_escaped(flow.qualified_name)}</title><desc>{_escaped(wires)}</desc><style>{STYLE}</style>",
        '<defs><marker id="a" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5L10 5L0 9.5z" fill="#5b6672"/></marker></defs>',
        f'<rect x="{made.left}" y="{made.top}" width="{width}" height="{height}" fill="#ffffff"/>',
        *(_wire(path) for path in made.paths),
        *(part for box in made.boxes for part in _box(box, _colours(flow, box, known))),
        *(name for path in made.paths for name in _names(path)),
        *(
            f'<text class="n" x="{made.left + MARGIN}" y="{made.bottom + FOOTNOTE * n}">{note}</text>'
            for n, note in enumerate(notes)
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _colours(flow: Flow, box: Box, types: Types) -> tuple[str, str]:
    node_type = types.of(flow, box.use)
    return COLOURS[node_type.category] if node_type else UNKNOWN


def _box(box: Box, colours: tuple[str, str]) -> Iterator[str]:
    fill, edge = colours
    name = quoteattr(printable(f"{box.use.label} ({box.use.type or box.use.subflow})"))
    yield f"<g aria-label={name}>"
    yield (
        f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="7" '
        f'fill="{fill}" stroke="{edge}" stroke-width="1.5"/>'
    )
    middle, first = box.x + box.width / 2, box.y + box.height / 2 - 8 * len(box.lines) + 12
    for number, line in enumerate(box.lines):
        kind = "t" if number == len(box.lines) - 1 else "l"
        yield f'<text class="{kind}" x="{middle:g}" y="{first + 16 * number:g}">{_escaped(line)}</text>'
    yield "</g>"


def _wire(path: Path) -> str:
    kind = "w b" if path.backward else "w"
    arrow = ' marker-end="url(#a)"' if path.arrow else ""
    return f'<path class="{kind}" d="{_curve(path) if path.curved else _rounded(path.corners)}"{arrow}/>'


def _names(path: Path) -> Iterator[str]:
    (x, y), (end_x, end_y) = path.corners[0], path.corners[-1]
    if path.name:
        yield f'<text class="n" x="{x + 6}" y="{y - 4}">{_escaped(path.name)}</text>'
    if path.target_name and path.arrow:
        yield f'<text class="n e" x="{end_x - 12}" y="{end_y - 4}">{_escaped(path.target_name)}</text>'


def _curve(path: Path) -> str:
    start, turn, leaving, arriving, near, end = (f"{x} {y}" for x, y in path.corners)
    return f"M{start}L{turn}C{leaving} {arriving} {near}L{end}"


def _rounded(corners: tuple[tuple[int, int], ...]) -> str:
    """A line round corners, each of which is rounded as far as its sides are long enough."""
    parts = [f"M{corners[0][0]} {corners[0][1]}"]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        (ax, ay), (bx, by) = _toward(corner, before), _toward(corner, after)
        parts.append(f"L{ax} {ay}Q{corner[0]} {corner[1]} {bx} {by}")
    return "".join(parts) + f"L{corners[-1][0]} {corners[-1][1]}"


def _toward(corner: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    away_x, away_y = other[0] - corner[0], other[1] - corner[1]
    reach = min(ROUNDING, (abs(away_x) + abs(away_y)) // 2)
    return corner[0] + reach * _sign(away_x), corner[1] + reach * _sign(away_y)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _escaped(text: str) -> str:
    return escape(printable(text))

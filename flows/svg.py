"""A flow as a picture: a self-contained SVG, boxes coloured by what their nodes are for, wires with terminal names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from engine.flow.definition import Flow, Types
from engine.flow.label_routes import NO_NAMES, Names, label_routes
from engine.node import Category, node_catalog
from flows.geometry import MARGIN, SMALL_LETTER, Box, Path, picture
from flows.layout import NO_LAYOUT, Layout

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
    name = quoteattr(_printable(f"{box.use.label} ({box.use.type or box.use.subflow})"))
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
    return escape(_printable(text))


def _printable(text: str) -> str:
    """A text without the characters that XML has no way to write."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)

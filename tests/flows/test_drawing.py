"""Flows drawn with characters and as pictures: everything is there, nothing lies on anything else."""

from __future__ import annotations

import random
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.flow.definition import Flow, NodeUse, Types, Wire
from engine.flow.label_routes import label_routes
from flows.drawing import columns, draw_text
from flows.flow_yaml import read_flow
from flows.svg import Box, draw_svg, picture
from tests.flows.samples import sample_nodes
from tests.flows.strategies import flows

CASES = Path(__file__).resolve().parent / "drawings"
SVG = "{http://www.w3.org/2000/svg}"
OUTPUTS = {
    "MQInput": ("out", "failure", "catch"),
    "Compute": ("out", "out1", "failure"),
    "Filter": ("true", "false", "unknown", "failure"),
    "Database": ("out", "failure"),
    "TryCatch": ("try", "catch"),
    "Route": ("match", "default", "special delivery"),
}


def flow_of(text: str) -> Flow:
    reading = read_flow(text, "x.yaml")
    assert reading.flow
    return reading.flow


def random_flow(seed: int, size: int) -> Flow:
    """A flow as people write them: a tree of nodes, and some wires more."""
    chance = random.Random(seed)  # noqa: S311
    uses = [NodeUse("In", "MQInput")]
    wires = []
    for number in range(1, size):
        label = chance.choice(["Check", "Enrich the order", "Write to the other side of the world"])
        uses.append(NodeUse(f"{label} {number}", chance.choice(list(OUTPUTS)[1:])))
        for _ in range(chance.choice([1, 1, 1, 2])):
            source = uses[chance.randrange(max(0, number - 6), number)]
            terminal = chance.choice(OUTPUTS[source.type])
            wires.append(Wire(source.label, terminal, uses[number].label))
    return Flow("Random", nodes=tuple(uses), wires=tuple(wires))


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("*.yaml")))
def test_golden_drawings(name: str, accept: bool) -> None:
    """A flow is drawn as the text files beside it show; `pytest --accept` rewrites them."""
    flow = flow_of((CASES / name).read_text("utf-8"))
    routes = tuple(label_routes(flow, sample_nodes))
    drawn = [draw_text(flow, width, unicode=width != 60, routes=routes) for width in (200, 100, 60)]
    picture_file = (CASES / name).with_suffix(".txt")
    found = "\n\n\n".join(f"width {w}\n\n{text}" for w, text in zip((200, 100, 60), drawn, strict=True)) + "\n"
    if accept:
        picture_file.write_text(found, "utf-8")
    assert found == picture_file.read_text("utf-8")


@pytest.mark.parametrize("size", [1, 2, 5, 12, 30])
@pytest.mark.parametrize("width", [40, 100, 10_000])
@pytest.mark.parametrize("seed", range(5))
def test_every_node_and_wire_is_drawn(seed: int, width: int, size: int) -> None:
    """Each label is in a box, each wire leaves its box under its name and arrives; the picture keeps to its width."""
    flow = random_flow(seed, size)
    text = draw_text(flow, width)
    assert text.count("┌") == size
    assert all(f"({use.type})" in text for use in flow.nodes)
    assert all(word in text for use in flow.nodes for word in use.label.split())
    leaving = {(wire.source, wire.source_terminal) for wire in flow.wires}
    assert sum(text.count(f"├─{name}─") for name in {name for _, name in leaving}) == len(leaving)
    assert "not drawn" not in text
    assert width < 100 or max(map(columns, text.splitlines())) <= width


@pytest.mark.parametrize("seed", range(5))
def test_ascii_drawings_are_the_same_drawings(seed: int) -> None:
    """Without Unicode the picture has other characters at the same places."""
    flow = random_flow(seed, 20)
    plain, fine = draw_text(flow, 120, unicode=False), draw_text(flow, 120)
    assert plain.isascii()
    assert [len(line) for line in plain.splitlines()] == [len(line) for line in fine.splitlines()]


def test_wide_letters_keep_their_width() -> None:
    """Without Unicode a letter of two columns becomes two question marks, so that boxes close."""
    flow = flow_of("""
flow: A
nodes: {入口: {type: MQInput}}
wires: []
""")
    assert draw_text(flow, 80, unicode=False) == "\n".join(
        ["+-----------+", "| ????      |", "| (MQInput) |", "+-----------+"]
    )


def test_wires_follow_their_own_way() -> None:
    """Every wire of a picture can be followed from its box to its arrow."""
    flow = flow_of("""
flow: A
nodes: {In: {type: MQInput}, A: {type: Trace}, B: {type: Trace}, C: {type: Trace}}
wires: [In.out -> A, In.catch -> B, A.out -> C, B.out -> C]
""")
    assert draw_text(flow, 80) == "\n".join(
        [
            "┌───────────┐            ┌─────────┐          ┌─────────┐",
            "│ In        ├─out───────▶│ A       ├─out──┬──▶│ C       │",
            "│ (MQInput) ├─catch──╮   │ (Trace) │      │   │ (Trace) │",
            "└───────────┘        │   └─────────┘      │   └─────────┘",
            "                     │   ┌─────────┐      │",
            "                     ╰──▶│ B       ├─out──╯",
            "                         │ (Trace) │",
            "                         └─────────┘",
        ]
    )


@given(flows(), st.integers(0, 200), st.booleans())
def test_any_flow_is_drawn(flow: Flow, width: int, unicode: bool) -> None:
    """Wires to nothing, circles and strange labels are no reason to fail; such wires are listed."""
    text = draw_text(flow, width, unicode=unicode)
    assert text
    assert text.isascii() or unicode
    ElementTree.fromstring(draw_svg(flow, types=Types(sample_nodes, {})))  # noqa: S314


def test_what_cannot_be_drawn_is_listed() -> None:
    """Wires back and wires to nothing are written below."""
    flow = flow_of("flow: A\nnodes: {A: {type: Trace}, B: {type: Trace}}\nwires: [A.out -> B, B.out -> A, B.out -> C]")
    assert draw_text(flow, 80).splitlines()[-3:] == ["not drawn:", "  B.out -> A.in", "  B.out -> C.in"]
    assert "not drawn: B.out -&gt; C.in" in draw_svg(flow, types=Types(sample_nodes, {}))
    assert draw_text(Flow("Empty"), 80) == "Empty has no nodes"


def test_drawings_hold_nothing_that_a_terminal_obeys() -> None:
    """Control characters are shown as what they are: unreadable."""
    flow = Flow("F", nodes=(NodeUse("\x1b[2J", "T\u202e"),), wires=(Wire("\x07", "a", "b"),))
    assert all(line.isprintable() for line in draw_text(flow, 80).splitlines())
    assert all(line.isprintable() for line in draw_svg(flow, types=Types(sample_nodes, {})).splitlines())


def apart(one: Box, other: Box) -> bool:
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    return beside or one.y + one.height <= other.y or other.y + other.height <= one.y


def touches(box: Box, start: tuple[int, int], end: tuple[int, int]) -> bool:
    """Whether a straight line goes through the inside of a box."""
    left, right = sorted((start[0], end[0]))
    top, bottom = sorted((start[1], end[1]))
    return left < box.x + box.width and right > box.x and top < box.y + box.height and bottom > box.y


@pytest.mark.parametrize("seed", range(10))
def test_nothing_overlaps_in_a_picture(seed: int) -> None:
    """No box lies on another, and no wire runs through a box."""
    made = picture(random_flow(seed, 30), {}, ())
    boxes = made.boxes
    assert all(apart(one, other) for number, one in enumerate(boxes) for other in boxes[:number])
    lines = [line for path in made.paths for line in zip(path.corners, path.corners[1:], strict=False)]
    assert not [(box.use.label, line) for box in boxes for line in lines if touches(box, *line)]
    assert len({path.corners[-1] for path in made.paths if path.arrow}) == 29


@pytest.mark.parametrize("seed", range(3))
def test_pictures_show_everything(seed: int) -> None:
    """Labels, types and the names of terminals are text in the picture; it needs no other file."""
    flow = random_flow(seed, 20)
    text = draw_svg(flow, types=Types(sample_nodes, {}))
    root = ElementTree.fromstring(text)  # noqa: S314
    written = [element.text for element in root.iter(f"{SVG}text")]
    assert all(" ".join(filter(None, written)).count(use.type) for use in flow.nodes)
    assert {wire.source_terminal for wire in flow.wires} <= set(written)
    assert {group.get("aria-label") for group in root.iter(f"{SVG}g")} == {f"{u.label} ({u.type})" for u in flow.nodes}
    description = root.find(f"{SVG}desc")
    assert description is not None
    assert description.text == "; ".join(map(str, flow.wires))
    assert "href" not in text
    assert "url(" not in text.replace("url(#a)", "")


def test_pictures_escape_everything() -> None:
    """A label is text, whatever it looks like."""
    label = "<script>alert('x')</script>\"&]]>"
    flow = Flow('"><a>', nodes=(NodeUse(label, "<T>"), NodeUse("B", "T\x00")), wires=(Wire(label, "<o>", "B", "&i"),))
    text = draw_svg(flow, types=Types(sample_nodes, {}))
    tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(text).iter()}  # noqa: S314
    assert tags <= {"svg", "title", "desc", "style", "defs", "marker", "path", "rect", "g", "text"}


def test_a_layout_places_nodes() -> None:
    """Nodes stand where the layout says, and the picture is large enough for them."""
    flow = flow_of("flow: A\nnodes: {A: {type: Trace}, B: {type: Trace}}\nwires: [A.out -> B]")
    made = picture(flow, {"A": (-50, 300), "B": (400, -20)}, ())
    assert [(box.use.label, box.x, box.y) for box in made.boxes] == [("A", -50, 300), ("B", 400, -20)]
    assert (made.left, made.top, made.right, made.bottom) == (-80, -50, 530, 370)


def test_colours_say_what_a_node_is_for() -> None:
    """Each category has a colour of its own, unknown types none."""
    flow = flow_of("flow: A\nnodes: {A: {type: MQInput}, B: {type: Filter}, C: {type: Compute}, D: {type: Whatever}}")
    root = ElementTree.fromstring(draw_svg(flow, types=Types(sample_nodes, {})))  # noqa: S314
    fills = [group[0].get("fill") for group in root.iter(f"{SVG}g")]
    assert len(set(fills)) == 4
    assert fills[3] == "#ffffff"

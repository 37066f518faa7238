"""Flow files: what they say as data, back again, and that nothing in them makes the reader fail."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.errors import Place
from engine.flow.definition import Flow, NodeUse, Promoted, Promotion, Setting, Wire
from flows.flow_yaml import parse_wire, read_flow, write_flow
from flows.yaml_document import LARGEST
from tests.flows.strategies import flows

EVERYTHING = """\
flow: Orders
schema: com.example
properties:
  commitCount: 10
  depth: many
userProperties:
  limit: 100
promote:
  depth: [In.resetBrowseTimeout]
nodes:
  In: {type: MQInput, queueName: ORDERS.IN, transactionMode: yes}
  Route 1:
    type: Route
    filterTable:
    - filterPattern: |
        $Body/a
        = 1
      routingOutputTerminal: x
    names: [a, 'null']
  Audit.v2: {subflow: audit.yaml}
wires:
- In.out -> Route 1
- Route 1.x -> Audit.v2.First
"""
AS_DATA = Flow(
    "Orders",
    "com.example",
    properties=(Setting("commitCount", "10"), Setting("depth", "many")),
    user_properties=(Setting("limit", "100"),),
    promotions=(Promotion("depth", (Promoted("In", "resetBrowseTimeout"),)),),
    nodes=(
        NodeUse("In", "MQInput", (Setting("queueName", "ORDERS.IN"), Setting("transactionMode", "yes"))),
        NodeUse(
            "Route 1",
            "Route",
            (
                Setting(
                    "filterTable",
                    ((Setting("filterPattern", "$Body/a\n= 1\n"), Setting("routingOutputTerminal", "x")),),
                ),
                Setting("names", ("a", "null")),
            ),
        ),
        NodeUse("Audit.v2", "", subflow="audit.yaml"),
    ),
    wires=(Wire("In", "out", "Route 1"), Wire("Route 1", "x", "Audit.v2", "First")),
)


def test_a_flow_file_is_data() -> None:
    """Every part of a flow file has its place in the Flow, and the writer puts it back."""
    reading = read_flow(EVERYTHING, "orders.yaml")
    assert reading.problems == ()
    assert reading.flow == AS_DATA
    assert write_flow(AS_DATA) == EVERYTHING


def test_positions_are_kept() -> None:
    """Every part knows its file, line and column."""
    flow = read_flow(EVERYTHING, "orders.yaml").flow
    assert flow is not None
    assert flow.place == Place(file="orders.yaml", line=1, column=7)
    assert flow.nodes[1].place == Place(file="orders.yaml", line=12, column=3)
    assert flow.nodes[1].type_place == Place(file="orders.yaml", line=13, column=11)
    assert flow.nodes[0].settings[1].value_place == Place(file="orders.yaml", line=11, column=62)
    assert flow.wires[1].place == Place(file="orders.yaml", line=23, column=3)


@given(flows())
@example(Flow("F", nodes=(NodeUse("<<", "MQInput"),)))
def test_written_flows_are_read_back(flow: Flow) -> None:
    """Reading what was written gives an equal flow, and writing that the same text."""
    text = write_flow(flow)
    reading = read_flow(text.encode(), "")
    assert reading.problems == ()
    assert reading.flow == flow
    assert write_flow(flow) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In.out -> Out.in", Wire("In", "out", "Out", "in")),
        ("In.out -> Out", Wire("In", "out", "Out", "in")),
        ("In.out->Out", Wire("In", "out", "Out", "in")),
        ("  Check 1.true  ->  Out 2.left ", Wire("Check 1", "true", "Out 2", "left")),
        ("a.b.c.out -> v1.0", Wire("a.b.c", "out", "v1.0", "in")),
        ("a.out -> v1.0.in", Wire("a", "out", "v1.0", "in")),
        ("a.out -> v2.0", Wire("a", "out", "v2", "0")),
        ("In -> Out", None),
        ("In.out", None),
        ("In.out -> ", None),
        (".out -> Out", None),
        ("In. -> Out", None),
        ("In.out -> Out.", None),
        ("In.out -> Out -> Out", None),
        ("", None),
    ],
)
def test_wires(text: str, expected: Wire | None) -> None:
    """The terminal follows the last dot, unless the whole is a label."""
    assert parse_wire(text, frozenset(["v1.0", "Out"]), Place()) == expected


def bomb() -> str:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    return "\n".join(["a0: &a0 [x]", *levels])


HOSTILE = {
    "aliases": (bomb(), "&a0 is an anchor"),
    "deep flow sequences": ("flow: " + "[" * 100_000, "more than 32 deep"),
    "deep flow mappings": ("flow: " + "{a: " * 100_000, "more than 32 deep"),
    "deep block sequences": ("flow:\n" + "- " * 5_000, "more than 32 deep"),
    "huge": ("flow: " + "x" * LARGEST, "the limit is"),
    "object": ("flow: !!python/object/new:os.system [echo]", "is a tag"),
    "own tag": ("flow: !include /etc/passwd", "is a tag"),
    "directive": ("%TAG ! tag:x,2000:\n---\nflow: !a b", "is a tag"),
    "bell": ("flow: \x07", "character #x0007 is not allowed"),
    "surrogate": ("flow: \ud800", "character #xd800 is not allowed"),
    "unclosed": ('flow: "abc', "not YAML"),
    "bad escape": ('flow: "\\q"', "not YAML"),
    "not UTF-8": (b"flow: a\nschema: \xff\xfe", "not UTF-8"),
    "UTF-16": ("flow: a".encode("utf-16"), "not UTF-8"),
    "control key": ('flow: a\n"\\e[31m": b', "a key must be a name"),
    "control label": ('flow: a\nnodes: {"a\\nb": {type: T}}', "a key must be a name"),
    "long key": ("flow: a\nnodes: {" + "9" * 10_000 + ": {type: T}, a: b}", "not YAML"),
    "large escape": ('flow: "\\UFFFFFFFF"', "not YAML"),
    "large version": ("%YAML 1." + "9" * 5000 + "\n---\nflow: a", "not YAML"),
}


@pytest.mark.parametrize(("content", "expected"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files(content: str | bytes, expected: str) -> None:
    """Hostile text gives problems with a place, at once."""
    start = time.process_time()
    problems = read_flow(content, "x.yaml").problems
    assert expected in "\n".join(map(str, problems))
    assert all(problem.line > 0 and problem.column > 0 for problem in problems)
    assert all(line.isprintable() for problem in problems for line in problem.render().splitlines())
    assert time.process_time() - start < 2


PIECES = [
    *"{}[]:,-?!&*|>'\"%@#\n\t ",
    "flow: ",
    "nodes:\n",
    "wires:\n",
    "  - ",
    "a.b -> c",
    "type: T",
    "---\n",
    "...\n",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    """Whatever the text, there is a flow or there are problems."""
    reading = read_flow(text, "x.yaml")
    assert reading.flow or reading.problems


@given(st.binary(max_size=60))
def test_no_bytes_make_the_reader_fail(content: bytes) -> None:
    """Whatever the bytes, there is a flow or there are problems."""
    reading = read_flow(content, "x.yaml")
    assert reading.flow or reading.problems


@given(flows(), st.data())
def test_damaged_files_do_not_make_the_reader_fail(flow: Flow, data: st.DataObject) -> None:
    """A file with something cut out of it is read or refused."""
    text = write_flow(flow)
    start = data.draw(st.integers(0, len(text)))
    reading = read_flow(text[:start] + text[start + data.draw(st.integers(0, 9)) :], "x.yaml")
    assert reading.flow or reading.problems


def test_line_ends_and_byte_order_marks() -> None:
    """Files from other systems say the same."""
    assert read_flow(b"\xef\xbb\xbf" + EVERYTHING.replace("\n", "\r\n").encode(), "").flow == AS_DATA

"""Flows as data: equality, hashes, graphs, and the flat flow that subflows leave."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import ConfigurationException, Place
from engine.flow.definition import (
    FLOW_PROPERTIES,
    Flow,
    NodeUse,
    Promoted,
    Promotion,
    Setting,
    Types,
    Wire,
    canonical,
    content_hash,
    expand,
    graph,
    layers,
)
from engine.flow.label_routes import label_routes
from engine.node import node_catalog
from flows.flow_yaml import read_flow
from tests.flows.samples import sample_nodes


def flow_of(text: str, file: str = "x.yaml") -> Flow:
    reading = read_flow(text, file)
    assert reading.problems == ()
    assert reading.flow
    return reading.flow


MAIN = """
flow: Main
properties: {target: FROM.FLOW, commitCount: 3}
userProperties: {limit: 1}
promote: {target: [Audit.queueName]}
nodes:
  In: {type: MQInput, queueName: A}
  Audit: {type: Audit, queueName: FROM.NODE}
  Out: {type: MQOutput}
  Log: {type: Trace}
wires:
  - In.out -> Log
  - In.out -> Audit.First
  - In.out -> Out
  - Audit.Done -> Out
  - Audit.Done -> Log
  - In.catch -> Audit.Second
"""
AUDIT = """
subflow: Audit
properties: {queueName: DEFAULT}
userProperties: {limit: 2, other: 3}
promote: {queueName: [Put.target]}
nodes:
  First: {type: Input}
  Second: {type: Input}
  Done: {type: Output}
  Put: {type: Put}
wires:
  - First.out -> Put.Enter
  - First.out -> Done
  - Put.Leave -> Done
  - Second.out -> Done
"""
PUT = """
subflow: Put
promote: {target: [Out.queueName]}
nodes: {Enter: {type: Input}, Leave: {type: Output}, Out: {type: MQOutput}}
wires: [Enter.out -> Out, Out.failure -> Leave]
"""
SUBFLOWS = {"Audit": flow_of(AUDIT), "Put": flow_of(PUT)}


def test_expanding_leaves_no_subflow() -> None:
    """Inner nodes are labelled Sub.Inner, promoted values arrive, and wires go through in the order of messages."""
    flat = expand(flow_of(MAIN), SUBFLOWS)
    assert {use.label: use.values for use in flat.nodes} == {
        "In": {"queueName": "A"},
        "Audit.Put.Out": {"queueName": "FROM.FLOW"},
        "Out": {},
        "Log": {},
    }
    assert [str(wire) for wire in flat.wires] == [
        "In.out -> Log.in",
        "In.out -> Audit.Put.Out.in",
        "In.out -> Out.in",
        "In.out -> Log.in",
        "In.out -> Out.in",
        "In.catch -> Out.in",
        "In.catch -> Log.in",
        "Audit.Put.Out.failure -> Out.in",
        "Audit.Put.Out.failure -> Log.in",
    ]
    assert flat.properties == (Setting("commitCount", "3"),)
    assert {s.name: s.value for s in flat.user_properties} == {"limit": "1", "other": "3"}
    assert flat.promotions == ()
    assert expand(flat, SUBFLOWS) == flat


@pytest.mark.parametrize(
    ("main", "expected"),
    [
        (MAIN, "FROM.FLOW"),
        (MAIN.replace("target: FROM.FLOW, ", ""), "FROM.NODE"),
        (MAIN.replace("target: FROM.FLOW, ", "").replace(", queueName: FROM.NODE", ""), "DEFAULT"),
    ],
)
def test_the_outermost_value_counts(main: str, expected: str) -> None:
    """A promoted property takes the value of the flow, else of the node that uses the subflow, else its default."""
    flat = expand(flow_of(main), SUBFLOWS)
    put = flat.node("Audit.Put.Out")
    assert put
    assert put.values == {"queueName": expected}


def test_labels_with_dots_are_not_taken_for_inner_nodes() -> None:
    """Only the ends of subflows are passed."""
    flow = flow_of("flow: A\nnodes: {In.1: {type: MQInput}, Out.v2: {type: Output}}\nwires: [In.1.out -> Out.v2]")
    assert expand(flow, {}) == flow


def sub(name: str, *uses: NodeUse, wires: tuple[Wire, ...] = ()) -> Flow:
    ends = (NodeUse("Enter", "Input"), NodeUse("Leave", "Output"))
    return Flow(name, nodes=(*ends, *uses), wires=wires, is_subflow=True)


def doubling(depth: int) -> dict[str, Flow]:
    nested = {f"S{n}": sub(f"S{n}", NodeUse("a", f"S{n + 1}"), NodeUse("b", f"S{n + 1}")) for n in range(depth)}
    return nested | {f"S{depth}": sub(f"S{depth}")}


def passing(times: int) -> tuple[Flow, dict[str, Flow]]:
    twice = Wire("Enter", "out", "Leave")
    uses = tuple(NodeUse(f"P{n}", "P") for n in range(times))
    chain = tuple(Wire(f"P{n}", "Leave", f"P{n + 1}", "Enter") for n in range(times - 1))
    ends = (Wire("In", "out", "P0", "Enter"), Wire(f"P{times - 1}", "Leave", "Out"))
    nodes = (NodeUse("In", "MQInput"), *uses, NodeUse("Out", "MQOutput"))
    return Flow("F", nodes=nodes, wires=(*chain, *ends)), {"P": sub("P", wires=(twice, replace(twice)))}


LOOP = {"Loop": sub("Loop", NodeUse("Again", "Loop"))}
CIRCLE = (Wire("P", "Leave", "P", "Enter"), Wire("In", "out", "P", "Enter"))


@pytest.mark.parametrize(
    ("flow", "subflows", "complaint"),
    [
        (Flow("F", nodes=(NodeUse("L", "Loop"),)), LOOP, "subflow Loop contains itself: F -> Loop -> Loop"),
        (Flow("F", nodes=(NodeUse("S", "S0"),)), doubling(40), "more than 10000 nodes or wires"),
        (Flow("F", nodes=(NodeUse("S", "S0"),)), doubling(60), "more than"),
        (*passing(40), "more than 10000 wires through its subflows"),
        (Flow("F", nodes=(NodeUse("P", "P"),), wires=CIRCLE), passing(1)[1], "in a circle through P"),
        (
            Flow("F", nodes=(NodeUse("P", "P"),), wires=(Wire("In", "out", "P", "in", Place(file="f", line=3)),)),
            passing(1)[1],
            "f:3: subflow P has no terminal in",
        ),
    ],
)
def test_flows_that_cannot_be_expanded(flow: Flow, subflows: dict[str, Flow], complaint: str) -> None:
    """Circles, wrong terminals and subflows that multiply without end are refused."""
    with pytest.raises(ConfigurationException) as caught:
        expand(flow, subflows)
    assert complaint in caught.value.text


def test_a_long_chain_of_subflows_expands() -> None:
    """Chains are followed whatever their length."""
    flow, _ = passing(3000)
    flat = expand(flow, {"P": sub("P", wires=(Wire("Enter", "out", "Leave"),))})
    assert [str(wire) for wire in flat.wires] == ["In.out -> Out.in"]


def test_equality_and_hash_depend_on_what_is_said() -> None:
    """Places and files do not count; anything that a flow says does."""
    flow = flow_of(MAIN)
    moved = flow_of("# moved\n\n" + MAIN, "other.yaml")
    assert flow == moved
    assert flow.nodes[0].place != moved.nodes[0].place
    assert content_hash(flow) == content_hash(moved)
    assert content_hash(flow) != content_hash(flow_of(MAIN.replace("FROM.NODE", "X")))
    assert canonical(Flow("A", nodes=(NodeUse("In", "T"),))) == (
        '{"isSubflow":false,"name":"A","nodes":{"In":["T","",{}]},"promote":{},"properties":{},"schema":"",'
        '"userProperties":{},"wires":[]}'
    )


def test_graph_and_layers() -> None:
    """Layers follow the longest way; cycles and wires to nothing do not disturb them."""
    text = """
flow: A
nodes: {In: {type: MQInput}, A: {type: Trace}, B: {type: Trace}, C: {type: Trace}, Alone: {type: Trace}}
wires: [In.out -> A, A.out -> B, In.out -> B, B.out -> C, C.out -> A, C.out -> C, C.out -> Nowhere, No.out -> C]
"""
    flow = flow_of(text)
    assert sorted(graph(flow).edges) == [
        *(("A", "B"), ("B", "C"), ("C", "A"), ("C", "C"), ("In", "A"), ("In", "B")),
    ]
    assert layers(flow) == (("In", "Alone"), ("A",), ("B",), ("C",))
    assert layers(Flow("Empty")) == ()


def test_labels_are_reached_without_wires() -> None:
    """Nodes that route to labels lead to every label."""
    text = "flow: A\nnodes: {R: {type: RouteToLabel}, L1: {type: Label}, L2: {type: Label}, T: {type: Trace}}"
    assert list(label_routes(flow_of(text), sample_nodes)) == [("R", "L1"), ("R", "L2")]
    assert layers(flow_of(text), label_routes(flow_of(text), sample_nodes)) == (("R", "T"), ("L1", "L2"))


LABELLED = [
    ("SET OutputRoot = InputRoot;", []),
    ("PROPAGATE TO LABEL 'a';", [("C", "L")]),
    ("propagate to label x;", [("C", "L")]),
    ("Orders.Route", [("C", "L")]),
    ("esql://routine/orders#Route.Main", [("C", "L")]),
]


@pytest.mark.parametrize(("program", "expected"), LABELLED)
def test_labels_that_a_program_can_reach(program: str, expected: list[tuple[str, str]]) -> None:
    """A program that stands in the flow leads to Labels only if it speaks of one; a module may."""
    nodes = (
        NodeUse("C", "Compute", (Setting("computeExpression", program),)),
        NodeUse("L", "Label", (Setting("labelName", "a"),)),
    )
    assert list(label_routes(Flow("F", nodes=nodes), node_catalog)) == expected


def test_subflows_look_like_types() -> None:
    """A subflow has terminals and promoted properties as a node type has."""
    main, known = flow_of(MAIN), Types(sample_nodes, SUBFLOWS)
    found = known.of(main, main.nodes[1])
    assert found
    assert (found.name, found.inputs, found.outputs) == ("Audit", ("First", "Second"), ("Done",))
    assert [(p.name, p.words, p.default) for p in found.properties] == [("queueName", "text", "DEFAULT")]
    assert not known.starts(main, main.nodes[1])
    assert known.starts(main, main.nodes[0])


def test_a_subflow_with_a_source_starts_a_flow() -> None:
    """Messages may enter inside a subflow, at any depth."""
    inner = Flow("Inner", nodes=(NodeUse("Get", "MQInput"),), is_subflow=True)
    outer = Flow("Outer", nodes=(NodeUse("I", "Inner"),), is_subflow=True)
    main = Flow("Main", nodes=(NodeUse("O", "Outer"),))
    assert Types(sample_nodes, {"Inner": inner, "Outer": outer}).starts(main, main.nodes[0])


def test_types_of_subflows_that_multiply_are_found_at_once() -> None:
    """Each subflow is looked at once; one that holds itself ends the search."""
    promoting = {
        name: replace(flow, promotions=(Promotion("p", (Promoted("a", "p"), Promoted("b", "p"))),))
        for name, flow in (doubling(40) | LOOP).items()
    }
    main = Flow("Main", nodes=(NodeUse("S", "S0"), NodeUse("L", "Loop")))
    known = Types(sample_nodes, promoting)
    assert [found.properties for use in main.nodes if (found := known.of(main, use))] == [(), ()]


def test_flow_properties_are_declared() -> None:
    """The properties of a flow are described as those of nodes are."""
    described = {p.name: (p.words, p.default) for p in FLOW_PROPERTIES}
    assert described["additionalInstances"] == ("a whole number from 0 to 256", 0)
    assert described["commitInterval"] == ("a number from 0 to 60", 0.0)
    assert described["startMode"] == ("one of Maintained, Automatic, Manual", "Maintained")
    assert all(p.description for p in FLOW_PROPERTIES)

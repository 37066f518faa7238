"""Lint on flows that come from no file; tests/problems/flows shows what it says of those that do."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given

from engine.errors import Place, Problem
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.flow.lint import PASSES, lint, unknown_type
from tests.flows.samples import sample_nodes
from tests.flows.strategies import flows

INPUT = NodeUse("In", "MQInput", (Setting("queueName", "A"),))


def texts(*found: Flow, **subflows: Flow) -> list[str]:
    return [problem.text for problem in lint(*found, subflows=subflows, catalog=sample_nodes)]


def test_a_good_flow_has_no_problems() -> None:
    """Nothing is said where nothing is wrong."""
    flow = Flow("F", nodes=(INPUT, NodeUse("Out", "MQOutput")), wires=(Wire("In", "out", "Out"),))
    assert lint(flow, catalog=sample_nodes) == ()


def test_duplicate_labels_are_found() -> None:
    """Formats in which labels are no keys can have a label twice."""
    out = NodeUse("In", "MQOutput", place=Place(file="f", line=9))
    assert texts(Flow("F", nodes=(INPUT, out))) == ["two nodes are labelled In; the other is on line 0"]


def test_problems_hold_nothing_that_a_terminal_obeys() -> None:
    """Formats with other rules than ours may bring any label."""
    assert texts(Flow("F", nodes=(INPUT, NodeUse("\x1b[2J", "Trace")))) == [
        "\N{REPLACEMENT CHARACTER}[2J is never reached: no wire leads to it from an input node"
    ]


def test_a_subflow_may_bring_the_source() -> None:
    """A flow whose messages enter inside a subflow has an input node, and what the subflow leads to is reached."""
    get = Flow("Get", nodes=(INPUT, NodeUse("Got", "Output")), wires=(Wire("In", "out", "Got"),), is_subflow=True)
    main = Flow("F", nodes=(NodeUse("G", "Get"), NodeUse("Out", "MQOutput")), wires=(Wire("G", "Got", "Out"),))
    assert texts(main, get, Get=get) == []


def test_two_flows_of_one_name() -> None:
    """The schema belongs to the name."""
    one, other = Flow("F", "a", nodes=(INPUT,)), Flow("F", "b", nodes=(INPUT,))
    assert texts(one, other) == []
    assert texts(one, Flow("F", "a", nodes=(INPUT,), place=Place(file="f", line=1))) == [
        "a flow called a.F is in  too",
    ]


def test_problems_are_sorted_and_show_their_lines(tmp_path: Path) -> None:
    """Problems come by file, line and column, each with the line of the file or of whoever knows it."""
    places = [Place(file="b", line=1, column=1), Place(file="a", line=12, column=1), Place(file="a", line=2, column=3)]
    nodes = tuple(NodeUse(f"N{n}", "Xyz", type_place=place) for n, place in enumerate(places))
    found = lint(
        Flow("F", nodes=nodes), catalog=sample_nodes, source_line=lambda place: f"  Xyz line {place.line}\t\x1b\n"
    )
    assert found == tuple(sorted(found))
    assert [(p.file, p.line, p.column, p.width, p.source_line) for p in found] == [
        ("a", 2, 3, 3, "  Xyz line 2 \N{REPLACEMENT CHARACTER}"),
        ("a", 12, 3, 3, "  Xyz line 12 \N{REPLACEMENT CHARACTER}"),
        ("b", 1, 3, 3, "  Xyz line 1 \N{REPLACEMENT CHARACTER}"),
    ]
    file = tmp_path / "f.yaml"
    file.write_text("type: Xyz\n", "utf-8")
    flow = Flow("F", nodes=(NodeUse("N", "Xyz", type_place=Place(file=str(file), line=1, column=7)),))
    assert lint(flow, catalog=sample_nodes) == (
        Problem(str(file), 1, 7, 2241, unknown_type("Xyz", []), "type: Xyz", 3),
    )


@given(flows())
def test_any_flow_can_be_examined(flow: Flow) -> None:
    """Whatever a flow says, lint says what is wrong with it, and says the same again."""
    found = lint(flow, catalog=sample_nodes)
    assert found == tuple(sorted(set(found)))
    assert found == lint(flow, catalog=sample_nodes)


@pytest.mark.parametrize("examine", PASSES, ids=lambda examine: examine.__name__)
def test_passes_say_what_they_find(examine: object) -> None:
    """Each pass is described in one sentence."""
    assert (examine.__doc__ or "").strip().endswith(".")


def test_large_flows_are_examined_at_once() -> None:
    """Two thousand nodes in a row take seconds at most."""
    nodes = (INPUT, *(NodeUse(f"N{n}", "Trace") for n in range(2000)))
    wires = (Wire("In", "out", "N0"), *(Wire(f"N{n}", "out", f"N{n + 1}") for n in range(1999)))
    start = time.process_time()
    assert lint(Flow("F", nodes=nodes, wires=wires), catalog=sample_nodes) == ()
    assert time.process_time() - start < 5

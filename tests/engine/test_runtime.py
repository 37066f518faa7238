"""Flows that run: the order of wires, where failures go, and what becomes of the unit of work."""

from __future__ import annotations

import pytest

from engine.errors import BrokerError, Place
from engine.flow.definition import NodeUse
from engine.runtime import deployment
from tests.engine.runtime_nodes import catalog, fail, say, told, use


@pytest.fixture(autouse=True)
def _own_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime knows the nodes of runtime_nodes.py and no others."""
    monkeypatch.setattr(deployment, "node_catalog", catalog)


WAYS = [
    (
        "depth first, in the order of the wires",
        [say("A"), say("B"), say("C"), say("D")],
        "Enter.out -> A, A.out -> C, A.out -> B, C.out -> D",
        "A|C|D|D.out False|D ends|C.out True|C ends|B|B.out False|B ends|A.out True|A ends",
    ),
    (
        "one terminal after the other",
        [say("A", "second", "out"), say("B"), say("C")],
        "Enter.out -> A, A.out -> B, A.second -> C",
        "A|C|C.out False|C ends|A.second True|B|B.out False|B ends|A.out True|A ends",
    ),
    ("a terminal that is not wired", [say("A")], "Enter.out -> A", "A|A.out False|A ends"),
    (
        "a Label is reached by name",
        [use("Route", ("to", "x")), use("L: Label", ("labelName", "x")), say("A")],
        "Enter.out -> Route, L.out -> A",
        "label x|A|A.out False|A ends|x True",
    ),
    (
        "a Label that is not there",
        [use("Route", ("to", "y")), use("L: Label", ("labelName", "x"))],
        "Enter.out -> Route",
        "y False",
    ),
    ("a terminal that the flow did not name", [use("Open")], "Enter.out -> Open", "anything False"),
    (
        "a failure is caught by the node that tries",
        [use("Try"), say("A"), fail(), use("Read")],
        "Enter.out -> Try, Try.try -> A, A.out -> Fail, Try.catch -> Read",
        "A|A ends|caught 7 of Fail|exceptions [2230, 2230, 7]",
    ),
    (
        "an own failure goes to the failure terminal and not further",
        [use("Try"), say("A"), fail(), use("Read")],
        "Enter.out -> Try, Try.try -> A, A.out -> Fail, Fail.failure -> Read",
        "A|exceptions [2230, 7]|A.out True|A ends",
    ),
    (
        "an own failure after the message was sent on",
        [fail("after"), say("A"), use("Read")],
        "Enter.out -> Fail, Fail.out -> A, Fail.failure -> Read",
        "A|A.out False|A ends|exceptions [2230, 7]",
    ),
    (
        "an own failure that says where in its program it is",
        [fail("placed"), use("Read")],
        "Enter.out -> Fail, Fail.failure -> Read",
        "exceptions [2230, 7]",
    ),
    (
        "a failure from below that was wrapped is an own one",
        [fail("wraps"), use("Inner: Fail"), use("Read")],
        "Enter.out -> Fail, Fail.out -> Inner, Fail.failure -> Read",
        "exceptions [2230, 8, 2230, 7]",
    ),
    (
        "a failure from below does not go to the failure terminal",
        [use("Try"), say("A"), fail(), say("B"), say("C")],
        "Enter.out -> Try, Try.try -> A, A.out -> Fail, A.failure -> B, Try.catch -> C",
        "A|A ends|caught 7 of Fail|C|C.out False|C ends",
    ),
    (
        "wires after one that failed carry nothing",
        [use("Try"), say("A"), fail(), say("B")],
        "Enter.out -> Try, Try.try -> A, A.out -> Fail, A.out -> B",
        "A|A ends|caught 7 of Fail",
    ),
    (
        "a failure flow that fails is a failure from below",
        [use("Try"), fail(), use("Second: Fail")],
        "Enter.out -> Try, Try.try -> Fail, Fail.failure -> Second",
        "caught 7 of Second",
    ),
    (
        "a failure flow that fails has gone through the node that it belongs to",
        [use("Deep: Try"), fail(), use("Second: Fail"), use("Read")],
        "Enter.out -> Deep, Deep.try -> Fail, Fail.failure -> Second, Deep.catch -> Read",
        "caught 7 of Second|exceptions [2230, 2230, 7]",
    ),
    (
        "a node that goes on after failures below",
        [use("Stubborn"), fail()],
        "Enter.out -> Stubborn, Stubborn.out -> Fail",
        "again after 7|again after 7|again after 7",
    ),
    (
        "an unexpected exception is a failure of the node",
        [fail("key"), use("Read")],
        "Enter.out -> Fail, Fail.failure -> Read",
        "exceptions [2230]",
    ),
    (
        "a node that is no generator",
        [use("Try"), use("Plain")],
        "Enter.out -> Try, Try.try -> Plain",
        "caught 2230 of Plain",
    ),
    (
        "a terminal that the node does not have",
        [use("Try"), fail("undeclared")],
        "Enter.out -> Try, Try.try -> Fail",
        "caught 2230 of Fail",
    ),
    (
        "a recursion in the node itself is its own failure",
        [fail("deep"), use("Read")],
        "Enter.out -> Fail, Fail.failure -> Read",
        "exceptions [2230]",
    ),
]


@pytest.mark.parametrize(("nodes", "wires", "story"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS])
def test_ways_that_end_well(nodes: list[NodeUse], wires: str, story: str) -> None:
    """A message goes the way that wires and failures lead it, and its unit of work is committed."""
    log, outcome = told(nodes, wires)
    assert story.split("|") == log[:-1]
    assert log[-1] == "commit"
    assert outcome is not None
    assert outcome.error is None


FAILED = "own failure"
FAILURES = [
    ("not caught", [say("A"), fail()], "Enter.out -> A, A.out -> Fail", {}, (7, "Fail", FAILED), "A|A ends"),
    (
        "caught, and the catch flow fails",
        [use("Try"), fail(), use("Second: Fail", ("how", "key"))],
        "Enter.out -> Try, Try.try -> Fail, Try.catch -> Second",
        {},
        (2230, "Second", "Fail failed: KeyError: 'k'"),
        "caught 7 of Fail",
    ),
    ("in the program", [fail("placed")], "Enter.out -> Fail", {}, (7, "Inner", FAILED), ""),
    (
        "the commit is refused",
        [],
        "",
        {"commit": BrokerError(5, "the disk is full")},
        (5, "Enter", "the disk is full"),
        "commit",
    ),
    ("the commit breaks", [], "", {"commit": OSError("disk")}, (2230, "Enter", "OSError: disk"), "commit"),
    (
        "a node breaks when it ends",
        [say("A")],
        "Enter.out -> A",
        {"A ends": ValueError("end")},
        (2230, "A", "Say failed: ValueError: end"),
        "A|A.out False|A ends",
    ),
]


@pytest.mark.parametrize(
    ("nodes", "wires", "fails", "expected", "story"), [f[1:] for f in FAILURES], ids=[f[0] for f in FAILURES]
)
def test_ways_that_fail(
    nodes: list[NodeUse], wires: str, fails: dict[str, Exception], expected: tuple[int, str, str], story: str
) -> None:
    """What nobody catches backs the unit of work out, and the outcome says where and why."""
    log, outcome = told(nodes, wires, fails)
    assert outcome is not None
    assert outcome.error is not None
    assert expected == (outcome.error.number, outcome.error.place.node, outcome.error.text)
    assert [*filter(None, story.split("|")), "back out"] == log


def test_the_place_is_the_innermost() -> None:
    """What an inner part says of the place stays, and what it leaves open is filled in."""
    _, outcome = told([fail("placed")], "Enter.out -> Fail")
    assert outcome is not None
    assert outcome.error is not None
    assert outcome.error.place == Place("X", "Inner", "x.esql", 3, type="ComIbmFailNode")


def test_the_nodes_that_an_error_passed() -> None:
    """An error names each node that it left on its way up, once, the outermost first."""
    _, outcome = told([say("A"), say("B"), fail()], "Enter.out -> A, A.out -> B, B.out -> Fail")
    assert outcome is not None
    assert outcome.error is not None
    assert [place.node for place in outcome.error.passed] == ["Enter", "A", "B", "Fail"]
    assert outcome.error.passed[1].type == "ComIbmSayNode"


@pytest.mark.parametrize("how", ["key", "deep"])
def test_the_cause_is_kept(how: str) -> None:
    """An exception that is not the broker's own is the cause of the one that is."""
    _, outcome = told([fail(how)], "Enter.out -> Fail")
    assert outcome is not None
    assert outcome.error is not None
    assert isinstance(outcome.error.__cause__, {"key": KeyError, "deep": RecursionError}[how])

"""Flows that are listened to, and flows in which other nodes stand in: nothing else about them changes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import pytest

from engine.errors import BrokerError
from engine.flow.definition import NodeUse
from engine.message.assembly import Message
from engine.runtime import deployment
from engine.runtime.deployment import deploy
from tests.engine.runtime_nodes import Story, catalog, fail, flow_of, say, told, use
from tests.engine.test_runtime import WAYS


@pytest.fixture(autouse=True)
def _own_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime knows the nodes of runtime_nodes.py and no others."""
    monkeypatch.setattr(deployment, "node_catalog", catalog)


def heard(nodes: list[NodeUse], wires: str) -> tuple[list[str], list[str]]:
    """What a flow that is listened to does, and what is heard."""
    said: list[str] = []

    def listen(label: str, terminal: str, message: Message) -> None:
        said.append(f"{label}.{terminal}{' failed' if message.exceptions.first_child is not None else ''}")

    deployed = deploy(flow_of([use("Enter"), *nodes], wires), listen=listen)
    work: Any = Story()
    deployed.process(deployed.entrances[0], work)
    return work.log[1:], said


@pytest.mark.parametrize(("nodes", "wires", "story"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS])
def test_listening_changes_nothing(nodes: list[NodeUse], wires: str, story: str) -> None:
    """A flow does the same whether it is listened to or not."""
    assert heard(nodes, wires)[0] == told(nodes, wires)[0] == [*story.split("|"), "commit"]


HEARD = [
    ("terminals without a wire", [say("A", "out", "second")], "Enter.out -> A", ["Enter.out", "A.out", "A.second"]),
    (
        "the failure terminal, where it is wired",
        [fail(), use("Read")],
        "Enter.out -> Fail, Fail.failure -> Read",
        ["Enter.out", "Fail.failure failed", "Read.out failed"],
    ),
    (
        "no failure terminal where the failure goes up",
        [use("Try"), fail()],
        "Enter.out -> Try, Try.try -> Fail",
        ["Enter.out", "Try.try", "Try.catch failed"],
    ),
    (
        "a Label and the way to it",
        [use("Route", ("to", "x")), use("L: Label", ("labelName", "x"))],
        "Enter.out -> Route",
        ["Enter.out", "Route.label x", "L.out"],
    ),
]


@pytest.mark.parametrize(("nodes", "wires", "expected"), [row[1:] for row in HEARD], ids=[row[0] for row in HEARD])
def test_what_is_heard(nodes: list[NodeUse], wires: str, expected: list[str]) -> None:
    """All that leaves a node is heard, with the message that leaves it."""
    assert expected == heard(nodes, wires)[1]


@dataclass(frozen=True, slots=True)
class Double:
    """Sends to a terminal of the node that it stands in for."""

    terminal: str

    def evaluate(self, message: Message, work: Any) -> Generator[tuple[str, Message], bool, None]:
        yield self.terminal, message


def test_a_stand_in() -> None:
    """A node that another stands in for is not built; wires and terminals stay those of its type."""
    flow = flow_of([use("Enter"), use("M: Marked", ("program", "refused")), say("A")], "Enter.out -> M, M.out -> A")
    deployed = deploy(flow, stand_ins={"M": Double("out")})
    work: Any = Story()
    deployed.process(deployed.entrances[0], work)
    assert work.log == ["receive", "A", "A.out False", "A ends", "commit"]


def test_a_stand_in_has_no_terminals_of_its_own() -> None:
    """A stand-in that sends where the node's type has no terminal is broken."""
    deployed = deploy(flow_of([use("Enter"), say("A")], "Enter.out -> A"), stand_ins={"A": Double("third")})
    work: Any = Story()
    outcome = deployed.process(deployed.entrances[0], work)
    assert outcome is not None
    assert isinstance(outcome.error, BrokerError)
    assert outcome.error.text == "Say sent a message to third, but its terminals are failure, out, second"

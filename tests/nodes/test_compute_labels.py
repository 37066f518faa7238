"""PROPAGATE TO LABEL through a deployed flow: each Label by its name, several times in one program."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import pytest

from engine.catalog import Catalog
from engine.descriptor import Descriptor
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import Message
from engine.node import LabelName, NodeType, mandatory, node, node_catalog
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.programs import binder

if TYPE_CHECKING:
    from engine.work import UnitOfWork

own: Catalog[NodeType] = Catalog("node type", package="nodes")


@node("Label", inputs=(), catalog=own)
@dataclass(frozen=True, slots=True)
class Named:
    """A node that is reached by its name."""

    label_name: Annotated[str, LabelName()] = mandatory("Its name.")

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        yield "out", message


def test_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message goes to the Label that PROPAGATE names; to no other, and nowhere if there is none."""
    for name in ("MQInput", "MQOutput", "Compute"):
        if own.get(name) is None:
            own.register(name)(node_catalog.find(name))
    monkeypatch.setattr("engine.runtime.deployment.node_catalog", own)
    monkeypatch.setattr("flows.programs.node_catalog", own)
    program = "".join(
        f"SET OutputRoot.XMLNSC.m = {n}; PROPAGATE TO LABEL '{name}'; " for n, name in enumerate(("a", "b", "a"))
    )
    flow = Flow(
        "F",
        nodes=(
            NodeUse("In", "MQInput", (Setting("queueName", "IN"),)),
            NodeUse("C", "Compute", (Setting("computeExpression", f"{program} RETURN FALSE;"),)),
            *(NodeUse(f"to {name}", "Label", (Setting("labelName", name),)) for name in "ab"),
            *(NodeUse(f"out {name}", "MQOutput", (Setting("queueName", name.upper()),)) for name in "ab"),
        ),
        wires=(Wire("In", "out", "C"), *(Wire(f"to {name}", "out", f"out {name}") for name in "ab")),
    )
    queues = MemoryQueues("IN", "A", "B")
    work, deployed = queues.work(), deploy(flow, bind=binder(flow, catalog=own))
    work.put("IN", Descriptor(), b"x")
    work.commit()
    outcome = deployed.process(deployed.entrances[0], work)
    assert outcome is not None
    assert outcome.error is None
    assert [arrival.body for arrival in queues.browse("A")] == [b"<m>0</m>", b"<m>2</m>"]
    assert [arrival.body for arrival in queues.browse("B")] == [b"<m>1</m>"]

"""A message that goes beyond its budget goes its way of failure, and the flow goes on with the next."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from esql.runtime.limits import VARIABLE
from flows.programs import binder

PROGRAM = """SET OutputRoot = InputRoot; DECLARE i INTEGER 0;
WHILE InputRoot.XMLNSC.a = 'loop' DO SET i = i + 1; END WHILE;"""


def test_way_of_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wired to the failure terminal gets the message, with some of the budget left for a program there."""
    monkeypatch.setenv(VARIABLE, "cpu=0.3,turns=100000000000000000")
    again = "SET OutputRoot = InputRoot; DECLARE i INTEGER 0; WHILE i < 3000 DO SET i = i + 1; END WHILE;"
    flow = Flow(
        "Budget",
        nodes=(
            NodeUse("In", "MQInput", (Setting("queueName", "IN"), Setting("messageDomainProperty", "XMLNSC"))),
            NodeUse("Loop", "Compute", (Setting("computeExpression", PROGRAM),)),
            NodeUse("Mend", "Compute", (Setting("computeExpression", again),)),
            NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),)),
            NodeUse("Failed", "MQOutput", (Setting("queueName", "FAILED"),)),
        ),
        wires=(
            Wire("In", "out", "Loop"),
            Wire("Loop", "out", "Out"),
            Wire("Loop", "failure", "Mend"),
            Wire("Mend", "out", "Failed"),
        ),
    )
    deployed, work = deploy(flow, bind=binder(flow)), MemoryQueues("IN", "OUT", "FAILED").work()
    for text in (b"<a>loop</a>", b"<a>well</a>"):
        work.put("IN", Descriptor(), text, syncpoint=False)
        outcome = deployed.process(deployed.entrances[0], work)
        assert outcome is not None
        assert outcome.error is None
    found = [arrival.body for queue in ("FAILED", "OUT") if (arrival := work.get(queue, syncpoint=False)) is not None]
    assert [b"<a>loop</a>", b"<a>well</a>"] == found

"""The ExceptionList as flows see it: whole ones as files in exceptions/, dumped by a Trace node."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.files.allowed_folders import AllowedFiles
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.mq.definitions import QueueDefinition
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from engine.work import QueueAttributes
from flows.programs import binder

HERE = Path(__file__).parent / "exceptions"
DIVIDES = """SET OutputRoot = InputRoot;
SET OutputRoot.XMLNSC.a.b =
    CAST(InputRoot.XMLNSC.a.b AS INTEGER) / 0;"""
BODY = b"<a><b>1</b></a>"
THROWS = "THROW USER EXCEPTION MESSAGE 2951 VALUES('too late', 7);"
CASTS = "SET OutputRoot.XMLNSC.a.b = CAST('abc' AS INTEGER);"
MODULE = """CREATE COMPUTE MODULE Deep_Three
  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    CALL Total(0);
    RETURN TRUE;
  END;

  CREATE PROCEDURE Total(IN divisor INTEGER) BEGIN
    IF divisor IS NOT NULL THEN
      SET OutputRoot.XMLNSC.total = 1 /
                                    divisor;
    END IF;
  END;
END MODULE;"""
SENDS = "SET OutputRoot = InputRoot; IF TRUE THEN PROPAGATE TO TERMINAL 'out1'; END IF; RETURN FALSE;"
PASSING = (NodeUse("One", "Passthrough"), NodeUse("Two", "FlowOrder"))


def node(label: str, kind: str, **properties: str) -> NodeUse:
    return NodeUse(label, kind, tuple(Setting(name, value) for name, value in properties.items()))


def dumped(
    tmp_path: Path, program: str, *wires: str, body: bytes = b"<a><b>1</b></a>", timing: str = "deferred"
) -> str:
    """What a Trace node writes of the ExceptionList that comes to it."""
    file = tmp_path / "list.txt"
    nodes = (
        node("In", "MQInput", queueName="IN", messageDomainProperty="XMLNSC", validateTiming=timing),
        *PASSING,
        node("Send", "Compute", computeExpression=SENDS),
        node("Three", "Compute", computeExpression="Deep_Three" if program == MODULE else program),
        node("Try", "TryCatch"),
        node("Look", "Trace", destination="file", filePath=str(file), pattern="${ExceptionList}"),
    )
    made = tuple(Wire(*wire.replace(" -> ", ".").split(".")) for wire in wires)
    flow = Flow("Deep", "s", nodes=nodes, wires=made)
    queues = MemoryQueues(QueueDefinition("IN", QueueAttributes(1)))
    work = queues.work()
    work.put("IN", Descriptor(), body, syncpoint=False)
    deployed = deploy(
        flow, bind=binder(flow, files=[("deep.esql", MODULE.encode())]).allowing(AllowedFiles((tmp_path,)))
    )
    while deployed.process(deployed.entrances[0], work) is not None:
        pass
    return re.sub("0x[0-9a-f]{6,}]", "0x...]", file.read_text("utf-8"), count=1)


THREE_DEEP = ("One.out -> Two", "Two.first -> Three")
CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "division by zero three nodes deep, caught by MQInput": (
        DIVIDES,
        ("In.out -> One", *THREE_DEEP, "In.catch -> Look"),
    ),
    "division by zero three nodes deep, caught by TryCatch": (
        DIVIDES,
        ("In.out -> Try", "Try.try -> One", *THREE_DEEP, "Try.catch -> Look"),
    ),
    "division by zero, at the failure terminal": (
        DIVIDES,
        ("In.out -> One", *THREE_DEEP, "Three.failure -> Look"),
    ),
    "cast": (CASTS, ("In.out -> Three", "In.catch -> Look")),
    "in a routine behind PROPAGATE": (MODULE, ("In.out -> Send", "Send.out1 -> Three", "In.catch -> Look")),
    "thrown by a program": (THROWS, ("In.out -> Three", "In.catch -> Look")),
}


@pytest.mark.parametrize("name", CASES)
def test_lists(name: str, tmp_path: Path, accept: bool) -> None:
    """The list is that of its file: the nodes passed, outermost first, and in the last of them what failed."""
    program, wires = CASES[name]
    found, file = dumped(tmp_path, program, *wires), HERE / f"{name.replace(', ', '-').replace(' ', '_')}.txt"
    if accept:
        file.write_text(found, "utf-8")
    assert found == file.read_text("utf-8")


def test_a_body_that_cannot_be_read(tmp_path: Path, accept: bool) -> None:
    """What cannot be parsed is a ParserException inside the wrapper of the node that wanted to read it."""
    found = dumped(tmp_path, DIVIDES, "In.failure -> Look", body=b"<a", timing="complete")
    file = HERE / "unparseable-at_the_failure_terminal.txt"
    if accept:
        file.write_text(found, "utf-8")
    assert found == file.read_text("utf-8")

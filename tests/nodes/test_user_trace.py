"""The user trace: whole ones as files in traces/, its levels and form, and that flows without it hold none of it."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Literal

import pytest

from engine.descriptor import Descriptor
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import Message
from engine.parser import Template
from engine.runtime.deployment import Station, deploy
from engine.runtime.user_trace import TraceFormatter, UserTrace
from engine.transports.memory import MemoryQueues
from esql.compile import compile_sources, compile_text
from esql.runtime.activation import Surroundings
from flows.programs import binder

HERE = Path(__file__).parent / "traces"
PROGRAM = """SET OutputRoot = InputRoot;
DECLARE total INTEGER CAST(InputRoot.XMLNSC.a.b AS INTEGER);
IF total > 0 THEN
    SET OutputRoot.XMLNSC.a.b = total / (total - 2);
END IF;"""


def node(label: str, kind: str, **properties: str) -> NodeUse:
    return NodeUse(label, kind, tuple(Setting(name, value) for name, value in properties.items()))


FLOW = Flow(
    "Traced",
    "s",
    nodes=(
        node("In", "MQInput", queueName="IN", messageDomainProperty="XMLNSC"),
        node("Try", "TryCatch"),
        node("Change", "Compute", computeExpression=PROGRAM),
        node("Out", "MQOutput", queueName="OUT"),
        node("Say", "Trace", pattern="failed: ${Root.XMLNSC.a.b}"),
    ),
    wires=(
        Wire("In", "out", "Try"),
        Wire("Try", "try", "Change"),
        Wire("Change", "out", "Out"),
        Wire("Try", "catch", "Say"),
    ),
)


def lines(level: Literal["normal", "debug"] | None, *bodies: bytes) -> list[str]:
    """What is written while messages go through the flow."""
    log, found = logging.getLogger("penstock.usertrace"), list[str]()
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]  # the test's own
    log.addHandler(handler)
    before, log.level = log.level, logging.INFO
    try:
        trace = None if level is None else UserTrace(level)
        deployed = deploy(FLOW, bind=binder(FLOW, trace=trace), trace=trace)
        work = MemoryQueues("IN", "OUT").work()
        for body in bodies:
            work.put("IN", Descriptor(), body, syncpoint=False)
        while deployed.process(deployed.entrances[0], work) is not None:
            pass
    finally:
        log.level = before
        log.removeHandler(handler)
    return found


@pytest.mark.parametrize("level", ["normal", "debug"])
def test_whole_traces(level: Literal["normal", "debug"], accept: bool) -> None:
    """The trace of two messages, of which the second divides by zero, is that of its file."""
    found = "".join(f"{line}\n" for line in lines(level, b"<a><b>5</b></a>", b"<a><b>2</b></a>"))
    file = HERE / f"{level}.txt"
    if accept:
        file.write_text(found, "utf-8")
    assert found == file.read_text("utf-8")


def test_no_trace() -> None:
    """A flow that is not traced writes only what its Trace nodes do."""
    assert lines(None, b"<a><b>5</b></a>", b"<a><b>2</b></a>") == ["BIP3051I: failed: '2'"]


def test_nothing_of_it_is_there_when_it_is_off() -> None:
    """Untraced flows are made of plain stations, and their programs hold no call for the trace."""
    deployed = deploy(FLOW, bind=binder(FLOW))
    assert {type(station) for station in deployed.stations.values()} == {Station}
    assert "trace" not in compile_text(PROGRAM, "COMPUTE").text
    assert "trace_statement(here, " in compile_text(PROGRAM, "COMPUTE", trace="normal").text
    assert "trace_value" not in compile_text(PROGRAM, "COMPUTE", trace="normal").text


def test_each_flow_by_itself() -> None:
    """Of two flows in one process only the one that was deployed with a trace writes."""
    traced, silent = (deploy(FLOW, bind=binder(FLOW, trace=t), trace=t) for t in (UserTrace("debug"), None))
    assert {type(s).__name__ for s in traced.stations.values()} == {"TracedStation"}
    assert {type(s).__name__ for s in silent.stations.values()} == {"Station"}


def test_long_texts_are_cut() -> None:
    """A statement of a megabyte does not make a line of one."""
    text = compile_text(f"SET Environment.x = '{'y' * 100_000}';", "COMPUTE", trace="normal").text
    (said,) = re.findall(r"trace_statement\(.*\)", text)
    assert len(said) < 1200


def test_form() -> None:
    """A line has the moment to the microsecond, the thread, the kind of trace and the text, as mqsiformatlog writes."""
    record = logging.LogRecord("penstock.usertrace", logging.INFO, "", 0, "BIP%04dI: %s", (2632, "x"), None)
    line = TraceFormatter().format(record)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} +\d+   UserTrace   BIP2632I: x", line)


SAID = {
    "SET i = i + 1;": [
        "BIP2537I: Node 'F.N': Executing statement   ''SET i = i + 1;'' at ('.M.Main', '3.5').",
        "BIP2539I: Node 'F.N': Evaluating expression ''i'' at ('.M.Main', '3.13'). This resolved to ''i''."
        " The result was ''1''.",
        "BIP2539I: Node 'F.N': Evaluating expression ''i + 1'' at ('.M.Main', '3.15'). This resolved to ''1 + 1''."
        " The result was ''2''.",
        "BIP2566I: Node 'F.N': Assigning value ''2'' to field / variable ''i''.",
    ],
    "SET i = NULL;": ["BIP2566I: Node 'F.N': Assigning value ''NULL'' to field / variable ''i''."],
    "SET Environment.x = 'a';": [
        "BIP2566I: Node 'F.N': Assigning value '''a''' to field / variable ''Environment.x''."
    ],
    "SET Environment.x = NULL;": ["BIP2567I: Node 'F.N': Assigning NULL to ''Environment.x'', thus deleting it."],
    "SET Environment.x VALUE = 3;": [
        "BIP2566I: Node 'F.N': Assigning value ''3'' to field / variable ''Environment.x''."
    ],
    "SET Environment.x = InputRoot.XMLNSC.a.b;": [
        "BIP2566I: Node 'F.N': Assigning value '''5''' to field / variable ''Environment.x''."
    ],
    "SET Environment.x = InputRoot.XMLNSC.a.nothing;": [
        "BIP2567I: Node 'F.N': Assigning NULL to ''Environment.x'', thus deleting it."
    ],
    "SET Environment.x = InputRoot.XMLNSC.a;": [
        "BIP2568I: Node 'F.N': Performing tree copy of ''InputRoot.XMLNSC.a'' to ''Environment.x''."
    ],
    "SET OutputRoot = InputRoot;": ["BIP2568I: Node 'F.N': Performing tree copy of ''InputRoot'' to ''OutputRoot''."],
    "SET i = LENGTH('abc');": [
        "BIP2538I: Node 'F.N': Evaluating expression ''LENGTH('abc')'' at ('.M.Main', '3.13').",
        "BIP2540I: Node 'F.N': Finished evaluating expression ''LENGTH('abc')'' at ('.M.Main', '3.13')."
        " The result was ''3''.",
    ],
    "IF i = 1 THEN SET i = 4; END IF;": [
        "BIP2539I: Node 'F.N': Evaluating expression ''i = 1'' at ('.M.Main', '3.10'). This resolved to ''1 = 1''."
        " The result was ''TRUE''.",
        "BIP2566I: Node 'F.N': Assigning value ''4'' to field / variable ''i''.",
    ],
}


@pytest.mark.parametrize("statement", SAID)
def test_values(statement: str) -> None:
    """What is assigned, and what expressions come to, is said in the product's words, at the product's positions."""
    module = f"""CREATE COMPUTE MODULE M
  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    DECLARE i INTEGER 1;
    {statement}
    RETURN FALSE;
  END;
END MODULE;"""
    found: list[str] = []
    around = Surroundings(
        trace=lambda number, text: found.append(f"BIP{number}I: {text}"),
        properties={"MessageFlowName": "F", "NodeLabel": "N"},
    )
    message = Message.received(Descriptor(), b"<a><b>5</b></a>", template=Template("XMLNSC"))
    assert list(compile_sources([("m.esql", module)], trace="debug").evaluate(message, around)) == []
    missing = [line for line in SAID[statement] if line not in found]
    assert missing == [], "\n".join(found)

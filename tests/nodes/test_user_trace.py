"""The user trace: whole ones as files in traces/, its levels and form, and that flows without it hold none of it."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Literal

import pytest

from engine.descriptor import Descriptor
from engine.flow import Flow, NodeUse, Setting, Wire
from engine.runtime import Station, deploy
from engine.transports.memory import MemoryQueues
from engine.usertrace import TraceFormatter, UserTrace
from esql.compile import compile_text
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
    assert "here.trace_statement(" in compile_text(PROGRAM, "COMPUTE", trace="normal").text
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

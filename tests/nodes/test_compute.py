"""Compute: which trees leave it by which terminal, what PROPAGATE does, and how it fails."""

from __future__ import annotations

import logging
from itertools import pairwise

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError, ConfigurationException
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import exception_list
from engine.message.writer import write_message
from engine.runtime.deployment import DeployedFlow, deploy
from engine.transports.memory import MemoryQueues
from engine.tree.element import Element
from flows.programs import binder
from tests.nodes.esql_nodes import BODY, bodies, made, message, origin, sent

BUILD = """
SET OutputRoot.XMLNSC.made = 'output';
SET OutputLocalEnvironment.from = 'output';
SET OutputExceptionList.from = 'output';
SET Environment.from = 'output';
"""
INPUT, OUTPUT = BODY, b"<made>output</made>"


@pytest.mark.parametrize("way", ["by its end", "by PROPAGATE"])
@pytest.mark.parametrize(
    ("mode", "root", "local", "exceptions"),
    [
        ("message", OUTPUT, "input", "input"),
        ("destination", INPUT, "output", "input"),
        ("destinationAndMessage", OUTPUT, "output", "input"),
        ("exception", INPUT, "input", "output"),
        ("exceptionAndMessage", OUTPUT, "input", "output"),
        ("exceptionAndDestination", INPUT, "output", "output"),
        ("all", OUTPUT, "output", "output"),
    ],
)
def test_compute_modes(way: str, mode: str, root: bytes, local: str, exceptions: str) -> None:
    """The mode says which output trees go on; the input's go on for the others, and the one Environment always."""
    program = BUILD if way == "by its end" else f"{BUILD} PROPAGATE; RETURN FALSE;"
    ((terminal, one),) = sent(made("Compute", program, computeMode=mode))
    assert (terminal, write_message(one.root)[1]) == ("out", root)
    found = (origin(one.local_environment), origin(one.exceptions), origin(one.environment))
    assert found == (local, exceptions, "output")


@pytest.mark.parametrize(
    ("mode", "local"), [("message", ["mine", "later"]), ("destination", ["", ""]), ("exception", ["mine", "later"])]
)
def test_a_changed_input_local_environment(mode: str, local: list[str]) -> None:
    """The program may change InputLocalEnvironment: that goes on where the output's does not, as it is at that time."""
    given = message()
    program = "SET InputLocalEnvironment.from = 'mine'; PROPAGATE; SET InputLocalEnvironment.from = 'later';"
    found = sent(made("Compute", program, computeMode=mode), given)
    assert [origin(one.local_environment) for _, one in found] == local
    assert origin(given.local_environment) == "input"


def test_the_default_mode() -> None:
    """A node that says no mode sends its message only."""
    ((_, one),) = sent(made("Compute", BUILD))
    assert (write_message(one.root)[1], origin(one.local_environment)) == (OUTPUT, "input")


SET = "SET OutputRoot.XMLNSC.m = "


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (f"{SET}1;", [("out", b"<m>1</m>")]),
        (f"{SET}1; RETURN TRUE;", [("out", b"<m>1</m>")]),
        (f"{SET}1; RETURN FALSE;", []),
        (f"{SET}1; RETURN UNKNOWN;", []),
        (f"{SET}1; PROPAGATE; {SET}2;", [("out", b"<m>1</m>"), ("out", b"<m>2</m>")]),
        (f"{SET}1; PROPAGATE; RETURN FALSE;", [("out", b"<m>1</m>")]),
        (f"{SET}1; PROPAGATE TO TERMINAL 'out1'; RETURN FALSE;", [("out1", b"<m>1</m>")]),
        (f"{SET}1; PROPAGATE TO TERMINAL 4; RETURN FALSE;", [("out4", b"<m>1</m>")]),
        (f"{SET}1; PROPAGATE TO TERMINAL 'failure'; RETURN FALSE;", [("failure", b"<m>1</m>")]),
        (f"{SET}1; PROPAGATE TO TERMINAL 'nowhere'; {SET}2;", [("out", b"<m>2</m>")]),
        (f"{SET}1; PROPAGATE TO LABEL 'here'; RETURN FALSE;", [("label here", b"<m>1</m>")]),
        ("PROPAGATE MESSAGE InputRoot; RETURN FALSE;", [("out", BODY)]),
        (
            "DECLARE i INTEGER 1; WHILE i <= 3 DO SET OutputRoot.XMLNSC.m = i; PROPAGATE; SET i = i + 1; END WHILE; "
            "RETURN FALSE;",
            [("out", b"<m>%d</m>" % n) for n in (1, 2, 3)],
        ),
    ],
)
def test_what_is_sent(program: str, expected: list[tuple[str, bytes]]) -> None:
    """TRUE and the end send; FALSE and UNKNOWN do not; PROPAGATE sends at once and starts the output trees anew."""
    assert expected == bodies(made("Compute", program))


def test_delete_none() -> None:
    """PROPAGATE DELETE NONE goes on with the output trees as they are; what was sent does not change any more."""
    found = sent(made("Compute", f"{SET}1; PROPAGATE DELETE NONE; SET OutputRoot.XMLNSC.n = 2;"))
    assert [[child.name for child in one.root.last_child or ()] for _, one in found] == [["m"], ["m", "n"]]


def test_propagate_environment_and_exception() -> None:
    """The clauses of PROPAGATE name trees to send instead, in whatever mode."""
    program = "SET Environment.Variables.x = 'mine'; PROPAGATE ENVIRONMENT Environment.Variables; RETURN FALSE;"
    ((_, one),) = sent(made("Compute", program))
    assert origin(one.local_environment) == "mine"


def test_a_label_that_no_node_has() -> None:
    """PROPAGATE TO LABEL fails where it stands if there is no such Label, and ESQL may handle that."""
    node = made("Compute", "PROPAGATE TO LABEL 'gone'; RETURN FALSE;")
    with pytest.raises(BrokerError, match="no Label node") as raised:
        sent(node, wired=False)
    assert (raised.value.number, raised.value.place.line) == (4245, 1)
    handled = f"DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE '%' BEGIN END; PROPAGATE TO LABEL 'gone'; {SET}1;"
    assert [terminal for terminal, _ in sent(made("Compute", f"BEGIN {handled} END;"), wired=False)][-1] == "out"


@pytest.mark.parametrize(
    ("program", "number", "column"),
    [
        ("DECLARE r REFERENCE TO InputRoot.XMLNSC.a; SET r.b = 5;", 2556, 44),
        ("DECLARE r REFERENCE TO InputRoot.XMLNSC.a; CREATE LASTCHILD OF r NAME 'c';", 2556, 44),
        (f"{SET}1 / CARDINALITY(InputRoot.XMLNSC.x[]);", 2450, 27),
        (f"{SET}CAST('x' AS INTEGER);", 2521, 27),
        ("DECLARE t CHARACTER 'Out'; PROPAGATE TO TERMINAL t;", 4009, 28),
        ("THROW USER EXCEPTION MESSAGE 2951 VALUES ('no');", 2951, 1),
    ],
)
def test_failures(program: str, number: int, column: int) -> None:
    """What fails says where in the program, and the input stays as it was, which no reference can change."""
    given = message()
    with pytest.raises(BrokerError) as raised:
        sent(made("Compute", program), given)
    place = raised.value.place
    assert (raised.value.number, place.file, place.line, place.column) == (number, "F.N.computeExpression", 1, column)
    assert write_message(given.root)[1] == BODY


def test_the_input_is_read_only() -> None:
    """Assigning to InputRoot is a problem of the program."""
    with pytest.raises(ConfigurationException, match="InputRoot"):
        made("Compute", "SET InputRoot.XMLNSC.a.b = 5;")


def flow_of(*programs: str, failure: bool = False) -> Flow:
    """MQInput, Compute nodes in a row, MQOutput; FAILED takes what leaves the first by its failure terminal."""
    computes = [NodeUse(f"C{n}", "Compute", (Setting("computeExpression", p),)) for n, p in enumerate(programs, 1)]
    row = ["In", *(use.label for use in computes), "Out"]
    wires = [Wire(one, "out", other) for one, other in pairwise(row)]
    if failure:
        wires.append(Wire("C1", "failure", "Failed"))
    return Flow(
        "F",
        nodes=(
            NodeUse("In", "MQInput", (Setting("queueName", "IN"), Setting("messageDomainProperty", "XMLNSC"))),
            *computes,
            NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),)),
            *((NodeUse("Failed", "MQOutput", (Setting("queueName", "FAILED"),)),) if failure else ()),
        ),
        wires=tuple(wires),
    )


def processed(deployed: DeployedFlow, queues: MemoryQueues, body: bytes = BODY) -> BrokerError | None:
    """Put one message and take it through the flow."""
    work = queues.work()
    work.put("IN", Descriptor(), body)
    work.commit()
    outcome = deployed.process(deployed.entrances[0], work)
    return None if outcome is None else outcome.error


COPY = "SET OutputRoot = InputRoot;"
DIVIDE = "SET OutputRoot = InputRoot;\nSET OutputRoot.XMLNSC.q = 1 / CARDINALITY(InputRoot.XMLNSC.x[]);"


def test_its_own_failure_goes_to_its_failure_terminal() -> None:
    """The message leaves as it came in."""
    flow, queues = flow_of(DIVIDE, failure=True), MemoryQueues("IN", "OUT", "FAILED")
    assert processed(deploy(flow, bind=binder(flow)), queues) is None
    assert [arrival.body for arrival in queues.browse("FAILED")] == [BODY]


def test_a_failure_below_does_not() -> None:
    """What fails in a node behind it is that node's failure; it keeps the place of its own program."""
    flow, queues = flow_of(COPY, DIVIDE, failure=True), MemoryQueues("IN", "OUT", "FAILED")
    error = processed(deploy(flow, bind=binder(flow)), queues)
    assert error is not None
    place = error.place
    assert (place.node, place.file, place.line) == ("C2", "F.C2.computeExpression", 2)
    assert not queues.browse("FAILED")


def test_a_failure_below_propagate_is_not_placed_twice() -> None:
    """An error of a node without a program is not said to stand in the program that sent it the message."""
    flow = flow_of(f"{COPY} PROPAGATE; RETURN FALSE;")
    error = processed(deploy(flow, bind=binder(flow)), MemoryQueues("IN"))
    assert error is not None
    assert (error.place.node, error.place.file) == ("Out", "")


def test_the_exception_list_of_a_division_by_zero() -> None:
    """Three nodes deep: a wrapper for each node passed, then the statement, the expression and the error in it."""
    flow = flow_of(COPY, COPY, DIVIDE)
    error = processed(deploy(flow, bind=binder(flow)), MemoryQueues("IN", "OUT"))
    assert error is not None
    seen = []
    at: Element | None = exception_list(error).first_child
    while at is not None:
        values = {child.name: child.value for child in at}
        seen.append([values[name] for name in ("Number", "Label", "Type", "File", "Line")])
        at = next((child for child in at if child.name.endswith("Exception")), None)
    names = ["F.In", "F.C1", "F.C2", "F.C3"]
    assert [row[0] for row in seen] == [2230] * (len(seen) - 3) + [2488, 2439, 2450]
    assert [row[1] for row in seen[: len(names)]] == names
    assert seen[-1] == [2450, "F.C3", "ComIbmComputeNode", "F.C3.computeExpression", 2]


def test_properties_of_broker_flow_and_node() -> None:
    """Names such as NodeLabel have their values, and EXTERNAL variables those of the flow's user properties."""
    program = (
        "DECLARE limit EXTERNAL INTEGER 5; DECLARE other EXTERNAL INTEGER 6;"
        f"{SET}NodeLabel || ' ' || SQL.MessageFlowLabel || ' ' || CAST(limit + other AS CHARACTER);"
    )
    assert bodies(made("Compute", program)) == [("out", b"<m>N F 106</m>")]


@pytest.mark.parametrize("program", ["QueueManagerName", "EVAL('SQL.QueueManagerName')"])
def test_the_name_of_the_queue_manager(program: str) -> None:
    """QueueManagerName is that of the queue manager of the message's unit of work."""
    queues = MemoryQueues()
    queues.name = "QM7"
    evaluation = made("Compute", f"{SET}{program} || ' ' || NodeName;").evaluate(message(), queues.work())
    assert b"<m>QM7 N</m>" == write_message(next(evaluation)[1].root)[1]


@pytest.mark.parametrize(("clause", "name"), [("EVENT", "penstock.localerror"), ("USER TRACE", "penstock.usertrace")])
def test_log(clause: str, name: str, caplog: pytest.LogCaptureFixture) -> None:
    """LOG writes to the log of the system, or to the user trace."""
    with caplog.at_level(logging.INFO, "penstock"):
        sent(made("Compute", f"LOG {clause} VALUES ('said');"))
    assert [(record.name, record.getMessage()) for record in caplog.records] == [(name, "said")]

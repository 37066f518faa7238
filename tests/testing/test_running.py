"""Cases run: what goes in, what is stubbed, what is compared, and what is said when it differs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.testing.reading import read_cases
from engine.testing.report import result_text
from engine.testing.running import Flows
from engine.testing.suite import run_cases

FLOW = """flow: F
userProperties: {who: flow}
nodes:
  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}
  Try: {type: TryCatch}
  C:
    type: Compute
    computeMode: all
    computeExpression: M
  Caught: {type: MQOutput, queueName: CAUGHT}
  Out: {type: MQOutput, queueName: OUT}
wires:
  - In.out -> Try
  - Try.try -> C
  - Try.catch -> Caught
  - C.out -> Out
"""
ESQL = """DECLARE who EXTERNAL CHARACTER 'nobody';
DECLARE n SHARED INTEGER 0;
CREATE COMPUTE MODULE M
  CREATE FUNCTION Main() RETURNS BOOLEAN
  BEGIN
    SET n = n + 1;
    SET OutputRoot = InputRoot;
    SET OutputLocalEnvironment = InputLocalEnvironment;
    SET OutputRoot.XMLNSC.a.who = who;
    SET OutputRoot.XMLNSC.a.n = n;
    SET OutputRoot.XMLNSC.a.colour = InputRoot.MQRFH2.usr.colour;
    SET OutputRoot.XMLNSC.a.size = InputLocalEnvironment.size;
    SET OutputRoot.XMLNSC.a.mood = Environment.mood;
    IF InputRoot.XMLNSC.a.bad = 'true' THEN
      THROW USER EXCEPTION MESSAGE 2951 VALUES ('bad', 'worse');
    END IF;
    RETURN TRUE;
  END;
END MODULE;
"""
Told = Callable[[str], str]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """What is said of the first case of a file that goes wrong; nothing where all go well."""

    def tell(cases: str) -> str:
        (tmp_path / "f.yaml").write_text(FLOW)
        (tmp_path / "f.esql").write_text(ESQL)
        reading = read_cases(f"flow: f.yaml\ncases:\n{cases}", str(tmp_path / "t.yaml"))
        assert not reading.problems, [one.render() for one in reading.problems]
        texts = [result_text(result) for result in run_cases(reading.cases, Flows())]
        return next((text.replace(f"{tmp_path}/", "") for text in texts if text), "")

    return tell


GOOD = [
    ("a body", "{body: <a/>}", "queues: {OUT: [{body: <a><who>flow</who><n>1</n></a>}]}"),
    ("a count", "{body: <a/>}", "queues: {OUT: 1}"),
    ("paths", "{body: <a/>}", "queues: {OUT: [{OutputRoot.XMLNSC.a: {who: flow, n: 1, size: null}}]}"),
    ("paths in a table", "{body: <a/>}", "queues: {OUT: [{OutputRoot.XMLNSC: {a.who: flow, 'a.n[1]': 1}}]}"),
    (
        "a file's trees",
        "{body: <a/>, Environment.mood: merry, LocalEnvironment: {size: 7}}",
        "queues: {OUT: [{OutputRoot.XMLNSC.a: {mood: merry, size: 7}}]}",
    ),
    (
        "a header",
        "{body: <a/>, MQRFH2: {usr: {colour: red}}}",
        "queues: {OUT: [{OutputRoot.XMLNSC.a.colour: red, MQRFH2.usr.colour: red, format: MQHRF2}]}",
    ),
    (
        "a descriptor",
        "{body: <a/>, MQMD: {Priority: 7, CorrelId: 0aff}}",
        "queues: {OUT: [{MQMD: {Priority: 7, CorrelId: 0aff00000000000000000000000000000000000000000000}}]}",
    ),
    (
        "a CCSID",
        "{body: <a/>, ccsid: 500, encoding: 273}",
        "queues: {OUT: [{ccsid: 500, encoding: 273, body: <a><who>flow</who><n>1</n></a>}]}",
    ),
    ("bytes", "{hex: 3c612f3e}", "queues: {OUT: [{OutputRoot.XMLNSC.a.n: 1}]}"),
    (
        "two messages",
        "[{body: <a/>}, {body: <a/>, queue: IN}]",
        "queues: {OUT: [{Root.XMLNSC.a.n: 1}, {Root.XMLNSC.a.n: 2}]}",
    ),
    (
        "by priority",
        "[{body: <a x='1'/>}, {body: <a x='2'/>, MQMD.Priority: 9}]",
        "queues: {OUT: [{Root.XMLNSC.a.x: 2}, {Root.XMLNSC.a.x: 1}]}",
    ),
    ("at a node", "{node: C, body: <a/>}", "queues: {OUT: 1}, terminals: {In.out: 0, C.out: 1, Try.try: 0}"),
    (
        "out of a node without a wire",
        "{node: Out, body: <a/>}",
        "terminals: {Out.out: [{LocalEnvironment.WrittenDestination.MQ.DestinationData.queueName: OUT}]}",
    ),
    (
        "an exception that is caught",
        "{body: <a><bad>true</bad></a>}",
        "queues: {CAUGHT: 1}, terminals: {Try.catch: [{exception: {type: UserException, number: 2951, "
        "node: C, inserts: [bad, worse]}}]}",
    ),
    (
        "an exception that nobody catches",
        "{node: C, body: <a><bad>true</bad></a>}",
        "exception: {number: 2951}, queues: {}",
    ),
    (
        "other queues stay where they are",
        "[{body: <a/>}, {queue: OTHER, body: x}]",
        "queues: {OUT: 1, OTHER: [{body: x}]}",
    ),
    ("order", "{body: <a/>}", "order: [In.out, C.out, Out.out]"),
]


@pytest.mark.parametrize(("given", "expected"), [row[1:] for row in GOOD], ids=[row[0] for row in GOOD])
def test_what_is_as_expected(given: str, expected: str, told: Told) -> None:
    """A case that expects what happens passes."""
    assert told(f"  - {{name: n, input: {given}, expect: {{{expected}}}}}\n") == ""


BAD = [
    (
        "{body: <a/>}",
        "queues: {OUT: 2}",
        "queue OUT  (t.yaml:3:54)\n  expected 2 messages, found 1\n  found b'<a><who>",
    ),
    ("{body: <a/>}", "queues: {}", "queue OUT  (t.yaml:3:44)\n  1 message not expected there"),
    ("{body: <a/>}", "queues: {OUT: [{body: <b/>}]}", "body  (t.yaml:3:60)\n  b: expected b, found a\n  --- expected"),
    (
        "{body: <a/>}",
        "terminals: {C.out: [{OutputRoot.XMLNSC.a.whom: x}]}",
        "OutputRoot.XMLNSC.a.whom: expected 'x', found NULL; a has who, n",
    ),
    (
        "{body: <a/>}",
        'terminals: {C.out: [{"OutputRoot.XMLNSC.a.n[]": 2}]}',
        "OutputRoot.XMLNSC.a.n[]: expected '2', found 1",
    ),
    (
        "{body: <a/>}",
        "terminals: {C.out: [{OutputRoot.XMLNSC.a: {n: [1, 2]}}]}",
        "OutputRoot.XMLNSC.a.n[]: expected 2, found 1",
    ),
    ("{body: <a/>}", "terminals: {C.out: [{MQMD.Priority: 9}]}", "MQMD.Priority: expected '9', found 0"),
    ("{body: <a/>}", "terminals: {C.out: [{ccsid: 37}]}", "ccsid: expected 37, found 1208"),
    (
        "{body: <a/>}",
        "terminals: {C.out: [{exception: x}]}",
        "exception  (t.yaml:3:77)\n  expected text: x\n  found none",
    ),
    ("{body: <a/>}", "order: [C.out, In.out]", "order  (t.yaml:3:44)\n  expected C.out, In.out\n  found In.out, C.out"),
    ("{body: <a/>}", "exception: x", "exception  (t.yaml:3:56)\n  expected, but nothing failed"),
    (
        "{node: C, body: <a><bad>true</bad></a>}",
        "queues: {}",
        "exception  (t.yaml:3:5)\n  not expected\n  found UserException 2951 in F.C at f.esql:15:",
    ),
    (
        "{node: C, body: <a><bad>true</bad></a>}",
        "exception: {number: 1}",
        "expected number: 1\n  found UserException 2951",
    ),
    ("{node: D, body: <a/>}", "queues: {}", "t.yaml:3:22: f.yaml has no node D; it has In, Try"),
    (
        "{node: In, body: <a/>}",
        "queues: {}",
        "t.yaml:3:22: In gets its messages from a queue: write queue: and its name",
    ),
    ("{body: <a/>}", "terminals: {D.out: 1}", "f.yaml has no node of D.out; it has In, Try"),
    ("{body: <a/>}", "terminals: {C.outt: 1}", "C has no terminal 'outt'; it has failure, out, out1"),
    (
        "{MQMD.MsgId: xyz}",
        "queues: {}",
        "cannot be run: BIP2211: MQMD.MsgId is written in hexadecimal digits, not 'xyz'",
    ),
]


@pytest.mark.parametrize(("given", "expected", "text"), BAD)
def test_what_is_not_as_expected(given: str, expected: str, text: str, told: Told) -> None:
    """A case that expects something else says where it does so, and what there was."""
    assert text in told(f"  - {{name: n, input: {given}, expect: {{{expected}}}}}\n")


STUBS = [
    ("C: {terminal: out, body: <b/>}", "queues: {OUT: [{body: <b/>}]}"),
    ("C: {}", "queues: {OUT: [{body: <a/>}]}"),
    ("C: []", "queues: {}"),
    ("C: [{terminal: out1}, {Root.XMLNSC.a.x: 1}]", "queues: {OUT: [{body: <a><x>1</x></a>}]}, order: [C.out1, C.out]"),
    (
        "C: {MQMD.Priority: 5, Environment.x: 1, LocalEnvironment.y: 2}",
        "queues: {OUT: [{MQMD.Priority: 5}]}, terminals: {C.out: [{Environment.x: 1, LocalEnvironment.y: 2}]}",
    ),
    (
        "C: {throw: {type: DatabaseException, number: 2321, text: no such table, inserts: [T]}}",
        "queues: {CAUGHT: 1}, terminals: {Try.catch: [{exception: {type: DatabaseException, number: "
        "2321, text: table, inserts: [T], node: C}}]}",
    ),
    ("C: {throw: broken}", "terminals: {Try.catch: [{exception: broken}]}"),
]


@pytest.mark.parametrize(("stub", "expected"), STUBS)
def test_stubs(stub: str, expected: str, told: Told) -> None:
    """A stubbed node does what the file says, and nothing else."""
    assert told(f"  - {{name: n, input: {{body: <a/>}}, stubs: {{{stub}}}, expect: {{{expected}}}}}\n") == ""


def test_calls_of_a_stub(told: Told) -> None:
    """A stub can do another thing each time, and repeats the last."""
    stub = "C: {calls: [{throw: once}, [], {}]}"
    given = "[{body: <a/>}, {body: <a/>}, {body: <a/>}, {body: <a/>}]"
    expected = "queues: {CAUGHT: 1, OUT: 2}"
    assert told(f"  - {{name: n, input: {given}, stubs: {{{stub}}}, expect: {{{expected}}}}}\n") == ""


@pytest.mark.parametrize(
    ("stub", "text"),
    [
        ("D: {}", "f.yaml has no node D to stub; it has In, Try"),
        ("In: {}", "In is where messages enter, and cannot be stubbed"),
        ("C: {terminal: x}", "C has no terminal x; it has failure, out"),
    ],
)
def test_a_stub_that_does_not_fit(stub: str, text: str, told: Told) -> None:
    """A stub is of a node that there is, and sends where that has terminals."""
    assert text in told(f"  - {{name: n, input: {{body: <a/>}}, stubs: {{{stub}}}, expect: {{queues: {{}}}}}}\n")


def test_properties(told: Told) -> None:
    """User-defined properties can be given by the file and by the case."""
    case = (
        "  - {name: %s, userProperties: {who: %s}, input: {body: <a/>}, expect: {queues: {OUT: "
        "[{Root.XMLNSC.a.who: %s}]}}}\n"
    )
    assert told(case % ("a", "case", "case") + case % ("b", "other", "other")) == ""


def test_shared_variables_are_new_for_each_case(told: Told) -> None:
    """No case sees what another has left in SHARED variables."""
    case = "  - {name: %s, input: {body: <a/>}, expect: {queues: {OUT: [{Root.XMLNSC.a.n: 1}]}}}\n"
    assert told(case % "a" + case % "b") == ""


def test_queues(told: Told) -> None:
    """Queues can be defined: full ones refuse, and what fails too often goes to the backout-requeue queue."""
    queues = "{IN: {backoutThreshold: 2, backoutRequeueQueue: BACK}, OUT: {maxDepth: 0}, CAUGHT: {maxDepth: 0}}"
    expected = (
        "{queues: {BACK: [{body: <a/>}]}, exception: {type: MessageException, number: 2053, node: "
        "Caught}, terminals: {In.out: 2}}"
    )
    assert told(f"  - {{name: n, queues: {queues}, input: {{body: <a/>}}, expect: {expected}}}\n") == ""

"""Trace: what its pattern may say, and where the text goes."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.files.allowed_folders import AllowedFiles
from engine.flow.definition import Flow
from engine.message.assembly import Message
from engine.message.received import Received
from engine.node import build, node_catalog
from engine.parser import Template
from engine.runtime.file_run import Letter, run
from engine.tree.element import Element
from engine.tree.sharing import read_only
from flows.files import load_flow
from flows.programs import binder, problems_of

ANYWHERE = AllowedFiles((Path("/"),))
BODY = b"<Order a='1'><Id>7</Id><Id>8</Id><My.Name>Ada</My.Name></Order>"


def message() -> Message:
    root = read_only(Received(Descriptor(format="MQSTR"), BODY, template=Template("XMLNSC")).root())
    local = Element("LocalEnvironment")
    local.add("Variables").add("Count", 3)
    return Message(root, local_environment=local).failed(BrokerError(2450, "divide by zero"))


def traced(**properties: object) -> None:
    """Have the node work on a message, which must go on as it came."""
    given, work = message(), object()
    node: Any = build(node_catalog.find("Trace"), properties)
    node.allow(ANYWHERE)
    evaluation = node.evaluate(given, work)
    assert [("out", given)] == list(evaluation)


PATTERNS = [
    ("", ""),
    ("nothing to replace", "nothing to replace"),
    ("id ${Root.XMLNSC.Order.Id}, ${Body.Order.a}", "id '7', '1'"),
    ('${Root."XMLNSC".Order."My.Name"}', "'Ada'"),
    ("${ Root.*.Format }", ""),
    ("${Root.MQMD.Format}", "'MQSTR   '"),
    ("${Properties.Priority}", "0"),
    ("${LocalEnvironment.Variables.Count} ${DestinationList.Variables.Count}", "3 3"),
    ("${ExceptionList.RecoverableException.Number}", "2230"),
    ("nothing there: ${Root.XMLNSC.Order.Nix.Nothing}.", "nothing there: ."),
    ("${Environment.Nix}", ""),
    ("$ {x} $x }", "$ {x} $x }"),
    ("${Root.XMLNSC.Order.Id[2]} ${Root.XMLNSC.Order.Id[>2]} ${Root.XMLNSC.Order.Id[<]}", "'8' '8' '8'"),
    ("${Root.XMLNSC.Order.Id[1]} ${Root.XMLNSC.Order.Id[>]} ${Root.XMLNSC.Order.Id[<2]}", "'7' '7' '7'"),
    ("${Root.XMLNSC.Order.Id[3]}${Root.XMLNSC.Order.Id[0]}", ""),
]


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS)
def test_patterns(pattern: str, expected: str, tmp_path: Path) -> None:
    """Each ${path} is replaced by the value it leads to, or by nothing; all else stands as it is."""
    file = tmp_path / "trace"
    for _ in range(2):
        traced(destination="file", filePath=str(file), pattern=pattern)
    assert f"{expected}\n" * 2 == file.read_text("utf-8")


@pytest.mark.parametrize("tree", ["Root", "Body", "LocalEnvironment", "ExceptionList", "Root.MQMD"])
def test_trees(tree: str, tmp_path: Path) -> None:
    """A path to a tree is replaced by its dump."""
    file = tmp_path / "trace"
    traced(destination="file", filePath=str(file), pattern=f"${{{tree}}}")
    text = file.read_text("utf-8")
    assert text.count("\n") > 3
    assert text.count("(") == text.count(")") >= 2


@pytest.mark.parametrize(
    ("destination", "log"), [("userTrace", "penstock.usertrace"), ("localError", "penstock.localerror")]
)
@pytest.mark.parametrize("wanted", [False, True])
def test_logs(destination: str, log: str, wanted: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Texts for a log are written under their number, and not even made where nobody wants them."""
    caplog.set_level(logging.INFO if wanted else logging.WARNING, "penstock")
    traced(destination=destination, pattern="${Root.MQMD.Format}", messageNumber=3055)
    expected = [(log, logging.INFO, "BIP3055I: 'MQSTR   '")] if wanted else []
    assert expected == caplog.record_tuples


MISTAKES = [
    ({"destination": "file"}, "destination file needs a filePath"),
    ({"pattern": "${}"}, "${} is not a path such as ${Root.XMLNSC.Order.Id}"),
    ({"pattern": "${OutputRoot}"}, "${OutputRoot} begins with OutputRoot; a path begins with one of Root, Body,"),
    ({"pattern": "${InputRoot.x}"}, "${InputRoot.x} begins with InputRoot; a path begins with one of Root, Body,"),
    ({"messageNumber": 3050}, "messageNumber is from 3051 to 3099, not 3050: or name a messageCatalog"),
]


def test_a_catalogue_of_your_own(caplog: pytest.LogCaptureFixture) -> None:
    """A text of another catalogue is written under its name, with any number."""
    caplog.set_level(logging.INFO, "penstock")
    traced(pattern="x", messageCatalog="SHOP", messageNumber=7)
    assert caplog.messages == ["SHOP 7: x"]


@pytest.mark.parametrize(("properties", "text"), MISTAKES)
def test_mistakes(properties: dict[str, object], text: str) -> None:
    """What cannot be traced is an error at deploy, not at the first message."""
    with pytest.raises(BrokerError) as caught:
        build(node_catalog.find("Trace"), properties)
    assert caught.value.text.startswith(text)


def flow(tmp_path: Path, pattern: str) -> Flow:
    """A flow that traces by this pattern."""
    flow_file = tmp_path / "traced.yaml"
    flow_file.write_text(
        "flow: Traced\nnodes:\n  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}\n"
        f"  Look: {{type: Trace, destination: file, filePath: '{tmp_path}/trace', pattern: \"{pattern}\"}}\n"
        "wires: [In.out -> Look]\n"
    )
    return load_flow(str(flow_file))


EXPRESSIONS = [
    ("${CARDINALITY(Root.XMLNSC.Order.Id[])} ids", "2 ids"),
    ("${Root.XMLNSC.Order.(XMLNSC.Attribute)a}${Body.Order.{'Id'}}", "'1''7'"),
    ("${CAST(Body.Order.Id AS INTEGER) + 1}, ${UPPER('a}b')}", "8, 'A}B'"),
    ("${MessageFlowLabel}.${NodeLabel}", "'Traced'.'Look'"),
    ("${CAST(X'41' AS CHARACTER CCSID 1208)}", "'A'"),
    ("${Body.Order.Nix || 'x'}${NULL}.", "."),
    ("${SELECT I.* FROM Body.Order.Id[] AS I}", "'7', '8'"),
]


@pytest.mark.parametrize(("pattern", "expected"), EXPRESSIONS)
def test_expressions(pattern: str, expected: str, tmp_path: Path) -> None:
    """What is more than a path is ESQL, and replaced by its value as a literal."""
    traced_flow = flow(tmp_path, pattern)
    letters = [Letter(name, Descriptor(format="MQSTR"), BODY) for name in ("1", "2")]
    assert [None, None] == [
        passage.error for passage in run(traced_flow, letters, bind=binder(traced_flow).allowing(ANYWHERE))
    ]
    assert f"{expected}\n" * 2 == (tmp_path / "trace").read_text("utf-8")


def test_an_expression_that_fails_is_the_nodes_failure(tmp_path: Path) -> None:
    """The error names the node."""
    failing = flow(tmp_path, "${1 / 0}")
    (passage,) = run(failing, [Letter("1", Descriptor(), BODY)], bind=binder(failing).allowing(ANYWHERE))
    assert passage.error is not None
    assert (2450, "Look") == (passage.error.number, passage.error.place.node)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a ${Root..x}", "expected"),
        ("${Nix}", "nothing called Nix is declared here; declare it first (line 1 of ${Nix}, column 1)"),
        ("${CURRENT_TIMSTAMP}", "nothing called CURRENT_TIMSTAMP is declared here"),
    ],
)
def test_expressions_that_cannot_be_compiled(pattern: str, text: str, tmp_path: Path) -> None:
    """They are found before a message is seen, and told with the place of the pattern."""
    problems = problems_of(flow(tmp_path, pattern))
    assert [(4, True)] == [(problem.line, problem.text.startswith(text)) for problem in problems]


def test_an_expression_needs_what_compiles_it() -> None:
    """A node that was built without it says so when it is to evaluate one."""
    with pytest.raises(BrokerError, match="pattern was not compiled: deploy the flow with bind="):
        traced(destination="file", filePath="trace", pattern="${1 + 1}")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    """A file that cannot be written is the node's own failure and names the file."""
    with pytest.raises(BrokerError, match=r"cannot be written: Is a directory; name a file in it"):
        traced(destination="file", filePath=str(tmp_path), pattern="x")

"""Trace: what its pattern may say, and where the text goes."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.message import Message
from engine.node import build, node_catalog
from engine.parser import Template
from engine.received import Received
from engine.sharing import read_only
from engine.tree import Element

BODY = b"<Order a='1'><Id>7</Id><Id>8</Id><My.Name>Ada</My.Name></Order>"


def message() -> Message:
    root = read_only(Received(Descriptor(format="MQSTR"), BODY, template=Template("XMLNSC")).root())
    local = Element("LocalEnvironment")
    local.add("Variables").add("Count", 3)
    return Message(root, local_environment=local).failed(BrokerError(2450, "divide by zero"))


def traced(**properties: object) -> None:
    """Have the node work on a message, which must go on as it came."""
    given, work = message(), object()
    evaluation: Any = build(node_catalog.find("Trace"), properties).evaluate(given, work)  # type: ignore[arg-type]
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
    ({"pattern": "${Root..x}"}, "${Root..x} is not a path such as ${Root.XMLNSC.Order.Id}"),
    ({"pattern": "${InputRoot.x}"}, "${InputRoot.x} begins with InputRoot; a path begins with one of Root, Body,"),
]


@pytest.mark.parametrize(("properties", "text"), MISTAKES)
def test_mistakes(properties: dict[str, object], text: str) -> None:
    """What cannot be traced is an error at deploy, not at the first message."""
    with pytest.raises(BrokerError) as caught:
        build(node_catalog.find("Trace"), properties)
    assert caught.value.text.startswith(text)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    """A file that cannot be written is the node's own failure and names the file."""
    with pytest.raises(BrokerError, match=r"cannot be written: Is a directory; correct filePath, or what is there"):
        traced(destination="file", filePath=str(tmp_path), pattern="x")

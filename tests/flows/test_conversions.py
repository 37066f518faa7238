"""The sample of the WMQI report's section 2.7: every pair of its four forms converts, and loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import flows
from engine.catalog import did_you_mean
from engine.descriptor import Descriptor
from engine.errors import ConfigurationException
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import Message
from engine.message.received import Received, RootDomain
from engine.message.writer import write_message
from engine.parser import Template
from engine.tree.element import Element
from engine.tree.sharing import read_only
from engine.tree.step import step
from esql.compile import compile_text
from flows.message_sets import model_files_of, model_parsers
from flows.programs import binder

SAMPLE = Path(flows.__path__[0]) / "samples" / "conversions"
FILES = [("conversions.set.yaml", (SAMPLE / "conversions.set.yaml").read_bytes())]
FORMS = ("XML", "CWF", "MRM XML", "TDS")


def template(form: str) -> Template:
    """What a body in a form is read by."""
    if form == "XML":
        return Template("XMLNSC")
    return Template("MRM", "CONVERSIONS", "Record", form.removeprefix("MRM "))


def program(form: str, given: str) -> str:
    """ESQL that sends a message on in a form."""
    source = "InputRoot.XMLNSC.Record" if given == "XML" else "InputRoot.MRM"
    target = "OutputRoot.XMLNSC.Record" if form == "XML" else "OutputRoot.MRM"
    lines = ["SET OutputRoot.Properties = InputRoot.Properties;", "SET OutputRoot.MQMD = InputRoot.MQMD;"]
    lines += [
        f"SET OutputRoot.Properties.{name} = '{value}';"
        for name, value in zip(("MessageSet", "MessageType", "MessageFormat"), template(form)[1:], strict=True)
    ]
    return "\n".join([*lines, f"SET {target} = {source};"])


def converted(body: bytes, given: str, form: str) -> bytes:
    """A body in one form as a body in another."""
    parsers, problems = model_parsers(Flow("F"), FILES)
    assert () == problems
    received = Received(Descriptor(), body, template=template(given))
    received.domain = RootDomain(parsers)
    compiled = compile_text(program(form, given), "COMPUTE", "convert")
    [(_, sent)] = compiled.evaluate(Message(read_only(received.root())))
    return write_message(sent.root)[1]


def fields(body: bytes, form: str) -> dict[str, str]:
    """The fields of a body, as texts."""
    parsers, _ = model_parsers(Flow("F"), FILES)
    received = Received(Descriptor(), body, template=template(form))
    received.domain = RootDomain(parsers)
    top: Element | None = received.root().last_child
    if form == "XML" and top is not None:
        top = top.child(step("Record"))
    assert top is not None
    values = {child.name: child.value for child in top}
    return {name: str(float(str(value))) if name < "p" else str(value) for name, value in values.items()}


@pytest.mark.parametrize("given", FORMS)
@pytest.mark.parametrize("form", FORMS)
def test_conversion(given: str, form: str) -> None:
    """A message in any form becomes one in any other with the same 31 fields, and the record it came from again."""
    record = (SAMPLE / "messages" / "record.bin").read_bytes()
    body = record if given == "CWF" else converted(record, "CWF", given)
    sent = converted(body, given, form)
    assert 31 == len(fields(sent, form))
    assert fields(record, "CWF") == fields(sent, form)
    assert record == (sent if form == "CWF" else converted(sent, form, "CWF"))


def test_programs_read_and_write_bytes() -> None:
    """PARSE and ASBITSTREAM know the deployment's message sets, in any tree."""
    record = (SAMPLE / "messages" / "record.bin").read_bytes()
    parsers, _ = model_parsers(Flow("F"), FILES)
    received = Received(Descriptor(), record, template=Template("BLOB"))
    received.domain = RootDomain(parsers)
    compiled = compile_text(
        """
        CREATE LASTCHILD OF Environment DOMAIN 'MRM'
            PARSE(InputRoot.BLOB.BLOB ENCODING 546 CCSID 1208 SET 'CONVERSIONS' TYPE 'Record' FORMAT 'CWF');
        SET OutputRoot.Properties = InputRoot.Properties;
        SET OutputRoot.BLOB.BLOB = ASBITSTREAM(Environment.MRM ENCODING 546 CCSID 1208 SET 'CONVERSIONS'
            TYPE 'Record' FORMAT 'TDS');
        """,
        "COMPUTE",
        "bytes",
    )
    [(_, sent)] = compiled.evaluate(Message(read_only(received.root())))
    assert converted(record, "CWF", "TDS") == write_message(sent.root)[1]


def test_deployment(tmp_path: Path) -> None:
    """Message sets are found beside the flow, and what a node asks of them must be there when it is deployed."""
    (tmp_path / "a.set.yaml").write_bytes(FILES[0][1])
    properties = {"Domain": "MRM", "Set": "CONVERSIONS", "Type": "Recrod", "Format": "CWF"}
    settings = tuple(Setting(f"message{name}Property", value) for name, value in properties.items())
    node = NodeUse("In", "MQInput", (Setting("queueName", "IN"), *settings))
    flow = Flow(
        "F",
        nodes=(node, NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),))),
        file=str(tmp_path / "f.yaml"),
        wires=(Wire("In", "out", "Out"),),
    )
    assert [str(tmp_path / "a.set.yaml")] == [name for name, _ in model_files_of(flow)]
    with pytest.raises(ConfigurationException) as caught:
        binder(flow)
    expected = (
        f"In: no message in message set CONVERSIONS is called Recrod{did_you_mean('Recrod', ['Record'])}; known: Record"
    )
    assert [expected] == [problem.text for problem in caught.value.problems]


def test_broken_set() -> None:
    """A message set that is none keeps its flow from being deployed."""
    parsers, problems = model_parsers(Flow("F"), [("x.set.yaml", b"messageSet: X\nmessage: {}\n")])
    assert [("x.set.yaml", 2, 1)] == [(problem.file, problem.line, problem.column) for problem in problems]
    assert ["MRM"] == list(parsers)

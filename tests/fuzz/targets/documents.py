"""Documents of a deployment: flow files, message-set files, and the XML Schemas beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engine.errors import BrokerError
from flows.flow_yaml import read_flow, write_flow
from flows.message_sets import write_message_set
from flows.message_sets.yaml_reader import read_message_set
from parsers.markup.xml_schema import Schemas
from parsers.mrm.model import Definition, wire_format_catalog
from parsers.records.layout_table import model_data
from tests.fuzz.target import Target

_SAMPLES: Final = Path(__file__).resolve().parents[3] / "flows" / "samples"
_XSD: Final = (
    '<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="a"><complexType><sequence>'
    '<element name="b" type="int" maxOccurs="9"/></sequence></complexType></element></schema>'
)
_SET: Final = (
    "messageSet: S\nformats: {C: {kind: CWF}, T: {kind: TDS}, X: {kind: XML}}\ntypes:\n  A:\n    members:\n"
    "    - {field: x, type: short}\n  B:\n    members:\n    - {field: a, type: A}\n    - {field: b, type: A}\n"
    "messages:\n  M:\n    members:\n    - {field: n, type: int}\n"
    "    - {field: t, type: B, maxOccurs: 3, repeatReference: n, physical: {X: {xmlName: T}}}\n"
    "    - group: choice\n      members: [{field: c, type: string, pattern: 'a+', physical: {C: {length: 3}}}]\n"
)


def _flow(data: bytes) -> None:
    found = read_flow(data, "f.yaml")
    if found.flow is not None and not found.problems:
        text = write_flow(found.flow)
        again = read_flow(text, "f.yaml")
        assert again.flow is not None, f"{text!r:.500}: {again.problems}"
        assert not again.problems, f"{text!r:.500}: {again.problems}"
        assert text == write_flow(again.flow), f"{text!r:.500} became {write_flow(again.flow)!r:.500}"


def _message_set(data: bytes) -> None:
    found = read_message_set(data, "s.set.yaml")
    made = found.message_set
    if made is None or found.problems:
        return
    text = write_message_set(made)
    again = read_message_set(text, "s.set.yaml")
    assert not again.problems, f"{text!r:.500}: {again.problems}"
    assert made == again.message_set, f"{made!r:.500} became {again.message_set!r:.500}"
    for use in made.formats.values():
        for message in made.messages.values():
            try:
                wire_format_catalog.find(use.kind).compile(Definition(made, message, use.name))
            except BrokerError:
                continue
    model_data(made)


def _schema(data: bytes) -> None:
    schemas = Schemas({"a.xsd": data})
    if not schemas.faults:
        list(schemas.wrong_with("<a><b>1</b></a>"))


def _sets() -> list[bytes]:
    return [_SET.encode(), *(path.read_bytes()[:3000] for path in sorted(_SAMPLES.glob("*/*.set.yaml")))]


def _flows() -> list[bytes]:
    return [path.read_bytes() for path in sorted(_SAMPLES.glob("*/*.yaml")) if not path.name.endswith(".set.yaml")]


_WORDS: Final = (
    *(b"maxOccurs: -1", b"type: A", b"type: B", b"&x", b"*x", b"{", b"}", b"[", b"]", b"- ", b": ", b"group: message"),
    *(b"nodes:", b"wires:", b"queueName: Q", b"!!python/object", b"|", b">", b"'", b'"', b"<<: *x", b"length: 99999"),
)

TARGETS: Final = (
    Target("flow_file", _flow, _flows, _WORDS),
    Target("message_set_file", _message_set, _sets, _WORDS),
    Target(
        "xml_schema",
        _schema,
        lambda: [_XSD.encode()],
        (b"<element ", b"type='int'", b"ref='a'", b"</element>"),
        guided=False,
    ),
)

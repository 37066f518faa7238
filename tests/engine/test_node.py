"""Node types: what a decorated dataclass declares, and the values that a flow gives it."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from engine.catalog import Catalog
from engine.errors import ConfigurationException
from engine.message.assembly import Message
from engine.node import (
    ANY_LABEL,
    ANY_TERMINAL,
    Esql,
    LabelName,
    NodeType,
    Property,
    Range,
    build,
    mandatory,
    node,
    prop,
    properties_of,
)
from engine.tree.element import Element
from engine.work import UnitOfWork

catalog: Catalog[NodeType] = Catalog("node type", package="")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    pattern: Annotated[str, Esql("expression")]
    terminal_name: str = prop("match", "Where it goes.")


@node("Sample", outputs=("out", "other"), category="routing", catalog=catalog)
@dataclass(frozen=True, slots=True)
class Sample:
    """One property of every kind."""

    queue_name: str = mandatory("The queue to read.")
    mode: Literal["yes", "no", "automatic"] = prop("yes", "Whether it is part of the unit of work.")
    instances: Annotated[int, Range(0, 256)] = prop(0, "How many more.")
    wait: float = 1.5
    peer_name: str = prop("", "The peer.", name="SSLPeerName")
    convert: bool = False
    condition: Annotated[Any, Esql("filter")] = None
    rows: tuple[Row, ...] = ()
    names: tuple[str, ...] = ()

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        yield "out", message


@node("Source", inputs=(), outputs=("out", "catch"), catalog=catalog)
@dataclass(frozen=True, slots=True)
class Source:
    """Where messages enter."""

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        yield "out", message


@node("Target", inputs=(), catalog=catalog)
@dataclass(frozen=True, slots=True)
class Target:
    """What is reached by name."""

    label_name: Annotated[str, LabelName()]

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        yield "out", message


@node("Router", outputs=(ANY_LABEL, ANY_TERMINAL), failure=False, catalog=catalog)
@dataclass(frozen=True, slots=True)
class Router:
    """Sends by name."""

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        yield "anything", message


def sample(**values: object) -> Any:
    return build(catalog.find("Sample"), {"queueName": "Q", **values})


def test_one_declaration_describes_a_node_type() -> None:
    """Names, types, defaults and descriptions come from the fields."""
    described = catalog.find("Sample")
    assert (described.inputs, described.outputs) == (("in",), ("failure", "out", "other"))
    assert (described.description, described.category) == ("One property of every kind.", "routing")
    assert [(p.name, p.words, p.mandatory, p.description) for p in described.properties] == [
        ("queueName", "text", True, "The queue to read."),
        ("mode", "one of yes, no, automatic", False, "Whether it is part of the unit of work."),
        ("instances", "a whole number from 0 to 256", False, "How many more."),
        ("wait", "a number", False, ""),
        ("SSLPeerName", "text", False, "The peer."),
        ("convert", "true or false", False, ""),
        ("condition", "ESQL (filter)", False, ""),
        ("rows", "a list of tables with pattern, terminalName", False, ""),
        ("names", "a list, each text", False, ""),
    ]


@pytest.mark.parametrize(
    ("name", "source", "routes", "label", "outputs"),
    [
        ("Source", True, False, None, ("out", "catch")),
        ("Target", False, False, "labelName", ("out",)),
        ("Router", False, True, None, (ANY_LABEL, ANY_TERMINAL)),
        ("Sample", False, False, None, ("failure", "out", "other")),
    ],
)
def test_terminals_say_what_a_node_is_for(
    name: str, source: bool, routes: bool, label: str | None, outputs: tuple[str, ...]
) -> None:
    """A node without inputs is a source, unless labels are routed to it."""
    described = catalog.find(name)
    found = described.label_property
    assert (described.is_source, described.routes_to_labels) == (source, routes)
    assert ((found.name if found else None), described.outputs) == (label, outputs)


@pytest.mark.parametrize(
    ("values", "attribute", "expected"),
    [
        ({}, "queue_name", "Q"),
        ({}, "mode", "yes"),
        ({"mode": "no"}, "mode", "no"),
        ({"instances": "256"}, "instances", 256),
        ({"instances": 3}, "instances", 3),
        ({"wait": "2"}, "wait", 2.0),
        ({"wait": ".5e1"}, "wait", 5.0),
        ({"wait": 2}, "wait", 2.0),
        ({"SSLPeerName": "CN=x"}, "peer_name", "CN=x"),
        ({"convert": "TRUE"}, "convert", True),
        ({"convert": False}, "convert", False),
        ({"condition": "Body.x = 1"}, "condition", "Body.x = 1"),
        ({"names": ["a", "b"]}, "names", ("a", "b")),
        ({"rows": [{"pattern": "p"}]}, "rows", (Row("p", "match"),)),
    ],
)
def test_values_become_the_declared_types(values: dict[str, object], attribute: str, expected: object) -> None:
    """Text, as files give it, and values that are of the type already are both read."""
    assert getattr(sample(**values), attribute) == expected


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"queuName": "Q"}, "Sample has no property queuName; did you mean queueName?"),
        ({"zzz": "Q"}, "Sample has no property zzz"),
        ({"mode": "automatc"}, "mode is one of yes, no, automatic, not 'automatc'; did you mean automatic?"),
        ({"mode": True}, "mode is one of yes, no, automatic, not True"),
        ({"instances": "257"}, "instances is a whole number from 0 to 256, not '257'"),
        ({"instances": "-1"}, "instances is a whole number from 0 to 256, not '-1'"),
        ({"instances": True}, "instances is a whole number from 0 to 256, not True"),
        ({"instances": "9" * 5000}, "instances is a whole number from 0 to 256, not '" + "9" * 56 + "..."),
        ({"instances": "١"}, "instances is a whole number from 0 to 256, not '١'"),
        ({"wait": "nan"}, "wait is a number, not 'nan'"),
        ({"convert": "yes"}, "convert is true or false, not 'yes'"),
        ({"names": "a"}, "names is a list, each text, not 'a'"),
        ({"names": ["a", 1]}, "names is a list, each text, not 1"),
        ({"rows": ["a"]}, "rows is a list of tables with pattern, terminalName, not 'a'"),
        ({"rows": [{}]}, "rows needs pattern: ESQL (expression)"),
        ({"rows": [{"pattern": "p", "terminal": "x"}]}, "rows has no property terminal; did you mean terminalName?"),
        ({"convert": "1", "wait": "x"}, "convert is true or false, not '1'; wait is a number, not 'x'"),
    ],
)
def test_values_that_do_not_fit_are_refused(values: dict[str, object], complaint: str) -> None:
    """A complaint says what the property may be and what it was given; all are reported at once."""
    with pytest.raises(ConfigurationException) as caught:
        sample(**values)
    assert caught.value.text == complaint


def test_a_mandatory_property_is_asked_for() -> None:
    """The complaint says what the property is for."""
    with pytest.raises(ConfigurationException, match=re.escape("Sample needs queueName: The queue to read.")):
        build(catalog.find("Sample"), {})


def test_marked_properties_are_bound() -> None:
    """What deploys a flow compiles ESQL by `bind`, which sees the property with its marks."""

    def bind(declared: Property, value: object) -> object:
        return [declared.name, value] if declared.marks == (Esql("filter"),) else value

    built: Any = build(catalog.find("Sample"), {"queueName": "Q", "condition": "TRUE", "instances": "1"}, bind=bind)
    assert (built.condition, built.instances) == (["condition", "TRUE"], 1)


def test_a_built_node_evaluates() -> None:
    """A node yields terminals and messages."""
    message = Message(Element("Root"))
    work: Any = None
    assert list(sample().evaluate(message, work)) == [("out", message)]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A property of a type that no file can give."""

    lookup: dict[str, str]


@pytest.mark.parametrize(
    ("declaration", "complaint"),
    [(Wrong, "Wrong.lookup: a property cannot be"), (int, "int is not a dataclass")],
)
def test_wrong_declarations_are_refused_at_import(declaration: type, complaint: str) -> None:
    """The author of a node learns of it when the module is imported."""
    with pytest.raises(TypeError, match=complaint):
        properties_of(declaration)

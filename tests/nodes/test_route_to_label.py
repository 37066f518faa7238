"""RouteToLabel and Label: where a message goes, what is left of its list, and what is refused."""

from __future__ import annotations

from typing import TypeAlias

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError, ConfigurationException
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import Message
from engine.node import build, node_catalog
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from engine.tree.element import Element
from tests.nodes.bench import carried, exception_numbers, message_of, tree

Entries: TypeAlias = "list[tuple[str, object]]"


def routed(entries: Entries) -> Message:
    local = tree("LocalEnvironment", [("Destination", [("RouterList", entries)]), ("Variables", 1)])
    return message_of().replaced(local_environment=local)


def entry(name: object, spelling: str = "labelName") -> tuple[str, object]:
    return "DestinationData", [(spelling, name)]


def left(message: Message) -> list[object]:
    """The names that are still in the list."""
    found = message.local_environment.at("Destination", "RouterList")
    return [field.value for data in found or () for field in data]


CHOICES: list[tuple[dict[str, object], Entries, str, list[object]]] = [
    ({}, [entry("A")], "A", []),
    ({}, [entry("A"), entry("B")], "B", ["A"]),
    ({"mode": "routeToLast"}, [entry("A"), entry("B")], "B", ["A"]),
    ({"mode": "routeToFirst"}, [entry("A"), entry("B")], "A", ["B"]),
    ({}, [entry("A"), entry("B", "labelname")], "B", ["A"]),
    ({}, [entry("A"), entry("A")], "A", ["A"]),
    ({}, [entry("A"), ("other", "x")], "A", []),
    ({}, [entry(7)], "7", []),
]


@pytest.mark.parametrize(("properties", "entries", "label", "rest"), CHOICES)
def test_choices(properties: dict[str, object], entries: Entries, label: str, rest: list[object]) -> None:
    """One entry is used, and is then no longer in the list; the message that came in still has it."""
    message = routed(entries)
    seen = carried("RouteToLabel", message, "label A", "label B", "label 7", properties=properties)
    assert [f"label {label}"] == seen.terminals
    assert rest == [value for value in left(seen.message) if value != "x"]
    assert seen.message.root is message.root
    assert seen.message.local_environment.at("Variables") is not None
    assert len(left(message)) > len(rest)


EMPTY = "there is no LocalEnvironment.Destination.RouterList.DestinationData: set one before this node"
UNNAMED = "the DestinationData of RouterList that is to be used has no labelName: set it before this node"
REFUSALS: list[tuple[str, Message, str]] = [
    ("no list", message_of(), EMPTY),
    ("an empty list", routed([]), EMPTY),
    ("a list of something else", routed([("Other", [("labelName", "A")])]), EMPTY),
    ("no name", routed([entry("A"), ("DestinationData", [("x", 1)])]), UNNAMED),
    ("NULL", routed([entry(None)]), UNNAMED),
    ("no such Label", routed([entry("NONE")]), "no Label node has the labelName 'NONE': correct one of the two"),
    ("another case", routed([entry("a")]), "no Label node has the labelName 'a': correct one of the two"),
]


@pytest.mark.parametrize(("message", "text"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS])
@pytest.mark.parametrize("wired", [False, True])
def test_refusals(message: Message, text: str, wired: bool) -> None:
    """Where there is nowhere to go, the message goes to failure as it came, or the failure goes up."""
    seen = carried("RouteToLabel", message, "label A", *(["failure"] if wired else []))
    if wired:
        assert ["failure"] == seen.terminals
        assert exception_numbers(seen.message) == [2230, 4256]
        assert seen.message.local_environment is message.local_environment
        return
    assert seen.error is not None
    assert (4256, text) == (seen.error.number, seen.error.text)
    assert seen.sent == []


def test_a_failure_behind_the_label() -> None:
    """What fails behind the Label goes up, not to failure."""
    error = BrokerError(2450, "below")
    seen = carried("RouteToLabel", routed([entry("A")]), "label A", "failure", fails={"label A": error})
    assert (["label A"], error) == (seen.terminals, seen.error)


def test_a_label_needs_a_name() -> None:
    """Without a name, nothing could be routed to a Label."""
    with pytest.raises(ConfigurationException, match="Label needs labelName"):
        build(node_catalog.find("Label"), {})


def test_one_after_the_other() -> None:
    """Behind a Label, a further RouteToLabel goes to the next entry: a list is worked off from its end."""
    nodes = [
        NodeUse("Route", "RouteToLabel"),
        NodeUse("Again", "RouteToLabel"),
        NodeUse("A", "Label", (Setting("labelName", "one"),)),
        NodeUse("B", "Label", (Setting("labelName", "two"),)),
        NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),)),
    ]
    wires = (Wire("B", "out", "Again"), Wire("A", "out", "Out"))
    steps: list[tuple[str, str, str]] = []
    deployed = deploy(Flow("F", nodes=tuple(nodes), wires=wires), watch=lambda *taken: steps.append(taken))
    work = MemoryQueues("OUT").work()
    deployed.stations["Route"].carry(routed([entry("one"), entry("two")]), work)
    expected = [("Route", "two", "B"), ("B", "out", "Again"), ("Again", "one", "A"), ("A", "out", "Out")]
    assert expected == steps
    work.commit()
    arrival = work.get("OUT")
    assert arrival is not None
    assert arrival.descriptor._replace(msg_id=Descriptor().msg_id, put_date="", put_time="") == Descriptor()


def test_the_list_may_be_edited_again() -> None:
    """What is left of the list is read-only like every LocalEnvironment that a node is given."""
    seen = carried("RouteToLabel", routed([entry("A")]), "label A")
    with pytest.raises(BrokerError, match="input tree"):
        seen.message.local_environment.append(Element("x"))

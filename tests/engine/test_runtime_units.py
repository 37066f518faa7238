"""Flows that run: units of work, interrupts, depth, watching, and what cannot be deployed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError, ConfigurationException, Place
from engine.flow.definition import Flow, NodeUse, Setting
from engine.message.assembly import Message
from engine.message.received import Received
from engine.mq.unit import Work
from engine.node import Property, node
from engine.runtime import deployment
from engine.runtime.deployment import DeployedFlow, deploy
from engine.transports.memory import MemoryQueues
from engine.tree.sharing import read_only
from engine.work import UnitOfWork
from tests.engine.runtime_nodes import Sends, Story, catalog, fail, flow_of, say, told, use


@pytest.fixture(autouse=True)
def _own_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime knows the nodes of runtime_nodes.py and no others."""
    monkeypatch.setattr(deployment, "node_catalog", catalog)


RECEIVING: list[tuple[Exception, int, str]] = [
    (BrokerError(2085, "no queue"), 2085, "BIP2085 s.F.Enter: no queue"),
    (IndexError("broken"), 2230, "BIP2230 s.F.Enter: IndexError: broken"),
]


@pytest.mark.parametrize(("error", "number", "text"), RECEIVING)
def test_failing_to_receive(error: Exception, number: int, text: str) -> None:
    """An entrance that cannot get a message raises, placed, with the unit of work backed out."""
    deployed, work = deploy(flow_of([use("Enter")], "")), Story({"receive": error})
    with pytest.raises(BrokerError) as caught:
        deployed.process(deployed.entrances[0], work)  # type: ignore[arg-type]  # what these nodes need of one
    assert (number, text) == (caught.value.number, str(caught.value))
    assert work.log == ["receive", "back out"]


def test_no_message() -> None:
    """Where there is no message, nothing is committed or backed out."""
    deployed, work = deploy(flow_of([use("Enter", ("fails", "empty"))], "")), Story()
    assert deployed.process(deployed.entrances[0], work) is None  # type: ignore[arg-type]
    assert work.log == ["receive"]


def test_an_entrance_sends_its_failures_itself() -> None:
    """The runtime does not send an entrance's own failure to its failure terminal, past its own rules."""
    nodes = [use("Enter", ("fails", "itself")), say("A")]
    deployed, work = deploy(flow_of(nodes, "Enter.failure -> A")), Story()
    outcome = deployed.process(deployed.entrances[0], work)  # type: ignore[arg-type]
    assert outcome is not None
    assert "entrance" in str(outcome.error)
    assert work.log == ["receive", "back out"]


def test_an_interrupt_backs_out_and_goes_on_up() -> None:
    """Ctrl-C is no failure of the flow: nodes that wait end, the unit is backed out, and the interrupt goes on."""
    deployed = deploy(flow_of([use("Enter"), say("A"), say("B")], "Enter.out -> A, A.out -> B"))
    work = Story()
    work.fails["B"] = KeyboardInterrupt()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        deployed.process(deployed.entrances[0], work)  # type: ignore[arg-type]
    assert work.log == ["receive", "A", "B", "A ends", "back out"]


def test_a_flow_that_is_too_deep() -> None:
    """A chain of nodes deeper than Python goes fails; nodes that wait end, their failure terminals stay out of it."""
    count = 1_500
    nodes = [say(f"N{n}") for n in range(count)]
    wires = ["Enter.out -> N0", *(f"N{n}.out -> N{n + 1}" for n in range(count - 1)), "N0.failure -> Out"]
    log, outcome = told([*nodes, say("Out")], ",".join(wires))
    assert outcome is not None
    assert outcome.error is not None
    assert "too deep" in outcome.error.text
    assert log[-1] == "back out"
    assert "Out" not in log
    assert "N0 ends" in log


def test_watch() -> None:
    """Who watches is told of each wire that a message takes, in the order in which it takes them."""
    nodes = [use("Enter"), use("Route", ("to", "x")), use("L: Label", ("labelName", "x")), say("A"), say("B")]
    seen: list[tuple[str, str, str]] = []
    wires = "Enter.out -> Route, L.out -> A, L.out -> B"
    deployed = deploy(flow_of(nodes, wires), watch=lambda *step: seen.append(step))
    work: Any = Story()
    deployed.process(deployed.entrances[0], work)
    assert seen == [("Enter", "out", "Route"), ("Route", "x", "L"), ("L", "out", "A"), ("L", "out", "B")]


def test_bind() -> None:
    """A property that is more than its text is bound at deploy, with the place of its node; others are not."""
    asked: list[tuple[str, object, Place]] = []

    def bind(declared: Property, text: object, place: Place) -> object:
        asked.append((declared.name, text, place))
        return "bound"

    deployed = deploy(
        flow_of([use("Enter"), use("M: Marked", ("program", "p")), say("A")], "Enter.out -> M"), bind=bind
    )
    work: Any = Story()
    deployed.process(deployed.entrances[0], work)
    assert asked == [("program", "p", Place("s.F", "M", type="ComIbmMarkedNode"))]
    assert "runs bound" in work.log


UNDEPLOYABLE = [
    ([use("X: Nix")], "", "BIP2066 f.yaml:3:5: no node type called Nix"),
    ([use("X: Say", ("wort", "y"))], "", "BIP2210 f.yaml:3:5: Say has no property wort; did you mean word?"),
    ([use("X: Marked", ("program", "refused"))], "", "BIP0009 f.yaml:3:5: refused by the node"),
    ([say("X"), say("X")], "", "BIP2066 f.yaml:3:5: there are two nodes called X: rename one of them"),
    ([say("X")], "X.out -> Y", "BIP2066: the wire X.out -> Y.in needs a node called Y"),
]


@pytest.mark.parametrize(("nodes", "wires", "text"), UNDEPLOYABLE, ids=[text for *_, text in UNDEPLOYABLE])
def test_what_cannot_be_deployed(nodes: list[NodeUse], wires: str, text: str) -> None:
    """A flow that cannot be deployed says so where the node or the wire is written."""
    with pytest.raises(BrokerError) as caught:
        deploy(flow_of([use("Enter"), *nodes], wires))
    assert text == str(caught.value)
    expected = ("", "") if wires else ("s.F", "X")
    if "two nodes" not in text:
        assert expected == (caught.value.place.flow, caught.value.place.node)


def test_flow_properties() -> None:
    """A deployed flow has its flow's properties, and one that is wrong names the flow."""
    given = Flow("F", properties=(Setting("commitCount", "5"),))
    assert deploy(given).properties.commit_count == 5
    with pytest.raises(ConfigurationException, match="BIP2211 F: commitCount is a whole number from 1, not 'x'"):
        deploy(Flow("F", properties=(Setting("commitCount", "x"),)))


@node("Get", inputs=(), outputs=("out",), catalog=catalog)
@dataclass(frozen=True, slots=True)
class Get:
    """Gets from IN."""

    def receive(self, work: UnitOfWork) -> Message | None:
        arrival = work.get("IN")
        return None if arrival is None else Message(read_only(Received(*arrival).root()))

    def evaluate(self, message: Message, work: UnitOfWork) -> Sends:
        yield "out", message


@node("Put", catalog=catalog)
@dataclass(frozen=True, slots=True)
class Put:
    """Puts to OUT."""

    def evaluate(self, message: Message, work: UnitOfWork) -> Sends:
        work.put("OUT", Descriptor(), b"out")
        yield "out", message


class Refusing(Work):
    """A unit of work whose commit is refused."""

    __slots__ = ()

    def commit(self) -> None:
        raise BrokerError(5, "the disk is full")


def queues_with_one() -> Iterator[tuple[MemoryQueues, DeployedFlow]]:
    queues = MemoryQueues("IN", "OUT")
    work = queues.work()
    work.put("IN", Descriptor(), b"in")
    work.commit()
    yield queues, deploy(flow_of([use("Get"), use("Put"), fail()], "Get.out -> Put"))
    yield queues, deploy(flow_of([use("Get"), use("Put"), fail()], "Get.out -> Put, Put.out -> Fail"))


def test_a_message_whose_commit_is_refused_is_not_lost() -> None:
    """After a refused commit and after a failure the message is on its queue, counted, and nothing else was put."""
    for number, (queues, deployed) in enumerate(queues_with_one(), 1):
        work = Refusing(queues) if number == 1 else queues.work()
        outcome = deployed.process(deployed.entrances[0], work)
        assert outcome is not None
        assert outcome.error is not None
        assert [(b"in", number)] == [(a.body, a.descriptor.backout_count) for a in queues.browse("IN")]
        assert queues.depth("OUT") == 0


def test_environment_is_one_for_the_whole_way() -> None:
    """Copies of a message that go different ways share its Environment; their other trees are their own."""
    message = Message(read_only(Received(Descriptor(), b"").root()))
    other = message.failed(BrokerError(7, "x"))
    message.environment.add("Seen", 1)
    assert other.environment is message.environment
    assert message.exceptions.first_child is None
    assert other.exceptions.first_child is not None

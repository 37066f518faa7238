"""Flows that run: the order of wires, where failures go, and what becomes of the unit of work."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import pytest

from engine import runtime
from engine.catalog import Catalog
from engine.descriptor import Descriptor
from engine.errors import BrokerError, ConfigurationException, Place
from engine.flow import Flow, NodeUse, Setting, Wire
from engine.message import Message
from engine.node import ANY_LABEL, ANY_TERMINAL, Esql, LabelName, NodeType, Property, node, prop
from engine.received import Received
from engine.runtime import DeployedFlow, Outcome, deploy
from engine.sharing import read_only
from engine.transports.memory import MemoryQueues, MemoryWork
from engine.work import UnitOfWork

catalog: Catalog[NodeType] = Catalog("node type", package="")
Sends: TypeAlias = Generator[tuple[str, Message], bool, None]
Log: TypeAlias = list[str]


@pytest.fixture(autouse=True)
def _own_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime knows the nodes of this file and no others."""
    monkeypatch.setattr(runtime, "node_catalog", catalog)


class Story:
    """A unit of work that writes down what happens, in the order in which it happens."""

    def __init__(self, fails: dict[str, Exception] | None = None) -> None:
        self.log: Log = []
        self.fails = fails or {}

    def note(self, text: str) -> None:
        self.log.append(text)
        if text in self.fails:
            raise self.fails[text]

    def commit(self) -> None:
        self.note("commit")

    def back_out(self) -> None:
        self.note("back out")


def note(work: Any, text: str) -> None:
    if isinstance(work, Story):
        work.note(text)


@node("Enter", inputs=(), outputs=("failure", "out", "catch"), catalog=catalog)
@dataclass(frozen=True, slots=True)
class Enter:
    """Receives one message, or fails as it is told."""

    fails: str = prop("", "When.")

    def receive(self, work: Any) -> Message | None:
        work.note("receive")
        return None if self.fails == "empty" else Message(read_only(Received(Descriptor(), b"").root()))

    def evaluate(self, message: Message, work: Any) -> Sends:
        if self.fails == "itself":
            raise BrokerError(1, "entrance")
        yield "out", message


@node("Say", outputs=("out", "second"), catalog=catalog)
@dataclass(frozen=True, slots=True)
class Say:
    """Says a word when it is reached and another when all behind it is done."""

    word: str = prop("", "What it says.")
    terminals: str = prop("out", "Where it sends, in order.")

    def evaluate(self, message: Message, work: Any) -> Sends:
        note(work, self.word)
        try:
            for terminal in self.terminals.split():
                wired = yield terminal, message
                note(work, f"{self.word}.{terminal} {wired}")
        finally:
            note(work, f"{self.word} ends")


@node("Fail", catalog=catalog)
@dataclass(frozen=True, slots=True)
class Fail:
    """Fails, before or after it has sent the message on."""

    how: str = prop("error", "How.")

    def evaluate(self, message: Message, work: Any) -> Sends:
        errors: dict[str, Callable[[], Exception]] = {
            "error": lambda: BrokerError(7, "own failure"),
            "placed": lambda: BrokerError(7, "own failure", place=Place("X", "Inner", "x.esql", 3)),
            "key": lambda: KeyError("k"),
            "deep": lambda: RecursionError("too deep"),
        }
        if self.how == "after":
            yield "out", message
            raise errors["error"]()
        if self.how == "wraps":
            try:
                yield "out", message
            except BrokerError as error:
                raise BrokerError(8, "wrapped") from error
        if self.how == "undeclared":
            yield "nowhere", message
        if self.how in errors:
            raise errors[self.how]()


@node("Try", outputs=("try", "catch"), catalog=catalog)
@dataclass(frozen=True, slots=True)
class Try:
    """TryCatch."""

    def evaluate(self, message: Message, work: Any) -> Sends:
        try:
            yield "try", message
        except BrokerError as error:
            note(work, f"caught {error.number} of {error.place.node}")
            yield "catch", message.failed(error)


@node("Read", catalog=catalog)
@dataclass(frozen=True, slots=True)
class Read:
    """Notes the ExceptionList that comes with the message."""

    def evaluate(self, message: Message, work: Any) -> Sends:
        found = message.exceptions.first_child
        numbers = []
        while found is not None:
            number = found.at("Number")
            numbers.append(0 if number is None else number.value)
            last = found.last_child
            found = last if last is not None and last.name.endswith("Exception") else None
        note(work, f"exceptions {numbers}")
        yield "out", message


@node("Route", outputs=(ANY_LABEL,), catalog=catalog)
@dataclass(frozen=True, slots=True)
class Route:
    """Sends to a Label by name."""

    to: str = prop("", "Which.")

    def evaluate(self, message: Message, work: Any) -> Sends:
        wired = yield f"{runtime.LABEL}{self.to}", message
        note(work, f"{self.to} {wired}")


@node("Label", inputs=(), failure=False, catalog=catalog)
@dataclass(frozen=True, slots=True)
class Label:
    """Is sent to by name."""

    label_name: Annotated[str, LabelName()] = prop("", "Its name.")

    def evaluate(self, message: Message, work: Any) -> Sends:
        note(work, f"label {self.label_name}")
        yield "out", message


@node("Open", outputs=(ANY_TERMINAL,), catalog=catalog)
@dataclass(frozen=True, slots=True)
class Open:
    """May send to any terminal."""

    def evaluate(self, message: Message, work: Any) -> Sends:
        wired = yield "anything", message
        note(work, f"anything {wired}")


@node("Plain", catalog=catalog)
@dataclass(frozen=True, slots=True)
class Plain:
    """Is no generator, against the protocol."""

    def evaluate(self, message: Message, work: Any) -> Sends:
        raise ValueError("not a generator")


@node("Stubborn", catalog=catalog)
@dataclass(frozen=True, slots=True)
class Stubborn:
    """Answers every failure with another message."""

    def evaluate(self, message: Message, work: Any) -> Sends:
        for _ in range(3):
            try:
                yield "out", message
            except BrokerError as error:
                note(work, f"again after {error.number}")


@node("Marked", catalog=catalog)
@dataclass(frozen=True, slots=True)
class Marked:
    """Has a property that is bound."""

    program: Annotated[str, Esql("compute")] = prop("", "A program.")

    def __post_init__(self) -> None:
        if self.program == "refused":
            raise BrokerError(9, "refused by the node")

    def evaluate(self, message: Message, work: Any) -> Sends:
        note(work, f"runs {self.program}")
        yield "out", message


def use(text: str, *settings: tuple[str, str]) -> NodeUse:
    label, _, kind = text.partition(": ")
    place = Place(file="f.yaml", line=3, column=5)
    return NodeUse(label, kind or label, tuple(Setting(name, value) for name, value in settings), place=place)


def wire(text: str) -> Wire:
    source, target = text.split(" -> ")
    label, terminal = source.split(".")
    return Wire(label, terminal, target)


def flow_of(nodes: list[NodeUse], wires: str) -> Flow:
    return Flow("F", "s", nodes=tuple(nodes), wires=tuple(wire(text.strip()) for text in wires.split(",") if text))


def told(nodes: list[NodeUse], wires: str, fails: dict[str, Exception] | None = None) -> tuple[Log, Outcome | None]:
    """What happens to one message, and what becomes of it."""
    deployed = deploy(flow_of([use("Enter"), *nodes], wires))
    work: Any = Story(fails)
    outcome = deployed.process(deployed.entrances[0], work)
    assert work.log[0] == "receive"
    return work.log[1:], outcome


def say(label: str, *terminals: str) -> NodeUse:
    return use(f"{label}: Say", ("word", label), ("terminals", " ".join(terminals or ("out",))))


def fail(how: str = "error") -> NodeUse:
    return use("Fail", ("how", how))


WAYS = [
    (
        "depth first, in the order of the wires",
        [say("A"), say("B"), say("C"), say("D")],
        "Enter.out -> A, A.out -> C, A.out -> B, C.out -> D",
        "A|C|D|D.out False|D ends|C.out True|C ends|B|B.out False|B ends|A.out True|A ends",
    ),
    (
        "one terminal after the other",
        [say("A", "second", "out"), say("B"), say("C")],
        "Enter.out -> A, A.out -> B, A.second -> C",
        "A|C|C.out False|C ends|A.second True|B|B.out False|B ends|A.out True|A ends",
    ),
    ("a terminal that is not wired", [say("A")], "Enter.out -> A", "A|A.out False|A ends"),
    (
        "a Label is reached by name",
        [use("Route", ("to", "x")), use("L: Label", ("labelName", "x")), say("A")],
        "Enter.out -> Route, L.out -> A",
        "label x|A|A.out False|A ends|x True",
    ),
    (
        "a Label that is not there",
        [use("Route", ("to", "y")), use("L: Label", ("labelName", "x"))],
        "Enter.out -> Route",
        "y False",
    ),
    ("a terminal that the flow did not name", [use("Open")], "Enter.out -> Open", "anything False"),
    (
        "a failure is caught by the node that tries",
        [use("Try"), say("A"), fail(), use("Read")],
        "Enter.out -> Try, Try.try -> A, A.out -> Fail, Try.catch -> Read",
        "A|A ends|caught 7 of Fail|exceptions [2230, 7]",
    ),
    (
        "an own failure goes to the failure terminal and not further",
        [use("Try"), say("A"), fail(), use("Read")],
        "Enter.out -> Try, Try.try -> A, A.out -> Fail, Fail.failure -> Read",
        "A|exceptions [2230, 7]|A.out True|A ends",
    ),
    (
        "an own failure after the message was sent on",
        [fail("after"), say("A"), use("Read")],
        "Enter.out -> Fail, Fail.out -> A, Fail.failure -> Read",
        "A|A.out False|A ends|exceptions [2230, 7]",
    ),
    (
        "an own failure that says where in its program it is",
        [fail("placed"), use("Read")],
        "Enter.out -> Fail, Fail.failure -> Read",
        "exceptions [2230, 7]",
    ),
    (
        "a failure from below that was wrapped is an own one",
        [fail("wraps"), use("Inner: Fail"), use("Read")],
        "Enter.out -> Fail, Fail.out -> Inner, Fail.failure -> Read",
        "exceptions [2230, 8, 7]",
    ),
    (
        "a failure from below does not go to the failure terminal",
        [use("Try"), say("A"), fail(), say("B"), say("C")],
        "Enter.out -> Try, Try.try -> A, A.out -> Fail, A.failure -> B, Try.catch -> C",
        "A|A ends|caught 7 of Fail|C|C.out False|C ends",
    ),
    (
        "wires after one that failed carry nothing",
        [use("Try"), say("A"), fail(), say("B")],
        "Enter.out -> Try, Try.try -> A, A.out -> Fail, A.out -> B",
        "A|A ends|caught 7 of Fail",
    ),
    (
        "a failure flow that fails is a failure from below",
        [use("Try"), fail(), use("Second: Fail")],
        "Enter.out -> Try, Try.try -> Fail, Fail.failure -> Second",
        "caught 7 of Second",
    ),
    (
        "a node that goes on after failures below",
        [use("Stubborn"), fail()],
        "Enter.out -> Stubborn, Stubborn.out -> Fail",
        "again after 7|again after 7|again after 7",
    ),
    (
        "an unexpected exception is a failure of the node",
        [fail("key"), use("Read")],
        "Enter.out -> Fail, Fail.failure -> Read",
        "exceptions [2230]",
    ),
    (
        "a node that is no generator",
        [use("Try"), use("Plain")],
        "Enter.out -> Try, Try.try -> Plain",
        "caught 2230 of Plain",
    ),
    (
        "a terminal that the node does not have",
        [use("Try"), fail("undeclared")],
        "Enter.out -> Try, Try.try -> Fail",
        "caught 2230 of Fail",
    ),
    (
        "a recursion in the node itself is its own failure",
        [fail("deep"), use("Read")],
        "Enter.out -> Fail, Fail.failure -> Read",
        "exceptions [2230]",
    ),
]


@pytest.mark.parametrize(("nodes", "wires", "story"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS])
def test_ways_that_end_well(nodes: list[NodeUse], wires: str, story: str) -> None:
    """A message goes the way that wires and failures lead it, and its unit of work is committed."""
    log, outcome = told(nodes, wires)
    assert story.split("|") == log[:-1]
    assert log[-1] == "commit"
    assert outcome is not None
    assert outcome.error is None


FAILED = "own failure"
FAILURES = [
    ("not caught", [say("A"), fail()], "Enter.out -> A, A.out -> Fail", {}, (7, "Fail", FAILED), "A|A ends"),
    (
        "caught, and the catch flow fails",
        [use("Try"), fail(), use("Second: Fail", ("how", "key"))],
        "Enter.out -> Try, Try.try -> Fail, Try.catch -> Second",
        {},
        (2230, "Second", "Fail failed: KeyError: 'k'"),
        "caught 7 of Fail",
    ),
    ("in the program", [fail("placed")], "Enter.out -> Fail", {}, (7, "Inner", FAILED), ""),
    (
        "the commit is refused",
        [],
        "",
        {"commit": BrokerError(5, "the disk is full")},
        (5, "Enter", "the disk is full"),
        "commit",
    ),
    ("the commit breaks", [], "", {"commit": OSError("disk")}, (2230, "Enter", "OSError: disk"), "commit"),
    (
        "a node breaks when it ends",
        [say("A")],
        "Enter.out -> A",
        {"A ends": ValueError("end")},
        (2230, "A", "Say failed: ValueError: end"),
        "A|A.out False|A ends",
    ),
]


@pytest.mark.parametrize(
    ("nodes", "wires", "fails", "expected", "story"), [f[1:] for f in FAILURES], ids=[f[0] for f in FAILURES]
)
def test_ways_that_fail(
    nodes: list[NodeUse], wires: str, fails: dict[str, Exception], expected: tuple[int, str, str], story: str
) -> None:
    """What nobody catches backs the unit of work out, and the outcome says where and why."""
    log, outcome = told(nodes, wires, fails)
    assert outcome is not None
    assert outcome.error is not None
    assert expected == (outcome.error.number, outcome.error.place.node, outcome.error.text)
    assert [*filter(None, story.split("|")), "back out"] == log


def test_the_place_is_the_innermost() -> None:
    """What an inner part says of the place stays, and what it leaves open is filled in."""
    _, outcome = told([fail("placed")], "Enter.out -> Fail")
    assert outcome is not None
    assert outcome.error is not None
    assert outcome.error.place == Place("X", "Inner", "x.esql", 3)


@pytest.mark.parametrize("how", ["key", "deep"])
def test_the_cause_is_kept(how: str) -> None:
    """An exception that is not the broker's own is the cause of the one that is."""
    _, outcome = told([fail(how)], "Enter.out -> Fail")
    assert outcome is not None
    assert outcome.error is not None
    assert isinstance(outcome.error.__cause__, {"key": KeyError, "deep": RecursionError}[how])


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
    assert asked == [("program", "p", Place("s.F", "M"))]
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


class Refusing(MemoryWork):
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

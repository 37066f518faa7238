"""Nodes that tests of the runtime make flows of, and a unit of work that writes down what happens."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from engine.catalog import Catalog
from engine.descriptor import Descriptor
from engine.errors import BrokerError, Place
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import Message
from engine.message.received import Received
from engine.node import ANY_LABEL, ANY_TERMINAL, LABEL, Esql, LabelName, NodeType, node, prop
from engine.runtime.deployment import Outcome, deploy
from engine.tree.sharing import read_only

catalog: Catalog[NodeType] = Catalog("node type", package="")
Sends: TypeAlias = Generator[tuple[str, Message], bool, None]
Log: TypeAlias = list[str]


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
        wired = yield f"{LABEL}{self.to}", message
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

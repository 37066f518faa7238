"""A node on the bench: things wired to its terminals that note what arrives there, or fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from engine.descriptor import Descriptor
from engine.errors import BrokerError, Place
from engine.message.assembly import Message
from engine.message.received import Received
from engine.node import build, node_catalog
from engine.parser import Template
from engine.runtime.deployment import Station
from engine.tree.element import Element
from engine.tree.sharing import read_only


class Seen(NamedTuple):
    """What a node sent, in order, and what came out of it in the end."""

    sent: list[tuple[str, Message]]
    error: BrokerError | None

    @property
    def terminals(self) -> list[str]:
        return [terminal for terminal, _ in self.sent]

    @property
    def message(self) -> Message:
        """The one message that was sent."""
        ((_, message),) = self.sent
        return message


def carried(
    kind: str,
    message: Message,
    *wired: str,
    properties: Mapping[str, object] | None = None,
    fails: Mapping[str, BrokerError] | None = None,
    work: Any = None,
) -> Seen:
    """Have a node of that type work on a message; what is wired to a terminal in `fails` fails so."""
    node_type = node_catalog.find(kind)
    place = Place(flow="F", node="N", type=f"ComIbm{kind}Node")
    station = Station("N", build(node_type, properties or {}), node_type, place)
    seen = Seen([], None)

    def go(terminal: str) -> Callable[[Message, Any], None]:
        def arrive(arrived: Message, _: Any) -> None:
            seen.sent.append((terminal, arrived))
            if fails is not None and terminal in fails:
                raise fails[terminal]

        return arrive

    for terminal in wired:
        station.wires[terminal] = (go(terminal),)
    try:
        station.carry(message, work)
    except BrokerError as error:
        return seen._replace(error=error)
    return seen


def message_of(body: bytes = b"<a><b>1</b></a>", domain: str = "XMLNSC", **fields: Any) -> Message:
    """A message as it came from a queue."""
    return Message(read_only(Received(Descriptor(**fields), body, template=Template(domain)).root()))


def tree(name: str, content: object) -> Element:
    """A tree of pairs: a name with a value, or with pairs again."""
    made = Element(name)
    fill(made, content)
    return made


def fill(element: Element, content: object) -> None:
    for name, value in content if isinstance(content, list) else ():
        if isinstance(value, list):
            fill(element.add(name), value)
        else:
            element.add(name, value)


def exception_numbers(message: Message) -> list[object]:
    """The numbers in an ExceptionList, outermost first."""
    found, numbers = message.exceptions.first_child, []
    while found is not None:
        number = found.at("Number")
        numbers.append(None if number is None else number.value)
        last = found.last_child
        found = last if last is not None and last.name.endswith("Exception") else None
    return numbers

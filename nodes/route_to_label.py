"""RouteToLabel: send a message to the Label that its LocalEnvironment names."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.node import ANY_LABEL, LABEL, node, prop
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step

if TYPE_CHECKING:
    from engine.work import UnitOfWork

_NOTHING_NAMED: Final = 4256
_LIST: Final = ("Destination", "RouterList")
_ENTRY: Final = step("DestinationData")
_NAME: Final = step("labelName")
_NAME_OF_V2_1: Final = step("labelname")


@node("RouteToLabel", outputs=(ANY_LABEL,), category="routing")
@dataclass(frozen=True, slots=True)
class RouteToLabel:
    """Send the message to one Label: that of the first or last entry of LocalEnvironment.Destination.RouterList.

    An entry is a DestinationData with a labelName. The entry that is used is no longer in the list behind the Label,
    so that a further RouteToLabel goes on with the next.
    """

    mode: Literal["routeToFirst", "routeToLast"] = prop("routeToLast", "Which entry of the list is used.")

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        environment = copy(message.local_environment)
        found = environment.at(*_LIST)
        entry = None if found is None else found.child(_ENTRY) if self.mode == "routeToFirst" else _last_entry(found)
        if entry is None:
            text = "there is no LocalEnvironment.Destination.RouterList.DestinationData: set one before this node"
            raise BrokerError(_NOTHING_NAMED, text)
        name = _name(entry)
        entry.detach()
        if not (yield f"{LABEL}{name}", message.replaced(local_environment=environment)):
            raise BrokerError(_NOTHING_NAMED, f"no Label node has the labelName {name!r}: correct one of the two", name)


def _last_entry(entries: Element) -> Element | None:
    last = entries.last_child
    return last if last is None or _ENTRY.matches(last) else entries.nth_last(_ENTRY, 1)


def _name(entry: Element) -> str:
    field = entry.child(_NAME) or entry.child(_NAME_OF_V2_1)
    if field is None or field.value is None:
        text = "the DestinationData of RouterList that is to be used has no labelName: set it before this node"
        raise BrokerError(_NOTHING_NAMED, text)
    return str(field.value)

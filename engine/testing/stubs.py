"""Stubs: nodes that only pretend, as a test file tells them."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.testing.case import Stub, Throw
from engine.testing.message_builder import changed

if TYPE_CHECKING:
    from engine.work import UnitOfWork


class StubNode:
    """Stands in for a node of a flow; the last of its calls is repeated."""

    __slots__ = ("_stub", "calls")

    def __init__(self, stub: Stub) -> None:
        self._stub = stub
        self.calls = 0

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        """Do what is told for this call."""
        call = self._stub.calls[min(self.calls, len(self._stub.calls) - 1)]
        self.calls += 1
        for deed in call:
            if isinstance(deed, Throw):
                raise _exception(deed)
            yield deed.terminal, changed(message, deed.message)


def _exception(deed: Throw) -> BrokerError:
    kind = type(deed.type, (BrokerError,), {"kind": deed.type})
    made = kind(deed.number, deed.text, *deed.inserts)
    assert isinstance(made, BrokerError)
    return made

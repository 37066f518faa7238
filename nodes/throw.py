"""Throw: raise an exception from within a flow."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.errors import BrokerError, UserException
from engine.message.assembly import Message
from engine.node import UNSUITABLE_VALUE, node, prop

if TYPE_CHECKING:
    from engine.work import UnitOfWork

_OWN_NUMBERS: Final = range(3001, 3050)  # what the product's catalogue keeps for users
_SEVERITY: Final = 1


@node("Throw", outputs=(), failure=False, category="error")
@dataclass(frozen=True, slots=True)
class Throw:
    """Throw a UserException, which goes up to the nearest TryCatch or input node that catches it."""

    message_catalog: str = prop("", "The catalogue that the number belongs to; empty: the product's own.")
    message_number: int = prop(3001, "The number of the exception; 3001 to 3049 in the product's own catalogue.")
    message_text: str = prop("", "What the exception says.")

    def __post_init__(self) -> None:
        if not self.message_catalog and self.message_number not in _OWN_NUMBERS:
            text = (
                f"messageNumber is from 3001 to 3049, not {self.message_number}: or name a messageCatalog of your own"
            )
            raise BrokerError(UNSUITABLE_VALUE, text)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        said = self.message_text or "an exception was thrown by a Throw node without messageText"
        raise UserException(
            self.message_number, said, self.message_text, severity=_SEVERITY, catalog=self.message_catalog
        )
        yield "", message  # never reached: it makes this a generator, as every node is

"""Validate, and Check, its older form: see that a message is of the kind that a flow expects."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.message.assembly import Message
from engine.message.validation import ACTION_WORDS, Action, InheritedMaster, check_kind, validate_body, wanted_of
from engine.node import node, prop

if TYPE_CHECKING:
    from engine.work import UnitOfWork


@node("Check", outputs=("failure", "match"), category="diagnosis")
@dataclass(frozen=True, slots=True)
class Check:
    """Send the message to `match` if its domain, set and type are those that are to be checked; else it fails."""

    domain: str = prop("", "The domain that the body must be of.")
    check_domain: bool = prop(False, "Whether the domain is checked.")
    set: str = prop("", "The message set that Properties.MessageSet must name.")
    check_set: bool = prop(False, "Whether the message set is checked.")
    type: str = prop("", "The message type that Properties.MessageType must name.")
    check_type: bool = prop(False, "Whether the message type is checked.")

    def check(self, message: Message) -> None:
        """Raises where the message is of another kind."""
        check_kind(
            message.root,
            domain=self.domain if self.check_domain else None,
            message_set=self.set if self.check_set else None,
            message_type=self.type if self.check_type else None,
        )

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        self.check(message)
        yield "match", message


@node("Validate", outputs=("failure", "match"), category="diagnosis")
@dataclass(frozen=True, slots=True)
class Validate(Check):
    """Send the message to `match` if its domain, set and type are those that are to be checked; else it fails.

    With validateMaster, the body must also be what its message set says; a body of a domain without models is.
    """

    validate_master: InheritedMaster = prop(
        "none", "What of the body is validated by its model; inherit: what the input node asked for."
    )
    validate_failure_action: Action = prop("exception", ACTION_WORDS)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        self.check(message)
        wanted = wanted_of(message.root, self.validate_master, self.validate_failure_action)
        validate_body(message.root, wanted)
        yield "match", message

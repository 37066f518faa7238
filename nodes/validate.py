"""Validate: check that a message is of the kind that a flow expects."""

from __future__ import annotations

import logging
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from engine.errors import BrokerError, ParserException
from engine.message import Message
from engine.node import node, prop
from engine.parser import Parser, Template
from engine.received import Part, body_of
from engine.sharing import written
from engine.tree import Element

if TYPE_CHECKING:
    from engine.work import UnitOfWork

_MISMATCH: Final = 2230
_LOGS: Final = {"userTrace": "penstock.usertrace", "localErrorLog": "penstock.localerror"}


@node("Validate", outputs=("failure", "match"), category="diagnosis")
@dataclass(frozen=True, slots=True)
class Validate:
    """Send the message to `match` if its domain, set and type are those that are to be checked; else it fails.

    With validateMaster, the body must also be what its message set says; a body of a domain without models is.
    """

    domain: str = prop("", "The domain that the body must be of.")
    check_domain: bool = prop(False, "Whether the domain is checked.")
    set: str = prop("", "The message set that Properties.MessageSet must name.")
    check_set: bool = prop(False, "Whether the message set is checked.")
    type: str = prop("", "The message type that Properties.MessageType must name.")
    check_type: bool = prop(False, "Whether the message type is checked.")
    validate_master: Literal["none", "content", "contentAndValue", "inherit"] = prop(
        "none", "What of the body is validated by its model; inherit: what the input node asked for."
    )
    failure_action: Literal["exception", "exceptionList", "userTrace", "localErrorLog"] = prop(
        "exception",
        "What becomes of a body that is not valid: it fails for the first reason, or for all that were found, or what"
        " was found is written to a log and the message goes on to match.",
        name="validateFailureAction",
    )

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        check(
            message.root,
            domain=self.domain if self.check_domain else None,
            message_set=self.set if self.check_set else None,
            message_type=self.type if self.check_type else None,
        )
        try:
            _validate(message.root, self.validate_master)
        except ParserException as error:
            log = _LOGS.get(self.failure_action)
            if log is None:
                if self.failure_action == "exception":
                    error.inserts = error.inserts[:2]
                raise
            logging.getLogger(log).info("%s; the message goes on", error)
        yield "match", message


def _validate(root: Element, master: str) -> None:
    """Raise where the body is not what its model says."""
    body = body_of(root)
    owner = None if body is None else body.owner
    if body is None or not isinstance(owner, Parser):
        return
    source = written(body).source
    portion = source.portion if isinstance(source, Part) else None
    wanted = master if master != "inherit" else "none" if portion is None else portion.options.validation
    if wanted != "none":
        said = (_property(root, name) for name in ("MessageSet", "MessageType", "MessageFormat"))
        owner.validate(body, Template(owner.name, *said), values=wanted == "contentAndValue")


def check(root: Element, *, domain: str | None, message_set: str | None, message_type: str | None) -> None:
    """Raise with everything in which a message is not what is expected; None expects nothing."""
    checked = (
        ("domain", domain, _domain(root)),
        ("message set", message_set, _property(root, "MessageSet")),
        ("message type", message_type, _property(root, "MessageType")),
    )
    wrong = [f"its {name} is {is_!r}, not {text!r}" for name, text, is_ in checked if text not in {None, is_}]
    if wrong:
        raise BrokerError(_MISMATCH, f"the message is not of the kind that is expected: {', '.join(wrong)}")


def _domain(root: Element) -> str:
    body = root.last_child
    return "" if body is None or body.name in {"Properties", "MQMD"} else body.name


def _property(root: Element, name: str) -> str:
    field = root.at("Properties", name)
    return "" if field is None or field.value is None else str(field.value)

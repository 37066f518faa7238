"""Validating: a body held against the model of its message, and what becomes of one that is not valid."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engine.errors import LOCAL_ERROR, USER_TRACE, BrokerError, ParserException
from engine.message.received import Part, body_of
from engine.parser import Options, Parser, Template
from engine.tree.sharing import written

if TYPE_CHECKING:
    from engine.tree.element import Element

Master = Literal["none", "content", "contentAndValue"]
InheritedMaster = Literal["none", "content", "contentAndValue", "inherit"]
Action = Literal["exception", "exceptionList", "userTrace", "localErrorLog"]

ACTION_WORDS: Final = (
    "What becomes of a body that is not valid: it fails for the first reason, or for all that were found, or what was"
    " found is written to a log and the message goes on."
)
_MISMATCH: Final = 2230
_LOGS: Final = MappingProxyType({"userTrace": USER_TRACE, "localErrorLog": LOCAL_ERROR})


class Validation(NamedTuple):
    """The validation of a body: its extent, and the action on one that is not valid."""

    master: Master = "none"
    action: Action = "exception"


def wanted_of(root: Element, master: InheritedMaster, action: Action) -> Validation:
    """Returns what a node wants that passes on a Root whose body has options of its own, which `inherit` takes."""
    if master != "inherit":
        return Validation(master, action)
    options = _options_of(body_of(root))
    return Validation() if options is None else Validation(options.validation, options.action)


def validate_body(root: Element, wanted: Validation) -> None:
    """Raise, or tell a log, where the body is not what its model says; a domain without models has none that is not."""
    body = body_of(root)
    owner = None if body is None else body.owner
    if body is None or not isinstance(owner, Parser) or wanted.master == "none":
        return
    said = (_property(root, name) for name in ("MessageSet", "MessageType", "MessageFormat"))
    validate(owner, body, Template(owner.name, *said), wanted)


def validate_written(root: Element, master: InheritedMaster, action: Action) -> None:
    """The same for a body that is about to be written; what `inherit` asks for was done where the body was made."""
    if master not in {"none", "inherit"}:
        validate_body(root, wanted_of(root, master, action))


def validate(owner: Parser, element: Element, template: Template, wanted: Validation) -> None:
    """Raise, or tell a log, where an element is not what the model says of the message that a template names."""
    told(wanted, lambda: owner.validate(element, template, values=wanted.master == "contentAndValue"))


def told(wanted: Validation, check: Callable[[], None]) -> None:
    """Do a check that raises; what it raises fails, or is told to a log, as it is wanted."""
    if wanted.master == "none":
        return
    try:
        check()
    except ParserException as error:
        log = _LOGS.get(wanted.action)
        if log is None:
            if wanted.action == "exception":
                error.inserts = error.inserts[:2]
            raise
        for text in [found.text for found in error.inserts[1:]] or [error.text]:
            logging.getLogger(log).info("BIP%d: %s; the message goes on", error.number, text)


def _options_of(body: Element | None) -> Options | None:
    """The parser options that a body came with."""
    source = None if body is None else written(body).source
    return source.portion.options if isinstance(source, Part) else None


def _property(root: Element, name: str) -> str:
    field = root.at("Properties", name)
    return "" if field is None or field.value is None else str(field.value)


def check_kind(root: Element, *, domain: str | None, message_set: str | None, message_type: str | None) -> None:
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

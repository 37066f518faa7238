"""ResetContentDescriptor: have a message's body read by another parser from here on."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from engine.message.assembly import Message
from engine.message.received import Part, Received, body_of, domain_of, parse, part_element
from engine.message.validation import ACTION_WORDS, Action, InheritedMaster, wanted_of
from engine.message.writer import write_message
from engine.node import node, prop
from engine.parser import NO_OPTIONS, Options, Template, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy, written
from engine.tree.step import step

if TYPE_CHECKING:
    from engine.work import UnitOfWork

_FIELDS: Final = {"MessageSet": "Set", "MessageType": "Type", "MessageFormat": "Fmt"}  # of Properties, and of mcd
_DOMAINS: Final = {
    "BLOB": "none",
    "JMSMap": "jms_map",
    "JMSStream": "jms_stream",
}  # in mcd.Msd, where not in lower case


@node("ResetContentDescriptor")
@dataclass(frozen=True, slots=True)
class ResetContentDescriptor:
    """Send the message on with its body's bytes as the body of another domain, which reads them when it is looked at.

    A body that the flow has changed is written by its present parser first; one that it has not keeps its bytes.
    Properties and the mcd folder of an MQRFH2 header say what the body is from now on.
    """

    message_domain: str = prop("", "The new domain; empty: BLOB.")
    reset_message_domain: bool = prop(False, "Whether the domain is changed.")
    message_set: str = prop("", "The new message set.")
    reset_message_set: bool = prop(False, "Whether the message set is changed.")
    message_type: str = prop("", "The new message type.")
    reset_message_type: bool = prop(False, "Whether the message type is changed.")
    message_format: str = prop("", "The new message format.")
    reset_message_format: bool = prop(False, "Whether the message format is changed.")
    validate_master: InheritedMaster = prop(
        "none", "What of the body is validated by its message set, when it is parsed; inherit: what it was before."
    )
    validate_failure_action: Action = prop("exception", ACTION_WORDS)
    validate_timing: Literal["deferred", "immediate", "complete"] = prop(
        "deferred", "When the body is parsed: when it is looked at, or before it goes out."
    )

    def __post_init__(self) -> None:
        if self.reset_message_domain:
            parser_catalog.find(self.message_domain or "BLOB")

    @property
    def _resets(self) -> bool:
        return (
            self.reset_message_domain or self.reset_message_set or self.reset_message_type or self.reset_message_format
        )

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        if self._resets:
            message = message.replaced(root=self._reset(message.root))
        if self.validate_timing != "deferred":
            parse(message.root, whole=self.validate_timing == "complete")
        yield "out", message

    def _reset(self, given: Element) -> Element:
        body = body_of(given)
        template = self._template(given, body)
        descriptor, data = write_message(given)
        held = Template("BLOB" if body is None else body.name)
        portion = Received(descriptor, data, template=held).parts[-1].portion
        portion = portion._replace(template=template, options=self._options(given, body))
        root = copy(given)
        if body is not None and root.last_child is not None:
            root.last_child.detach()
        root.append(part_element(Part(domain_of(given).parser(template.domain), portion)))
        _say(root, template)
        return root

    def _options(self, root: Element, body: Element | None) -> Options:
        """The parser options that the body came with, validated as this node says."""
        wanted = wanted_of(root, self.validate_master, self.validate_failure_action)
        known = _options(body)._replace(timing=self.validate_timing)
        return known._replace(validation=wanted.master, action=wanted.action)

    def _template(self, root: Element, body: Element | None) -> Template:
        known = [_text(root.at("Properties", name)) for name in _FIELDS]
        return Template(
            (self.message_domain if self.reset_message_domain else "" if body is None else body.name) or "BLOB",
            self.message_set if self.reset_message_set else known[0],
            self.message_type if self.reset_message_type else known[1],
            self.message_format if self.reset_message_format else known[2],
        )


def _options(body: Element | None) -> Options:
    """The parser options that the body came with."""
    source = None if body is None else written(body).source
    return source.portion.options if isinstance(source, Part) else NO_OPTIONS


def _text(field: Element | None) -> str:
    return "" if field is None or field.value is None else str(field.value)


def _say(root: Element, template: Template) -> None:
    """Let Properties and the header that announces the body say what it is."""
    properties = root.ensure(step("Properties"))
    headers = root.every(step("MQRFH2"))
    mcd = headers[-1].ensure(step("mcd")) if headers else None
    if mcd is not None:
        mcd.ensure(step("Msd")).value = _DOMAINS.get(template.domain, template.domain.lower())
    for (name, short), text in zip(_FIELDS.items(), template[1:], strict=True):
        properties.ensure(step(name)).value = text
        if mcd is not None and (text or mcd.at(short) is not None):
            mcd.ensure(step(short)).value = text

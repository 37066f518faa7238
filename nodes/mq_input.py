"""MQInput: messages enter a flow from a queue."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from engine.dead_letters import BACKOUT_THRESHOLD_REACHED, UNPARSEABLE, put_away
from engine.errors import BrokerError
from engine.message import Message
from engine.node import mandatory, node, prop
from engine.parser import Options, Template, parser_catalog
from engine.received import Received, parse
from engine.sharing import copy, read_only
from engine.step import step

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.work import UnitOfWork

_SYNCPOINT: Final = {"yes": True, "no": False, "automatic": None}

Retention = Literal["none", "all"]


@node("MQInput", inputs=(), outputs=("failure", "out", "catch"), category="input")
@dataclass(frozen=True, slots=True)
class MQInput:
    """Get messages from a queue; what fails behind `out` is caught, backed out, or put away, but never dropped.

    With transactionMode no, the get stays done: what fails then, and no wire or dead-letter queue takes, is gone.
    """

    queue_name: str = mandatory("The queue that messages are got from.")
    message_domain_property: str = prop("BLOB", "The parser of bodies that no mcd folder names one for.")
    message_set_property: str = prop("", "The message set that the body belongs to.")
    message_type_property: str = prop("", "The message of that set.")
    message_format_property: str = prop("", "The wire format of the body.")
    topic_property: str = prop("", "The topic that Properties shows.")
    transaction_mode: Literal["yes", "no", "automatic"] = prop(
        "yes", "Whether the get is part of the unit of work; automatic: if the message is persistent."
    )
    validate_master: Literal["none", "content", "contentAndValue"] = prop(
        "none", "What of the body is validated by its message set, when it is parsed."
    )
    validate_timing: Literal["deferred", "immediate", "complete"] = prop(
        "deferred", "When the body is parsed: when it is looked at, or before it goes out."
    )
    parser_xmlnsc_mixed_content_retain_mode: Retention = prop("none", "Whether XMLNSC keeps text beside elements.")
    parser_xmlnsc_comments_retain_mode: Retention = prop("none", "Whether XMLNSC keeps comments.")
    parser_xmlnsc_processing_instructions_retain_mode: Retention = prop(
        "none", "Whether XMLNSC keeps processing instructions."
    )

    _template: Template = field(init=False, repr=False)
    _options: Options = field(init=False, repr=False)

    def __post_init__(self) -> None:
        domain = self.message_domain_property
        if domain and parser_catalog.get(domain) is None:
            raise BrokerError(2211, f"messageDomainProperty names no parser: {domain}{parser_catalog.suggest(domain)}")
        template = Template(
            self.message_domain_property,
            self.message_set_property,
            self.message_type_property,
            self.message_format_property,
        )
        options = Options(
            validation=self.validate_master,
            timing=self.validate_timing,
            retain_mixed_content=self.parser_xmlnsc_mixed_content_retain_mode == "all",
            retain_comments=self.parser_xmlnsc_comments_retain_mode == "all",
            retain_processing_instructions=self.parser_xmlnsc_processing_instructions_retain_mode == "all",
        )
        object.__setattr__(self, "_template", template)
        object.__setattr__(self, "_options", options)

    def receive(self, work: UnitOfWork) -> Message | None:
        """The next message of the queue, its body not parsed yet."""
        arrival = work.get(self.queue_name, syncpoint=_SYNCPOINT[self.transaction_mode])
        if arrival is None:
            return None
        received = Received(
            arrival.descriptor,
            arrival.body,
            template=self._template,
            options=self._options,
            queue=self.queue_name,
            transactional=self._is_transactional(arrival.descriptor),
        )
        return Message(read_only(received.root()))

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        received = message.root.source
        assert isinstance(received, Received)
        descriptor, body = received.descriptor, received.body
        attributes = work.attributes(self.queue_name) if descriptor.backout_count else None
        threshold = max(1, attributes.backout_threshold if attributes else 0)
        tries = descriptor.backout_count if received.transactional else 0
        try:
            message = self._initialised(message)
        except BrokerError as error:
            if tries >= threshold or not (yield "failure", message.failed(error)):
                put_away(self.queue_name, descriptor, body, work, reason=UNPARSEABLE)
            return
        if tries >= threshold:
            if tries >= 2 * threshold or not (yield "failure", message):
                put_away(self.queue_name, descriptor, body, work, reason=BACKOUT_THRESHOLD_REACHED)
            return
        try:
            yield "out", message
        except BrokerError as error:
            failed = message.failed(error)
            if (yield "catch", failed):
                return
            if received.transactional or not (yield "failure", failed):
                raise

    def _initialised(self, message: Message) -> Message:
        """The message with what the node's properties want of its tree before it goes anywhere."""
        if self.validate_timing != "deferred":
            parse(message.root, whole=self.validate_timing == "complete")
        if not self.topic_property:
            return message
        root = copy(message.root)
        root.ensure(step("Properties")).ensure(step("Topic")).value = self.topic_property
        return message.replaced(root=root)

    def _is_transactional(self, descriptor: Descriptor) -> bool:
        return self.transaction_mode == "yes" or (self.transaction_mode == "automatic" and descriptor.persistence == 1)

"""MQInput: messages enter a flow from a queue."""

from __future__ import annotations

import logging
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Literal

from engine.descriptor import UTF_8
from engine.errors import LOCAL_ERROR, NOWHERE, BrokerError, ConversionException, MessageException, Place
from engine.flow.dead_letters import (
    BACKED_OUT,
    BACKOUT_THRESHOLD_REACHED,
    BLOCKED,
    FAILED_FOR_GOOD,
    FAILED_TOO_OFTEN,
    FAILURE_FAILED,
    NOT_READ,
    UNPARSEABLE,
    put_away,
)
from engine.flow.queue_options import QueueReader
from engine.message.assembly import Message
from engine.message.received import Received, parse
from engine.node import UNSUITABLE_VALUE, Pattern, Range, node, prop
from engine.parser import conversion_catalog
from engine.tree.sharing import copy
from engine.tree.step import step
from engine.work import Order, Selection

if TYPE_CHECKING:
    from engine.work import UnitOfWork

SECURITY_ERROR: Final = 2063  # a message that is not protected as the policy of its queue asks
_SYNCPOINT: Final = {"yes": True, "no": False, "automatic": None}

_HEX: Final = Pattern(r"([0-9A-Fa-f]{2}){0,24}", "up to 48 hex digits, two for each byte")
_ID: Final = 24

_LOG: Final = logging.getLogger(LOCAL_ERROR)

# What the log says of messages that fail, by IBM's numbers.
_ROLLED_BACK: Final = 2628
_TO_FAILURE: Final = 2644
_TOLD: Final = (_ROLLED_BACK, BACKED_OUT, FAILURE_FAILED)  # why is told where the failure was passed on


@node("MQInput", inputs=(), outputs=("failure", "out", "catch"), category="input")
@dataclass(frozen=True, slots=True)
class MQInput(QueueReader):
    """Get messages from a queue; what fails behind `out` is caught, backed out, or put away, but never dropped.

    With transactionMode no, the get stays done: what fails then, and no wire takes, is put on the backout-requeue or
    the dead-letter queue at once.
    """

    topic_property: str = prop("", "The topic that Properties shows.")
    connection: Literal["Local"] = prop("Local", "Which queue manager: only that of the flow itself is there.")
    transaction_mode: Literal["yes", "no", "automatic"] = prop(
        "yes", "Whether the get is part of the unit of work; automatic: if the message is persistent."
    )
    order_mode: Literal["default", "byUserID", "byQueueOrder"] = prop(
        "default", "What stays in order where several instances read: nothing, each user's messages, or all."
    )
    logical_order: bool = prop(True, "Whether the messages of a group come in their order, a group behind the other.")
    all_msgs_available: bool = prop(False, "Whether a group only comes when all of its messages are there.")
    commit_by_message_group: bool = prop(False, "Whether a unit of work lasts to the end of a group.")
    match_message_id: Annotated[str, _HEX] = prop("", "The MsgId of the messages that are got, as hex digits.")
    match_correl_id: Annotated[str, _HEX] = prop("", "Their CorrelId, as hex digits.")
    convert: bool = prop(False, "Whether messages are converted as they are got; where that fails, they fail.")
    additional_instances: Annotated[int, Range(0, 256)] = prop(
        0, "How many more instances read, where componentLevel is node."
    )
    component_level: Literal["flow", "node"] = prop("flow", "Whether the flow's additionalInstances count, or these.")

    _selection: Selection = field(init=False, repr=False)
    _syncpoint: bool | None = field(init=False, repr=False)
    _prepares: bool = field(init=False, repr=False)  # each message, before it goes out
    _place: Place = field(init=False, repr=False, default=NOWHERE)

    def __post_init__(self) -> None:
        QueueReader.__post_init__(self)
        self._check()
        selection = Selection(
            bytes.fromhex(self.match_message_id).ljust(_ID, b"\0") if self.match_message_id else b"",
            bytes.fromhex(self.match_correl_id).ljust(_ID, b"\0") if self.match_correl_id else b"",
            logical=self.logical_order,
            whole_groups=self.all_msgs_available,
            order=self.order,
            browse=self.browse,
            rewind=self.reset_browse_timeout / 1000,
        )
        object.__setattr__(self, "_selection", selection)
        object.__setattr__(self, "_syncpoint", _SYNCPOINT[self.transaction_mode])
        prepares = self.convert or self.validate_timing != "deferred" or bool(self.topic_property)
        object.__setattr__(self, "_prepares", prepares)

    def _check(self) -> None:
        """Refuse what cannot be, or would have no effect."""
        if self.additional_instances and self.component_level == "flow":
            text = "additionalInstances of a node count where componentLevel is node: set that, or the flow's own"
            raise BrokerError(UNSUITABLE_VALUE, text)
        if self.commit_by_message_group and not self.logical_order:
            raise BrokerError(UNSUITABLE_VALUE, "commitByMessageGroup needs logicalOrder: set both or none")
        if self.commit_by_message_group and self.transaction_mode == "no":
            raise BrokerError(UNSUITABLE_VALUE, "commitByMessageGroup needs a transactionMode other than no")

    @property
    def order(self) -> Order:
        """Returns what stays in order where several instances read the queue."""
        return Order(self.order_mode, self.logical_order)

    def receive(self, work: UnitOfWork) -> Message | None:
        """The next message of the queue, its body not parsed yet; those that are not protected as they should be fail.

        They are on the error queue once that is committed.
        """
        while True:
            try:
                arrival = work.get(self.queue_name, self._selection, syncpoint=self._syncpoint, wait=work.patience)
                break
            except MessageException as error:
                if error.reason != SECURITY_ERROR or self.browse:
                    raise
                work.commit()
                _LOG.warning("%s", error.text)
        if arrival is None:
            return None
        descriptor, body = arrival
        transactional = descriptor.persistence == 1 if self._syncpoint is None else self._syncpoint
        received = Received(
            descriptor,
            body,
            template=self._template,
            options=self._options,
            queue=self.queue_name,
            transactional=transactional,
        )
        return Message(received)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        received = message.root.source
        assert isinstance(received, Received)
        try:
            if self._prepares or received.descriptor.backout_count:
                prepared = yield from self._prepared(message, received, work)
                if prepared is None:
                    return
                message = prepared
            try:
                yield "out", message
            except BrokerError as error:
                yield from self._caught(error, message, received)
        except BrokerError as error:
            if not (received.transactional or self.browse or error.number == BLOCKED):
                self._put_away(received, work, FAILED_FOR_GOOD)  # the get is no part of the unit that is backed out
                self._note(BACKED_OUT, error, "the message was put away")
            raise

    def _prepared(
        self, message: Message, received: Received, work: UnitOfWork
    ) -> Generator[tuple[str, Message], bool, Message | None]:
        """Returns the message that goes out; None for one that cannot be read, or that has failed too often."""
        tries = received.tries if not self.browse else 0
        attributes = work.attributes(self.queue_name) if tries else None
        threshold = max(1, attributes.backout_threshold if attributes else 0)
        try:
            message = self._initialised(message)
        except BrokerError as error:
            failed = message.failed(error.at(self._place))
            if tries < threshold and (yield "failure", failed):
                self._note(_TO_FAILURE, error, "the message went to the failure terminal")
                return None
            if self.browse:
                raise
            self._put_away(received, work, _reason(error))
            again = tries >= threshold
            self._note(FAILED_TOO_OFTEN if again else NOT_READ, error, "the message was put away")
            return None
        if tries < threshold:
            return message
        at_end = tries >= 2 * threshold
        if at_end or not (yield "failure", message):
            self._put_away(received, work, BACKOUT_THRESHOLD_REACHED)
            why = f"{self._place}: a message was backed out {tries} times"
            self._note(FAILURE_FAILED if at_end else BACKED_OUT, why, "the message was put away")
        return None

    def _caught(
        self, error: BrokerError, message: Message, received: Received
    ) -> Generator[tuple[str, Message], bool, None]:
        """Yields the message that has failed to those who catch it; raises where nobody does."""
        failed = message.failed(error)
        try:
            if (yield "catch", failed):
                return
        except BrokerError as later:
            self._note(_ROLLED_BACK, later, "the message is backed out")
            raise
        retried = received.transactional and not self.browse
        if retried or not (yield "failure", failed):
            self._note(_ROLLED_BACK, error, "the message is backed out")
            raise error

    def _note(self, number: int, error: object, text: str) -> None:
        """Write to the local error log what became of a message, and why; a failure that is passed on is told there."""
        level = logging.DEBUG if number in _TOLD else logging.INFO
        if _LOG.isEnabledFor(level):
            _LOG.log(level, "%s; %s (BIP%d)", error, text, number)

    def _put_away(self, received: Received, work: UnitOfWork, reason: int) -> None:
        syncpoint = received.transactional
        put_away(self.queue_name, received.descriptor, received.body, work, reason=reason, syncpoint=syncpoint)

    def _initialised(self, message: Message) -> Message:
        """The message with what the node's properties want of its tree before it goes anywhere."""
        if self.convert:
            message = self._converted(message)
        if self.validate_timing != "deferred":
            parse(message.root, whole=self.validate_timing == "complete")
        if not self.topic_property:
            return message
        root = copy(message.root)
        root.ensure(step("Properties")).ensure(step("Topic")).value = self.topic_property
        return message.replaced(root=root, as_it_is=True)

    def _converted(self, message: Message) -> Message:
        received = message.root.source
        assert isinstance(received, Received)
        convert = conversion_catalog.find("get")
        ccsid = self.convert_coded_char_set_id or UTF_8
        descriptor, body = convert(received.descriptor, received.body, self.convert_encoding, ccsid)
        if descriptor is received.descriptor:
            return message
        made = Received(
            descriptor,
            body,
            template=received.template,
            options=received.options,
            queue=received.queue,
            transactional=received.transactional,
        )
        made.domain = received.domain
        return Message(made)


def _reason(error: BrokerError) -> int:
    """Why a message is put away that cannot be worked on: it cannot be converted, or not be parsed."""
    return error.number if isinstance(error, ConversionException) else UNPARSEABLE

"""MQReply: answer a message, on the queue that it names for that."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from engine.message.assembly import Message
from engine.message.validation import ACTION_WORDS, Action, InheritedMaster, validate_written
from engine.node import node, prop
from nodes.mq_output import Destination, reply, reply_to, written

if TYPE_CHECKING:
    from engine.work import UnitOfWork


@node("MQReply", outputs=("failure", "out"), category="output")
@dataclass(frozen=True, slots=True)
class MQReply:
    """Put the message on the MQMD's ReplyToQ, with the ids that its report options ask for."""

    segmentation_allowed: bool = prop(
        False, "Whether a message that is longer than the queue allows is put in segments, which are got as one."
    )
    persistence_mode: Literal["automatic", "yes", "no", "asQdef"] = prop(
        "automatic", "Whether the reply is persistent; automatic: as the MQMD says."
    )
    transaction_mode: Literal["automatic", "yes", "no"] = prop(
        "automatic", "Whether the put is part of the unit of work; automatic: if the message came in one."
    )
    validate_master: InheritedMaster = prop(
        "none",
        "What of the body is validated by its message set before it is put; inherit: what the node that made it asked"
        " for, and has done.",
    )
    validate_failure_action: Action = prop("exception", ACTION_WORDS)

    _own: Destination = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own = Destination(
            transaction_mode=self.transaction_mode,
            persistence_mode=self.persistence_mode,
            segmentation_allowed=self.segmentation_allowed,
            context="setAll",
        )
        object.__setattr__(self, "_own", own)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        if self.validate_master != "none":
            validate_written(message.root, self.validate_master, self.validate_failure_action)
        sent = message.written()
        destination = reply_to(sent.descriptor, self._own, otherwise="set it before this node")
        put = [(destination, destination.put(sent._replace(descriptor=reply(sent.descriptor)), work))]
        yield "out", message.replaced(local_environment=lambda: written(message, put, work))

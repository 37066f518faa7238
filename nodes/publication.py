"""Publication: send a message to those who subscribe to its topics."""

from __future__ import annotations

from collections.abc import Container, Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final

from engine.errors import BrokerError, MessageException
from engine.flow.command_answers import (
    CORREL_ID_ERROR,
    DEL_OPTIONS_ERROR,
    PUB_OPTIONS_ERROR,
    Q_MGR_NAME_ERROR,
    Q_NAME_ERROR,
    RFH_COMMAND_ERROR,
    RFH_DUPLICATE_PARM,
    RFH_PARM_ERROR,
    TOPIC_ERROR,
    Answered,
    Own,
    RefusedError,
    answered_reason,
    check_properties,
    queue_of,
    send,
)
from engine.message.assembly import Message
from engine.message.topics import LOCAL, NO_SUBS_MATCHED, TOPIC_STRING_ERROR, TopicAddress
from engine.message.writer import Written
from engine.node import Pending, node, prop
from engine.tree.step import Step, step
from engine.work import authorise, knows_subscribers
from nodes.mq_output import Destination

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.tree.element import Element
    from engine.work import UnitOfWork

_TOPIC: Final = step("Topic")
_COMMAND: Final = step("Command")
_NOT_AUTHORISED: Final = 2035
_OPTIONS: Final = {  # of the commands that are carried out: where they stand, those that there are, and the refusal
    "Publish": (
        step("PubOpt"),
        frozenset({"CorrelAsId", "IsRetainedPub", "Local", "NoReg", "None", "OtherSubsOnly", "RetainPub"}),
        PUB_OPTIONS_ERROR,
    ),
    "DeletePub": (step("DelOpt"), frozenset({"Local", "None"}), DEL_OPTIONS_ERROR),
}
_TOLD: Final = frozenset(
    {  # what is wrong with a command, which its answer tells
        *(CORREL_ID_ERROR, Q_MGR_NAME_ERROR, Q_NAME_ERROR),
        *(_NOT_AUTHORISED, TOPIC_STRING_ERROR, TOPIC_ERROR),
        *(RFH_PARM_ERROR, RFH_DUPLICATE_PARM),
        *(RFH_COMMAND_ERROR, PUB_OPTIONS_ERROR, DEL_OPTIONS_ERROR),
    }
)


@node("Publication", outputs=("failure", "out", "noMatch"), category="output")
@dataclass(frozen=True, slots=True)
class Publication:
    """Publish the message on the topics of its psc folder, else of Properties; who subscribes gets it with the unit.

    It goes on to `out` where a subscription fits one of the topics, else to `noMatch`. A command, which a psc folder
    with Command is, is answered as its descriptor asks for.
    """

    implicit_stream_naming: Annotated[bool, Pending("publications with an MQRFH of MQSeries Publish/Subscribe")] = prop(
        False, "Whether the queue that the message came by is the stream that it is published on."
    )
    subscription_point: str = prop(
        "", "The subscription point: those who subscribed to this point get the message, and nobody else."
    )

    _goes_on: bool = field(init=False, repr=False, default=True)

    @property
    def publishes_at(self) -> str:
        """The subscription point of its publications."""
        return self.subscription_point

    def wire(self, terminals: Container[str]) -> None:
        """Takes the terminals that are wired; where messages go no further, nobody is asked what fits."""
        object.__setattr__(self, "_goes_on", "out" in terminals or "noMatch" in terminals)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        sent = message.written()
        command = message.root.at("MQRFH2", "psc")
        if command is not None and not _texts(command, _COMMAND):
            command = None
        try:
            outcome, terminal = self._carried_out(message.root, sent, work, is_command=command is not None)
        except BrokerError as error:
            outcome = Answered(((answered_reason(_reason(error)), ""),))
            if command is None or _reason(error) not in _TOLD or not outcome.is_wanted_by(sent.descriptor):
                raise
            _answer(outcome, command, sent, work)
            yield "failure", message.failed(error)
            return
        if command is not None:
            _answer(outcome, command, sent, work)
        yield terminal, message

    def _carried_out(self, root: Element, sent: Written, work: UnitOfWork, *, is_command: bool) -> tuple[Answered, str]:
        """Publish a message on its topics, or remove what is retained there; returns how it went and where to go on."""
        folder = root.at("MQRFH2", "psc")
        if is_command and folder is not None:
            _check(folder)
        topics = _topics(root)
        if not topics:
            text = "the message has no topic: set Properties.Topic, or psc.Topic of its MQRFH2"
            raise BrokerError(TOPIC_ERROR, text)
        named = self._address(folder, sent.descriptor, work)
        terminal = "noMatch" if named.asks else "out"
        refused: list[tuple[MessageException, str]] = []
        user = sent.descriptor.user_identifier
        for topic in topics:
            name = named._replace(topic=topic).name
            try:
                if user:
                    authorise(work, user, name)
                if Destination(name).put(sent, work).feedback != NO_SUBS_MATCHED:
                    terminal = "out"
            except MessageException as error:
                if error.reason != _NOT_AUTHORISED and not (is_command and error.reason == TOPIC_STRING_ERROR):
                    raise
                refused.append((error, topic))
        if len(refused) == len(topics):
            raise refused[0][0]
        reasons = tuple((answered_reason(error.reason), topic) for error, topic in refused)
        return Answered(reasons, bool(refused)), terminal

    def _address(self, folder: Element | None, descriptor: Descriptor, work: UnitOfWork) -> TopicAddress:
        """Returns the address that a message is put to, but for the topic: of publications, or of deletions."""
        named = _texts(folder, _COMMAND)
        if named and named[0] not in _OPTIONS:
            problem = f"a Publication node carries out Publish and DeletePub, not {named[0]:.40}: put it to the queue"
            raise _refused(RFH_COMMAND_ERROR, f"{problem} SYSTEM.BROKER.CONTROL.QUEUE")
        where, known, reason = _OPTIONS[named[0] if named else "Publish"]
        options = frozenset(_texts(folder, where))
        if named and not options <= known:
            problem = f"{named[0]} has no option {min(options - known):.40}: give it one of {', '.join(sorted(known))}"
            raise _refused(reason, problem)
        whole = TopicAddress("", point=self.subscription_point, scope=LOCAL if "Local" in options else "")
        if named == ["DeletePub"]:
            return whole._replace(forgets=True)
        without = _own(folder, descriptor, work.queue_manager, options) if "OtherSubsOnly" in options else None
        whole = whole._replace(retains="RetainPub" in options)
        return whole._replace(without=without, asks=self._goes_on) if knows_subscribers(work) else whole


def _check(folder: Element) -> None:
    """Refuse a folder with properties that no command has, or has once."""
    try:
        check_properties([field.name for field in folder if field.name])
    except RefusedError as refused:
        problem = "the psc folder has a property that no command has, or twice one that may stand once: take it out"
        raise _refused(refused.reason, problem) from refused


def _own(folder: Element | None, descriptor: Descriptor, queue_manager: str, options: frozenset[str]) -> Own:
    """Returns the queue and the correlation id of the publisher as a subscriber."""
    try:
        return queue_of(lambda name: next(iter(_texts(folder, step(name))), ""), descriptor, queue_manager, options)
    except RefusedError as refused:
        problem = (
            "OtherSubsOnly needs the publisher's queue: set QName of the psc folder, or ReplyToQ, of this queue manager"
        )
        raise _refused(refused.reason, f"{problem}; with CorrelAsId a CorrelId as well") from refused


def _refused(reason: int, problem: str) -> MessageException:
    return MessageException(reason, problem, reason=reason)


def _reason(error: BrokerError) -> int:
    return error.reason if isinstance(error, MessageException) else error.number


def _answer(outcome: Answered, command: Element, sent: Written, work: UnitOfWork) -> None:
    """Put the answer to a command where it is wanted."""
    told = [(field.name, "" if field.value is None else str(field.value)) for field in command]
    send(outcome, told, sent.descriptor, work, syncpoint=sent.transactional)


def _topics(root: Element) -> list[str]:
    """Returns the topics of a message, each once."""
    found = _texts(root.at("MQRFH2", "psc"), _TOPIC) or _texts(root.at("Properties"), _TOPIC)
    return list(dict.fromkeys(found))


def _texts(folder: Element | None, name: Step) -> list[str]:
    """Returns the values of a name in a folder; a list that a field of Properties has counts by its items."""
    found: list[str] = []
    for one in () if folder is None else folder.every(name):
        items = [one, *one] if one.value is None else [one]
        found += [str(item.value).strip() for item in items if item.value is not None]
    return [text for text in found if text]

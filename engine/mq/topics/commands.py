"""Commands of publish/subscribe in an MQRFH2: what a psc folder asks for, carried out, and its pscr answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.descriptor import NO_ID, Descriptor
from engine.errors import MessageException
from engine.mq.properties import Property, join, opened
from engine.mq.security.authorities import PUB, SUB
from engine.mq.security.rights import base_of
from engine.mq.topics.retained import retained_topics
from engine.mq.topics.trie import Trie
from engine.topics import address, levels_of, wildcards

if TYPE_CHECKING:
    from engine.mq.manager import QueueManager
    from engine.mq.topics.subscription import Subscription
    from engine.mq.unit import Work

TOPIC_ERROR: Final = 3072
NOT_REGISTERED: Final = 3073
Q_MGR_NAME_ERROR: Final = 3074
Q_NAME_ERROR: Final = 3076
NO_RETAINED_MSG: Final = 3077
CORREL_ID_ERROR: Final = 3080
REG_OPTIONS_ERROR: Final = 3083
PUB_OPTIONS_ERROR: Final = 3084
DEL_OPTIONS_ERROR: Final = 3087
FILTER_ERROR: Final = 3150
WRONG_USER: Final = 3151
NOT_AUTHORIZED: Final = 2035
RFH_COMMAND_ERROR: Final = 2336
RFH_DUPLICATE_PARM: Final = 2338
COMMAND_FAILED: Final = 3008

_PERSISTENCES: Final = {"Pers": "YES", "NonPers": "NO", "PersAsPub": "ASPUB", "PersAsQueue": "ASQDEF"}
_REGISTERS: Final = frozenset(
    {"CorrelAsId", "FullResp", "InformIfRet", "Local", "NewPubsOnly", "PubOnReqOnly", "VariableUserId", *_PERSISTENCES}
)
_DEREGISTERS: Final = frozenset({"CorrelAsId", "DeregAll", "FullResp", "VariableUserId"})
_UPDATES: Final = frozenset({"CorrelAsId", "VariableUserId"})
_PUBLISHES: Final = frozenset({"CorrelAsId", "IsRetainedPub", "Local", "NoReg", "OtherSubsOnly", "RetainPub"})
_REPEATED: Final = frozenset({"Topic", "RegOpt", "PubOpt", "DelOpt"})


class RefusedError(Exception):
    """A command that is not carried out, or not for one of its topics; the reason stands in its answer."""

    def __init__(self, reason: int) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Asked:
    """The values of a psc folder, and the message that it stands in front of."""

    descriptor: Descriptor  # of the whole message
    values: dict[str, list[str]]
    others: dict[str, Property]  # of other folders
    behind: Descriptor
    body: bytes

    def one(self, name: str) -> str:
        """Returns the only value of a name, or an empty text."""
        return self.values.get(name, [""])[0]

    def options(self, name: str, known: frozenset[str], reason: int) -> frozenset[str]:
        """Returns the options of a name; one that is not known is refused."""
        found = frozenset(self.values.get(name, ()))
        if not found <= known:
            raise RefusedError(reason)
        return found

    @property
    def topics(self) -> list[str]:
        """The topics, each once; there is at least one."""
        found = list(dict.fromkeys(self.values.get("Topic", ())))
        if not found or not all(found):
            raise RefusedError(TOPIC_ERROR)
        return found


@dataclass(frozen=True, slots=True)
class Answered:
    """The outcome of a command: the reason of each topic that failed, with an empty topic where all of it did."""

    reasons: tuple[tuple[int, str], ...] = ()
    warns: bool = False
    said: tuple[tuple[str, str], ...] = ()  # what a full response tells

    @property
    def completion(self) -> str:
        """The word for it."""
        return "ok" if not self.reasons else "warning" if self.warns else "error"

    def folder(self) -> str:
        """Returns the pscr folder of the answer."""
        groups = [
            f"<Response><Reason>{reason}</Reason>{_element('Topic', topic) if topic else ''}</Response>"
            for reason, topic in self.reasons
        ]
        told = "".join(_element(name, value) for name, value in self.said)
        return f"<pscr><Completion>{self.completion}</Completion>{''.join(groups)}{told}</pscr>"


def _element(name: str, text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<{name}>{escaped}</{name}>"


def asked(descriptor: Descriptor, body: bytes) -> Asked | None:
    """Returns what a message asks for, or None where it has no psc folder."""
    leaves, behind, rest = opened(descriptor, body)
    values: dict[str, list[str]] = {}
    others: dict[str, Property] = {}
    for name, value in leaves:
        if name.startswith("psc."):
            values.setdefault(name.removeprefix("psc."), []).append(str(value or "").strip(" "))
        else:
            others[name] = value
    return Asked(descriptor, values, others, behind, rest) if values else None


def carry_out(manager: QueueManager, work: Work, command: Asked) -> Answered:
    """Carry a command out, publications and deletions in a unit of work, and return how it went."""
    do = _COMMANDS.get(command.one("Command"))
    if do is None:
        return Answered(((RFH_COMMAND_ERROR, ""),))
    if any(len(values) > 1 for name, values in command.values.items() if name not in _REPEATED):
        return Answered(((RFH_DUPLICATE_PARM, ""),))
    try:
        return do(manager, work, command)
    except RefusedError as refused:
        return Answered(((refused.reason, ""),))
    except MessageException as error:
        return Answered(((error.reason or COMMAND_FAILED, ""),))


@dataclass(frozen=True, slots=True)
class _Subscriber:
    """The subscriber: a queue and, with CorrelAsId, a correlation id."""

    queue: str
    correl_id: bytes

    @classmethod
    def of(cls, manager: QueueManager, command: Asked, options: frozenset[str]) -> _Subscriber:
        """Returns the subscriber that a command names, or its reply-to queue is."""
        descriptor = command.descriptor
        if (command.one("QMgrName") or descriptor.reply_to_q_mgr) not in {"", manager.name}:
            raise RefusedError(Q_MGR_NAME_ERROR)
        queue = command.one("QName") or descriptor.reply_to_q
        if not queue:
            raise RefusedError(Q_NAME_ERROR)
        if "CorrelAsId" not in options:
            return cls(queue, NO_ID)
        if descriptor.correl_id == NO_ID:
            raise RefusedError(CORREL_ID_ERROR)
        return cls(queue, descriptor.correl_id)

    def name(self, command: Asked, topic: str) -> str:
        """Returns the name of the subscription to a topic, by which the same command finds it again."""
        if command.one("SubName"):
            return command.one("SubName")
        key = "\0".join((self.queue, self.correl_id.hex(), command.one("SubPoint"), topic, command.one("Filter")))
        return f"RFH2.{hashlib.sha256(key.encode()).hexdigest()[:32].upper()}"

    def has(self, subscription: Subscription) -> bool:
        """Returns True for a subscription of this subscriber."""
        return (
            subscription.queue == self.queue
            and subscription.correl_id == self.correl_id
            and subscription.form == "RFH2"
        )


def _register(manager: QueueManager, _: Work, command: Asked) -> Answered:
    options = command.options("RegOpt", _REGISTERS, REG_OPTIONS_ERROR)
    lasting = options & _PERSISTENCES.keys()
    if len(lasting) > 1:
        raise RefusedError(REG_OPTIONS_ERROR)
    subscriber = _Subscriber.of(manager, command, options)
    attributes: dict[str, Property] = {
        "DEST": subscriber.queue,
        "DESTCORL": subscriber.correl_id.hex(),
        "PSPROP": "RFH2",
        "SUBPOINT": command.one("SubPoint"),
        "SELECTOR": command.one("Filter"),
        "REQONLY": "YES" if "PubOnReqOnly" in options else "NO",
        "SUBUSER": command.descriptor.user_identifier,
        "USERDATA": command.one("SubUserData"),
        "PUBPSIST": _PERSISTENCES[next(iter(lasting), "PersAsPub")],
    }

    def register(topic: str) -> None:
        name = subscriber.name(command, topic)
        _check_user(manager, command, options, manager.topics.objects.subscriptions.get(name))
        if not manager.security.subscribes(command.descriptor.user_identifier, base_of(topic), SUB):
            raise RefusedError(NOT_AUTHORIZED)
        try:
            manager.topics.register(name, attributes | {"TOPICSTR": topic}, new_only="NewPubsOnly" in options)
        except MessageException as error:
            reason = FILTER_ERROR if error.reason in {2459, 2551} else TOPIC_ERROR if error.reason == 2425 else 0
            raise RefusedError(reason or error.reason) from error

    return _for_each(command.topics, register, command, options)


def _check_user(manager: QueueManager, command: Asked, options: frozenset[str], there: Subscription | None) -> None:
    """Refuse who is another than the one that registered, unless the command says that this may be."""
    if there is None or "VariableUserId" in options:
        return
    if str(there.values["SUBUSER"]) not in {"", command.descriptor.user_identifier}:
        raise RefusedError(WRONG_USER)


def _for_each(topics: Sequence[str], do: Callable[[str], None], command: Asked, options: frozenset[str]) -> Answered:
    """Do something for each topic; where some fail and others do not, that is a warning."""
    failed: list[tuple[int, str]] = []
    for topic in topics:
        try:
            do(topic)
        except RefusedError as refused:
            failed.append((refused.reason, topic))
    if len(failed) == len(topics) == 1:
        return Answered(((failed[0][0], ""),))
    said: list[tuple[str, str]] = []
    if "FullResp" in options and not failed:
        names = ("Topic", "SubPoint", "Filter", "RegOpt", "QMgrName", "QName", "SubName", "SubUserData")
        said = [(name, value) for name in names for value in command.values.get(name, ())]
    return Answered(tuple(failed), len(failed) < len(topics), tuple(said))


def _deregister(manager: QueueManager, _: Work, command: Asked) -> Answered:
    options = command.options("RegOpt", _DEREGISTERS, REG_OPTIONS_ERROR)
    if "DeregAll" in options:
        return _deregister_all(manager, command, options)
    subscriber = None if command.one("SubName") else _Subscriber.of(manager, command, options)

    def deregister(topic: str) -> None:
        name = command.one("SubName") or (subscriber.name(command, topic) if subscriber else "")
        there = manager.topics.objects.subscriptions.get(name)
        if there is None:
            raise RefusedError(NOT_REGISTERED)
        _check_user(manager, command, options, there)
        manager.delete("SUB", name)

    topics = command.values.get("Topic", [""]) if command.one("SubName") else command.topics
    return _for_each(topics, deregister, command, options)


def _deregister_all(manager: QueueManager, command: Asked, options: frozenset[str]) -> Answered:
    """Remove the subscriptions of a subscriber, only those to a topic, a point or with a filter where it names one."""
    subscriber = _Subscriber.of(manager, command, options)
    topics, point, text = command.values.get("Topic"), command.one("SubPoint"), command.one("Filter")
    found = [
        one
        for one in list(manager.topics.objects.subscriptions.values())
        if subscriber.has(one)
        and (topics is None or one.topic in topics)
        and (not point or one.point == point)
        and (not text or one.values["SELECTOR"] == text)
    ]
    if not found:
        raise RefusedError(NOT_REGISTERED)
    for one in found:
        _check_user(manager, command, options, one)
    for one in found:
        manager.delete("SUB", one.name)
    return Answered()


def _publish(manager: QueueManager, work: Work, command: Asked) -> Answered:
    options = command.options("PubOpt", _PUBLISHES, PUB_OPTIONS_ERROR)
    own = command.descriptor
    without = (command.one("QName") or own.reply_to_q) if "OtherSubsOnly" in options else ""
    descriptor, body = join(command.others, command.behind, command.body)
    for topic in command.topics:
        try:
            if not manager.security.subscribes(command.descriptor.user_identifier, topic, PUB):
                raise RefusedError(NOT_AUTHORIZED)
            name = address(topic, retain="RetainPub" in options, point=command.one("SubPoint"))
            _, puts = manager.topics.publish(manager.target(name), descriptor, body, work, without)
            work.add(puts)
        except MessageException as error:
            raise RefusedError(TOPIC_ERROR if error.reason == 2425 else error.reason) from error
    return Answered()


def _delete(manager: QueueManager, work: Work, command: Asked) -> Answered:
    command.options("DelOpt", frozenset({"Local"}), DEL_OPTIONS_ERROR)
    point = command.one("SubPoint")
    for topic in command.topics:
        for found in _retained_on(manager, topic, point):
            manager.topics.forget(found, point, work)
    return Answered()


def _retained_on(manager: QueueManager, topic: str, point: str) -> Iterator[str]:
    """Yields the topics that a topic string fits and that may have something retained."""
    if wildcards(levels_of(topic)) is None:
        yield topic
        return
    trie = Trie[str]()
    trie.add(levels_of(topic), topic)
    yield from (found for found in retained_topics(manager, point) if any(trie.fitting(levels_of(found))))


def _update(manager: QueueManager, _: Work, command: Asked) -> Answered:
    options = command.options("RegOpt", _UPDATES, REG_OPTIONS_ERROR)
    subscriber = None if command.one("SubName") else _Subscriber.of(manager, command, options)

    def update(topic: str) -> None:
        name = command.one("SubName") or (subscriber.name(command, topic) if subscriber else "")
        there = manager.topics.objects.subscriptions.get(name)
        if there is None:
            raise RefusedError(NOT_REGISTERED)
        _check_user(manager, command, options, there)
        if not manager.topics.send_retained(there, asked=True):
            raise RefusedError(NO_RETAINED_MSG)

    return _for_each(command.topics, update, command, options)


_COMMANDS: Final[Mapping[str, Callable[[QueueManager, Work, Asked], Answered]]] = {
    "RegSub": _register,
    "DeregSub": _deregister,
    "Publish": _publish,
    "DeletePub": _delete,
    "ReqUpdate": _update,
}

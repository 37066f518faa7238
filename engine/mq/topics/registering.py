"""Commands of subscribers: RegSub, DeregSub and ReqUpdate, for the subscription that a command means."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.descriptor import NO_ID
from engine.errors import MessageException
from engine.flow.command_answers import (
    DUPLICATE_SUBSCRIPTION,
    NO_RETAINED_MSG,
    NOT_AUTHORIZED,
    NOT_REGISTERED,
    REG_OPTIONS_ERROR,
    RFH_DUPLICATE_PARM,
    SUB_IDENTITY_ERROR,
    SUB_NAME_ERROR,
    SUBSCRIPTION_IN_USE,
    SUBSCRIPTION_LOCKED,
    WRONG_USER,
    Answered,
    RefusedError,
    answered_reason,
    queue_of,
)
from engine.mq.security.authorities import SUB
from engine.mq.security.rights import base_of
from engine.mq.topics.identities import (
    ATTRIBUTE,
    check_alone,
    check_identity,
    check_member,
    identities,
    is_locked,
    joined,
    left,
)
from engine.mq.topics.subscription import API, INFORM, SUBTYPE

if TYPE_CHECKING:
    from engine.mq.manager import QueueManager
    from engine.mq.topics.asking import Asked
    from engine.mq.topics.subscription import Subscription
    from engine.mq.unit import Work

_PERSISTENCES: Final = {"Pers": "YES", "NonPers": "NO", "PersAsPub": "ASPUB", "PersAsQueue": "ASQDEF"}
_JOINS: Final = frozenset({"JoinShared", "JoinExcl"})
_REGISTERS: Final = _JOINS | frozenset(
    {
        *("AddName", "CorrelAsId", "FullResp", "InformIfRet", "Local", "NewPubsOnly", "NoAlter", "PubOnReqOnly"),
        *("VariableUserId", *_PERSISTENCES),
    }
)
_DEREGISTERS: Final = frozenset({"CorrelAsId", "DeregAll", "FullResp", "LeaveOnly", "VariableUserId"})
_UPDATES: Final = frozenset({"CorrelAsId", "VariableUserId"})
_UNNAMED: Final = "RFH2."  # begins the names of subscriptions that commands give no name


@dataclass(frozen=True, slots=True)
class Subscriber:
    """The subscriber that a command speaks for: a queue and, with CorrelAsId, a correlation id."""

    queue: str
    correl_id: bytes

    @classmethod
    def of(cls, manager: QueueManager, command: Asked, options: frozenset[str]) -> Subscriber:
        """Returns the subscriber that a command names, or its reply-to queue is."""
        return cls(*queue_of(command.one, command.descriptor, manager.name, options))

    def unnamed(self, command: Asked, topic: str) -> str:
        """Returns the name of the subscription to a topic that no command has named."""
        key = "\0".join((self.queue, self.correl_id.hex(), command.one("SubPoint"), topic, command.one("Filter")))
        return f"{_UNNAMED}{hashlib.sha256(key.encode()).hexdigest()[:32].upper()}"

    def has(self, subscription: Subscription) -> bool:
        """Returns True for a subscription of this subscriber, which a command has made."""
        return self.is_sent(subscription) and subscription.form == "RFH2"

    def is_sent(self, subscription: Subscription) -> bool:
        """Returns True for a subscription whose publications go to this subscriber."""
        return subscription.queue == self.queue and subscription.correl_id == self.correl_id

    def matching(self, manager: QueueManager, command: Asked, topic: str) -> Subscription | None:
        """Returns the subscription of this subscriber to a topic at a point with a filter, whatever its name."""
        known = manager.topics.objects.subscriptions
        found = known.get(self.unnamed(command, topic))
        if found is not None:
            return found
        point, text = command.one("SubPoint"), command.one("Filter")
        wanted = (one for one in list(known.values()) if self.has(one) and one.topic == topic and one.point == point)
        return next((one for one in wanted if one.values["SELECTOR"] == text), None)


def register(manager: QueueManager, _: Work, command: Asked) -> Answered:
    """Subscribe to topics, or change the subscriptions that are there."""
    options = command.options("RegOpt", _REGISTERS, REG_OPTIONS_ERROR)
    lasting, identity = options & _PERSISTENCES.keys(), command.one("SubIdentity")
    topics = command.topics
    if (
        len(lasting) > 1
        or options >= _JOINS
        or (options & _JOINS and not identity)
        or ("AddName" in options and not command.one("SubName"))
        or ("FullResp" in options and len(topics) > 1)
    ):
        raise RefusedError(REG_OPTIONS_ERROR)
    if command.one("SubName") and len(topics) > 1:
        raise RefusedError(DUPLICATE_SUBSCRIPTION)
    check_identity(identity)
    subscriber = Subscriber.of(manager, command, options)
    attributes: dict[str, object] = {
        "DEST": subscriber.queue,
        "DESTCORL": subscriber.correl_id.hex(),
        "PSPROP": "RFH2",
        "SUBSCOPE": "QMGR" if "Local" in options else "ALL",
        "SUBPOINT": command.one("SubPoint"),
        "SELECTOR": command.one("Filter"),
        "REQONLY": "YES" if "PubOnReqOnly" in options else "NO",
        "USERDATA": command.one("SubUserData"),
        "PUBPSIST": _PERSISTENCES[next(iter(lasting), "PersAsPub")],
        INFORM: "YES" if "InformIfRet" in options else "NO",
        "VARUSER": "ANY" if "VariableUserId" in options else "FIXED",
    }
    return for_each(
        topics, lambda topic: _subscribe(manager, command, options, subscriber, attributes | {"TOPICSTR": topic})
    )


def _subscribe(
    manager: QueueManager, command: Asked, options: frozenset[str], subscriber: Subscriber, wanted: dict[str, object]
) -> Sequence[tuple[str, str]]:
    """Subscribe to one topic, and return what a full response says of the subscription."""
    topic, user, identity = str(wanted["TOPICSTR"]), command.descriptor.user_identifier, command.one("SubIdentity")
    there = _named(manager, command, options, subscriber, topic)
    name = there.name if there else command.one("SubName") or subscriber.unnamed(command, topic)
    check_user(command, options, there, registers=True)
    security = manager.security
    if not (security.subscribes(user, base_of(topic), SUB) and security.sends_to(user, subscriber.queue)):
        raise RefusedError(NOT_AUTHORIZED)
    text = "" if there is None else str(there.values.get(ATTRIBUTE, ""))
    alters = there is None or ("NoAlter" not in options and _differs(there, wanted))
    if identity and not options & _JOINS:
        check_member(text, identity)
    if there is not None and identity and alters and set(identities(text)) - {identity}:
        raise RefusedError(SUBSCRIPTION_LOCKED if is_locked(text) else SUBSCRIPTION_IN_USE)
    warning: RefusedError | None = None
    try:
        text = joined(text, identity, alone="JoinExcl" in options) if options & _JOINS else text
    except RefusedError as refused:
        if not refused.warns:
            raise
        warning = refused
    own = {} if there is not None else {"SUBUSER": user}
    _define(manager, name, wanted | own if alters else {}, text, new_only="NewPubsOnly" in options)
    if warning is not None:
        raise warning
    return _told(manager, name) if "FullResp" in options else ()


def _named(
    manager: QueueManager, command: Asked, options: frozenset[str], subscriber: Subscriber, topic: str
) -> Subscription | None:
    """Returns the subscription that a command means; one that has no name yet is given it where AddName says so."""
    name, objects = command.one("SubName"), manager.topics.objects
    there = subscriber.matching(manager, command, topic)
    if not name:
        return there
    known = objects.subscriptions.get(name)
    if "AddName" in options:
        if known is not None or (there is not None and not there.name.startswith(_UNNAMED)):
            raise RefusedError(DUPLICATE_SUBSCRIPTION)
        if there is None:
            return None
        check_user(command, options, there, registers=True)
        objects.rename(there.name, name)
        manager.changed()
        return objects.subscriptions[name]
    if there is not None and there is not known:
        raise RefusedError(SUB_NAME_ERROR if there.name.startswith(_UNNAMED) else DUPLICATE_SUBSCRIPTION)
    if known is not None and known.topic != topic:
        raise RefusedError(DUPLICATE_SUBSCRIPTION)
    return known


def _differs(there: Subscription, wanted: Mapping[str, object]) -> bool:
    return any(there.values.get(name) != value for name, value in wanted.items())


def _define(manager: QueueManager, name: str, attributes: dict[str, object], text: str, *, new_only: bool) -> None:
    """Define a subscription, or give it other attributes and identities; it is sent what is retained."""
    there = name in manager.topics.objects.subscriptions
    try:
        if attributes:
            manager.define("SUB", name, {**attributes, "NEWONLY": new_only, SUBTYPE: API}, replace=True)
        objects = manager.topics.objects
        if objects.subscriptions[name].values.get(ATTRIBUTE, "") != text:
            objects.identify(name, text)
        if there and not new_only:
            manager.topics.send_retained(objects.subscriptions[name])
    except MessageException as error:
        raise RefusedError(answered_reason(error.reason)) from error


def check_user(command: Asked, options: frozenset[str], there: Subscription | None, *, registers: bool = False) -> None:
    """Refuse who is another than the one that registered, unless both the subscription and the command allow that."""
    if there is None or str(there.values["SUBUSER"]) in {"", command.descriptor.user_identifier}:
        return
    asks = "VariableUserId" in options or bool(command.one("SubName"))
    if there.values.get("VARUSER") != "ANY" or not (asks or registers):
        raise RefusedError(WRONG_USER)


def for_each(topics: Sequence[str], do: Callable[[str], Sequence[tuple[str, str]]]) -> Answered:
    """Do something for each topic; where some fail and others do not, that is a warning."""
    failed: list[RefusedError] = []
    reasons: list[tuple[int, str]] = []
    said: Sequence[tuple[str, str]] = ()
    for topic in topics:
        try:
            said = do(topic)
        except RefusedError as refused:
            failed.append(refused)
            reasons.append((refused.reason, topic))
    if failed and len(failed) == len(topics) and not any(refused.warns for refused in failed):
        return Answered(((failed[0].reason, ""),))
    return Answered(tuple(reasons), bool(failed), () if failed else tuple(said))


def _told(manager: QueueManager, name: str) -> list[tuple[str, str]]:
    """Returns what a full response says of a subscription: all of its attributes, as commands name them."""
    one = manager.topics.objects.subscriptions[name]
    values, text = one.values, str(one.values.get(ATTRIBUTE, ""))
    options = [word for word, persistence in _PERSISTENCES.items() if persistence == values["PUBPSIST"]]
    options += (
        ["InformIfRet"] * (values.get(INFORM) == "YES")
        + ["Local"] * (values["SUBSCOPE"] == "QMGR")
        + ["CorrelAsId"] * (one.correl_id != NO_ID)
        + ["PubOnReqOnly"] * one.on_request
    )
    options += ["VariableUserId"] * (values.get("VARUSER") == "ANY") + ["Locked"] * is_locked(text)
    said = [
        ("Topic", one.topic),
        ("SubPoint", one.point),
        ("Filter", str(values["SELECTOR"])),
        *(("RegOpt", word) for word in options),
        ("QMgrName", manager.name),
        ("QName", one.queue),
        ("SubName", "" if name.startswith(_UNNAMED) else name),
        *(("SubIdentity", identity) for identity in identities(text)),
        ("SubUserData", str(values["USERDATA"])),
    ]
    return [(word, value) for word, value in said if value]


def deregister(manager: QueueManager, _: Work, command: Asked) -> Answered:
    """End subscriptions, or leave them."""
    options = command.options("RegOpt", _DEREGISTERS, REG_OPTIONS_ERROR)
    everything, whole = "DeregAll" in options, "FullResp" in options
    if ("LeaveOnly" in options and not command.one("SubIdentity")) or (
        whole and (everything or len(command.values.get("Topic", ())) > 1)
    ):
        raise RefusedError(REG_OPTIONS_ERROR)
    if everything:
        return _deregister_all(manager, command, options)

    def end(topic: str) -> Sequence[tuple[str, str]]:
        there = _meant(manager, command, options, topic)
        said = _told(manager, there.name) if whole else ()
        _end(manager, command, options, there)
        return said

    topics = command.values.get("Topic", [""]) if command.one("SubName") else command.topics
    return for_each(topics, end)


def _meant(manager: QueueManager, command: Asked, options: frozenset[str], topic: str) -> Subscription:
    """Returns the subscription that a command means, by its name or by subscriber, topic, point and filter."""
    name = command.one("SubName")
    if name:
        there = manager.topics.objects.subscriptions.get(name)
        if there is not None and topic not in {"", there.topic}:
            there = None
    else:
        there = Subscriber.of(manager, command, options).matching(manager, command, topic)
    if there is None:
        raise RefusedError(NOT_REGISTERED)
    check_user(command, options, there)
    return there


def _end(manager: QueueManager, command: Asked, options: frozenset[str], there: Subscription) -> None:
    """End one subscription; an identity ends it where no other has joined, or leaves it only."""
    text, identity = str(there.values.get(ATTRIBUTE, "")), command.one("SubIdentity")
    if "LeaveOnly" in options:
        manager.topics.objects.identify(there.name, left(text, identity))
        return
    if identity:
        check_alone(text, identity)
    manager.delete("SUB", there.name)


def _deregister_all(manager: QueueManager, command: Asked, options: frozenset[str]) -> Answered:
    """End the subscriptions of a subscriber, only those to a topic, a point or with a filter where it names one."""
    subscriber = Subscriber.of(manager, command, options)
    topics, point, text = command.values.get("Topic"), command.one("SubPoint"), command.one("Filter")
    found = [
        one
        for one in list(manager.topics.objects.subscriptions.values())
        if subscriber.has(one)
        and (topics is None or one.topic in topics)
        and (not point or one.point == point)
        and (not text or one.values["SELECTOR"] == text)
    ]
    identity = command.one("SubIdentity")
    mine = [one for one in found if not identity or identity in identities(str(one.values.get(ATTRIBUTE, "")))]
    if not mine:
        raise RefusedError(SUB_IDENTITY_ERROR if found else NOT_REGISTERED)
    for one in mine:
        check_user(command, options, one)
        if identity and "LeaveOnly" not in options:
            check_alone(str(one.values.get(ATTRIBUTE, "")), identity)
    for one in mine:
        _end(manager, command, options, one)
    return Answered()


def update(manager: QueueManager, _: Work, command: Asked) -> Answered:
    """Send a subscriber what is retained on a topic."""
    options = command.options("RegOpt", _UPDATES, REG_OPTIONS_ERROR)
    topics = [""] if command.one("SubName") and "Topic" not in command.values else command.topics
    if len(topics) > 1:
        raise RefusedError(RFH_DUPLICATE_PARM)
    there = _meant(manager, command, options, topics[0])
    if not manager.topics.send_retained(there, asked=True):
        raise RefusedError(NO_RETAINED_MSG)
    return Answered()

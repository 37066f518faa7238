"""Commands of publish/subscribe in an MQRFH2: what a psc folder asks for, carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from engine.errors import MessageException
from engine.flow.command_answers import (
    DEL_OPTIONS_ERROR,
    NOT_AUTHORIZED,
    PUB_OPTIONS_ERROR,
    RFH_COMMAND_ERROR,
    Answered,
    RefusedError,
    answered_reason,
)
from engine.message.topics import LOCAL, address
from engine.mq.properties import folder_texts, with_folders
from engine.mq.security.authorities import PUB
from engine.mq.topics.registering import Subscriber, deregister, for_each, register, update
from engine.mq.topics.retained import retained_fitting

if TYPE_CHECKING:
    from engine.mq.manager import QueueManager
    from engine.mq.topics.asking import Asked
    from engine.mq.unit import Work

_PUBLISHES: Final = frozenset({"CorrelAsId", "IsRetainedPub", "Local", "NoReg", "OtherSubsOnly", "RetainPub"})
_TOLD: Final = {"PubTime": "mqps.Pti", "SeqNum": "mqps.Seq"}  # what a publisher tells subscribers beside the topic


def carry_out(manager: QueueManager, work: Work, command: Asked) -> Answered:
    """Carry a command out, publications and deletions in a unit of work, and return how it went."""
    try:
        command.check()
        do = _COMMANDS.get(command.one("Command"))
        return Answered(((RFH_COMMAND_ERROR, ""),)) if do is None else do(manager, work, command)
    except RefusedError as refused:
        return Answered(((refused.reason, ""),), refused.warns)
    except MessageException as error:
        return Answered(((answered_reason(error.reason), ""),))


def _publish(manager: QueueManager, work: Work, command: Asked) -> Answered:
    options = command.options("PubOpt", _PUBLISHES, PUB_OPTIONS_ERROR)
    own = command.descriptor
    scope = LOCAL if "Local" in options else ""
    without = None
    if "OtherSubsOnly" in options:
        without = Subscriber.of(manager, command, options).is_sent
    told = {_TOLD[name]: command.one(name) for name in _TOLD if command.one(name)}
    folders = [*command.others, *folder_texts(told)]
    descriptor, body = command.behind, command.body
    if folders:
        descriptor, body = with_folders(folders, descriptor, body)

    def publish(topic: str) -> Sequence[tuple[str, str]]:
        if not manager.security.subscribes(own.user_identifier, topic, PUB):
            raise RefusedError(NOT_AUTHORIZED)
        try:
            name = address(topic, retain="RetainPub" in options, point=command.one("SubPoint"), scope=scope)
            _, puts = manager.topics.publish(manager.target(name), descriptor, body, work, without)
        except MessageException as error:
            raise RefusedError(answered_reason(error.reason)) from error
        work.add(puts)
        return ()

    return for_each(command.topics, publish)


def _delete(manager: QueueManager, work: Work, command: Asked) -> Answered:
    options = command.options("DelOpt", frozenset({"Local"}), DEL_OPTIONS_ERROR)
    point, user = command.one("SubPoint"), command.descriptor.user_identifier

    def delete(topic: str) -> Sequence[tuple[str, str]]:
        for found in retained_fitting(manager, topic, point):
            if not manager.security.subscribes(user, found, PUB):
                raise RefusedError(NOT_AUTHORIZED)
            manager.topics.forget(found, point, work, everywhere="Local" not in options)
        return ()

    return for_each(command.topics, delete)


_COMMANDS: Final[Mapping[str, Callable[[QueueManager, Work, Asked], Answered]]] = {
    "RegSub": register,
    "DeregSub": deregister,
    "Publish": _publish,
    "DeletePub": _delete,
    "ReqUpdate": update,
}

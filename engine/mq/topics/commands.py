"""Commands of publish/subscribe as messages: the queues that take them, worked on at once, and what each asks for."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from engine.errors import BrokerError, MessageException
from engine.flow.command_answers import (
    DEL_OPTIONS_ERROR,
    NOT_AUTHORIZED,
    PUB_OPTIONS_ERROR,
    RFH_COMMAND_ERROR,
    Answered,
    RefusedError,
    answered_reason,
    check_properties,
    send,
)
from engine.flow.dead_letters import BACKOUT_THRESHOLD_REACHED, put_away
from engine.message.topics import LOCAL, address
from engine.mq import waiting_gets
from engine.mq.properties import folder_texts, with_folders
from engine.mq.refusals import (
    GET_INHIBITED,
    Q_MGR_STOPPING,
    STORAGE_MEDIUM_FULL,
    UNEXPECTED_ERROR,
    UNKNOWN_OBJECT_NAME,
    refusal,
)
from engine.mq.security.authorities import PUB
from engine.mq.topics.asking import asked
from engine.mq.topics.registering import Subscriber, deregister, for_each, register, update
from engine.mq.topics.retained import retained_fitting

if TYPE_CHECKING:
    from engine.mq.manager import QueueManager
    from engine.mq.property_types import Property
    from engine.mq.topics.asking import Asked
    from engine.mq.topics.subscription import Subscription
    from engine.mq.unit import Work
    from engine.work import Arrival

CONTROL: Final = "SYSTEM.BROKER.CONTROL.QUEUE"
STREAM: Final = "SYSTEM.BROKER.DEFAULT.STREAM"
QUEUES: Final = (CONTROL, STREAM)

RFH_ERROR: Final = 2334
PUBSUB_INHIBITED: Final = 2530
_TRIES: Final = 3
_SHORTEST_PAUSE: Final = 0.05  # seconds
_LONGEST_PAUSE: Final = 2.0
_ENDS: Final = frozenset({GET_INHIBITED, UNKNOWN_OBJECT_NAME, Q_MGR_STOPPING})  # until something is defined or started
_LOG: Final = logging.getLogger("penstock.queues")


def takes_commands(manager: QueueManager) -> bool:
    """Returns True where the queue manager acts on messages as commands, as PSMODE says."""
    return manager.directory.settings.get("PSMODE") == "ENABLED"


def check_mode(manager: QueueManager, name: str) -> None:
    """Refuse programs that publish or subscribe where PSMODE(DISABLED) ends all of it."""
    if manager.directory.settings.get("PSMODE") == "DISABLED":
        problem = f"publish/subscribe is switched off, and {name:.200} needs it: ALTER QMGR PSMODE(ENABLED)"
        raise refusal(PUBSUB_INHIBITED, problem, name)


class Listener:
    """One queue of commands; a thread works on it while there are any, and none waits for them."""

    __slots__ = ("_failed", "_manager", "_queue", "_registered", "_rests", "_state", "_thread", "_work")

    def __init__(self, manager: QueueManager, queue: str) -> None:
        self._manager = manager
        self._queue = queue
        self._work = manager.work()
        self._state = threading.Lock()
        self._thread: threading.Thread | None = None
        self._registered = False
        self._rests = False
        self._failed: dict[bytes, int] = {}  # how often the first message failed, but for want of room in the store

    def listen(self) -> None:
        """Work on what is there, and be woken by what comes; nothing where the queue gives nothing."""
        with self._state:
            if self._registered:
                return
            self._registered = True
        self._woken()

    def _woken(self) -> None:
        """Start the thread; whoever made a message visible calls this, and must not be held."""
        self._thread = threading.Thread(target=self._run, name=f"commands on {self._queue}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Work on what is there; what cannot be done now, as in a full store, is tried again after a pause."""
        pause = _SHORTEST_PAUSE
        while True:
            version = self._manager.version
            if self._ends(lambda: not takes_commands(self._manager)):
                return
            try:
                while (arrival := self._work.get(self._queue)) is not None:
                    self._take(arrival)
                    pause = _SHORTEST_PAUSE
                waiting_gets.register(self._work, self._queue, None, self._woken)
            except BrokerError as error:
                if isinstance(error, MessageException) and error.reason in _ENDS:
                    if self._ends(partial(self._is_at, version)):
                        return
                    continue
                if pause == _SHORTEST_PAUSE:
                    _LOG.warning("commands on %s wait, and are tried again: %s", self._queue, error)
            else:
                return
            self._rests = True
            time.sleep(pause)
            self._rests = False
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _is_at(self, version: int) -> bool:
        return self._manager.version == version

    def _ends(self, is_over: Callable[[], bool]) -> bool:
        """Returns True where it listens no more, until a definition or a start has it listen again."""
        with self._state:  # so that a definition is either seen here or finds that it has ended
            self._registered = not is_over()
            return not self._registered

    def _take(self, arrival: Arrival) -> None:
        """Carry one command out in a unit of work; what is no command, or fails each time, is put away.

        One that has no room in the store has not failed.
        """
        work, tries = self._work, self._failed.get(arrival.descriptor.msg_id, 0)
        try:
            self._carry_out(arrival, may_fail=tries < _TRIES)
            self._failed = {}
        except BrokerError as error:
            work.back_out()
            if isinstance(error, MessageException) and error.reason == STORAGE_MEDIUM_FULL:
                raise
            self._failed = {arrival.descriptor.msg_id: tries + 1}
            if tries >= _TRIES:
                raise

    def _carry_out(self, arrival: Arrival, *, may_fail: bool) -> None:
        work = self._work
        try:
            command = asked(*arrival)
            if command is None or not may_fail:
                reason = RFH_ERROR if command is None else BACKOUT_THRESHOLD_REACHED
                put_away(self._queue, *arrival, work, reason=reason)
            else:
                send(carry_out(self._manager, work, command), command.said, command.descriptor, work)
            work.commit()
        except BrokerError:
            raise
        except Exception as error:  # without this thread all commands behind would lie
            _LOG.exception("a command on %s has failed", self._queue)
            raise refusal(UNEXPECTED_ERROR, f"a command has failed ({type(error).__name__}: {error})") from error

    def drain(self, seconds: float) -> None:
        """Wait until what was put is worked on."""
        end = time.monotonic() + seconds
        while (thread := self._thread) is not None and thread.is_alive() and thread is not threading.current_thread():
            if self._rests:
                return
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                return


class Listeners:
    """The listeners of a queue manager: one for each of the queues that are there."""

    __slots__ = ("_found", "_manager")

    def __init__(self, manager: QueueManager) -> None:
        self._manager = manager
        self._found: dict[str, Listener] = {}

    def listen(self, queues: Container[str]) -> None:
        """Listen to those of the queues that are there."""
        for queue in QUEUES:
            if queue in queues:
                found = self._found.get(queue)
                if found is None:  # to other threads as well, of which one is first
                    found = self._found.setdefault(queue, Listener(self._manager, queue))
                found.listen()

    def drain(self, seconds: float = 5.0) -> None:
        """Wait until what was put to the queues is worked on."""
        for listener in list(self._found.values()):  # others may come while these are waited for
            listener.drain(seconds)


_PUBLISHES: Final = frozenset({"CorrelAsId", "IsRetainedPub", "Local", "NoReg", "OtherSubsOnly", "RetainPub"})
_TOLD: Final = {"PubTime": "mqpse.Pts", "SeqNum": "mqpse.Seq"}  # what a publisher tells subscribers beside the topic
_NUMBER: Final = re.compile("[0-9]{1,9}")


def carry_out(manager: QueueManager, work: Work, command: Asked) -> Answered:
    """Carry a command out, publications and deletions in a unit of work, and return how it went."""
    try:
        check_properties([name for name, _ in command.said])
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
    publisher = Subscriber.of(manager, command, options) if "OtherSubsOnly" in options else None

    def without(subscription: Subscription) -> bool:
        return (publisher is not None and publisher.is_sent(subscription)) or _comes_round(manager, subscription)

    told: dict[str, Property] = {_TOLD[name]: command.one(name) for name in _TOLD if command.one(name)}
    if _NUMBER.fullmatch(number := command.one("SeqNum")):
        told[_TOLD["SeqNum"]] = int(number)
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


def _comes_round(manager: QueueManager, subscription: Subscription) -> bool:
    """Returns True for a subscription that a command does not publish to: its queue would have it published again."""
    name = subscription.queue
    if name in manager.directory.aliases and (found := manager.directory.behind(name)) is not None:
        name = found.definition.name
    if name not in QUEUES:
        return False
    text = "subscription %s is not sent what a command publishes, as %s would publish it again: name another queue"
    _LOG.warning(text, subscription.name, name)
    return True


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

"""A queue manager as a user sees it who is held to authority records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from engine.mq.attributes import ATTRIBUTES, find
from engine.mq.mqsc import run
from engine.mq.protection.policies import POLICY
from engine.mq.security.authorities import (
    ALTUSR,
    CHG,
    CLR,
    CONNECT,
    CRT,
    CTRL,
    DLT,
    DSP,
    INQ,
    PUB,
    PUT,
    QMGR,
    QUEUE,
    RESUME,
    SUB,
    TYPE_OF_KIND,
)
from engine.mq.security.records import AUTHREC, SELF
from engine.mq.security.rights import base_of
from engine.mq.topics.retained import retained_fitting
from engine.mq.works import Publisher
from engine.work import Selection

if TYPE_CHECKING:
    from engine.mq.attribute_values import Value
    from engine.mq.manager import QueueManager
    from engine.mq.mqsc import Answer
    from engine.mq.unit import Work
    from engine.work import Arrival

_SUB: Final = "SUB"
# What a subscription is defined with beside its attributes.
_BESIDE: Final = ("DURABLE", "NEWONLY", "PROPCTL", "SUBTYPE")


class Guarded(Publisher):
    """The face of a queue manager for one user: each call is checked, and then carried out as the owner would."""

    def __init__(self, manager: QueueManager, user: str) -> None:
        self.user = user
        self.name = manager.name
        self._manager = manager
        self._rights = manager.security.rights(user)

    @property
    def dead_letter_queue(self) -> str:
        """The name of the dead-letter queue, or nothing."""
        return self._manager.dead_letter_queue

    def work(self, user: str = "", application: str = "") -> Work:
        """Returns a new unit of work of the user."""
        del user
        return self._manager.work(self.user, application, held=True)

    def mqsc(self, text: str) -> list[Answer]:
        """Carries out a script of commands, as far as the user may."""
        return run(self, text)

    def close(self) -> None:
        """Does nothing: the queue manager goes on."""

    def _check(self, kind: str, name: str, wanted: int) -> None:
        """Refuses what the user may not do to an object; what is no queue or topic belongs to the queue manager."""
        own = TYPE_OF_KIND.get(kind, QMGR)
        named = name if own != QMGR else SELF
        if not self._rights.of(own, named) & wanted:
            raise self._rights.refused(wanted, own, named)

    def define(self, kind: str, name: str, attributes: Mapping[str, Any], *, replace: bool = False) -> None:
        """Defines an object, or changes one that is replaced."""
        attributes = _named(kind, attributes)
        if kind == _SUB:
            self._subscribe(name, attributes, replace=replace)
            return
        self._check_stream(attributes)
        there = replace and kind in TYPE_OF_KIND and self._manager.display(kind, name)
        self._check(kind, name, CHG if there or kind not in TYPE_OF_KIND else CRT)
        self._manager.define(kind, name, attributes, replace=replace)

    def _check_stream(self, attributes: Mapping[str, Any]) -> None:
        """Refuses a STREAMQ to a queue that the user may not change; who puts needs no right to it."""
        stream = str(attributes.get("STREAMQ", ""))
        if stream:
            self._check("QLOCAL", stream, CHG)

    def _subscribe(
        self, name: str, attributes: Mapping[str, Any], *, replace: bool = False, alters: bool = False
    ) -> None:
        """Subscribes as the user: with the right to the topic, and to put to the queue that it names."""
        objects = self._manager.directory.topics
        there = objects.subscriptions.get(name)
        if there is not None and str(there.values["SUBUSER"]) != self.user:
            self._check(_SUB, name, CHG)
        topic = objects.topic_of(attributes) if there is None else there.topic
        self._rights.check_topic(base_of(topic), SUB if there is None else SUB | RESUME)
        queue = str(attributes.get("DEST", ""))
        if queue:
            self._rights.check(queue, PUT)
        wanted = {**attributes, "SUBUSER": self.user}
        if alters:
            self._manager.alter(_SUB, name, wanted)
        else:
            self._manager.define(_SUB, name, wanted, replace=replace)

    def alter(self, kind: str, name: str, attributes: Mapping[str, Any]) -> None:
        """Gives an object other attributes."""
        attributes = _named(kind, attributes)
        if kind == _SUB:
            self._subscribe(name, attributes, alters=True)
            return
        self._check(kind, name, CHG)
        self._check_stream(attributes)
        self._manager.alter(kind, name, attributes)

    def delete(self, kind: str, name: str, *, purge: bool = False, authorities: bool = True) -> None:
        """Deletes an object; a subscription of the user's own needs no authority."""
        there = self._manager.directory.topics.subscriptions.get(name) if kind == _SUB else None
        if there is None or str(there.values["SUBUSER"]) != self.user:
            self._check(kind, name, CHG if kind == AUTHREC else DLT)
        if purge:
            self._check(kind, name, CLR)
        self._manager.delete(kind, name, purge=purge, authorities=authorities)

    def display(self, kind: str, pattern: str = "*") -> list[dict[str, Value]]:
        """Returns the objects that the user may see."""
        if kind == _SUB:
            sees = bool(self._rights.of_manager() & DSP)
            return [one for one in self._manager.display(kind, pattern) if sees or one["SUBUSER"] == self.user]
        if kind not in TYPE_OF_KIND:
            if kind != POLICY:
                self._check(kind, SELF, DSP | INQ)
            return self._manager.display(kind, pattern)
        own = TYPE_OF_KIND[kind]
        found = self._manager.display(kind, pattern)
        return [one for one in found if self._rights.of(own, str(one[own])) & (DSP | INQ)]

    def clear(self, name: str) -> None:
        """Removes all messages of a queue."""
        self._check("QLOCAL", name, CLR)
        self._manager.clear(name)

    def purge(self, queue: str) -> int:
        """Removes the messages of a queue."""
        self.check_call("purge", [queue])
        return self._manager.purge(queue)

    def check_connect(self, wanted: str) -> None:
        """Refuses to connect a user without CONNECT, or to let it act for another without ALTUSR."""
        self._rights.check_manager(CONNECT)
        if wanted != self.user:
            self._rights.check_manager(ALTUSR)

    def check_call(self, name: str, arguments: Sequence[str]) -> None:
        """Refuses a purge without CLR of the queue, to ask for others without ALTUSR, and the rest without CTRL."""
        if name == "purge":
            self._check("QLOCAL", arguments[0], CLR)
        elif name == "authorise":
            self._rights.check_manager(ALTUSR)
        else:
            self._check(QMGR, SELF, CTRL)

    def forget_retained(self, topic: str, point: str = "") -> bool:
        """Removes what is retained on a topic, or on those that fit its wildcards, if that is allowed for each."""
        found = list(retained_fitting(self._manager, topic, point))
        for one in found:
            self._rights.check_topic(one, CLR | PUB)
        removed = [self._manager.forget_retained(one, point) for one in found]  # and nothing that came since
        return any(removed)

    def depth(self, queue: str) -> int:
        """Returns how many messages can be got from a queue now."""
        self._rights.check(queue, INQ | DSP)
        return self._manager.depth(queue)

    def names(self) -> list[str]:
        """Returns the names of the queues that the user may see."""
        return [name for name in self._manager.names() if self._rights.of(QUEUE, name) & (DSP | INQ)]

    def statistics(self) -> list[dict[str, Any]]:
        """Returns what was done to each queue that the user may see."""
        seen = set(self.names())
        return [one for one in self._manager.statistics() if one["queue"] in seen]

    def cursor(self, queue: str, selector: str = "", *, examines: bool = False) -> Iterator[Arrival]:
        """Yields the messages of a queue one after the other; they stay there. To examine is the owner's alone."""
        del examines
        work, wanted = self.work(), Selection(browse=True, selector=selector)
        while (arrival := work.get(queue, wanted)) is not None:
            yield arrival


def _named(kind: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns attributes by their names, however they are written, so that none escapes a check."""
    if kind not in ATTRIBUTES:
        return dict(attributes)
    return {find(kind, word).name if word.upper() not in _BESIDE else word: value for word, value in attributes.items()}

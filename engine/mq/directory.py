"""The objects of a queue manager by name: queues, aliases, its own attributes; define, alter, delete, display."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from engine.errors import ConfigurationException, MessageException
from engine.mq import stream_rules
from engine.mq.attribute_values import Value, checked_name
from engine.mq.attributes import ATTRIBUTES, checked, defaults
from engine.mq.definitions import QueueDefinition, alias_of, moments, queue_of, values_of
from engine.mq.protection.policies import ERRORS, POLICY, Policies, Policy
from engine.mq.queue import Queue
from engine.mq.refusals import (
    ALIAS_BASE_Q_TYPE_ERROR,
    GET_INHIBITED,
    OBJECT_ALREADY_EXISTS,
    OBJECT_IN_USE,
    PUT_INHIBITED,
    Q_NOT_EMPTY,
    UNKNOWN_ALIAS_BASE_Q,
    UNKNOWN_OBJECT_NAME,
    of_topic,
    refusal,
    unknown,
)
from engine.mq.security.records import AUTHREC, Records
from engine.mq.status import STATUS, status
from engine.mq.topics.objects import KINDS, Objects

if TYPE_CHECKING:
    from engine.mq.unit import Work

QUEUES: Final = ("QLOCAL", "QALIAS")
QMGR: Final = "QMGR"


class Directory:
    """The objects of a queue manager. `make` makes a queue of a definition, `keep` keeps what is defined."""

    __slots__ = (
        *("_keep", "_make", "_records", "aliases", "authorities", "policies", "queues", "running", "settings"),
        *("topics", "watched"),
    )

    def __init__(
        self,
        name: str,
        make: Callable[[QueueDefinition, int], Queue],
        keep: Callable[[str, str, Mapping[str, Value] | None], int],
    ) -> None:
        self.topics = Objects(keep)
        self.authorities = Records(keep)
        self.policies = Policies(keep)
        self._records: Mapping[str, Records | Policies] = {AUTHREC: self.authorities, POLICY: self.policies}
        self.queues: dict[str, Queue] = {}
        self.running: Callable[[], Mapping[str, Value]] = dict  # intervals, which are shown with the attributes
        self.watched: set[str] = set()  # queues whose own STATQ or ACCTQ is on, or was
        self.aliases: dict[str, QueueDefinition] = {}
        self.settings: dict[str, Value] = defaults(QMGR) | {"QMNAME": name} | moments("CR", "ALT")
        self._make = make
        self._keep = keep

    def add_all(self, definitions: Iterable[QueueDefinition | str], dead_letter_queue: str) -> None:
        """Add queues that are not kept, each once, and a dead-letter queue where that is none of them."""
        for definition in definitions:
            made = QueueDefinition(definition) if isinstance(definition, str) else definition
            if made.name in self.queues:
                raise ConfigurationException(f"there are two queues called {made.name}: define it once")
            self.add(made)
        if dead_letter_queue and dead_letter_queue not in self.queues:
            self.add(QueueDefinition(dead_letter_queue))

    def add(self, definition: QueueDefinition, number: int = 0) -> Queue:
        """Add a queue that is not kept: one that was kept before, or one of a queue manager without a store."""
        queue = self.queues[definition.name] = self._make(definition, number)
        return queue

    def behind(self, name: str) -> Queue | None:
        """Returns the queue of a name, or that an alias stands for, inhibited or not; None where there is none."""
        alias = self.aliases.get(name)
        if alias is not None and alias.is_of_topic:
            return None
        return self.queues.get(name if alias is None else alias.target)

    def protected(self) -> dict[str, dict[str, Policy]]:
        """Returns the policies by which messages are put and got, by the names under which that is done.

        An alias has the policy of its queue, and copies of a stream are got by that of the queue that streams.
        """
        named = self.policies.named
        if not named:
            return {"PUT": {}, "GET": {}}
        aliases = [(name, alias.target) for name, alias in list(self.aliases.items()) if not alias.is_of_topic]
        put = {name: named[target] for name, target in aliases if target in named}
        put |= named
        got = dict(put)
        for name, queue in list(self.queues.items()):
            if name in named and queue.stream is not None:
                got.setdefault(queue.stream.name, named[name])
        return {"PUT": put, "GET": got}

    def resolve(self, name: str, gate: str) -> tuple[Queue, QueueDefinition] | None:
        """Returns the queue that a name leads to, and the definition of the name; None where there is none.

        `gate` is PUT or GET, and what is inhibited for it, the name or the queue behind it, is refused.
        """
        queue = self.queues.get(name)
        if queue is not None:
            _pass(queue.definition, gate, queue)
            return queue, queue.definition
        alias = self.aliases.get(name)
        if alias is None:
            return None
        check_gate(alias, gate)
        if alias.is_of_topic:
            raise of_topic(name, alias.target)
        if alias.target in self.aliases:
            text = f"alias {name} stands for {alias.target}, which is an alias itself: let it stand for a queue"
            raise refusal(ALIAS_BASE_Q_TYPE_ERROR, text, name)
        queue = self.queues.get(alias.target)
        if queue is None:
            text = f"alias {name} stands for {alias.target!r}, and there is no such queue: define it"
            raise refusal(UNKNOWN_ALIAS_BASE_Q, text, name)
        _pass(queue.definition, gate, queue)
        return queue, alias

    def define(self, kind: str, name: str, attributes: Mapping[str, object], *, replace: bool) -> None:
        """Define a queue or an alias; one that is there is refused, or replaced: what is not named has its default."""
        if kind in self._records:
            self._records[kind].define(name, attributes)
            if kind == POLICY and ERRORS not in self.queues:
                self.define("QLOCAL", ERRORS, {}, replace=False)
            return
        _check_kind(kind)
        checked_name(name)
        given = checked(kind, attributes)
        there = self.queues[name].definition if name in self.queues else self.aliases.get(name)
        if there is not None:
            own = "QALIAS" if name in self.aliases else "QLOCAL"
            if not replace or own != kind:
                text = f"{name} is there already, as {own}: alter it, or define it with REPLACE"
                raise refusal(OBJECT_ALREADY_EXISTS, text, name)
            settable = {word: value for word, value in defaults(kind).items() if not ATTRIBUTES[kind][word].shown}
            self.alter(kind, name, settable | given)
            return
        values = defaults(kind) | given | moments("CR", "ALT")
        stream_rules.check(self, kind, name, values)
        self.restore(kind, name, values, self._keep(kind, name, values))

    def restore(self, kind: str, name: str, values: Mapping[str, Value], number: int) -> None:
        """Add an object with all its attributes, as it was kept."""
        if kind in KINDS:
            self.topics.restore(kind, name, values)
            return
        if kind in self._records:
            self._records[kind].restore(name, values)
            return
        known = defaults(kind) | dict(values)  # one that an earlier version kept lacks some
        if kind == QMGR:
            self.settings = known
        elif kind == "QALIAS":
            self.aliases[name] = alias_of(name, known)
        else:
            self.add(queue_of(name, known), number)
            self._watch(name, known)

    def alter(self, kind: str, name: str, attributes: Mapping[str, object]) -> None:
        """Give an object other attributes; those that are not named stay."""
        if kind in KINDS:
            self.topics.alter(kind, name, attributes)
            return
        given = checked(kind, attributes)
        if kind == QMGR:
            values, plain = self.settings | given | moments("ALT"), defaults(QMGR)
            self._keep(kind, "", {word: value for word, value in values.items() if plain.get(word) != value})
            self.settings = values
            return
        definition = self._definition(kind, name)
        values = values_of(kind, definition) | given | moments("ALT")
        stream_rules.check(self, kind, name, values)
        self._keep(kind, name, values)
        if kind == "QALIAS":
            self.aliases[name] = alias_of(name, values)
        else:
            self.queues[name].redefine(queue_of(name, values))
            self._watch(name, values)

    def _watch(self, name: str, values: Mapping[str, Value]) -> None:
        if "ON" in {values.get("STATQ"), values.get("ACCTQ")}:
            self.watched.add(name)

    def delete(self, kind: str, name: str, works: Iterable[Work], *, purged: bool) -> None:
        """Delete a queue that is empty, or has been purged, or an alias."""
        if kind in self._records:
            self._records[kind].delete(name)
            return
        self._definition(kind, name)
        if kind == "QALIAS":
            self._keep(kind, name, None)
            del self.aliases[name]
            return
        queue = self.queues[name]
        self.check_unused(queue, works)
        if queue.depth and not purged:
            text = f"queue {name} has {queue.depth} messages: get them, clear it, or delete it with PURGE"
            raise refusal(Q_NOT_EMPTY, text, name)
        self._keep(kind, name, None)
        del self.queues[name]

    @staticmethod
    def check_unused(queue: Queue, works: Iterable[Work]) -> None:
        """Refuse what cannot be done to a queue with uncommitted messages."""
        uncommitted = sum(work.uses(queue)[0] for work in works)
        if uncommitted:
            name = queue.definition.name
            text = f"queue {name} has {uncommitted} uncommitted messages: commit or back them out first"
            raise refusal(OBJECT_IN_USE, text, name)

    def display(self, kind: str, pattern: str, works: Iterable[Work]) -> list[dict[str, Value]]:
        """Returns the objects whose names fit a pattern, such as ORDERS.*, with their attributes."""
        if kind == QMGR:
            fixed = {one.name: one.default for one in ATTRIBUTES[QMGR].values() if one.shown}
            made = "_".join(str(self.settings.get(word, "")) for word in ("QMNAME", "CRDATE", "CRTIME"))
            return [fixed | {"QMID": made} | dict(self.settings) | dict(self.running())]
        if kind in self._records:
            return list(self._records[kind].display())
        if kind in STATUS:
            return status(kind, pattern, str(self.settings["QMNAME"]), list(self.queues.values()), works)
        if kind in KINDS:
            return self.topics.display(kind, pattern)
        _check_kind(kind)
        fits = re.compile(re.escape(pattern).replace(r"\*", ".*")).fullmatch
        found: Mapping[str, object] = self.queues if kind == "QLOCAL" else self.aliases
        shown: list[dict[str, Value]] = []
        working = list(works)
        names = [name for name in list(found) if fits(name)] if "*" in pattern else [pattern]
        for name in sorted(names):
            queue = self.queues.get(name) if kind == "QLOCAL" else None
            own = None if queue is None else queue.definition
            definition = self.aliases.get(name) if kind == "QALIAS" else own
            if definition is None:  # as where it has just been deleted
                continue
            values: dict[str, Value] = {"QUEUE": name, "TYPE": kind}
            shown.append(values | values_of(kind, definition))
            if queue is not None:
                used = [work.uses(queue) for work in working]
                readers, writers = sum(reads for _, reads, _ in used), sum(writes for _, _, writes in used)
                shown[-1] |= {
                    "CURDEPTH": queue.depth + queue.reserved,
                    "UNCOM": "YES" if any(moved for moved, _, _ in used) else "NO",
                    "DEFTYPE": "PREDEFINED",
                    "IPPROCS": readers,
                    "OPPROCS": writers,
                }
        return shown

    def _definition(self, kind: str, name: str) -> QueueDefinition:
        _check_kind(kind)
        found = self.aliases.get(name) if kind == "QALIAS" else None
        if kind == "QLOCAL" and name in self.queues:
            found = self.queues[name].definition
        if found is None:
            raise (
                unknown(name)
                if kind == "QLOCAL"
                else refusal(UNKNOWN_OBJECT_NAME, f"there is no alias called {name!r}: define it", name)
            )
        return found


def _check_kind(kind: str) -> None:
    if kind not in QUEUES:
        text = f"there are no objects of kind {kind} here: define {', '.join((*QUEUES, *KINDS))}"
        raise refusal(UNKNOWN_OBJECT_NAME, text, kind)


def _pass(definition: QueueDefinition, gate: str, queue: Queue) -> None:
    """Refuse what is inhibited, and count that."""
    try:
        check_gate(definition, gate)
    except MessageException:
        if gate == "PUT":
            queue.counts.puts_failed += 1
        else:
            queue.counts.gets_failed += 1
        raise


def check_gate(definition: QueueDefinition, gate: str) -> None:
    """Refuse what is inhibited."""
    name = definition.name
    if gate == "PUT" and not definition.put_enabled:
        raise refusal(PUT_INHIBITED, f"puts to {name} are inhibited: ALTER it with PUT(ENABLED)", name)
    if gate == "GET" and not definition.get_enabled:
        raise refusal(GET_INHIBITED, f"gets from {name} are inhibited: ALTER it with GET(ENABLED)", name)

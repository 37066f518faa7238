"""The topics of a queue manager: topic objects and subscriptions, defined, altered, deleted, displayed and found."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.message.topics import checked_topic, levels_of
from engine.mq.addresses import owner_name
from engine.mq.attribute_values import ATTRIBUTE_FIXED, Value, checked_name
from engine.mq.attributes import checked, defaults
from engine.mq.definitions import moments
from engine.mq.refusals import (
    OBJECT_ALREADY_EXISTS,
    OBJECT_IN_USE,
    UNKNOWN_ALIAS_BASE_Q,
    UNKNOWN_OBJECT_NAME,
    refusal,
)
from engine.mq.topics.identities import ATTRIBUTE as IDENTITY
from engine.mq.topics.settings import ROOT, TopicObjects, joined
from engine.mq.topics.subscription import (
    ADMIN,
    API,
    INFORM,
    SELECTION_NOT_AVAILABLE,
    SUBTYPE,
    Compile,
    Subscription,
    condition,
    subscription_id,
    subscription_of,
)
from engine.mq.topics.trie import Trie

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq.topics.settings import TopicSettings

Keep = Callable[[str, str, Mapping[str, Value] | None], object]

TOPIC: Final = "TOPIC"
SUB: Final = "SUB"
KINDS: Final = (TOPIC, SUB)
DURABILITY_NOT_ALLOWED: Final = 2436
SUB_INHIBITED: Final = 2503
DURABILITY_NOT_ALTERABLE: Final = 2509
TOPIC_NOT_ALTERABLE: Final = 2510
DEST_CLASS_NOT_ALTERABLE: Final = 2533
_FIXED: Final[Mapping[str, Mapping[str, int]]] = {  # attributes that stay as they were defined, with MQ's reasons
    TOPIC: {"TOPICSTR": ATTRIBUTE_FIXED},
    SUB: {
        **dict.fromkeys(("TOPICSTR", "TOPICOBJ", "WSCHEMA", "SUBPOINT"), TOPIC_NOT_ALTERABLE),
        "DESTCLAS": DEST_CLASS_NOT_ALTERABLE,
    },
}
_KEPT: Final = {TOPIC: frozenset(_FIXED[TOPIC]), SUB: frozenset({*_FIXED[SUB], "DEST", "SUBUSER"})}  # by REPLACE
_LONGEST_NAME: Final = 400  # bytes


class Objects:
    """Topic objects and subscriptions. `keep` keeps what lasts; `check` refuses a destination that is none."""

    __slots__ = (
        *("_characters", "_keep", "_lock", "_managed", "_tries", "check", "compile_content", "owner", "subscriptions"),
        *("topics", "version"),
    )

    def __init__(self, keep: Keep) -> None:
        self.topics = TopicObjects()
        self.subscriptions: dict[str, Subscription] = {}
        self._managed: dict[str, str] = {}  # the users of subscriptions, by the queues that were made for them
        self.compile_content: Compile | None = None
        self.version = 0
        self.owner = owner_name()  # the user of subscriptions that name none
        self._lock = threading.Lock()  # of the patterns, which publishers look through
        self._tries: dict[str, Trie[Subscription]] = {}
        self._characters: dict[str, dict[Subscription, None]] = {}
        self._keep = keep
        self.check: Callable[[str], object] = str  # until there is one to ask

    def define(self, kind: str, name: str, attributes: Mapping[str, object], *, replace: bool) -> None:
        """Define a topic or a subscription; one that is there is refused, or replaced: the rest has its defaults."""
        known: Mapping[str, object] = self.topics.named if kind == TOPIC else self.subscriptions
        if name in known:
            if not replace:
                text = f"there is a {kind} {name} already: alter it, or define it with REPLACE"
                raise refusal(OBJECT_ALREADY_EXISTS, text, name)
            self._redefine(kind, name, attributes)
            return
        given = dict(attributes)
        beside: dict[str, Value] = {"DURABLE": "YES", SUBTYPE: ADMIN}  # which commands do not say: theirs last
        beside |= {word: str(given.pop(word)) for word in (*beside, INFORM) if word in given}
        values = defaults(kind) | checked(kind, given) | moments("CR", "ALT")
        if kind == TOPIC:
            self._define_topic(checked_name(name), values)
        else:
            self._subscribe(name, values | beside)
        self.version += 1

    def _redefine(self, kind: str, name: str, attributes: Mapping[str, object]) -> None:
        """Give an object the attributes of a definition, and of those that it does not name the defaults."""
        given = dict(attributes)
        kept = self.values(kind, name).get(SUBTYPE, "") if given.pop(SUBTYPE, ADMIN) == API else ADMIN
        beside = {SUBTYPE: kept, **{word: str(given.pop(word)) for word in (INFORM,) if word in given}}
        durable = given.pop("DURABLE", None)
        if durable is not None and durable != self.values(kind, name).get("DURABLE"):
            text = f"whether subscription {name} is durable cannot be changed: delete it, and define it again"
            raise refusal(DURABILITY_NOT_ALTERABLE, text, name)
        settable = {word: value for word, value in defaults(kind).items() if word not in _KEPT[kind]}
        self._alter(kind, name, settable | checked(kind, given), beside)

    def _define_topic(self, name: str, values: dict[str, Value]) -> None:
        topic = checked_topic(str(values["TOPICSTR"]))
        if self.topics.is_taken(topic):
            raise refusal(OBJECT_ALREADY_EXISTS, f"there is a TOPIC at {topic} already: alter that one", name)
        self._keep(TOPIC, name, values)
        self.topics.put(name, values)

    def _subscribe(self, name: str, values: dict[str, Value]) -> None:
        """Add a subscription where its topic and its destination allow it."""
        if not name.strip() or len(name.encode()) > _LONGEST_NAME:
            problem = f"a subscription's name has 1 to {_LONGEST_NAME} bytes, not {len(name.encode())}"
            raise refusal(2440, problem, name)
        values["SELTYPE"] = condition(str(values["SELECTOR"]), self.compile_content)[1]
        values |= {"SUBID": subscription_id(name).hex().upper(), "TOPICSTR": self.topic_of(values)}
        made = subscription_of(name, str(values["TOPICSTR"]), values, self.compile_content)
        settings = self.settings(made.topic)
        if not settings.subscribes:
            raise refusal(SUB_INHIBITED, f"subscriptions to {made.topic} are inhibited: ALTER the TOPIC", made.topic)
        if made.durable and not settings.durable:
            text = f"subscriptions to {made.topic} cannot be durable: ALTER the TOPIC with DURSUB(YES)"
            raise refusal(DURABILITY_NOT_ALLOWED, text, made.topic)
        if not made.queue:
            problem = f"subscription {name:.60} says nowhere to send to: give it DEST(QUEUE), or DESTCLAS(MANAGED)"
            raise refusal(UNKNOWN_OBJECT_NAME, problem, name)
        self.check(made.queue)
        if made.durable:
            self._keep(SUB, name, values)
        self._add(made)

    def topic_of(self, values: Mapping[str, Value]) -> str:
        """Returns the topic string of a subscription: that of the object it names, and its own."""
        named, own = str(values.get("TOPICOBJ", "")), str(values.get("TOPICSTR", ""))
        if not named:
            return own
        if named not in self.topics.named:
            raise refusal(UNKNOWN_OBJECT_NAME, f"there is no TOPIC called {named}: define it", named)
        return joined(str(self.topics.named[named]["TOPICSTR"]), own)

    def topic_behind(self, alias: str, target: str) -> str:
        """Returns the topic string of an alias whose target is a topic."""
        if target not in self.topics.named:
            text = f"alias {alias} stands for topic {target!r}, and there is no such TOPIC: define it"
            raise refusal(UNKNOWN_ALIAS_BASE_Q, text, alias)
        return str(self.topics.named[target]["TOPICSTR"])

    def _kept_topic(self, values: Mapping[str, Value]) -> str:
        """Returns the topic string of a subscription; earlier ones were kept without what their object says."""
        own, above = str(values["TOPICSTR"]), self.topics.named.get(str(values["TOPICOBJ"]))
        if above is None:
            return own
        levels = levels_of(str(above["TOPICSTR"]))
        return own if own and levels_of(own)[: len(levels)] == levels else self.topic_of(values)

    def restore(self, kind: str, name: str, values: Mapping[str, Value]) -> None:
        """Add an object with all its attributes, as it was kept."""
        known = defaults(kind) | dict(values)
        if kind == TOPIC:
            self.topics.put(name, known)
        else:
            known["TOPICSTR"] = self._kept_topic(known)
            self._add(subscription_of(name, str(known["TOPICSTR"]), known, self._content))
        self.version += 1

    def _content(self, text: str) -> Callable[[Descriptor, bytes], bool | None]:
        """Returns a filter of bodies that is compiled when the first publication asks for it."""
        compiled: list[Callable[[Descriptor, bytes], bool | None]] = []

        def select(descriptor: Descriptor, body: bytes) -> bool | None:
            if not compiled:
                if self.compile_content is None:
                    problem = f"nothing here filters by content, as {text!r:.100} does: publish where flows are known"
                    raise refusal(SELECTION_NOT_AVAILABLE, problem)
                compiled.append(self.compile_content(text))
            return compiled[0](descriptor, body)

        return select

    def _add(self, made: Subscription) -> None:
        with self._lock:
            self._hold(made)

    def _replace(self, gone: Subscription, made: Subscription) -> None:
        """Hold one in the place of another, so that no publication finds neither."""
        with self._lock:
            self._let_go(gone)
            self._hold(made)

    def _remove(self, gone: Subscription) -> None:
        with self._lock:
            self._let_go(gone)

    def _hold(self, made: Subscription) -> None:
        self.subscriptions[made.name] = made
        if made.values["DESTCLAS"] == "MANAGED":
            self._managed[made.queue] = str(made.values["SUBUSER"])
        if made.levels is not None:
            self._tries.setdefault(made.point, Trie()).add(made.levels, made)
        else:
            self._characters.setdefault(made.point, {})[made] = None

    def _let_go(self, gone: Subscription) -> None:
        del self.subscriptions[gone.name]
        self._managed.pop(gone.queue, None)
        if gone.levels is not None:
            self._tries[gone.point].remove(gone.levels, gone)
        else:
            del self._characters[gone.point][gone]

    def alter(self, kind: str, name: str, attributes: Mapping[str, object]) -> None:
        """Give an object other attributes; those that are not named stay, and the topic string always does.

        A subscription that a program made is one of the administrator's from then on, as MQ has it.
        """
        self._alter(kind, name, checked(kind, attributes), {SUBTYPE: ADMIN})

    def _alter(self, kind: str, name: str, given: dict[str, Value], beside: Mapping[str, Value]) -> None:
        before = self.values(kind, name)
        if given.get("TOPICOBJ") and self.topic_of(given) == before["TOPICSTR"]:
            given = {**given, "TOPICSTR": before["TOPICSTR"]}
        fixed = dict(_FIXED[kind])
        if before.get("DESTCLAS") == "MANAGED":
            fixed["DEST"] = DEST_CLASS_NOT_ALTERABLE  # the queue goes with the subscription
        for word, reason in fixed.items():
            if given.get(word, before.get(word)) != before.get(word):
                text = f"{word} of a {kind} cannot be changed: delete {name}, and define it again"
                raise refusal(reason, text, name)
        values = before | given | moments("ALT")
        if kind == TOPIC:
            self._keep(TOPIC, name, values)
            self.topics.put(name, values)
        else:
            values |= {"SELTYPE": condition(str(values["SELECTOR"]), self.compile_content)[1], **beside}
            made = subscription_of(name, str(values["TOPICSTR"]), values, self.compile_content)
            self.check(made.queue)
            if made.durable:
                self._keep(SUB, name, values)
            self._replace(self.subscriptions[name], made)
        self.version += 1

    def identify(self, name: str, text: str) -> None:
        """Give a subscription other identities of those who share it, as an attribute tells them."""
        self._renew(name, name, {**self.values(SUB, name), IDENTITY: text})

    def rename(self, name: str, other: str) -> None:
        """Give a subscription another name."""
        self._renew(name, other, {**self.values(SUB, name), "SUBID": subscription_id(other).hex().upper()})

    def _renew(self, name: str, other: str, values: dict[str, Value]) -> None:
        """Hold a subscription with other values in its place, perhaps by another name."""
        gone = self.subscriptions[name]
        made = replace(gone, name=other, values=values)
        if gone.durable:
            self._keep(SUB, other, values)
            if other != name:
                self._keep(SUB, name, None)
        self._replace(gone, made)
        self.version += 1

    def delete(self, kind: str, name: str) -> Mapping[str, Value]:
        """Delete an object, and return the attributes that it had."""
        values = self.values(kind, name)
        if (kind, name) == (TOPIC, ROOT):
            raise refusal(OBJECT_IN_USE, f"{ROOT} stands above all topics: alter it", name)
        if kind == TOPIC:
            self._keep(TOPIC, name, None)
            self.topics.remove(name)
        else:
            if self.subscriptions[name].durable:
                self._keep(SUB, name, None)
            self._remove(self.subscriptions[name])
        self.version += 1
        return values

    def values(self, kind: str, name: str) -> dict[str, Value]:
        """Returns the attributes of an object."""
        if kind == TOPIC and name in self.topics.named:
            return dict(self.topics.named[name])
        if kind == SUB and name in self.subscriptions:
            return dict(self.subscriptions[name].values)
        raise refusal(UNKNOWN_OBJECT_NAME, f"there is no {kind} called {name!r:.200}: define it", name)

    def display(self, kind: str, pattern: str) -> list[dict[str, Value]]:
        """Returns the objects whose names fit a pattern, such as NEWS.*, with their attributes."""
        fits = re.compile(re.escape(pattern).replace(r"\*", ".*"), re.DOTALL).fullmatch
        if kind == TOPIC:
            named, more = dict(self.topics.named), dict[str, Value](TYPE="LOCAL")
            return [{kind: name} | more | named[name] for name in sorted(named) if fits(name)]
        shown: list[dict[str, Value]] = []
        there = dict(self.subscriptions)
        for name in sorted(name for name in there if fits(name)):
            shown.append({kind: name, **there[name].values})
            shown[-1]["SUBUSER"] = shown[-1]["SUBUSER"] or self.owner
        return shown

    def subscriber(self, queue: str) -> str:
        """Returns the user for whose subscription a queue was made, or an empty text."""
        return self._managed.get(queue, "")

    def settings(self, topic: str) -> TopicSettings:
        """Returns what topic objects say of a topic."""
        return self.topics.settings(topic)

    def fitting(self, topic: str, point: str) -> list[Subscription]:
        """Returns the subscriptions that a topic fits, but for wildcards above one that blocks them."""
        blocked = self.settings(topic).blocked
        with self._lock:
            trie = self._tries.get(point)
            found = [] if trie is None else list(trie.fitting(levels_of(topic)))
            others = list(self._characters.get(point, ()))
        found = [one for one in found if one.wild is None or one.wild >= blocked]
        others = [one for one in others if one.fits is not None and one.fits(topic)]
        return found + [one for one in others if one.wild is None or not blocked]

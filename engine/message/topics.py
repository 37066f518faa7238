"""Topics: their levels, the patterns that subscriptions are made with, and addresses that messages are put to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

from engine.errors import MessageException

TOPIC_STRING_ERROR: Final = 2425
NO_SUBS_MATCHED: Final = 2550
LONGEST: Final = 10_240  # characters
MANY: Final = "#"
SINGLE: Final = "+"
ADDRESS: Final = "topic:"  # begins the name that messages are put to for a topic, where else a queue's name stands
_SEPARATOR: Final = "/"
_RETAIN: Final = "retain"
_FORGET: Final = "forget"
_POINT: Final = "point="
_WITHOUT: Final = "without="
_ASKS: Final = "asks"
LOCAL: Final = "local"
REMOTE: Final = "remote"
_AT: Final = f"{REMOTE}="
_MOST_DIGITS: Final = 18
_FLAGS: Final[Mapping[str, Mapping[str, object]]] = {  # words of an address that have no value
    _RETAIN: {"retains": True},
    _FORGET: {"forgets": True},
    LOCAL: {"scope": LOCAL},
    _ASKS: {"asks": True},
}
_EXCEPT: Final = re.compile(rf"{_WITHOUT}([^:]+):((?:[0-9a-f]{{2}})*)")


class TopicAddress(NamedTuple):
    """A topic as messages are put to it, True where they are retained, and the subscription point.

    `scope` is LOCAL where only subscribers of this queue manager are sent them, and REMOTE where another queue manager
    published them, at the microsecond `at`; otherwise all of a collective are sent them. One that `forgets` removes
    what is retained on the topics that its own fits, and publishes nothing. Subscriptions that send to the queue
    and have the correlation id of `without` are not sent them. One that `asks` is answered by the feedback of the
    descriptor that its put returns, which is NO_SUBS_MATCHED where no subscription fits.
    """

    topic: str
    retains: bool = False
    point: str = ""
    scope: str = ""
    at: int = 0
    forgets: bool = False
    without: tuple[str, bytes] | None = None
    asks: bool = False

    @property
    def name(self) -> str:
        """The name that messages are put to.

        >>> TopicAddress("a", without=("OWN/QUEUE", b""), asks=True).name
        'topic:without=OWN%2FQUEUE:;asks//a'
        """
        if _SEPARATOR in self.point or ";" in self.point:
            problem = f"subscription point {self.point!r:.60} has a / or ;; take it out"
            raise _refusal(problem, self.point)
        words = (
            _FORGET if self.forgets else "",
            _RETAIN if self.retains else "",
            f"{_POINT}{self.point}" if self.point else "",
            f"{_AT}{self.at}" if self.scope == REMOTE else self.scope,
            "" if self.without is None else f"{_WITHOUT}{quote(self.without[0], safe='')}:{self.without[1].hex()}",
            _ASKS if self.asks else "",
        )
        return f"{ADDRESS}{';'.join(filter(None, words))}//{self.topic}"


def levels_of(text: str) -> tuple[str, ...]:
    """Returns the levels of a topic string or a pattern.

    >>> levels_of("a//b"), levels_of("/a")
    (('a', '', 'b'), ('', 'a'))
    """
    return tuple(text.split(_SEPARATOR))


def checked_topic(text: str) -> str:
    """Returns a topic that messages can be published on; one that is empty, too long or a pattern is refused."""
    checked_pattern(text)
    if wildcards(levels_of(text)) is not None:
        problem = f"topic {text!r:.200} has a level + or #, which subscriptions have; publish on one topic"
        raise _refusal(problem, text)
    return text


def checked_pattern(text: str) -> str:
    """Returns the topic string of a subscription, with or without wildcards."""
    if not text or len(text) > LONGEST or "\0" in text:
        problem = f"a topic string has 1 to {LONGEST:,} characters, not {len(text):,}, and no zero byte"
        raise _refusal(problem, text[:200])
    return text


def wildcards(levels: tuple[str, ...]) -> int | None:
    """Returns the place of the first level that is a wildcard, or None where there is none.

    >>> wildcards(("a", "+", "#")), wildcards(("a+", "b"))
    (1, None)
    """
    return next((at for at, level in enumerate(levels) if level in {MANY, SINGLE}), None)


def address(topic: str, *, retain: bool = False, point: str = "", scope: str = "", at: int = 0) -> str:
    """Returns the name that a message is put to for its publication.

    >>> address("a/b"), address("a/b", retain=True, point="eur")
    ('topic://a/b', 'topic:retain;point=eur//a/b')
    """
    if not (retain or point or scope):
        return f"topic://{topic}"
    return TopicAddress(topic, retain, point, scope, at).name


def read_address(name: str) -> TopicAddress:
    """Returns what the name says that a message is put to for its publication.

    >>> read_address("topic:retain;point=eur//a/b")[:5]
    ('a/b', True, 'eur', '', 0)
    """
    said, _, topic = name.removeprefix(ADDRESS).partition("//")
    values: dict[str, Any] = {}
    for word in filter(None, said.split(";")):
        if word in _FLAGS:
            values |= _FLAGS[word]
        elif word.startswith(_AT) and (digits := word.removeprefix(_AT)).isdecimal() and len(digits) <= _MOST_DIGITS:
            values |= {"scope": REMOTE, "at": int(digits)}
        elif word.startswith(_POINT):
            values["point"] = word.removeprefix(_POINT)
        elif found := _EXCEPT.fullmatch(word):
            values["without"] = unquote(found[1]), bytes.fromhex(found[2])
        else:
            problem = f"{name!r:.200} is no address of a topic: write topic://TOPIC or topic:retain//TOPIC"
            raise _refusal(problem, name)
    return TopicAddress(checked_pattern(topic) if "forgets" in values else checked_topic(topic), **values)


def _refusal(problem: str, text: str) -> MessageException:
    return MessageException(TOPIC_STRING_ERROR, problem, text, reason=TOPIC_STRING_ERROR)

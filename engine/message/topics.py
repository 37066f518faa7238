"""Topics: their levels, the patterns that subscriptions are made with, and addresses that messages are put to."""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.errors import MessageException

TOPIC_STRING_ERROR: Final = 2425
LONGEST: Final = 10_240  # characters
MANY: Final = "#"
SINGLE: Final = "+"
ADDRESS: Final = "topic:"  # begins the name that messages are put to for a topic, where else a queue's name stands
_SEPARATOR: Final = "/"
_RETAIN: Final = "retain"
_FORGET: Final = "forget"
_POINT: Final = "point="
LOCAL: Final = "local"
REMOTE: Final = "remote"
_AT: Final = f"{REMOTE}="
_MOST_DIGITS: Final = 18


class TopicAddress(NamedTuple):
    """A topic as messages are put to it, True where they are retained, and the subscription point.

    `scope` is LOCAL where only subscribers of this queue manager are sent them, and REMOTE where another queue manager
    published them, at the microsecond `at`; otherwise all of a collective are sent them. One that `forgets` removes
    what is retained on the topics that its own fits, and publishes nothing.
    """

    topic: str
    retains: bool
    point: str
    scope: str = ""
    at: int = 0
    forgets: bool = False


def levels_of(text: str) -> tuple[str, ...]:
    """Returns the levels of a topic string or a pattern.

    >>> levels_of("a//b"), levels_of("/a")
    (('a', '', 'b'), ('', 'a'))
    """
    return tuple(text.split(_SEPARATOR))


def checked_topic(text: str) -> str:
    """Returns a topic that messages can be published on; one that is empty, too long or a pattern is refused."""
    _check_length(text)
    if wildcards(levels_of(text)) is not None:
        problem = f"topic {text!r:.200} has a level + or #, which subscriptions have; publish on one topic"
        raise _refusal(problem, text)
    return text


def checked_pattern(text: str) -> str:
    """Returns the topic string of a subscription, with or without wildcards."""
    _check_length(text)
    return text


def _check_length(text: str) -> None:
    if not text or len(text) > LONGEST or "\0" in text:
        problem = f"a topic string has 1 to {LONGEST:,} characters, not {len(text):,}, and no zero byte"
        raise _refusal(problem, text[:200])


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
    if _SEPARATOR in point or ";" in point:
        problem = f"subscription point {point!r:.60} has a / or ;; take it out"
        raise _refusal(problem, point)
    words = (_RETAIN if retain else "", f"{_POINT}{point}" if point else "", f"{_AT}{at}" if scope == REMOTE else scope)
    return f"{ADDRESS}{';'.join(filter(None, words))}//{topic}"


def deletion(topic: str, *, point: str = "", scope: str = "") -> str:
    """Returns the name that a message is put to so that what is retained on the topics that one fits is removed.

    >>> deletion("a/+", scope=LOCAL)
    'topic:forget;local//a/+'
    """
    said, _, _ = address("", point=point, scope=scope).removeprefix(ADDRESS).partition("//")
    return f"{ADDRESS}{';'.join(filter(None, (_FORGET, said)))}//{topic}"


def read_address(name: str) -> TopicAddress:
    """Returns what the name says that a message is put to for its publication.

    >>> read_address("topic:retain;point=eur//a/b")
    TopicAddress(topic='a/b', retains=True, point='eur', scope='', at=0, forgets=False)
    """
    said, _, topic = name.removeprefix(ADDRESS).partition("//")
    retain, forget, point, scope, at = False, False, "", "", 0
    for word in filter(None, said.split(";")):
        if word == _RETAIN:
            retain = True
        elif word == _FORGET:
            forget = True
        elif word == LOCAL:
            scope = LOCAL
        elif word.startswith(_AT) and (digits := word.removeprefix(_AT)).isdecimal() and len(digits) <= _MOST_DIGITS:
            scope, at = REMOTE, int(digits)
        elif word.startswith(_POINT):
            point = word.removeprefix(_POINT)
        else:
            problem = f"{name!r:.200} is no address of a topic: write topic://TOPIC or topic:retain//TOPIC"
            raise _refusal(problem, name)
    checked = checked_pattern(topic) if forget else checked_topic(topic)
    return TopicAddress(checked, retain, point, scope, at, forget)


def _refusal(problem: str, text: str) -> MessageException:
    return MessageException(TOPIC_STRING_ERROR, problem, text, reason=TOPIC_STRING_ERROR)

"""Topics: their levels, the patterns that subscriptions are made with, and addresses that messages are put to."""

from __future__ import annotations

from typing import Final

from engine.errors import MessageException

TOPIC_STRING_ERROR: Final = 2425
LONGEST: Final = 10_240  # characters
MANY: Final = "#"
SINGLE: Final = "+"
ADDRESS: Final = "topic:"  # begins the name that messages are put to for a topic, where else a queue's name stands
_SEPARATOR: Final = "/"
_RETAIN: Final = "retain"
_POINT: Final = "point="


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


def address(topic: str, *, retain: bool = False, point: str = "") -> str:
    """Returns the name that a message is put to for its publication.

    >>> address("a/b"), address("a/b", retain=True, point="eur")
    ('topic://a/b', 'topic:retain;point=eur//a/b')
    """
    if not retain and not point:
        return f"topic://{topic}"
    if _SEPARATOR in point or ";" in point:
        problem = f"subscription point {point!r:.60} has a / or ;; take it out"
        raise _refusal(problem, point)
    said = (*((_RETAIN,) if retain else ()), *((f"{_POINT}{point}",) if point else ()))
    return f"{ADDRESS}{';'.join(said)}//{topic}"


def read_address(name: str) -> tuple[str, bool, str]:
    """Returns the topic of an address, True where the publication is retained, and its subscription point.

    >>> read_address("topic:retain;point=eur//a/b")
    ('a/b', True, 'eur')
    """
    said, _, topic = name.removeprefix(ADDRESS).partition("//")
    retain, point = False, ""
    for word in filter(None, said.split(";")):
        if word == _RETAIN:
            retain = True
        elif word.startswith(_POINT):
            point = word.removeprefix(_POINT)
        else:
            problem = f"{name!r:.200} is no address of a topic: write topic://TOPIC or topic:retain//TOPIC"
            raise _refusal(problem, name)
    return checked_topic(topic), retain, point


def _refusal(problem: str, text: str) -> MessageException:
    return MessageException(TOPIC_STRING_ERROR, problem, text, reason=TOPIC_STRING_ERROR)

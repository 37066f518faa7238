"""Patterns of the character scheme (WSCHEMA(CHAR)): * for any characters, ? for one, % before one that is meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.message.topics import TOPIC_STRING_ERROR
from engine.mq.refusals import refusal
from engine.mq.selectors.likeness import matcher

_ESCAPE: Final = "%"
_OWN: Final = "\0"  # the escape of what is handed on: no topic string has it
_MEANT: Final = {"*": "*", "?": "?", "%": f"{_OWN}%"}
_AS_LIKE: Final = {"*": "%", "?": "_", "_": f"{_OWN}_"}


def fits(pattern: str) -> Callable[[str], bool]:
    """Returns a test for topics that a pattern of characters describes; a / means nothing in it.

    >>> test = fits("a*/c?")
    >>> test("a/b/c1"), test("a/c"), fits("50%*")("50*"), fits("50%*")("50%")
    (True, False, True, False)
    """
    said: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character != _ESCAPE:
            said.append(_AS_LIKE.get(character, character))
            continue
        meant = next(characters, "")
        if meant not in _MEANT:
            problem = f"topic string {pattern!r:.200} has a % before {meant or 'its end'}; it stands before *, ? or %"
            raise refusal(TOPIC_STRING_ERROR, problem, pattern)
        said.append(_MEANT[meant])
    return matcher("".join(said), _OWN)


def has_wildcards(pattern: str) -> bool:
    """Returns True for a pattern that more than one topic can fit."""
    return any(character in "*?" for character in pattern)

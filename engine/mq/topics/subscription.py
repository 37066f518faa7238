"""Subscriptions: who wants which publications, and in which form."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from engine.descriptor import NO_ID, NO_TOKEN, Descriptor
from engine.errors import MessageException
from engine.message.topics import TOPIC_STRING_ERROR, checked_pattern, levels_of, wildcards
from engine.mq.attribute_values import Value
from engine.mq.property_types import Property
from engine.mq.refusals import refusal
from engine.mq.selectors import compile_selector
from engine.mq.selectors.likeness import matcher
from engine.mq.topics.trie import RESERVED

Properties: TypeAlias = Callable[[], Mapping[str, Property]]
Condition: TypeAlias = Callable[[Descriptor, bytes, Properties], bool | None]
Compile: TypeAlias = Callable[[str], Callable[[Descriptor, bytes], bool | None]]

Identity: TypeAlias = tuple[str, bytes, str]  # of a message: its user, accounting token, and application's data

CORREL_ID_ERROR: Final = 2207
ATTRIBUTE_VALUE: Final = 4005
SELECTION_NOT_AVAILABLE: Final = 2551
SUBTYPE: Final = "SUBTYPE"  # who made a subscription:
ADMIN: Final = "ADMIN"  # a command of MQSC made it, or changed it
API: Final = "API"  # a program did
INFORM: Final = "INFORMRET"  # NO where a psc folder does not say that a publication was retained
STANDARD: Final = "STANDARD"
EXTENDED: Final = "EXTENDED"


@dataclass(frozen=True, slots=True, eq=False)
class Subscription:
    """One subscription, as it was defined; `wild` is the level of its first wildcard, None where it has none.

    `select` says which publications it wants of those that fit, `correl_id` is that of the messages it is sent.
    """

    name: str
    values: Mapping[str, Value]
    durable: bool
    topic: str
    levels: tuple[str, ...] | None  # of the topic scheme
    fits: Callable[[str], bool] | None  # of the character scheme
    wild: int | None
    queue: str
    correl_id: bytes
    select: Condition | None

    @property
    def point(self) -> str:
        """The subscription point; an empty one is that of all publications that name none."""
        return str(self.values["SUBPOINT"])

    @property
    def form(self) -> str:
        """The form of its messages: as published, with properties that say the topic, or with a psc folder."""
        return str(self.values["PSPROP"])

    @property
    def on_request(self) -> bool:
        """True where publications are sent when they are asked for only."""
        return self.values["REQONLY"] == "YES"


def identity_of(values: Mapping[str, Value], owner: str) -> Identity:
    """Returns the identity that a subscription's messages have, of the owner where it names no user."""
    digits = str(values.get("PUBACCT", ""))
    try:
        token = bytes.fromhex(digits).ljust(len(NO_TOKEN), b"\0")
    except ValueError:
        problem = f"PUBACCT takes 64 hexadecimal digits, not {digits!r:.70} ({ATTRIBUTE_VALUE})"
        raise refusal(ATTRIBUTE_VALUE, problem, digits) from None
    return str(values["SUBUSER"]) or owner, token, str(values.get("PUBAPPID", ""))


def subscription_id(name: str) -> bytes:
    """Returns the id of a subscription, which its messages have as correlation id unless it names one."""
    return b"AMQ " + hashlib.sha256(name.encode()).digest()[:20]


def subscription_of(
    name: str, topic: str, values: Mapping[str, Value], compile_content: Compile | None
) -> Subscription:
    """Returns the subscription with these attributes; `compile_content` compiles filters of bodies."""
    pattern = checked_pattern(topic)
    levels, fits, wild = levels_of(pattern), None, wildcards(levels_of(pattern))
    if values["WSCHEMA"] == "CHAR":
        fits = fits_characters(pattern)
        wild = 0 if has_wildcards(pattern) else None
    select, _ = condition(str(values["SELECTOR"]), compile_content)
    identity_of(values, "")  # which is refused where it is wrong
    return Subscription(
        *(name, values, values["DURABLE"] == "YES", pattern, None if fits else levels, fits, wild),
        *(str(values["DEST"]), _correl_id(name, str(values["DESTCORL"])), select),
    )


def _correl_id(name: str, digits: str) -> bytes:
    if not digits:
        return subscription_id(name)
    try:
        return bytes.fromhex(digits).ljust(len(NO_ID), b"\0")
    except ValueError:
        problem = f"DESTCORL takes 48 hexadecimal digits, not {digits!r:.60}"
        raise refusal(CORREL_ID_ERROR, problem, digits) from None


def condition(text: str, compile_content: Compile | None) -> tuple[Condition | None, str]:
    """Returns what a selector selects, and its kind: standard, or extended where it filters contents."""
    if not text.strip():
        return None, "NONE"
    try:
        selector = compile_selector(text)
    except MessageException as error:
        if compile_content is None:
            raise
        try:
            content = compile_content(text)
        except MessageException as other:
            raise refusal(error.reason, f"{error.text}; {other.text}", text) from error
        return lambda descriptor, body, _: content(descriptor, body), EXTENDED
    return lambda descriptor, _, properties: selector(descriptor, properties), STANDARD


_ESCAPE: Final = "%"
_WILD: Final = ("*", "?")
_OWN: Final = "\0"  # the escape of what is handed on: no topic string has it
_MEANT: Final = {"*": "*", "?": "?", "%": f"{_OWN}%"}
_AS_LIKE: Final = {"*": "%", "?": "_", "_": f"{_OWN}_"}


def fits_characters(pattern: str) -> Callable[[str], bool]:
    """Returns a test for topics that a pattern of characters describes; a / means nothing in it.

    A wildcard at the beginning does not fit topics of the system, as in the topic scheme.

    >>> test = fits_characters("a*/c?")
    >>> test("a/b/c1"), test("a/c"), fits_characters("50%*")("50*"), fits_characters("50%*")("50%")
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
    is_fitting = matcher("".join(said), _OWN)
    if pattern[:1] in _WILD:
        return lambda topic: not topic.startswith(RESERVED) and is_fitting(topic)
    return is_fitting


def has_wildcards(pattern: str) -> bool:
    """Returns True for a pattern that more than one topic can fit.

    >>> has_wildcards("a*"), has_wildcards("a%*")
    (True, False)
    """
    return any(character in _WILD for character in re.sub(rf"{_ESCAPE}.", "", pattern, flags=re.DOTALL))

"""Patterns of topics: wildcards at every level, and a naive matcher beside the trie."""

from __future__ import annotations

import random
from functools import cache

import pytest

from engine.errors import MessageException
from engine.message.topics import address, checked_topic, levels_of, read_address
from engine.mq.topics.subscription import fits_characters
from engine.mq.topics.trie import Trie

FITTING = (
    ("a", "a", True),
    ("a", "a/b", False),
    ("a", "A", False),
    ("#", "a", True),
    ("#", "a/b/c", True),
    ("#", "/", True),
    ("a/#", "a", True),
    ("a/#", "a/b/c", True),
    ("a/#", "ab", False),
    ("#/c", "c", True),
    ("#/c", "a/b/c", True),
    ("#/c", "a/c/d", False),
    ("a/#/c", "a/c", True),
    ("a/#/c", "a/b/b/c", True),
    ("a/#/c/#/e", "a/x/c/c/e", True),
    ("#/#", "a", True),
    ("+", "a", True),
    ("+", "a/b", False),
    ("+/+", "/a", True),
    ("a/+", "a", False),
    ("a/+", "a/", True),
    ("a/+/c", "a/b/c", True),
    ("a/+/#", "a", False),
    ("a/+/#", "a/b", True),
    ("#/+", "a", True),
    ("a+/b#", "a+/b#", True),
    ("a+/b#", "ax/bx", False),
    ("#", "$SYS/Broker", False),
    ("+/Broker", "$SYS/Broker", False),
    ("$SYS/#", "$SYS/Broker", True),
    ("a/#", "a/$SYS", True),
)


@pytest.mark.parametrize(("pattern", "topic", "expected"), FITTING)
def test_fitting(pattern: str, topic: str, expected: bool) -> None:
    """+ stands for one level, # for any number of levels at any place, and both only as whole levels."""
    trie = Trie[str]()
    trie.add(levels_of(pattern), pattern)
    assert ([pattern] if expected else []) == list(trie.fitting(levels_of(topic)))


def test_removed() -> None:
    """What is removed fits no more, and the rest of the trie stays."""
    trie = Trie[int]()
    for number, pattern in enumerate(("a/#", "a/b", "a/b", "a/b/c")):
        trie.add(levels_of(pattern), number)
    trie.remove(("a", "b"), 1)
    assert [0, 2] == sorted(trie.fitting(("a", "b")))
    for number, pattern in ((0, "a/#"), (2, "a/b"), (3, "a/b/c")):
        trie.remove(levels_of(pattern), number)
    assert [] == list(trie.fitting(("a", "b")))
    assert not trie._root.below


def naive(pattern: tuple[str, ...], topic: tuple[str, ...]) -> bool:
    """Returns True for a topic that fits a pattern, by the definition."""

    @cache
    def fit(at: int, level: int) -> bool:
        if at == len(pattern):
            return level == len(topic)
        if pattern[at] == "#":
            return any(fit(at + 1, following) for following in range(level, len(topic) + 1))
        return level < len(topic) and pattern[at] in {"+", topic[level]} and fit(at + 1, level + 1)

    return fit(0, 0)


@pytest.mark.parametrize("seed", range(10))
def test_many(seed: int) -> None:
    """100,000 random topics find the same of many random patterns as a naive matcher does."""
    chance = random.Random(seed)  # noqa: S311
    names = ["a", "b", "c", ""]
    patterns = [tuple(chance.choices([*names, "+", "#"], k=chance.randint(1, 5))) for _ in range(60)]
    trie = Trie[int]()
    for number, pattern in enumerate(patterns):
        trie.add(pattern, number)
    known: dict[tuple[str, ...], set[int]] = {}
    for _ in range(10_000):
        topic = tuple(chance.choices(names, k=chance.randint(1, 6)))
        if topic not in known:
            known[topic] = {number for number, pattern in enumerate(patterns) if naive(pattern, topic)}
        found = list(trie.fitting(topic))
        assert known[topic] == set(found), topic
        assert len(found) == len(set(found))


CHARACTERS = (
    ("a*", "a/b/c", True),
    ("a*", "b", False),
    ("*c", "a/b/c", True),
    ("a?c", "abc", True),
    ("a?c", "a/c", True),
    ("a?c", "ac", False),
    ("a_c", "abc", False),
    ("a%*c", "a*c", True),
    ("a%*c", "abc", False),
    ("100%%", "100%", True),
    ("a/+/c", "a/b/c", False),
    ("*", "$SYS/a", False),
    ("?SYS/a", "$SYS/a", False),
    ("$*", "$SYS/a", True),
    ("%*a", "*a", True),
)


@pytest.mark.parametrize(("pattern", "topic", "expected"), CHARACTERS)
def test_characters(pattern: str, topic: str, expected: bool) -> None:
    """In the character scheme * and ? stand for characters, and levels mean nothing."""
    assert expected == fits_characters(pattern)(topic)


@pytest.mark.parametrize("text", ["", "a/#", "+", "x" * 10_241, "a\0b"])
def test_no_topic(text: str) -> None:
    """What is no topic cannot be published on."""
    with pytest.raises(MessageException) as caught:
        checked_topic(text)
    assert 2425 == caught.value.reason


ADDRESSES = (
    ("topic://a/b", ("a/b", False, "", "", 0, False)),
    ("topic:////a", ("//a", False, "", "", 0, False)),
    ("topic:retain//a", ("a", True, "", "", 0, False)),
    ("topic:retain;point=p q//a//b", ("a//b", True, "p q", "", 0, False)),
    ("topic:local//a", ("a", False, "", "local", 0, False)),
    ("topic:retain;remote=12//a", ("a", True, "", "remote", 12, False)),
    ("topic:forget//a/+", ("a/+", False, "", "", 0, True)),
    ("topic:forget;point=p;local//a", ("a", False, "p", "local", 0, True)),
)


@pytest.mark.parametrize(("name", "expected"), ADDRESSES)
def test_addresses(name: str, expected: tuple[str, bool, str, str, int, bool]) -> None:
    """A topic is put to by an address with its options."""
    found = read_address(name)
    assert expected == found[:6]
    if found.forgets:
        assert name == found.name
    else:
        assert name == address(found.topic, retain=found.retains, point=found.point, scope=found.scope, at=found.at)


@pytest.mark.parametrize(
    "name", ["topic://", "topic:a//b", "topic:retain", "topic://a/#", "topic:remote//a", "topic:remote=x//a"]
)
def test_no_addresses(name: str) -> None:
    """An address without a topic, or with words that mean nothing, is refused."""
    with pytest.raises(MessageException):
        read_address(name)

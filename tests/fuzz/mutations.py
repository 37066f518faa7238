"""Mutations: inputs made of others, by a seeded random generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

LONGEST: Final = 1 << 16
_BYTES: Final = (0x00, 0x01, 0x20, 0x30, 0x39, 0x7F, 0x80, 0xFF)
_INSERTS: Final = (
    *(b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x80\x00\x00\x00", b"\xff\xff\xff\xff", b"\x00\x00\x00\x00"),
    *(b"99999999", b"-1", b"1E9999", b"0.0000001", b"\xc3\xa9", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\x1c", b"\r\n"),
    *(b"24:00:00", b"0229", b"+01:00", b"{", b"}", b"<", b"&#0;", b"]]>", b'"', b"'", b":", b"?", b"+"),
)

Mutation = Callable[[bytearray, Random, Sequence[bytes]], None]


def mutated(inputs: Sequence[bytes], random: Random, words: Sequence[bytes]) -> bytes:
    """One of the inputs with one to eight changes."""
    data = bytearray(random.choice(inputs) if inputs else b"")
    for _ in range(random.choice((1, 1, 1, 2, 2, 4, 8))):
        random.choice(_MUTATIONS)(data, random, (*inputs[:8], *words, *_INSERTS) if random.random() < 0.3 else words)
    return bytes(data[:LONGEST])


def _span(data: bytearray, random: Random) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + random.choice((1, 1, 2, 4, 8, 32, 256)))


def _flip(data: bytearray, random: Random, _: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set(data: bytearray, random: Random, _: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] = random.choice(_BYTES)


def _delete(data: bytearray, random: Random, _: Sequence[bytes]) -> None:
    start, end = _span(data, random)
    del data[start:end]


def _repeat(data: bytearray, random: Random, _: Sequence[bytes]) -> None:
    start, end = _span(data, random)
    data[end:end] = data[start:end] * random.choice((1, 1, 2, 8, 64))


def _move(data: bytearray, random: Random, _: Sequence[bytes]) -> None:
    start, end = _span(data, random)
    piece = data[start:end]
    del data[start:end]
    at = random.randrange(len(data) + 1)
    data[at:at] = piece


def _insert(data: bytearray, random: Random, words: Sequence[bytes]) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = random.choice(words or _INSERTS)


def _replace(data: bytearray, random: Random, words: Sequence[bytes]) -> None:
    start, end = _span(data, random)
    data[start:end] = random.choice(words or _INSERTS)


_MUTATIONS: Final[tuple[Mutation, ...]] = (_flip, _set, _delete, _repeat, _move, _insert, _insert, _replace)

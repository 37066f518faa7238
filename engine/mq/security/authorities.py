"""Authorities by MQ's names, each a bit, and which of them each type of object has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from engine.errors import MessageException

QUEUE: Final = "QUEUE"
TOPIC: Final = "TOPIC"
QMGR: Final = "QMGR"
TYPES: Final = (QUEUE, TOPIC, QMGR)

_NAMES: Final = (
    *("CONNECT", "INQ", "SET", "PUT", "GET", "BROWSE", "PUB", "SUB", "RESUME", "PASSID", "PASSALL", "SETID", "SETALL"),
    *("ALTUSR", "CRT", "DLT", "DSP", "CHG", "CLR", "CTRL", "PERSIST", "SYSTEM"),
)
BITS: Final[Mapping[str, int]] = {name: 1 << number for number, name in enumerate(_NAMES)}
CONNECT: Final = BITS["CONNECT"]
INQ: Final = BITS["INQ"]
PUT: Final = BITS["PUT"]
GET: Final = BITS["GET"]
BROWSE: Final = BITS["BROWSE"]
PUB: Final = BITS["PUB"]
SUB: Final = BITS["SUB"]
RESUME: Final = BITS["RESUME"]
PASSID: Final = BITS["PASSID"]
PASSALL: Final = BITS["PASSALL"]
SETID: Final = BITS["SETID"]
SETALL: Final = BITS["SETALL"]
ALTUSR: Final = BITS["ALTUSR"]
CRT: Final = BITS["CRT"]
DLT: Final = BITS["DLT"]
DSP: Final = BITS["DSP"]
CHG: Final = BITS["CHG"]
CLR: Final = BITS["CLR"]
CTRL: Final = BITS["CTRL"]
PERSIST: Final = BITS["PERSIST"]  # of topics: publications come as persistent as they are

_ADMINISTERING: Final[Mapping[str, str]] = {
    QUEUE: "CRT DLT DSP CHG CLR",
    TOPIC: "CRT DLT DSP CHG CLR CTRL",
    QMGR: "CRT DLT DSP CHG CTRL",
}
_USING: Final[Mapping[str, str]] = {
    QUEUE: "INQ SET PUT GET BROWSE PASSID PASSALL SETID SETALL",
    TOPIC: "PUB SUB RESUME PERSIST",
    QMGR: "CONNECT INQ SET ALTUSR PASSID PASSALL SETID SETALL",
}
_OF_MQ_ITSELF: Final = {QMGR: "SYSTEM"}  # which nothing here asks for, and definitions of MQ give its administrators
NOT_VALID: Final = 3213
TYPE_OF_KIND: Final[Mapping[str, str]] = {"QLOCAL": QUEUE, "QALIAS": QUEUE, "TOPIC": TOPIC}  # what records call objects


def _bits(words: str) -> int:
    return sum(BITS[word] for word in words.split())


_SETS: Final[Mapping[str, Mapping[str, int]]] = {
    kind: {
        "NONE": 0,
        "ALLMQI": _bits(_USING[kind]),
        "ALLADM": _bits(_ADMINISTERING[kind]),
        "ALL": _bits(f"{_USING[kind]} {_ADMINISTERING[kind]} {_OF_MQ_ITSELF.get(kind, '')}"),
    }
    for kind in TYPES
}


def mask(kind: str, names: Iterable[str]) -> int:
    """Returns the bits of authorities by their names; one that a type of object does not have is refused.

    >>> mask("QUEUE", ["PUT", "GET"]) == PUT | GET
    True
    """
    found = 0
    for name in names:
        bits = _SETS[kind].get(name, BITS.get(name, -1))
        if bits < 0 or bits & ~_SETS[kind]["ALL"]:
            known = ", ".join([*_SETS[kind], *names_of(_SETS[kind]["ALL"])])
            text = f"{name:.40} is no authority of a {kind}; there are {known}"
            raise MessageException(NOT_VALID, text, name, reason=NOT_VALID)
        found |= bits
    return found


def names_of(bits: int) -> list[str]:
    """Returns the names of authorities, in the order of the alphabet.

    >>> names_of(PUT | GET)
    ['GET', 'PUT']
    """
    return sorted(name for name, bit in BITS.items() if bits & bit)

"""Limits: how much one message may take, and how long a program may be; an environment variable changes them."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from typing import Final

from engine.catalog import did_you_mean
from engine.errors import ConfigurationException

VARIABLE: Final = "PENSTOCK_ESQL_LIMITS"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one message may take: turns of loops, calls inside calls, new elements, characters of a string.

    `text` is how many characters one program may have.
    """

    turns: int = 100_000_000
    depth: int = 400
    nodes: int = 10_000_000
    string: int = 256 * 1024 * 1024
    text: int = 2_000_000


def read_limits(said: str, where: str) -> Limits:
    """Limits from a text such as `turns=1000,depth=50`; what it does not name is as by default.

    >>> read_limits("turns=1_000, depth=50", "--limits").depth
    50
    """
    names = [field.name for field in fields(Limits)]
    found = {}
    for part in filter(None, (one.strip() for one in said.split(","))):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in names:
            known = did_you_mean(name, names) or f"; they are {', '.join(names)}"
            raise ConfigurationException(f"{where}: there is no limit called {name}{known}")
        if not number.replace("_", "").isdecimal() or not int(number):
            raise ConfigurationException(f"{where}: {name} takes a number above 0, as in {name}=1000, not {number!r}")
        found[name] = int(number)
    return replace(Limits(), **found)


def limits_around() -> Limits:
    """The limits that the environment of this process asks for."""
    return read_limits(os.environ.get(VARIABLE, ""), VARIABLE)

"""Limits: how much one message may take, and how long a program may be; an environment variable changes them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields, replace
from typing import Final

from engine.budget import BYTES_OF_A_MESSAGE, SECONDS_OF_A_MESSAGE, Allowance
from engine.catalog import did_you_mean
from engine.errors import ConfigurationException

VARIABLE: Final = "PENSTOCK_ESQL_LIMITS"
NUMBER: Final = re.compile(r"[0-9][0-9_]{0,17}", re.ASCII)
SECONDS: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one message: turns of loops and calls, calls inside calls, new elements, characters of a string.

    `text` is how many characters one program may have; `cpu` and `memory` are the budget of the message.
    """

    turns: int = 100_000_000
    depth: int = 400
    nodes: int = 4_000_000
    string: int = 256 * 1024 * 1024
    text: int = 2_000_000
    cpu: float = SECONDS_OF_A_MESSAGE
    memory: int = BYTES_OF_A_MESSAGE

    @property
    def allowance(self) -> Allowance:
        """The processor time and the memory that a message may take."""
        return Allowance(self.cpu, self.memory)


def read_limits(said: str, where: str) -> Limits:
    """Limits from a text such as `turns=1000,depth=50`; what it does not name is as by default.

    >>> read_limits("turns=1_000, depth=50", "--limits").depth
    50
    """
    names = [field.name for field in fields(Limits)]
    found: dict[str, float] = {}
    for part in filter(None, (one.strip() for one in said.split(","))):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in names:
            known = did_you_mean(name, names) or f"; they are {', '.join(names)}"
            raise ConfigurationException(f"{where}: there is no limit called {name}{known}")
        if (NUMBER if name != "cpu" else SECONDS).fullmatch(number) is None or not float(number):
            raise ConfigurationException(f"{where}: {name} takes a number above 0, as in {name}=1000, not {number!r}")
        found[name] = float(number) if name == "cpu" else int(number)
    return replace(Limits(), **found)  # type: ignore[arg-type]  # each of its own type


def limits_around() -> Limits:
    """The limits that the environment of this process asks for."""
    return read_limits(os.environ.get(VARIABLE, ""), VARIABLE)

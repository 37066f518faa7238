"""Limits: how much one message may take, and how long a program may be; an environment variable changes them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields, replace
from typing import Final

from engine.budget import BYTES_OF_A_MESSAGE, SECONDS_OF_A_MESSAGE, Allowance, pay, take
from engine.catalog import did_you_mean
from engine.errors import ConfigurationException, LimitExceeded
from engine.tree.element import Element
from engine.tree.states import EDITED, SHARES

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


_TOO_MANY: Final = 2570
_SIZE: Final = 400  # bytes of an element with its name and value
_AT_ONCE: Final = 4096  # elements that are paid for together
_EXACT: Final = 1_000_000  # a limit below which what a shared copy holds is counted as well


class Nodes:
    """Counts the elements that statements make; more than the limit is an error.

    `left` are those that may be made before the budget of the message is asked again.

    >>> nodes = Nodes(2)
    >>> nodes.made(2)
    >>> nodes.made()
    Traceback (most recent call last):
        ...
    engine.errors.LimitExceeded: BIP2570: the trees of this message have grown by more than 2 elements: raise the limit
    """

    __slots__ = ("_behind", "exact", "left", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.exact = limit < _EXACT
        self.left = min(limit, _AT_ONCE)
        self._behind = limit - self.left

    def made(self, number: int = 1) -> None:
        """Count elements that were made."""
        self.left -= number
        if self.left < 0:
            self._more()

    def _more(self) -> None:
        """Pay for the elements that were made, and let some more be made."""
        wanted = _AT_ONCE - self.left
        if self._behind + self.left < 0:
            text = f"the trees of this message have grown by more than {self.limit} elements: raise the limit"
            raise LimitExceeded(_TOO_MANY, text, str(self.limit))
        pay(wanted)
        take(wanted * _SIZE)
        given = min(wanted, self._behind)
        self._behind -= given
        self.left += given

    def copied(self, source: Element) -> None:
        """Count what a copy of a field will hold, before it is made.

        What is shared as it was read takes no memory until it is changed, and counts once, unless the limit is so low
        that it is no matter of memory.
        """
        self.made()
        if not self.exact and (not source.state & EDITED or source.state & SHARES):
            return
        pending = list(source)
        for element in pending:
            self.made()
            if self.exact or (element.state & EDITED and not element.state & SHARES):
                pending.extend(element)

"""How many elements statements may make while one message runs."""

from __future__ import annotations

from engine.state import EDITED, SHARES
from engine.tree import Element
from esql.failures import LimitExceeded

_TOO_MANY = 2570


class Nodes:
    """Counts the elements that statements make; more than the limit is an error.

    >>> nodes = Nodes(2)
    >>> nodes.made(2)
    >>> nodes.made()
    Traceback (most recent call last):
        ...
    esql.failures.LimitExceeded: BIP2570: the trees of this message have grown by more than 2 elements: raise the limit
    """

    __slots__ = ("left", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left = limit

    def made(self, number: int = 1) -> None:
        """Count elements that were made."""
        self.left -= number
        if self.left < 0:
            text = f"the trees of this message have grown by more than {self.limit} elements: raise the limit"
            raise LimitExceeded(_TOO_MANY, text, str(self.limit))

    def copied(self, source: Element) -> None:
        """Count what a copy of a field will hold, before it is made; what is shared as it was read counts once."""
        self.made()
        if not source.state & EDITED or source.state & SHARES:
            return
        pending = list(source)
        for element in pending:
            self.made()
            if element.state & EDITED and not element.state & SHARES:
                pending.extend(element)

"""The limit on elements that statements make while one message runs."""

from __future__ import annotations

from typing import Final

from engine.budget import pay, take
from engine.errors import LimitExceeded
from engine.tree.element import Element
from engine.tree.states import EDITED, SHARES

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

    __slots__ = ("_behind", "left", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
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
        is_exact = self.limit < _EXACT
        if not is_exact and (not source.state & EDITED or source.state & SHARES):
            return
        pending = list(source)
        for element in pending:
            self.made()
            if is_exact or (element.state & EDITED and not element.state & SHARES):
                pending.extend(element)

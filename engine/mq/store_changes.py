"""The changes of one unit of work to the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.mq.store.body_compression import NONE, packed
from engine.mq.store.entries import Entries

if TYPE_CHECKING:
    from engine.mq.attribute_values import Value
    from engine.mq.queued_message import Stored

Placed = tuple[int, "Stored"]  # the number of a queue in the store, and a message of it


@dataclass(slots=True)
class Record:
    """Messages that come and go, backout counts, decisions, and definitions: all of it is kept, or none.

    Of decisions, `decided` are the branches that commit with this unit, `forgotten` those that have been told so, and
    `refused` those that can commit no more.
    """

    puts: Sequence[Placed] = ()
    removals: Sequence[Placed] = ()
    counts: Sequence[tuple[int, int, int]] = ()  # queue, order, backout count
    decided: tuple[bytes, ...] = ()
    forgotten: tuple[bytes, ...] = ()
    refused: tuple[bytes, ...] = ()
    objects: Sequence[tuple[str, str, Mapping[str, Value] | None, int]] = ()  # kind, name, number
    shares: bool = True  # messages that have the same body have it once; not where one may be written again
    entries: Entries | None = None  # of the messages; None: they are not made yet

    def made(self, codec: str) -> Entries:
        """Returns the entries of the messages, made once; bodies are compressed by a codec where that pays."""
        if self.entries is None:
            entries = Entries()
            if self.removals:
                entries.remove(self.removals)
            if self.puts:
                bodies = {} if codec == NONE else packed((stored.body for _, stored in self.puts), codec)
                entries.put(self.puts, bodies, shares=self.shares)
            self.entries = entries
        return self.entries

    @property
    def grows(self) -> bool:
        """True where the store is larger with it."""
        return bool(self.puts or self.decided or self.objects or self.refused)

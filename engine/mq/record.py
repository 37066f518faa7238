"""What one unit of work changes in the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.mq.attributes import Value
    from engine.mq.stored import Stored

Placed = tuple[int, "Stored"]  # the number of a queue in the store, and a message of it


@dataclass(slots=True)
class Record:
    """Messages that come and go, backout counts, decisions, and definitions: all of it is kept, or none.

    Of decisions, `decided` are the branches that commit with this unit, `forgotten` those that have been told so, and
    `refused` those that can commit no more.
    """

    puts: list[Placed] = field(default_factory=list)
    removals: list[Placed] = field(default_factory=list)
    counts: list[tuple[int, int, int]] = field(default_factory=list)  # queue, order, backout count
    decided: tuple[bytes, ...] = ()
    forgotten: tuple[bytes, ...] = ()
    refused: tuple[bytes, ...] = ()
    objects: list[tuple[str, str, Mapping[str, Value] | None, int]] = field(default_factory=list)  # kind, name, number

    @property
    def grows(self) -> bool:
        """True where the store is larger with it."""
        return bool(self.puts or self.decided or self.objects or self.refused)

    @property
    def size(self) -> int:
        """About how many bytes it adds."""
        return sum(len(stored.body) + 1024 for _, stored in self.puts) + 4096

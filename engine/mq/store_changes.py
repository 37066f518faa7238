"""The changes of one unit of work to the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.mq.store.body_compression import NONE, Packed, packed

if TYPE_CHECKING:
    from engine.mq.attributes import Value
    from engine.mq.queued_message import Stored

Placed = tuple[int, "Stored"]  # the number of a queue in the store, and a message of it


_INLINE: Final = 2018  # bytes of a body that may stand beside its descriptor; a longer one is kept once for all


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
    packed: Packed | None = None  # bodies that are compressed; None: it was not tried yet
    objects: Sequence[tuple[str, str, Mapping[str, Value] | None, int]] = ()  # kind, name, number

    def pack(self, codec: str) -> None:
        """Compress bodies by a codec where that pays, once."""
        if self.packed is None:
            self.packed = {} if codec == NONE else packed((stored.body for _, stored in self.puts), codec)

    @property
    def grows(self) -> bool:
        """True where the store is larger with it."""
        return bool(self.puts or self.decided or self.objects or self.refused)

    @property
    def size(self) -> int:
        """About how many bytes it adds."""
        if len(self.puts) == 1 and not self.packed:
            return 5120 + len(self.puts[0][1].body)
        packed, long, size = self.packed or {}, dict[int, int](), 4096
        for _, stored in self.puts:
            body = packed.get(id(stored.body), (0, stored.body))[1]
            if len(body) > _INLINE:
                long[id(stored.body)] = len(body)
                size += 1024
            else:
                size += len(body) + 1024
        return size + sum(long.values())

"""Messages as lists hold them, which queue managers are held against."""

from __future__ import annotations

from dataclasses import dataclass

from engine.descriptor import Descriptor
from engine.work import Selection


@dataclass(frozen=True)
class Slip:
    """A message as the model knows it: where it waits, its place in the order of puts, and when it expires."""

    queue: str
    number: int
    descriptor: Descriptor
    body: bytes
    expires: int
    topic: str = ""  # that it is retained on

    def is_wanted(self, queue: str, wanted: Selection | None, now: int) -> bool:
        own = self.descriptor
        if self.queue != queue or 0 < self.expires <= now:
            return False
        if wanted is None:
            return True
        ids = all(
            getattr(wanted, name) in {b"", getattr(own, name)} for name in ("msg_id", "correl_id", "group_id")
        )  # fmt: skip
        selected = {
            "": True,
            "JMSPriority > 4": own.priority > 4,
        }.get(wanted.selector, own.priority == 0 or own.correl_id == b"a" * 24)
        return ids and selected


def plain(own: Descriptor) -> Descriptor:
    """Returns what a publication and its copies have in common."""
    return Descriptor(
        priority=own.priority,
        persistence=own.persistence,
        expiry=own.expiry,
        correl_id=own.correl_id,
        group_id=own.group_id,
        backout_count=own.backout_count,
    )

"""Units of work whose queue manager has ended while they had messages."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from engine.errors import BrokerError
from engine.mq.refusals import BACKED_OUT, refusal
from engine.mq.unit import Work

if TYPE_CHECKING:
    from engine.mq.unit import Then


class EndedWork(Work):
    """A unit of work that was backed out with its queue manager: its owner, who may not know, cannot commit it."""

    __slots__ = ()

    def commit(self, decision: tuple[bytes, ...] = ()) -> None:
        why = f"queue manager {self.manager.name} has ended"
        raise refusal(BACKED_OUT, f"the unit of work was backed out as {why}: open it again, and repeat the unit")

    def commit_then(self, then: Then, decision: tuple[bytes, ...] = ()) -> None:
        try:
            self.commit()
        except BrokerError as error:
            then(error)


def end(work: Work) -> None:
    """Back out a unit of work with the queue manager; where its disk has failed, backout counts are not kept."""
    was_idle = work.is_idle
    with suppress(BrokerError):
        work.back_out()
    if not was_idle:
        work.__class__ = EndedWork

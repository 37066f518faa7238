"""Definitions of queues: what a queue is called and what it allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.work import QueueAttributes

_PLAIN: Final = QueueAttributes()


@dataclass(frozen=True, slots=True)
class QueueDefinition:
    """How a queue is defined."""

    name: str
    attributes: QueueAttributes = _PLAIN
    max_depth: int = 999_999_999
    max_message_length: int = 104_857_600

"""Queue managers whose subscriptions may filter contents in ESQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq import QueueManager


def filtering(manager: QueueManager) -> QueueManager:
    """Returns a queue manager whose subscriptions may have conditions in ESQL; that is read when one has."""
    manager.topics.objects.compile_content = _compile
    return manager


def _compile(text: str) -> Callable[[Descriptor, bytes], bool | None]:
    from flows.content_filters import compile_content  # noqa: PLC0415  # few subscriptions need all of ESQL

    return compile_content(text)

"""Selectors asked of messages as they stand on queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.mq.selectors import compile_selector

if TYPE_CHECKING:
    from engine.mq.stored import Stored


def matches(selector: str, stored: Stored) -> bool:
    """Returns True where a message is what a selector asks for; its properties are read when they are asked for."""

    def properties() -> Mapping[str, object]:
        return {}

    return compile_selector(selector)(stored.descriptor, properties) is True

"""Names of queues and queue managers as properties and messages give them."""

from __future__ import annotations

import re
from typing import Final

from engine.errors import MessageException
from engine.node import Pattern

UNKNOWN_OBJECT_NAME: Final = 2085
# MQ's own names have letters, digits and ._/% alone; flows that are tried at a desk first may have others.
_IN_WORDS: Final = "the name of a {}: up to 48 ASCII characters, with no blank and no '*' among them"
_CHARACTERS: Final = "[!-)+-~]"
QUEUE_NAME: Final = Pattern(f"{_CHARACTERS}{{1,48}}", _IN_WORDS.format("queue"))
QUEUE_NAME_OR_NONE: Final = Pattern(f"{_CHARACTERS}{{0,48}}", _IN_WORDS.format("queue"))
QUEUE_MANAGER: Final = Pattern(f"{_CHARACTERS}{{1,48}}", _IN_WORDS.format("queue manager"))
QUEUE_MANAGER_OR_NONE: Final = Pattern(f"{_CHARACTERS}{{0,48}}", _IN_WORDS.format("queue manager"))


def check_queue_name(queue: str, where: str) -> None:
    """Refuse what is no queue's name; `where` a message has it."""
    if not re.fullmatch(QUEUE_NAME.regex, queue):
        raise MessageException(
            UNKNOWN_OBJECT_NAME, f"{where} is {QUEUE_NAME.words}, not {queue!r:.60}", queue, reason=UNKNOWN_OBJECT_NAME
        )

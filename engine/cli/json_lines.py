"""Lines of JSON that put reads: a message each, none longer than a message of the queue can be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from engine.descriptor import SEGMENTATION_ALLOWED
from engine.errors import MessageException
from engine.files.input_files import MOST

_OF_JSON: Final = 8  # how much longer than its body and its properties a message is as JSON, at most
_OF_DESCRIPTOR: Final = 1 << 16  # bytes that the other fields take at most
_FLAGS: Final = re.compile(rb'"msg_flags"\s*:\s*([0-9]{1,10})')
_MSG_TOO_BIG: Final = 2030


def numbered_lines(stream: BinaryIO, manager: Any, queue: str) -> Iterator[tuple[int, bytes]]:
    """Yields the lines of a stream that are not blank with their numbers; one that is too long is not read on.

    The line of a message that may be put in segments is as long as the queue manager allows.
    """
    longest, of_manager = longest_messages(manager, queue)
    number = 0
    while line := stream.readline(_most(longest) + 1):
        number, allowed = number + 1, longest
        if len(line) > _most(allowed) and _is_segmented(line):
            allowed = of_manager
            line += stream.readline(_most(allowed) + 1 - len(line))
        if len(line) > _most(allowed):
            text = f"line {number} has more than {_most(allowed):,} bytes, and a message on {queue} {allowed:,} at most"
            raise MessageException(_MSG_TOO_BIG, f"{text}: shorten it, or ALTER MAXMSGL", reason=_MSG_TOO_BIG)
        if line.strip():
            yield number, line


def _most(longest: int) -> int:
    """Returns how many bytes the line of a message has at most."""
    return _OF_JSON * longest + _OF_DESCRIPTOR


def _is_segmented(line: bytes) -> bool:
    """Returns True where a line says that its message may be put in segments, as far as it has been read."""
    found = _FLAGS.search(line)
    return found is not None and bool(int(found[1]) & SEGMENTATION_ALLOWED)


def longest_messages(manager: Any, queue: str) -> tuple[int, int]:
    """Returns how many bytes a message on a queue, and on any queue, has at most, as far as the user may know that.

    >>> from engine.mq import QueueManager
    >>> manager = QueueManager("Q")
    >>> manager.alter("QLOCAL", "Q", {"MAXMSGL": 1000})
    >>> longest_messages(manager, "Q")
    (1000, 104857600)
    """
    try:
        of_manager = int(manager.display("QMGR")[0]["MAXMSGL"])
        aliases = manager.display("QALIAS", queue)
        queues = manager.display("QLOCAL", str(aliases[0]["TARGET"]) if aliases else queue)
    except MessageException:  # who may put need not be allowed to see definitions
        return MOST, MOST
    return min([of_manager, *(int(one["MAXMSGL"]) for one in queues)]), of_manager

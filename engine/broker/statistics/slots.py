"""Slots: the counters of one thread of a flow, in a file that it shares with who reads them.

A counter is 8 bytes that one thread writes and anyone reads. A file outlives its writer, whatever ends that, so the
worker that takes its place counts on. Largest and smallest values are kept three times: since counting began, and for
the intervals of even and of odd number, of which one is written while the other is read.
"""

from __future__ import annotations

import json
import logging
import mmap
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from engine.errors import reason

_LOG: Final = logging.getLogger("penstock.statistics")
_MAGIC: Final = b"penstoc3"  # the third order of counters
WORD: Final = 8  # bytes of a counter
_HEAD: Final = 3 * WORD
NONE_YET: Final = -1  # the smallest of no values
ANONYMOUS: Final = "Anonymous"  # the accounting origin of messages for which a flow sets none
_OF_ORIGIN: Final = "@"  # stands before the origin in the name of a file

# Where each counter of a flow stands, from its first.
# Each message changes the first two alone: all that are not backed out are commits, and where no
# other thread was `SPARE` as a message came, all had one.
INTERVAL, MESSAGES, SIZE, SPARE, ELAPSED, CPU, CPU_WAITING, ELAPSED_WAITING = range(8)
BACKOUTS, MQ_ERRORS, FAILED, ERRORS, TIMEOUTS, INTERVALS = range(8, 14)
EXTREMES: Final = INTERVALS + 2  # behind the numbers of the intervals that the even and the odd values are of
OF_FLOW: Final = ("elapsed", "cpu", "size")
OF_NODE: Final = ("elapsed", "cpu")
NODES: Final = EXTREMES + 3 * 2 * len(OF_FLOW)

# Where each counter of a node stands, from the node's first.
COUNT, NODE_ELAPSED, NODE_CPU, NODE_EXTREMES = range(4)
NODE_TERMINALS: Final = NODE_EXTREMES + 3 * 2 * len(OF_NODE)


@dataclass(frozen=True, slots=True)
class NodeShape:
    """A node that is counted: its label, its type, and its terminals."""

    label: str
    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def words(self) -> int:
        """Returns the number of the node's counters."""
        return NODE_TERMINALS + len(self.outputs)


class Slot:
    """The counters of one thread of a flow; `words` are they themselves."""

    __slots__ = ("_map", "began", "file", "nodes", "places", "words")

    def __init__(self, file: Path, mapped: mmap.mmap | bytearray) -> None:
        if mapped[:WORD] != _MAGIC:
            raise ValueError(f"{file} has no counters of this version")
        start = int.from_bytes(mapped[WORD : 2 * WORD], "little")
        self.began: float = int.from_bytes(mapped[2 * WORD : _HEAD], "little") / 1e9
        shapes: list[list[Any]] = json.loads(mapped[_HEAD:start].rstrip(b" "))
        self.file = file
        self.nodes = tuple(NodeShape(label, kind, tuple(ins), tuple(outs)) for label, kind, ins, outs in shapes)
        self._map = mapped
        self.words = memoryview(mapped)[start:].cast("q")
        at, self.places = NODES, {}
        for node in self.nodes:
            self.places[node.label] = at
            at += node.words

    @property
    def number(self) -> int:
        """Returns the number of the thread."""
        return int(self.file.name.partition("-")[0])

    @property
    def origin(self) -> str:
        """Returns the accounting origin of the messages that are counted."""
        return unquote(self.file.name.removesuffix(".slot").partition(_OF_ORIGIN)[2]) or ANONYMOUS

    def close(self) -> None:
        """Let go of the file."""
        self.words.release()
        if isinstance(self._map, mmap.mmap):
            self._map.close()


def opened(file: Path, nodes: Sequence[NodeShape] = ()) -> Slot:
    """Returns the slot of a file, which is made where it is not there, is of other nodes, or is not whole.

    Where the disk has no room for it the thread counts in memory, so that it works all the same.
    """
    head = _head(nodes)
    empty = _empty(head, nodes)
    try:
        if not file.is_file() or _head_of(file) != head or file.stat().st_size != len(empty):
            _make(file, empty)
        return _mapped(file)
    except OSError as error:
        _LOG.warning("%s cannot be written: %s; what is counted is lost", file, reason(error, "make its folder"))
        return in_memory(nodes)


def in_memory(nodes: Sequence[NodeShape] = ()) -> Slot:
    """Returns a slot that nobody else can read."""
    slot = Slot(Path(), bytearray(_empty(_head(nodes), nodes)))
    _clear_extremes(slot)
    return slot


def file_of(folder: Path, number: int, entrance: str, content: str, origin: str = ANONYMOUS) -> Path:
    """Returns the file of a thread's slot, of messages of one accounting origin.

    >>> file_of(Path(), 1, "In", "0123456789abcdef", "A/B").name
    '0001-In.0123456789ab@A%2FB.slot'
    """
    of_origin = "" if origin == ANONYMOUS else f"{_OF_ORIGIN}{quote(origin, safe='')}"
    return folder / f"{number:04d}-{quote(entrance, safe='')[:80]}.{content[:12]}{of_origin}.slot"


def _head(nodes: Sequence[NodeShape]) -> bytes:
    shapes = [[node.label, node.type, node.inputs, node.outputs] for node in nodes]
    head = json.dumps(shapes, separators=(",", ":")).encode()
    return head.ljust(len(head) + -len(head) % WORD)


def _empty(head: bytes, nodes: Sequence[NodeShape]) -> bytes:
    """Returns the bytes of a slot in which all counters are zero."""
    start = _MAGIC + (_HEAD + len(head)).to_bytes(WORD, "little") + time.time_ns().to_bytes(WORD, "little") + head
    return start + bytes((NODES + sum(node.words for node in nodes)) * WORD)


def _mapped(file: Path) -> Slot:
    with file.open("r+b") as handle:
        return Slot(file, mmap.mmap(handle.fileno(), 0))


def _head_of(file: Path) -> bytes:
    with file.open("rb") as handle:
        first = handle.read(_HEAD)
        return handle.read(int.from_bytes(first[WORD : 2 * WORD], "little") - _HEAD) if first[:8] == _MAGIC else b""


def _make(file: Path, empty: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_bytes(empty)
        slot = _mapped(beside)
        _clear_extremes(slot)
        slot.close()
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def _clear_extremes(slot: Slot) -> None:
    words = slot.words
    for first, values in ((EXTREMES, OF_FLOW), *((at + NODE_EXTREMES, OF_NODE) for at in slot.places.values())):
        for place in range(first, first + 6 * len(values), 2):
            words[place], words[place + 1] = 0, NONE_YET
    words[INTERVALS], words[INTERVALS + 1] = NONE_YET, NONE_YET


def folder_of(statistics: Path, group: str, flow: str, level: str) -> Path:
    """Returns the folder of a flow's slots, which is another for each level that it is counted at."""
    return statistics / quote(group, safe=" ") / f"{quote(flow, safe=' ')}@{level}"


def slots_in(folder: Path) -> Iterator[Slot]:
    """Yields the slots of a flow, by name."""
    for file in sorted(folder.glob("*.slot")) if folder.is_dir() else ():
        try:
            yield _mapped(file)
        except (OSError, ValueError):  # one that is being made or taken away
            continue

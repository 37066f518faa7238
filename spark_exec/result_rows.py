"""Outputs: what flows leave behind, as rows: messages put, failures, and what each node cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from engine.descriptor import Descriptor
from engine.message.assembly import exception_list
from spark_exec.message_sets import DESCRIPTOR, MESSAGE

if TYPE_CHECKING:
    from engine.errors import BrokerError
    from engine.tree.element import Element

PUT: Final = "put"
FED: Final = "fed"  # put to a queue that a deployed flow reads: it is an input of the next round
PUBLICATION: Final = "publication"  # its queue is the address of its topic
FAILURE: Final = "failure"
CAUGHT: Final = "caught"  # an error that a node caught, or that its failure terminal took
WAITING: Final = "waiting"  # a message that its flow did not take, or never got rid of, or that no flow reads
STATISTICS: Final = "statistics"
PREPARED: Final = "prepared"  # what a task has prepared: its queue is the data source, its lineage the gid

# What came of one message stands in rows of its sequence; their lineage ends in a number of its own.
RESULT: Final = pa.schema(
    [
        pa.field("kind", pa.string()),
        pa.field("flow", pa.string()),
        pa.field("group", pa.string()),
        *MESSAGE,
        pa.field("error", pa.string()),
        pa.field("exceptions", pa.string()),
        pa.field("number", pa.int32()),
        pa.field("part", pa.string()),
        pa.field("node", pa.string()),
        pa.field("cpu_ns", pa.int64()),
        pa.field("messages", pa.int64()),
        pa.field("memory", pa.int64()),
    ]
)
_MOST_ROWS: Final = 2048
_MOST_BYTES: Final = 2 << 20
_A_ROW: Final = 256  # bytes that a row takes beside its body
_OWN: Final = ("kind", "queue", "sequence", "lineage", "body", "error", "exceptions", "number", "node")


class Failed(NamedTuple):
    """The columns of a row for an error: its text with the causes, its exceptions as JSON, its number and its node."""

    error: str | None = None
    exceptions: str | None = None
    number: int | None = None
    node: str | None = None


NO_FAILURE: Final = Failed()


def failed_of(error: BrokerError) -> Failed:
    """Returns what a row says of an error."""
    place = error.place
    node = ".".join(part for part in (place.flow, place.node) if part)
    return Failed(str(error), exceptions_of(error), error.number, node)


class Rows:
    """Rows of one flow on their way into batches, column by column; batches are bounded by rows and by bytes."""

    __slots__ = ("_bytes", "_constants", "_descriptors", "_kept")

    def __init__(self, flow: str, group: str) -> None:
        self._constants = {"flow": flow, "group": group}
        self._kept: list[tuple[Any, ...]] = []
        self._descriptors: list[tuple[Any, ...]] = []  # a plain tuple is no work for the garbage collector
        self._bytes = 0

    def add(
        self,
        kind: str,
        queue: str,
        of: tuple[int, str],
        message: tuple[Descriptor, bytes],
        failure: Failed = NO_FAILURE,
    ) -> None:
        """Take a row in: `of` are its sequence and lineage, `failure` what it says of an error."""
        descriptor, body = message
        self._kept.append((kind, queue, *of, body, *failure))
        self._descriptors.append(tuple(descriptor))
        self._bytes += len(body) + len(failure[0] or "") + len(failure[1] or "") + _A_ROW

    def add_prepared(self, gids: Mapping[str, str]) -> None:
        """Take in what the task has prepared, by data source."""
        for source, gid in gids.items():
            self.add(PREPARED, source, (0, gid), (Descriptor(), b""))

    @property
    def is_full(self) -> bool:
        """Returns whether what was taken in is enough for a batch."""
        return len(self._kept) >= _MOST_ROWS or self._bytes >= _MOST_BYTES

    def batch(self) -> pa.RecordBatch:
        """Returns what was taken in since the last batch."""
        columns: dict[str, Iterable[Any]] = dict(zip(_OWN, zip(*self._kept, strict=True), strict=True))
        columns |= zip((field.name for field in DESCRIPTOR), zip(*self._descriptors, strict=True), strict=True)
        made = _batch(columns, self._constants, len(self._kept))
        self._kept, self._descriptors, self._bytes = [], [], 0
        return made

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yields what is left over."""
        if self._kept:
            yield self.batch()

    def statistics(self, rows: list[dict[str, Any]]) -> pa.RecordBatch:
        """Returns what parts of a task have cost, as rows of their own."""
        said = [self._constants | {"kind": STATISTICS, "queue": ""} | row for row in rows]
        return pa.RecordBatch.from_pylist(said, schema=RESULT)


def _batch(columns: Mapping[str, Any], constants: Mapping[str, str], count: int) -> pa.RecordBatch:
    arrays = [
        _array(columns[field.name], field.type, count)
        if field.name in columns
        else pa.repeat(pa.scalar(constants.get(field.name), field.type), count)
        for field in RESULT
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=RESULT)


def _array(values: tuple[Any, ...], kind: pa.DataType, count: int) -> pa.Array:
    """A column; most say the same in every row, which is told in a fraction of the time that writing takes."""
    if values[0] == values[-1] and values.count(values[0]) == count:
        values = values[:1]
    try:
        made = pa.array(values, kind)
    except UnicodeEncodeError:  # text that came out of bytes may hold halves of characters
        made = pa.array([value and value.encode(errors="backslashreplace").decode() for value in values], kind)
    return made if len(made) == count else pa.repeat(made[0], count)


def exceptions_of(error: BrokerError) -> str:
    """The ExceptionList of an error as JSON: each exception inside the one that it caused."""
    return json.dumps(_plain(exception_list(error)), ensure_ascii=False)


def _plain(element: Element) -> Any:
    found: dict[str, Any] = {}
    for child in element:
        value = _plain(child) if child.first_child is not None else child.value
        if child.name == "Insert":
            found.setdefault("Insert", []).append(value)
        else:
            found[child.name] = value
    return found

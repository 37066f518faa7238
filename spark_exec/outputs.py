"""Outputs: what flows leave behind, as rows: messages put, failures, and what each node cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from engine.exceptions import exception_list
from spark_exec.message_sets import MESSAGE

if TYPE_CHECKING:
    from engine.errors import BrokerError
    from engine.tree import Element

PUT: Final = "put"
FED: Final = "fed"  # put to a queue that a deployed flow reads: it is an input of the next round
FAILURE: Final = "failure"
WAITING: Final = "waiting"  # a message that its flow did not take, or never got rid of
STATISTICS: Final = "statistics"

# What came of one message stands in rows of its sequence; their lineage ends in a number of its own.
RESULT: Final = pa.schema(
    [
        pa.field("kind", pa.string()),
        pa.field("flow", pa.string()),
        pa.field("group", pa.string()),
        *MESSAGE,
        pa.field("error", pa.string()),
        pa.field("exceptions", pa.string()),
        pa.field("node", pa.string()),
        pa.field("cpu_ns", pa.int64()),
        pa.field("messages", pa.int64()),
    ]
)
_MOST_ROWS: Final = 4096
_MOST_BYTES: Final = 4 << 20


class Batches:
    """Rows on their way into batches, which are bounded by rows and by bytes."""

    __slots__ = ("_bytes", "_rows")

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0

    def add(self, row: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        """Take a row in; the batch that it completes, if it does."""
        self._rows.append(row)
        self._bytes += len(row.get("body") or b"") + len(row.get("exceptions") or "") + 256
        if len(self._rows) >= _MOST_ROWS or self._bytes >= _MOST_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """What is left over."""
        if self._rows:
            yield pa.RecordBatch.from_pylist(self._rows, schema=RESULT)
            self._rows, self._bytes = [], 0


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

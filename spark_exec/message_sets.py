"""Message sets: messages as rows, the same in Spark, in Arrow and in Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
from pyarrow import compute

from engine.descriptor import Descriptor
from engine.parser import Follow, Form, parser_catalog
from engine.tree.element import Element

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_NO_PROPERTIES: Final[Mapping[str, str]] = MappingProxyType({})
_KINDS: Final = {int: pa.int32(), str: pa.string(), bytes: pa.binary()}

# The columns of a message: those of its descriptor are called as its fields are.
DESCRIPTOR: Final = tuple(pa.field(name, _KINDS[type(default)]) for name, default in Descriptor._field_defaults.items())
MESSAGE: Final = pa.schema(
    [
        pa.field("queue", pa.string()),
        pa.field("sequence", pa.int64()),
        pa.field("lineage", pa.string()),
        *DESCRIPTOR,
        pa.field("properties", pa.map_(pa.string(), pa.string())),
        pa.field("body", pa.binary()),
        pa.field("problem", pa.string()),
    ]
)


class Row(NamedTuple):
    """A message of a set: its place in the set, its queue, and what a queue manager would give.

    `lineage` says which message of the set it is, or came of: `12`, `12.0` for the first that came of that, and so on;
    `12#0` and `12#1` where several have the sequence 12.
    `problem` says why it is none, where something could not be read as a message.
    """

    sequence: int
    lineage: str
    queue: str
    descriptor: Descriptor
    properties: Mapping[str, str]
    body: bytes
    problem: str = ""


def spark_schema(schema: pa.Schema = MESSAGE) -> StructType:
    """The schema as Spark has it."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def rows_of(batch: pa.RecordBatch) -> Iterator[Row]:
    """The messages of a batch; a column that is missing, or NULL, is what an MQMD has where nothing is said."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    count = batch.num_rows
    sequences = columns["sequence"].to_pylist()
    said = [_values(columns.get(name), default, count) for name, default in Descriptor._field_defaults.items()]
    if all(isinstance(values, repeat) for values in said):
        descriptors: Iterable[Descriptor] = repeat(Descriptor._make(next(iter(values)) for values in said))
    else:
        descriptors = (Descriptor._make(values) for values in zip(*said, strict=False))
    lineages = _values(columns.get("lineage"), "", count)
    if isinstance(lineages, repeat) or "" in lineages:
        lineages = [
            said or str("" if sequence is None else sequence)
            for said, sequence in zip(lineages, sequences, strict=False)
        ]
    said_properties = columns.get("properties")
    properties = [] if said_properties is None or said_properties.null_count == count else said_properties.to_pylist()
    columns_of_rows: tuple[Iterable[Any], ...] = (
        sequences,
        lineages,
        _values(columns.get("queue"), "", count),
        descriptors,
        [dict(pairs or ()) for pairs in properties] or repeat(_NO_PROPERTIES),
        _values(columns["body"], b"", count),
        _values(columns.get("problem"), "", count),
    )
    return map(Row._make, zip(*columns_of_rows, strict=False))


def _values(column: pa.Array | None, default: object, count: int) -> list[Any] | repeat[Any]:
    """The values of a column, the default for NULL; most columns say the same in every row."""
    if column is None or column.null_count == count:
        return repeat(default, count)
    if column.null_count:
        column = column.fill_null(default)
    first = column[0]
    if compute.all(compute.equal(column, first)).as_py():
        return repeat(first.as_py(), count)
    return column.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]  # Python's own values


def as_received(row: Row) -> tuple[Descriptor, bytes]:
    """The descriptor and bytes of a message; what properties it has stand in an MQRFH2 in front of its body.

    >>> row = Row(1, "1", "IN", Descriptor(format="MQSTR"), {"colour": "red"}, b"x")
    >>> descriptor, body = as_received(row)
    >>> descriptor.format, b"<usr><colour>red</colour></usr>" in body, body[-1:]
    ('MQHRF2', True, b'x')
    """
    descriptor = row.descriptor
    if not row.properties:
        return descriptor, row.body
    header = Element("MQRFH2")
    folder = header.add("usr")
    for name, value in row.properties.items():
        folder.add(name, value)
    follow = Follow(descriptor.format, descriptor.encoding, descriptor.coded_char_set_id)
    form = Form(descriptor.encoding, descriptor.coded_char_set_id, next=follow)
    return descriptor._replace(format="MQHRF2"), parser_catalog.find("MQRFH2").write(header, form) + row.body

"""Message sets: messages as rows, the same in Spark, in Arrow and in Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa

from engine.descriptor import Descriptor
from engine.parser import Follow, Form, parser_catalog
from engine.tree import Element

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

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
    ]
)


class Row(NamedTuple):
    """A message of a set: its place in the set, its queue, and what a queue manager would give.

    `lineage` says which message of the set it is, or came of: `12`, `12.0` for the first that came of that, and so on.
    """

    sequence: int
    lineage: str
    queue: str
    descriptor: Descriptor
    properties: Mapping[str, str]
    body: bytes


def spark_schema(schema: pa.Schema = MESSAGE) -> StructType:
    """The schema as Spark has it."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def rows_of(batch: pa.RecordBatch) -> Iterator[Row]:
    """The messages of a batch; a column that is missing, or NULL, is what an MQMD has where nothing is said."""
    names = set(batch.schema.names)
    defaults = Descriptor._field_defaults
    columns = [batch.column(name).to_pylist() if name in names else None for name in defaults]
    bodies, count = batch.column("body").to_pylist(), batch.num_rows
    queues = batch.column("queue").to_pylist() if "queue" in names else [""] * count
    sequences = batch.column("sequence").to_pylist()
    lineages = batch.column("lineage").to_pylist() if "lineage" in names else [None] * count
    properties = batch.column("properties").to_pylist() if "properties" in names else [None] * count
    plain = tuple(defaults.values())
    for at in range(count):
        values = [
            default if column is None or column[at] is None else column[at]
            for column, default in zip(columns, plain, strict=True)
        ]
        sequence: int = sequences[at]
        yield Row(
            sequence,
            lineages[at] or str(sequence),
            queues[at] or "",
            Descriptor(*values),
            dict(properties[at] or ()),
            bodies[at] or b"",
        )


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

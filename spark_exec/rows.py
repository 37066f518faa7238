"""Rows: messages as they come in, the same in Spark, in Arrow and in Parquet; and what flows leave behind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
from pyarrow import compute

from engine.descriptor import LENGTHS, Descriptor
from engine.errors import ConfigurationException
from engine.message.assembly import exception_list
from engine.parser import Follow, Form, parser_catalog
from engine.tree.element import Element
from spark_exec.partition_work import LONGEST_NAME

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

    from engine.errors import BrokerError


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
    if not row.properties:
        return row.descriptor, row.body
    return row.descriptor._replace(format="MQHRF2"), header_of(row.properties, row.descriptor) + row.body


def header_of(properties: Mapping[str, object], descriptor: Descriptor) -> bytes:
    """Returns an MQRFH2 with properties, to stand in front of the body of a message; each is of its value's type."""
    header = Element("MQRFH2")
    folder = header.add("usr")
    for name, value in properties.items():
        folder.add(name, value)
    follow = Follow(descriptor.format, descriptor.encoding, descriptor.coded_char_set_id)
    form = Form(descriptor.encoding, descriptor.coded_char_set_id, next=follow)
    return parser_catalog.find("MQRFH2").write(header, form)


_NEEDED: Final = ("body", "sequence")
_BINARY: Final = "binary"
_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint")
_PERHAPS: Final = (*_NUMBERS, "float", "double", "string")  # what may be a whole number; what is none is a problem
_TAKEN: Final = {"int": _PERHAPS, "bigint": _PERHAPS, "string": ("string", *_NUMBERS), _BINARY: (_BINARY,)}


def completed(frame: DataFrame, otherwise: str = "") -> DataFrame:
    """A DataFrame with every column of a message set, by type; what names no queue is on the one named `otherwise`.

    A value that does not fit its column is a problem of its message. Columns that a message set has not are left out.
    """
    from pyspark.sql import functions as f

    if missing := [name for name in _NEEDED if name not in frame.columns]:
        text = f"this is no message set: it has no column {' and no column '.join(missing)}"
        raise ConfigurationException(f"{text}, but {', '.join(frame.columns)}")
    given = {field.name: field.dataType for field in frame.schema.fields}
    problems = [f.col("problem")] if "problem" in given else []
    columns = []
    for field in spark_schema().fields:
        made, wrong = f.lit(None).cast(field.dataType), None
        if field.name in given:
            made, wrong = _fitted(frame[field.name], field.name, given[field.name], field.dataType)
        if field.name == "queue":
            wrong = f.when(f.length(made) > LONGEST_NAME, f.concat(f.lit("there is no queue called "), made))
            made = f.substring(made, 1, LONGEST_NAME)
        if field.name == "queue" and otherwise:
            made = f.coalesce(f.nullif(made, f.lit("")), f.lit(otherwise))
        if field.name == "problem":
            made = f.coalesce(*problems).cast("string")
        elif wrong is not None:
            problems.append(wrong)
        columns.append(made.alias(field.name))
    return frame.select(*columns)


def _fitted(column: Column, name: str, kind: DataType, wanted: DataType) -> tuple[Column, Column | None]:
    """A column as a message set has it, and what is said where a value does not fit."""
    from pyspark.sql import functions as f

    target, found = wanted.simpleString(), kind.simpleString()
    _check(name, found, target)
    if name == "sequence":
        made = column.try_cast(wanted)
        return made, f.when(made.isNull(), f.lit("the message has no sequence, which is a whole number of 64 bits"))
    if target in {"int", "bigint"} and found not in _NUMBERS[: _NUMBERS.index(target) + 1]:
        made = column.try_cast(wanted)
        same = made.cast(kind) == column if found != "string" else made.isNotNull()
        text = f.concat(f.lit(f"{name} is no whole number of 32 bits: "), column.cast("string"))
        return made, f.when(column.isNotNull() & ~f.coalesce(same, f.lit(False)), text)
    if name in LENGTHS and target == _BINARY:
        long = f.lit(f"{name} has at most {LENGTHS[name]} bytes")
        return f.rpad(column, LENGTHS[name], f.lit(b"\0")), f.when(f.length(column) > LENGTHS[name], long)
    return column.cast(wanted), None


def _check(name: str, found: str, target: str) -> None:
    """Refuse a column whose values can be none of a message set's."""
    if name == "body":
        taken: tuple[str, ...] = (_BINARY, "string")
    elif name == "properties":
        if found.startswith("map<string,"):
            return
        taken = ("map<string,string>",)
    else:
        taken = _TAKEN[target]
    if found not in {*taken, "void"} and not (found.startswith("decimal") and "double" in taken):
        of = " or ".join((", ".join(taken[:-1]), taken[-1]) if len(taken) > 1 else taken)
        raise ConfigurationException(f"this is no message set: its column {name} is {found}, and not {of}")


def told_apart(frame: DataFrame) -> DataFrame:
    """A message set in which no two messages have the same lineage, which ids and the order of all follow from.

    Messages of one sequence that say no lineage are numbered by what they say in all their columns, so that each has
    the same number however they are dealt out; those that say the same may change places without anyone noticing.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    key = f.coalesce("lineage", f.col("sequence").cast("string"))
    if frame.groupBy(key.alias("key")).count().where("count > 1 AND key IS NOT NULL").isEmpty():
        return frame
    every = [f.col(name) for name in MESSAGE.names if name != "properties"]
    said = f.array_sort(f.map_entries("properties"))
    same = Window.partitionBy(key)
    number = f.row_number().over(same.orderBy(*every, said)) - 1
    numbered = f.concat(key, f.lit("#"), number.cast("string"))
    shared = f.count(f.lit(1)).over(same) > 1
    return frame.withColumn("lineage", f.when(shared, numbered).otherwise(f.col("lineage")))


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
    exceptions = json.dumps(_plain(exception_list(error)), ensure_ascii=False)  # each inside the one that it caused
    return Failed(str(error), exceptions, error.number, error.place.of_node)


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


def _plain(element: Element) -> Any:
    found: dict[str, Any] = {}
    for child in element:
        value = _plain(child) if child.first_child is not None else child.value
        if child.name == "Insert":
            found.setdefault("Insert", []).append(value)
        else:
            found[child.name] = value
    return found

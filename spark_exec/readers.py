"""Readers: message sets from Parquet, from directories of files, from JSON lines, text and records."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import pyarrow as pa

from engine.descriptor import Descriptor
from engine.errors import ConfigurationException
from spark_exec.message_sets import MESSAGE, spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Kind = Literal["parquet", "files", "json", "text", "fixed", "rdw"]
KINDS: Final[tuple[Kind, ...]] = ("parquet", "files", "json", "text", "fixed", "rdw")
_RECORDS: Final = 32  # bits that number the messages of one file
_MOST_BYTES: Final = 4 << 20
_PLAIN: Final = Descriptor()
_BYTES: Final = {name for name, default in Descriptor._field_defaults.items() if isinstance(default, bytes)}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where messages come from, and what they are given where they do not say it themselves."""

    path: str
    kind: Kind
    queue: str = ""
    descriptor: Descriptor = _PLAIN
    record_length: int = 0


def kind_of(path: str) -> Kind:
    """What a path holds, by its name and by what is in it."""
    place = Path(path)
    if place.suffix == ".parquet":
        return "parquet"
    if place.is_dir():
        return "parquet" if any(place.rglob("*.parquet")) else "files"
    return {".jsonl": "json", ".json": "json", ".txt": "text", ".csv": "text"}.get(place.suffix, "files")  # type: ignore[return-value]


def messages(spark: SparkSession, origin: Origin) -> DataFrame:
    """The messages of an origin as a DataFrame; sequences follow from names and places, not from how Spark splits."""
    if origin.kind == "parquet":
        return _completed(spark.read.parquet(origin.path), origin)
    if origin.kind == "fixed" and origin.record_length < 1:
        raise ConfigurationException("fixed records need --record-length")
    files = _files(Path(origin.path))
    listed = spark.createDataFrame(list(enumerate(map(str, files))), "number long, file string")
    spread = listed.repartitionByRange(min(len(files), 4 * spark.sparkContext.defaultParallelism), "number")
    return spread.mapInArrow(_opener(origin), spark_schema())


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise ConfigurationException(f"{path} is not there: name a file, or a directory of messages")
    if not path.is_dir():
        return [path]
    found = sorted(inner for inner in path.rglob("*") if inner.is_file() and not inner.name.startswith((".", "_")))
    if not found:
        raise ConfigurationException(f"{path} holds no files: name a directory with messages in it")
    return found


def _completed(frame: DataFrame, origin: Origin) -> DataFrame:
    """A message set whose rows have a queue and a sequence."""
    from pyspark.sql import functions

    if "body" not in frame.columns or "sequence" not in frame.columns:
        raise ConfigurationException(f"{origin.path} is no message set: it needs the columns body and sequence")
    if origin.queue:
        frame = frame.withColumn("queue", functions.lit(origin.queue))
    for field in spark_schema().fields:
        if field.name not in frame.columns:
            frame = frame.withColumn(field.name, functions.lit(None).cast(field.dataType))
    return frame.select(*MESSAGE.names)


def _opener(origin: Origin) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What reads files on an executor."""

    def opened(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: list[dict[str, Any]] = []
        size = 0
        for batch in batches:
            for number, file in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                for record, row in enumerate(_READ[origin.kind](Path(file), origin)):
                    rows.append(origin.descriptor._asdict() | {"queue": origin.queue} | row)
                    rows[-1]["sequence"] = (number << _RECORDS) + record
                    size += len(row["body"])
                    if size >= _MOST_BYTES or len(rows) >= 1000:
                        yield pa.RecordBatch.from_pylist(rows, schema=MESSAGE)
                        rows, size = [], 0
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=MESSAGE)

    return opened


def _whole(file: Path, _: Origin) -> Iterator[dict[str, Any]]:
    yield {"body": file.read_bytes()}


def _lines(file: Path, _: Origin) -> Iterator[dict[str, Any]]:
    with file.open("rb") as opened:
        for line in opened:
            yield {"body": line.rstrip(b"\r\n")}


def _objects(file: Path, _: Origin) -> Iterator[dict[str, Any]]:
    """JSON lines: `body` as text, or `body64`; fields of the descriptor by their names, bytes in hexadecimal."""
    with file.open("rb") as opened:
        for number, line in enumerate(opened, 1):
            if line.strip():
                yield _object(line, f"{file}:{number}")


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
        body = base64.b64decode(found.pop("body64"), validate=True) if "body64" in found else found.pop("body").encode()
        fields = {name: bytes.fromhex(value) if name in _BYTES else value for name, value in found.items()}
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ConfigurationException(f"{where} is no message: {error}") from error
    unknown = set(fields) - set(MESSAGE.names)
    if unknown:
        raise ConfigurationException(f"{where}: there is no column called {min(unknown)}")
    return fields | {"body": body}


def _fixed(file: Path, origin: Origin) -> Iterator[dict[str, Any]]:
    with file.open("rb") as opened:
        while record := opened.read(origin.record_length):
            yield {"body": record}


def _described(file: Path, _: Origin) -> Iterator[dict[str, Any]]:
    """Records with a record descriptor word: their length, the four bytes of the word included, big endian."""
    with file.open("rb") as opened:
        while word := opened.read(4):
            length = int.from_bytes(word[:2]) - 4
            body = opened.read(max(length, 0))
            if len(word) < 4 or length < 0 or len(body) < length:
                at = opened.tell() - len(word) - len(body)
                raise ConfigurationException(
                    f"{file}, offset {at}: the record descriptor word X'{word.hex()}' is not one"
                )
            yield {"body": body}


_READ: Final[dict[str, Callable[[Path, Origin], Iterator[dict[str, Any]]]]] = {
    "files": _whole,
    "json": _objects,
    "text": _lines,
    "fixed": _fixed,
    "rdw": _described,
}

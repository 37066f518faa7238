"""Readers: message sets from Parquet, from directories of files, from JSON lines, text and records.

A large file is cut into pieces, so that several tasks read one, without looking at more than is needed to cut.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import isfinite
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal, NamedTuple

import pyarrow as pa

from engine.catalog import did_you_mean
from engine.descriptor import LENGTHS, UTF_8, Descriptor
from engine.errors import BrokerError, ConfigurationException
from engine.files.input_files import MOST
from engine.parser import conversion_catalog
from spark_exec.rows import MESSAGE, completed, header_of, spark_schema, told_apart

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


Kind = Literal["parquet", "files", "json", "text", "fixed", "rdw"]
KINDS: Final[tuple[Kind, ...]] = ("parquet", "files", "json", "text", "fixed", "rdw")

OFFSETS: Final = 40  # bits of a sequence that say where in its file a message begins; those above number the file
MOST_FILES: Final = 1 << (63 - OFFSETS)
_LEAST: Final = 1 << 20  # a piece that is smaller is not worth a task
_MOST: Final = 64 << 20
_WORD: Final = 4


class Piece(NamedTuple):
    """A part of a file that one task reads: what begins from `start` on and before `end`."""

    number: int
    file: str
    start: int
    end: int


def files_in(path: str) -> list[Path]:
    """A file, or the files of a directory, in the order of their names; executors find them wherever they work."""
    if "://" in path:
        raise ConfigurationException(f"{path} is a URI, by which only message sets in Parquet are read: name a path")
    place = Path(path).absolute()
    if not place.exists():
        raise ConfigurationException(f"{path} is not there: name a file, or a directory of messages")
    if not place.is_dir():
        return [place]
    found = sorted(inner for inner in place.rglob("*") if inner.is_file() and not inner.name.startswith((".", "_")))
    if not found:
        raise ConfigurationException(f"{path} holds no files: name a directory with messages in it")
    if len(found) > MOST_FILES:
        raise ConfigurationException(f"{path} holds more than {MOST_FILES:,} files: carry it in parts")
    return found


def pieces(files: Iterable[Path], kind: Kind, record_length: int, tasks: int) -> list[Piece]:
    """The files, cut so that about so many tasks have about the same to read."""
    sizes = [(file, file.stat().st_size) for file in files]
    size = min(max(sum(length for _, length in sizes) // max(tasks, 1), _LEAST), _MOST)
    made: list[Piece] = []
    for number, (file, length) in enumerate(sizes):
        cuts = [0, *_cuts(file, length, kind, (size, record_length)), length]
        made += [Piece(number, str(file), start, end) for start, end in pairwise(cuts)]
    return made


def _cuts(file: Path, length: int, kind: Kind, sizes: tuple[int, int]) -> Iterator[int]:
    """Yields where a file may be cut; lines are put right by who reads them."""
    size, record_length = sizes
    if kind == "files" or length <= size:
        return
    if kind == "rdw":
        yield from _words(file, length, size)
        return
    if kind == "fixed":
        size = max(size // record_length, 1) * record_length
    yield from range(size, length, size)


def _words(file: Path, length: int, size: int) -> Iterator[int]:
    """Yields where records begin, at least `size` bytes apart: only their descriptor words are read."""
    at, wanted = 0, size
    with file.open("rb") as opened:
        while at < length:
            if at >= wanted:
                yield at
                wanted = at + size
            opened.seek(at)
            word = opened.read(_WORD)
            if len(word) < _WORD or int.from_bytes(word[:2]) < _WORD:
                return  # who reads it says what is wrong
            at += int.from_bytes(word[:2])


_MOST_ROWS: Final = 2048
_MOST_BYTES: Final = 2 << 20
_FILE_WEIGHS: Final = 4096  # to open a file costs as much as to read so many bytes
_TASK_WEIGHS: Final = 1 << 20
_LONGEST_LINE: Final = 256 << 20
_SHOWN: Final = 4096  # bytes of a line that is longer
_PLAIN: Final = Descriptor()
_DEFAULTS: Final = Descriptor._field_defaults
_TEXT: Final = Descriptor(format="MQSTR", coded_char_set_id=UTF_8)
_OF_BODY: Final = ("format", "coded_char_set_id", "encoding")
_GIVEN: Final = ("body", "body64", "queue", "properties", *_DEFAULTS)
_ENDINGS: Final[dict[str, Kind]] = {
    ".jsonl": "json",
    ".json": "json",
    ".ndjson": "json",
    ".txt": "text",
    ".csv": "text",
}

Found = tuple[int, bytes, dict[str, Any]]  # where a message begins, its body, and what else it says of itself


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of messages, and what they are given where they do not say it themselves."""

    path: str
    kind: Kind
    queue: str = ""
    descriptor: Descriptor = _PLAIN
    record_length: int = 0


def kind_of(path: str) -> Kind:
    """Returns what a path holds, by its name and by what is in it."""
    place = Path(path)
    if place.suffix == ".parquet" or "://" in path:
        return "parquet"
    if not place.is_dir():
        return _ENDINGS.get(place.suffix, "files")
    inside = {inner.suffix for inner in place.iterdir() if inner.is_file()}
    if ".parquet" in inside or any(place.rglob("*.parquet")):
        return "parquet"
    return "json" if inside in ({".jsonl"}, {".ndjson"}) else "files"


def messages(spark: SparkSession, origin: Origin) -> DataFrame:
    """The messages of an origin as a DataFrame; sequences follow from names and places, not from how Spark splits."""
    if origin.kind == "parquet":
        return told_apart(completed(_parquet(spark, origin), origin.queue))
    if origin.kind == "fixed" and origin.record_length < 1:
        raise ConfigurationException("fixed records need --record-length")
    if (
        origin.kind == "text"
        and _encoded("\n", origin.descriptor.coded_char_set_id, origin.descriptor.encoding) != b"\n"
    ):
        text = f"lines in CCSID {origin.descriptor.coded_char_set_id} do not end in X'0A'"
        raise ConfigurationException(f"{text}: read them as --kind fixed or rdw, or convert the file")
    cut = pieces(files_in(origin.path), origin.kind, origin.record_length, 4 * spark.sparkContext.defaultParallelism)
    weights = [piece.end - piece.start + _FILE_WEIGHS for piece in cut]
    tasks = min(4 * spark.sparkContext.defaultParallelism, 1 + sum(weights) // _TASK_WEIGHS)
    reached = accumulate(weights, initial=0)
    listed = [(before * tasks // sum(weights), *piece) for before, piece in zip(reached, cut, strict=False)]
    columns = zip(*listed, strict=True)
    table = pa.table(dict(zip(("task", *Piece._fields), map(list, columns), strict=True)))
    spread = spark.createDataFrame(table)
    spread = spread.repartitionById(tasks, spread["task"].cast("int")).sortWithinPartitions("number", "start")
    return spread.mapInArrow(_opener(origin), spark_schema())


def _parquet(spark: SparkSession, origin: Origin) -> DataFrame:
    from pyspark.errors import AnalysisException

    try:
        return spark.read.parquet(origin.path)
    except AnalysisException as error:
        what = str(error).splitlines()[0]
        raise ConfigurationException(f"{origin.path} cannot be read as a message set in Parquet: {what}") from error


def _opener(origin: Origin) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Returns what reads files on an executor."""

    def opened(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kept, size = list[Found](), 0
        for batch in batches:
            listed = (batch.column(name).to_pylist() for name in Piece._fields)
            for piece in map(Piece._make, zip(*listed, strict=True)):
                for at, body, said in messages_in(piece, origin):
                    kept.append(((piece.number << OFFSETS) + at, body, said))
                    size += len(body)
                    if size >= _MOST_BYTES or len(kept) >= _MOST_ROWS:
                        yield _batch(kept, origin)
                        kept, size = [], 0
        if kept:
            yield _batch(kept, origin)

    return opened


def _batch(kept: list[Found], origin: Origin) -> pa.RecordBatch:
    """Messages as a batch; what none of them says itself is told once."""
    count, spoken = len(kept), {name for _, _, said in kept for name in said}
    given: dict[str, Any] = {**origin.descriptor._asdict(), "queue": origin.queue or None}
    columns = {"sequence": [at for at, _, _ in kept], "body": [body for _, body, _ in kept]}
    arrays = []
    for field in MESSAGE:
        otherwise = given.get(field.name)
        if field.name in columns:
            arrays.append(pa.array(columns[field.name], field.type))
        elif field.name in spoken:
            arrays.append(pa.array([said.get(field.name, otherwise) for _, _, said in kept], field.type))
        else:
            arrays.append(pa.repeat(pa.scalar(otherwise, field.type), count))
    return pa.RecordBatch.from_arrays(arrays, schema=MESSAGE)


def messages_in(piece: Piece, origin: Origin) -> Iterator[Found]:
    """Yields what begins in a piece of a file."""
    with Path(piece.file).open("rb") as opened:
        if piece.start:  # else it may be a pipe
            opened.seek(piece.start)
        yield from _READ[origin.kind](opened, piece, origin)


def _whole(opened: IO[bytes], piece: Piece, _: Origin) -> Iterator[Found]:
    body = opened.read(MOST + 1)
    if len(body) <= MOST:
        yield 0, body, {}
    else:
        yield 0, body[:_SHOWN], _problem(piece, 0, f"the file has more than {MOST:,} bytes; this is how it begins")


def _lines(opened: IO[bytes], piece: Piece, _: Origin) -> Iterator[Found]:
    for at, line, said in _lines_of(opened, piece):
        yield at, line.rstrip(b"\r\n"), said


def _lines_of(opened: IO[bytes], piece: Piece) -> Iterator[Found]:
    """The lines that begin in a piece, each with its offset; one that is too long is told, and not kept whole."""
    at = piece.start
    if at:
        opened.seek(at - 1)
        at += len(opened.readline()) - 1
    while at < piece.end and (line := opened.readline(_LONGEST_LINE)):
        length, said = len(line), dict[str, Any]()
        if length == _LONGEST_LINE and not line.endswith(b"\n"):
            said = _problem(piece, at, f"the line is longer than {_LONGEST_LINE:,} bytes; this is how it begins")
            line, ends = line[:_SHOWN], False
            while not ends and (more := opened.readline(_MOST_BYTES)):
                length, ends = length + len(more), more.endswith(b"\n")
        yield at, line, said
        at += length


def _objects(opened: IO[bytes], piece: Piece, origin: Origin) -> Iterator[Found]:
    """JSON lines: `body` as text, or `body64`; fields of the descriptor by their names, bytes in hexadecimal."""
    for at, line, said in _lines_of(opened, piece):
        if said:
            yield at, line, said
        elif line.strip():
            try:
                body, given = _object(line, origin.descriptor)
            except (ValueError, TypeError, RecursionError, BrokerError) as error:
                body, given = line, _problem(piece, at, f"the line is no message: {error}")
            yield at, body, given


def _problem(piece: Piece, at: int, text: str) -> dict[str, Any]:
    """Returns what is said of something that is no message: poison is a row, and does not end the job."""
    return {"problem": f"{piece.file}, offset {at}: {text}"}


def _object(line: bytes, otherwise: Descriptor) -> tuple[bytes, dict[str, Any]]:
    """The body of a message and what else it says; text is written in the CCSID that the message has."""
    found = json.loads(line)
    if not isinstance(found, dict):
        raise TypeError("a line holds an object with the message's body")
    found.pop("pcf", None)  # what the body says, in words
    for name in found:
        if name in {"sequence", "lineage"}:
            raise ValueError(f"the {name} of a message follows from the place of its line: leave it out")
        if name not in _GIVEN:
            raise ValueError(f"there is no column called {name}{did_you_mean(name, _GIVEN)}")
    if ("body" in found) == ("body64" in found):
        raise ValueError("it needs body, a text, or body64")
    name = "body64" if "body64" in found else "body"
    text = _text(name, found.pop(name))
    said = {name: _value(name, value) for name, value in found.items() if value is not None}
    ahead = otherwise._replace(**{name: said[name] for name in _OF_BODY if name in said})
    if name == "body64":
        body = base64.b64decode(text, validate=True)
    else:
        body = _encoded(text, ahead.coded_char_set_id, ahead.encoding)
    properties = dict(said.get("properties", ()))
    if all(isinstance(value, str) for value in properties.values()):
        return body, said
    del said["properties"]  # a column of them has texts alone
    return header_of(properties, ahead) + body, {**said, "format": "MQHRF2"}


def _encoded(text: str, ccsid: int, encoding: int) -> bytes:
    """The bytes of a text in a CCSID."""
    data = text.encode()
    if ccsid in {UTF_8, 0}:
        return data
    return conversion_catalog.find("get")(_TEXT, data, encoding, ccsid)[1]


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text")
    return value


def _value(name: str, value: Any) -> Any:
    default = _DEFAULTS.get(name, "")
    if name == "properties":
        if not isinstance(value, dict):
            raise TypeError("properties must be an object")
        return [(inner, _property(inner, said)) for inner, said in value.items()]
    if isinstance(default, int):
        if isinstance(value, bool) or not isinstance(value, int) or not -(2**31) <= value < 2**31:
            raise TypeError(f"{name} must be a whole number of 32 bits")
        return value
    text = _text(name, value)
    if not isinstance(default, bytes):
        return text
    try:
        made = bytes.fromhex(text)
    except ValueError as error:
        raise ValueError(f"{name} must be hexadecimal digits, two for each byte") from error
    if len(made) > LENGTHS[name]:
        raise ValueError(f"{name} has at most {LENGTHS[name]} bytes")
    return made.ljust(LENGTHS[name], b"\0")


def _property(name: str, said: Any) -> Any:
    """Returns the value of a property: a text, a number, a truth value, or bytes, which are an object with hex."""
    if isinstance(said, dict) and [*said] == ["hex"]:
        return bytes.fromhex(_text(f"hex of property {name}", said["hex"]))
    is_number = isfinite(said) if isinstance(said, float) else isinstance(said, int) and said.bit_length() < 64
    if not (isinstance(said, str) or is_number):
        raise TypeError(f"property {name} must be a text, a number, true or false, or an object with hex")
    return said


def _fixed(opened: IO[bytes], piece: Piece, origin: Origin) -> Iterator[Found]:
    for at in range(piece.start, piece.end, origin.record_length):
        record = opened.read(origin.record_length)
        said = {}
        if len(record) < origin.record_length:
            text = f"the last record has {len(record)} of {origin.record_length} bytes"
            said = _problem(piece, at, f"{text}: correct --record-length, or the file")
        yield at, record, said


def _described(opened: IO[bytes], piece: Piece, _: Origin) -> Iterator[Found]:
    """Records with a record descriptor word: their length, the four bytes of the word included, big endian."""
    at = piece.start
    while at < piece.end:
        word = opened.read(4)
        length = int.from_bytes(word[:2])
        body = opened.read(max(length - 4, 0))
        if len(word) < 4 or length < 4 or len(body) < length - 4:
            text = f"the record descriptor word X'{word.hex().upper()}' does not fit what is there"
            yield at, word + body, _problem(piece, at, f"{text}; what follows in this file was not read")
            return
        yield at, body, {}
        at += length


_READ: Final[dict[str, Callable[[IO[bytes], Piece, Origin], Iterator[Found]]]] = {
    "files": _whole,
    "json": _objects,
    "text": _lines,
    "fixed": _fixed,
    "rdw": _described,
}

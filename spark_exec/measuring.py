"""Measuring: a message set of one message, many times over, through flows on so many slots of this machine."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from engine.errors import ConfigurationException
from spark_exec.deployment import deployment_of
from spark_exec.plan import plan
from spark_exec.readers import Origin, messages
from spark_exec.run import run
from spark_exec.session import java, session, what_java_says

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.descriptor import Descriptor
    from spark_exec.plan import Plan

_AT_ONCE: Final = 256  # messages in a row group of the set that is written


@dataclass(frozen=True, slots=True)
class Carrier:
    """A session, and a directory for what goes in and comes out."""

    spark: SparkSession
    directory: Path

    def ready(self, files: Sequence[Path], partitions: int, message: tuple[Descriptor, bytes], count: int) -> Carried:
        """A message set of so many messages for these flows, dealt out to the queues that they read."""
        planned = plan(deployment_of(*map(str, files))).scaled(partitions)
        place = Path(tempfile.mkdtemp(dir=self.directory))
        _write(place / "messages.parquet", list(planned.reads), message, count)
        return Carried(self.spark, planned, place, count)


@dataclass(frozen=True, slots=True)
class Carried:
    """A message set and its flows, to be carried through them time and again."""

    spark: SparkSession
    planned: Plan
    place: Path
    count: int

    def run(self) -> tuple[float, Path]:
        """Carry all of them: the seconds that it took, and the directory with what came out."""
        output = Path(tempfile.mkdtemp(dir=self.place))
        frame = messages(self.spark, Origin(str(self.place / "messages.parquet"), "parquet"))
        started = time.perf_counter()
        summary = run(self.spark, self.planned, frame, str(output))
        seconds = time.perf_counter() - started
        if summary.failures or sum(summary.queues.values()) != self.count:
            came = sum(summary.queues.values())
            raise ConfigurationException(f"of {self.count} messages {came} came out, and {summary.failures} failed")
        return seconds, output


def first_body(output: Path) -> bytes:
    """The body of one message that was put."""
    file = next(iter(sorted(output.glob("**/kind=put/**/*.parquet"))))
    body: bytes = pq.ParquetFile(file).read_row_group(0, columns=["body"]).column("body")[0].as_py()
    return body


@contextmanager
def carrier(slots: int) -> Iterator[Carrier]:
    """Spark on this machine, with so many slots for tasks; each runs Python in a process of its own."""
    spark = session(f"local[{slots}]", name="penstock costs")
    try:
        with tempfile.TemporaryDirectory(prefix="penstock-costs-") as directory:
            yield Carrier(spark, Path(directory))
    finally:
        spark.stop()


def versions() -> dict[str, str]:
    """The versions of Spark and Java that sessions have."""
    import pyspark

    return {"Spark": pyspark.__version__, "Java": what_java_says(java()).partition("\n")[0].strip()}


def _write(file: Path, queues: Sequence[str], message: tuple[Descriptor, bytes], count: int) -> None:
    descriptor, body = message
    fields = [pa.field("queue", pa.string()), pa.field("sequence", pa.int64()), pa.field("format", pa.string())]
    schema = pa.schema([*fields, pa.field("body", pa.binary())])
    with pq.ParquetWriter(file, schema) as writer:
        for start in range(0, count, _AT_ONCE):
            numbers = range(start, min(count, start + _AT_ONCE))
            columns = [
                [queues[number % len(queues)] for number in numbers],
                list(numbers),
                [descriptor.format] * len(numbers),
                [body] * len(numbers),
            ]
            writer.write_table(pa.table(dict(zip(schema.names, columns, strict=True)), schema=schema))

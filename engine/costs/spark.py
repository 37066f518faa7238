"""Spark: the report's parallel scenarios on it, beside those of a broker, and the benchmarks of its own.

The benchmarks say what Spark's boundary costs a message, what a second core brings, and how much memory a worker needs:
each session in a process of its own. They take minutes and need Java, so they are only run when they are named.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import flows
from engine.costs import apart
from engine.costs.broker import SECTIONS
from engine.costs.measuring import (
    BROKEN,
    Measured,
    Row,
    family_cpu_seconds,
    family_rss_mib,
    figure,
    made_ready,
    processors,
)
from engine.costs.nodes import How, taken
from engine.costs.results import Key, Run
from engine.costs.results import Row as ResultRow
from engine.costs.sample_messages import Sample, complex_path, simple
from engine.costs.scenarios import IN, VERY_COMPLEX, Scenario, flow_file, round_trip, scenarios
from engine.descriptor import Descriptor
from engine.errors import BrokerError, ConfigurationException
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.files import load_flow
from flows.programs import binder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_exec.plan import Plan

MESSAGES_A_SECOND: Final = 2000  # of a run's seconds: a message set is carried whole, however long that takes
FEWEST: Final = 200  # fewer would cost what a job takes by itself, and nothing else
RUNS: Final = 3  # at most: a run on Spark takes longer than one in this process
_FOLDER: Final = "penstock-costs-"


@dataclass(frozen=True, slots=True)
class Carried:
    """A message set and its flows in a session, to be carried through them time and again."""

    spark: SparkSession
    planned: Plan
    place: Path

    def run(self) -> tuple[float, Path, Any]:
        """Carries all of it; returns the seconds that it took, the directory with what came out, and the summary."""
        from spark_exec.readers import Origin, messages
        from spark_exec.run import run

        output = Path(tempfile.mkdtemp(dir=self.place.parent))
        frame = messages(self.spark, Origin(str(self.place), "parquet"))
        started = time.perf_counter()
        summary = run(self.spark, self.planned, frame, str(output))
        return time.perf_counter() - started, output, summary


@dataclass(frozen=True, slots=True)
class Carrier:
    """A session, and a directory for what goes in and comes out."""

    spark: SparkSession
    directory: Path

    def ready(self, files: Sequence[Path], partitions: int, message: Sample, count: int) -> Carried:
        """Returns a message set of so many messages for these flows, dealt out to the queues that they read."""
        from spark_exec.deployment import deployment_of
        from spark_exec.plan import plan

        planned = plan(deployment_of(*map(str, files))).scaled(partitions)
        place = Path(tempfile.mkdtemp(dir=self.directory)) / "messages"
        return Carried(self.spark, planned, message_set(place, list(planned.reads), message, count, at_once=256))


@contextmanager
def carrier(slots: int, *options: tuple[str, str]) -> Iterator[Carrier]:
    """Opens Spark on this machine, with so many slots for tasks; each runs Python in a process of its own."""
    from spark_exec.session import session

    spark = session(f"local[{slots}]", options, name="penstock costs")
    try:
        with tempfile.TemporaryDirectory(prefix=_FOLDER) as directory:
            yield Carrier(spark, Path(directory))
    finally:
        spark.stop()


def message_set(
    place: Path, queues: Sequence[str], message: Sample, count: int, *, files: int = 1, at_once: int = 1 << 20
) -> Path:
    """Writes a message set of some files, so that several tasks can read it, with so many messages in a row group."""
    import pyarrow as pa
    from pyarrow import parquet

    place.mkdir()
    for number in range(files):
        sequences = range(number, count, files)
        columns = {
            "queue": pa.array([queues[sequence % len(queues)] for sequence in sequences], pa.string()),
            "sequence": pa.array(sequences, pa.int64()),
            "format": pa.repeat(pa.scalar(message.descriptor.format), len(sequences)),
            "body": pa.repeat(pa.scalar(message.body), len(sequences)),
        }
        parquet.write_table(pa.table(columns), place / f"{number}.parquet", row_group_size=at_once)
    return place


def first_body(output: Path) -> bytes:
    """Returns the body of one message that was put."""
    from pyarrow import parquet

    file = next(iter(sorted(output.glob("**/kind=put/**/*.parquet"))))
    body: bytes = parquet.ParquetFile(file).read_row_group(0, columns=["body"]).column("body")[0].as_py()
    return body


def versions() -> dict[str, str]:
    """Returns the versions of Spark and Java that sessions have; without one of them, the reason is an error."""
    try:
        import pyspark
    except ImportError as error:
        raise ConfigurationException("needs PySpark: pip install 'penstock[spark]'") from error
    from spark_exec.session import java, what_java_says

    return {"Spark": pyspark.__version__, "Java": what_java_says(java()).partition("\n")[0].strip()}


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a scenario on Spark: its flows, the partitions of each, and the slots of the session."""

    flows: int
    partitions: int
    slots: int


def parallel(wanted: Sequence[Key]) -> tuple[Key, ...]:
    """The rows among these that are measured on Spark as well: the parallel ones, without the persistent."""
    return tuple(key for key in wanted if key.section in SECTIONS and not key.persistent)


def layout(scenario: Scenario) -> Layout:
    """Instances are partitions of one flow; copies are flows of their own; groups are so, with a slot for each."""
    kind, _, number = scenario.name.rpartition("_")
    slots = scenario.groups if kind == "execution_groups" else processors()
    return Layout(scenario.copies * scenario.groups, int(number) if kind == "additional_instances" else 1, slots)


def rows(wanted: Sequence[Key], how: How, reason: str = "") -> Iterator[ResultRow]:
    """Measure these rows on Spark; where there is a reason why it is not there, they have that."""
    if reason:
        yield from (ResultRow(key, "spark", None, reason) for key in wanted)
        return
    for slots, keys in groupby(wanted, key=lambda key: layout(scenarios()[key.scenario]).slots):
        with carrier(slots) as own, tempfile.TemporaryDirectory(prefix="penstock-flows-") as folder:
            for number, key in enumerate(keys):
                yield _measured(key, how, own, Path(folder), warm=number > 0)


def _measured(key: Key, how: How, own: Carrier, folder: Path, *, warm: bool) -> ResultRow:
    """One row; only the first of a session has to start Java's and Python's workers."""
    scenario = scenarios()[key.scenario]
    lies, sample = layout(scenario), scenario.message(key.message_bytes)
    count = max(FEWEST, round(how.seconds * MESSAGES_A_SECOND))
    carried = own.ready(_flows(lies.flows, folder), lies.partitions, sample, count)
    if not warm:
        carried.run()
    runs: list[Run] = []
    for _ in range(min(how.runs, RUNS)):
        before = family_cpu_seconds()
        seconds, output, summary = carried.run()
        runs.append(Run(seconds, family_cpu_seconds() - before, count))
        came = sum(summary.queues.values())
        if summary.failures or came != count:
            raise ConfigurationException(f"of {count} messages {came} came out, and {summary.failures} failed")
        if scenario.by_hand is not None and first_body(output) != scenario.by_hand(sample.body):
            raise BrokerError(
                BROKEN, f"{key.scenario}, {key.message_bytes} bytes: on Spark its flow writes another message"
            )
        shutil.rmtree(output)
    return ResultRow(key, "spark", taken(runs, (), drivers=0, nodes=(), rss_mib=family_rss_mib()))


def _flows(count: int, folder: Path) -> list[Path]:
    """The very complex flow so many times over, each reading a queue of its own: Spark deals messages out by queue."""
    source = flow_file(scenarios()[VERY_COMPLEX])
    files = []
    for number in range(1, count + 1):
        place = folder / f"copy{number}"
        if not place.exists():
            shutil.copytree(source.parent, place)
            text = source.read_text(encoding="utf-8")
            (place / source.name).write_text(text.replace(f"queueName: {IN}", f"queueName: {IN}.{number}"), "utf-8")
        files.append(place / source.name)
    return files


MESSAGES: Final = 100_000
ROUNDS: Final = 3
_FILES: Final = 8
_FLOW: Final = """\
flow: Simple
nodes:
  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}
  Change:
    type: Compute
    computeExpression: SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.Order.Status = 'DONE';
  Out: {type: MQOutput, queueName: OUT}
wires: [In.out -> Change, Change.out -> Out]
"""
_COMPLEX: Final = Path(flows.__path__[0]) / "samples" / "complex_compute" / "complex_compute.yaml"


class Job(NamedTuple):
    """A flow file, a message set for it, and how often it is run after it was warmed up."""

    flow: str
    messages: Path
    rounds: int = ROUNDS


def benchmarks(messages: int = MESSAGES) -> Iterator[Measured]:
    """All of them: the cores over so many messages, the memory from a tenth of that to ten times as many."""
    with tempfile.TemporaryDirectory(prefix=_FOLDER) as place:
        flow, folder = Path(place) / "simple.yaml", Path(place)
        flow.write_text(_FLOW, encoding="utf-8")
        yield boundary(str(flow), folder, min(messages, 20_000))
        yield cores(folder, messages)
        yield memory(str(flow), folder, messages)


def boundary(flow: str, folder: Path, count: int) -> Measured:
    """The CPU of a Python worker for a flow's messages, beside a plain process that carries the same by itself."""
    body = simple(1024)
    job = Job(flow, _message_set(folder / "boundary", "IN", body, count), 2 * ROUNDS - 1)
    workers, plain = apart(_boundary, job, count)
    row = Row(f"Spark's boundary, a message of {len(body) // 1000} KiB", 15.0, "µs")
    each = [own - by_hand for own, by_hand in zip(workers, plain, strict=True)]
    return figure(row, each, statistics.median(plain), microseconds=statistics.median(workers))


def cores(folder: Path, count: int) -> Measured:
    """The complex flow on two cores beside one, to which all of Spark and its workers are held."""
    job = Job(str(_COMPLEX), _message_set(folder / "cores", "COMPLEX.IN", complex_path(4096), count))
    one, two = (apart(_seconds, job, number) for number in (1, 2))
    own, beside = (statistics.median(took) / count * 1e6 for took in (two, one))
    row = Row(f"two cores beside one, {count:,} complex messages", 1.7, at_least=True)
    return figure(row, [slow / fast for slow in one for fast in two], beside, microseconds=own)


def memory(flow: str, folder: Path, count: int) -> Measured:
    """The most memory that a worker has had after ten times as many messages, beside a tenth of them."""
    few, many = max(count // 10, 1), count * 10
    peaks = [
        apart(_peak, Job(flow, _message_set(folder / f"memory{size}", "IN", simple(1024), size)), 1)
        for size in (few, many)
    ]
    told = f"{peaks[0] >> 20} to {peaks[1] >> 20} MiB"
    row = Row(f"a worker's memory, {few:,} to {many:,} messages ({told})", 1.2)
    return figure(row, [peaks[1] / peaks[0]])


def _message_set(place: Path, queue: str, body: bytes, count: int) -> Path:
    return message_set(place, [queue], Sample(Descriptor(), body), count, files=_FILES)


def _boundary(job: Job, count: int) -> tuple[list[float], list[float]]:
    """Microseconds a message in a worker, and in this process, in turn."""
    from spark_exec.cpu_accounts import STARTING

    workers, plain = [], []
    carry = _plain(job.flow)
    for summary in _runs(job, 1):
        spent = sum(cost.cpu_ns for (_, part, _), cost in summary.costs.items() if part != STARTING)
        workers.append(spent / summary.messages / 1000)
        began = time.process_time_ns()
        carry(count)
        plain.append((time.process_time_ns() - began) / count / 1000)
    return workers, plain


def _plain(file: str) -> Callable[[int], None]:
    """Returns what carries so many messages through a flow in this process."""
    flow = load_flow(file)
    deployed, work = deploy(flow, bind=binder(flow)), MemoryQueues("IN", "OUT").work()
    trip = round_trip(deployed, work, Sample(Descriptor(), simple(1024)), "IN", "OUT")

    def carry(count: int) -> None:
        with made_ready():  # as workers are
            for _ in range(count):
                trip()

    carry(1000)
    return carry


def _seconds(job: Job, count: int) -> list[float]:
    """Returns how long runs take on so many cores."""
    available = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(available) >= count:
        os.sched_setaffinity(0, available[:count])
    return [summary.seconds for summary in _runs(job, count)]


def _peak(job: Job, cores: int) -> int:
    """The most memory that a worker has had, in bytes."""
    return max(int(summary.memory) for summary in _runs(job._replace(rounds=1), cores, warm=False))


def _runs(job: Job, cores: int, *, warm: bool = True) -> Iterator[Any]:
    """Runs a job in one session time and again; the first run of all is not told, as it warms everything up."""
    from spark_exec.deployment import deployment_of
    from spark_exec.plan import plan

    with carrier(cores, ("spark.driver.memory", "2g")) as own:
        carried = Carried(own.spark, plan(deployment_of(job.flow)).scaled(cores), job.messages)
        for number in range(job.rounds + warm):
            _, output, summary = carried.run()
            shutil.rmtree(output)
            if number or not warm:
                yield summary

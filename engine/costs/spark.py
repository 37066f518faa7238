"""Spark's benchmarks: what its boundary costs a message, what a second core brings, and how much memory a worker needs.

Each session runs in a process of its own. They take minutes and need Java, so they are only run when they are named.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import flows
from engine.costs.measuring import Measured, made_ready
from engine.costs.messages import complex_path, simple
from engine.descriptor import Descriptor
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.files import load_flow
from flows.programs import binder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUP: Final = "spark"
MESSAGES: Final = 100_000
MOST_FOR_A_MESSAGE: Final = 15.0  # microseconds
LEAST_OF_TWO_CORES: Final = 1.7
MOST_GROWTH: Final = 1.2
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
    """A flow file, a message set for it, where runs may write, and how often it is run after it was warmed up."""

    flow: str
    messages: str
    folder: str
    rounds: int = ROUNDS


def benchmarks(messages: int = MESSAGES) -> Iterator[Measured]:
    """All of them: the cores over so many messages, the memory from a tenth of that to ten times as many."""
    with TemporaryDirectory(prefix="penstock-costs-") as folder:
        flow = Path(folder) / "simple.yaml"
        flow.write_text(_FLOW, encoding="utf-8")
        yield boundary(str(flow), folder, min(messages, 20_000))
        yield cores(folder, messages)
        yield memory(str(flow), folder, messages)


def boundary(flow: str, folder: str, count: int) -> Measured:
    """The CPU of a Python worker for a flow's messages, beside a plain process that carries the same by itself."""
    body = simple(1024)
    place = _message_set(Path(folder) / "boundary", "IN", body, count)
    workers, plain = _apart(_boundary, Job(flow, place, folder, 2 * ROUNDS - 1), count)
    each = [own - by_hand for own, by_hand in zip(workers, plain, strict=True)]
    low, value, high = _spread(each)
    name = f"Spark's boundary, a message of {len(body) // 1000} KiB"
    own, by_hand = statistics.median(workers), statistics.median(plain)
    return Measured(GROUP, name, own, value, MOST_FOR_A_MESSAGE, "µs", low, high, by_hand)


def cores(folder: str, count: int) -> Measured:
    """The complex flow on two cores beside one, to which all of Spark and its workers are held."""
    body = complex_path(4096)
    place = _message_set(Path(folder) / "cores", "COMPLEX.IN", body, count)
    job = Job(str(_COMPLEX), place, folder)
    one, two = (_apart(_seconds, job, cores) for cores in (1, 2))
    low, value, high = _spread([slow / fast for slow in one for fast in two])
    own, beside = (statistics.median(took) / count * 1e6 for took in (two, one))
    name = f"two cores beside one, {count:,} complex messages"
    return Measured(GROUP, name, own, value, LEAST_OF_TWO_CORES, "x", low, high, beside, at_least=True)


def memory(flow: str, folder: str, count: int) -> Measured:
    """The most memory that a worker has had after ten times as many messages, beside a tenth of them."""
    few, many = max(count // 10, 1), count * 10
    body = simple(1024)
    peaks = [
        _apart(_peak, Job(flow, _message_set(Path(folder) / f"memory{size}", "IN", body, size), folder), 1)
        for size in (few, many)
    ]
    name = f"a worker's memory, {few:,} to {many:,} messages ({peaks[0] >> 20} to {peaks[1] >> 20} MiB)"
    value = peaks[1] / peaks[0]
    return Measured(GROUP, name, None, value, MOST_GROWTH, "x", value, value)


def _spread(values: list[float]) -> tuple[float, float, float]:
    """The median between the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def _apart(work: Callable[[Job, int], Any], job: Job, number: int) -> Any:
    """Do work in a process of its own, as one process has only one session."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, (job, number))


def _message_set(place: Path, queue: str, body: bytes, count: int) -> str:
    """A message set of several files, so that several tasks can read it."""
    import pyarrow as pa
    from pyarrow import parquet

    place.mkdir()
    for number in range(_FILES):
        sequences = range(number, count, _FILES)
        columns = {
            "queue": pa.repeat(pa.scalar(queue), len(sequences)),
            "sequence": pa.array(sequences, pa.int64()),
            "body": pa.repeat(pa.scalar(body), len(sequences)),
        }
        parquet.write_table(pa.table(columns), place / f"{number}.parquet")
    return str(place)


def _boundary(job: Job, count: int) -> tuple[list[float], list[float]]:
    """Microseconds a message in a worker, and in this process, in turn."""
    from spark_exec.cpu_accounts import STARTING

    workers, plain = [], []
    carry = _plain(job.flow)
    with _Runs(job, 1) as runs:
        for summary in islice(runs, job.rounds):
            spent = sum(cost.cpu_ns for (_, part, _), cost in summary.costs.items() if part != STARTING)
            workers.append(spent / summary.messages / 1000)
            began = time.process_time_ns()
            carry(count)
            plain.append((time.process_time_ns() - began) / count / 1000)
    return workers, plain


def _plain(file: str) -> Callable[[int], None]:
    """Returns what carries so many messages through a flow in this process."""
    flow, body, descriptor = load_flow(file), simple(1024), Descriptor()
    deployed, work = deploy(flow, bind=binder(flow)), MemoryQueues("IN", "OUT").work()

    def carry(count: int) -> None:
        with made_ready():  # as workers are
            for _ in range(count):
                work.put("IN", descriptor, body, syncpoint=False)
                deployed.process(deployed.entrances[0], work)
                work.get("OUT", syncpoint=False)

    carry(1000)
    return carry


def _seconds(job: Job, count: int) -> list[float]:
    """Returns how long runs take on so many cores."""
    available = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(available) >= count:
        os.sched_setaffinity(0, available[:count])
    with _Runs(job, count) as runs:
        return [summary.seconds for summary in islice(runs, job.rounds)]


def _peak(job: Job, cores: int) -> int:
    """The most memory that a worker has had, in bytes."""
    with _Runs(job._replace(rounds=1), cores, warm=False) as runs:
        return int(next(runs).memory)


class _Runs:
    """Runs of a job in one session, one after the other; the first of all is not told, as it warms everything up."""

    def __init__(self, job: Job, cores: int, *, warm: bool = True) -> None:
        self._job = job
        self._cores = cores
        self._warm = warm
        self._spark: SparkSession | None = None

    def __enter__(self) -> Iterator[Any]:
        from spark_exec.session import session

        self._spark = session(f"local[{self._cores}]", [("spark.driver.memory", "2g")])
        return self._runs(self._spark)

    def __exit__(self, *_: object) -> None:
        if self._spark is not None:
            self._spark.stop()

    def _runs(self, spark: SparkSession) -> Iterator[Any]:
        from spark_exec.deployment import deployment_of
        from spark_exec.plan import plan
        from spark_exec.readers import Origin, messages
        from spark_exec.run import run

        planned = plan(deployment_of(self._job.flow)).scaled(self._cores)
        frame = messages(spark, Origin(self._job.messages, "parquet"))
        for number in range(self._job.rounds + self._warm):
            with TemporaryDirectory(dir=self._job.folder) as output:
                summary = run(spark, planned, frame, output)
            if number or not self._warm:
                yield summary

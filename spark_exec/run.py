"""Runs: a message set through a deployment, round by round, until no flow is fed any more."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from engine.errors import ConfigurationException, reason
from engine.files.output_files import write_file
from spark_exec.cancellation import MANIFEST, Ending
from spark_exec.plan import FlowPlan, Plan, dealt
from spark_exec.prepared_transactions import Decisions, Round
from spark_exec.rows import FED, MESSAGE, PREPARED, RESULT, completed, spark_schema
from spark_exec.session import profiles
from spark_exec.summary import Summary, counted
from spark_exec.worker import Assignment

if TYPE_CHECKING:
    from pyspark.resource import ResourceProfile
    from pyspark.sql import DataFrame, SparkSession

MOST_ROUNDS: Final = 100
RoundOf: TypeAlias = Callable[[int], Round]


class Limits(NamedTuple):
    """After how many rounds a run ends in any case, and the date and time of its puts, where that is not now.

    `ending` is told how far the run is, for when it is broken off.
    """

    rounds: int = MOST_ROUNDS
    moment: tuple[str, str] | None = None
    ending: Ending | None = None


PLAIN: Final = Limits()


def carried(
    frame: DataFrame,
    planned: Plan,
    moment: tuple[str, str] | None = None,
    executors: Mapping[str, ResourceProfile] | None = None,
    rounds: RoundOf | None = None,
) -> DataFrame:
    """The rows that come of a message set in one round: a DataFrame to a DataFrame, nothing is written.

    `frame` needs the columns `sequence` and `body`, and `queue` to say which flow a message is for; the columns of the
    answer are those of `spark_exec.rows.RESULT`. `moment` are the date and the time that messages are put at,
    as MQ writes them: without it, now. `executors` are the groups' resource profiles, where another round has had them.
    `rounds` says what the tasks of each flow, by its number, prepare databases under.
    """
    at, whole = moment or now(), completed(frame, otherwise=planned.only_queue)
    own = profiles(frame.sparkSession, planned) if executors is None else executors
    parts = []
    for number, flow in enumerate(planned.flows):
        if flow.changes and rounds is None:
            text = f"{flow.shipped.name} changes databases, and nobody would decide on that: penstock spark run does"
            raise ConfigurationException(text)
        mine = whole["queue"].isin(*flow.reads)
        if flow is planned.flows[0]:  # it also says of messages that no flow reads that they wait
            mine |= whole["queue"].isNull() | ~whole["queue"].isin(*planned.reads)
        own_round = rounds(number) if rounds is not None and flow.changes else None
        work = replace(_assignment(planned, flow, at), round=own_round).task
        part = dealt(whole.where(mine), flow).mapInArrow(work, spark_schema(RESULT), profile=own.get(flow.group))
        parts.append(_apart(part, flow) if own else part)
    result = parts[0]
    for part in parts[1:]:
        result = result.unionByName(part)
    return result


def _apart(part: DataFrame, flow: FlowPlan) -> DataFrame:
    """The same rows in the same partitions, but of a stage of their own, as a stage has executors of one profile."""
    from pyspark.sql import functions as f

    numbered = part.withColumn("partition", f.spark_partition_id())
    return numbered.repartitionById(flow.partitions, numbered["partition"]).drop("partition")


def _assignment(planned: Plan, flow: FlowPlan, moment: tuple[str, str]) -> Assignment:
    deployment = planned.deployment
    return Assignment(
        group=flow.group,
        shipped=flow.shipped,
        reads=frozenset(planned.reads),
        queues=dict(deployment.queues),
        aliases=dict(deployment.aliases),
        queue_manager=deployment.queue_manager,
        dead_letter_queue=deployment.dead_letter_queue,
        moment=moment,
        databases=deployment.databases,
    )


def run(
    spark: SparkSession,
    planned: Plan,
    frame: DataFrame,
    output: str,
    inputs: Mapping[str, Any] | None = None,
    limits: Limits = PLAIN,
) -> Summary:
    """Carry a message set, write what comes of it, and go on with what was fed to flows until nothing is.

    What still feeds flows after the last round is left as it is: rows of kind fed, in that round.
    """
    from pyspark import StorageLevel

    refuse_taken(output, spark)
    started, at = time.time(), limits.moment or now()
    summary, executors = Summary(), profiles(spark, planned)
    summary.partitions = {flow.shipped.name: (flow.partitions, flow.why) for flow in planned.flows}
    said = partial(_manifest, planned, summary, inputs or {}, at, started)
    if limits.ending is not None:
        limits.ending.summary, limits.ending.manifest = summary, said
    kept = completed(frame, otherwise=planned.only_queue)
    if len(planned.flows) > 1 or any(flow.groups and flow.order != "default" for flow in planned.flows):
        kept = kept.persist(StorageLevel.DISK_ONLY)  # it is read more than once
    fed: DataFrame | None = kept
    decisions = _decisions(spark, planned, output, limits.ending)
    try:
        while fed is not None:
            place, began = inside(output, f"round={summary.rounds}"), time.time()
            rounds = None if decisions is None else partial(decisions.round, summary.rounds)
            carried(fed, planned, at, executors, rounds).write.partitionBy("kind", "queue").parquet(place)
            results = spark.read.schema(spark_schema(RESULT)).parquet(place)
            if decisions is not None:
                decisions.end(summary.rounds, _prepared(results))
            summary.fed = counted(results, summary, began)
            fed = fed_by(results) if summary.fed and summary.rounds < limits.rounds else None
    except BaseException:
        if decisions is not None:
            decisions.give_up()
        raise
    finally:
        if decisions is not None:
            decisions.close()
        kept.unpersist()
    summary.seconds = time.time() - started
    write_text(spark, inside(output, MANIFEST), said(""))
    return summary


def _decisions(spark: SparkSession, planned: Plan, output: str, ending: Ending | None) -> Decisions | None:
    """The decisions on what flows do to databases, begun; None where they do nothing."""
    if not any(flow.changes for flow in planned.flows):
        return None
    speculates = spark.sparkContext.getConf().get("spark.speculation", "false") == "true"
    made = Decisions(planned, output, speculates=speculates)
    try:
        made.begin()
    except BaseException:
        made.close()
        raise
    if ending is not None:
        ending.decisions = made
    return made


def _prepared(results: DataFrame) -> dict[str, list[str]]:
    """The gids that tasks whose output counts have prepared, by data source."""
    found: dict[str, list[str]] = {}
    for row in results.where(results["kind"] == PREPARED).select("queue", "lineage").collect():
        found.setdefault(row["queue"], []).append(row["lineage"])
    return found


def fed_by(results: DataFrame) -> DataFrame:
    """The messages that the results of a round feed to flows in the next."""
    return results.where(results["kind"] == FED).select(*MESSAGE.names)


def _manifest(
    planned: Plan, summary: Summary, inputs: Mapping[str, Any], moment: tuple[str, str], started: float, broken_off: str
) -> str:
    """Returns the manifest as JSON: the flows, inputs and times of a run, its results, and why it was broken off."""
    began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started))
    said = {
        "broker": planned.deployment.broker,
        "flows": [flow.as_data() for flow in planned.flows],
        "inputs": dict(inputs),
        "started": began,
        "moment": list(moment),
        "complete": not broken_off,
        "broken_off": broken_off or None,
        **summary.as_data(),
    }
    return json.dumps(said, indent=2) + "\n"


def now() -> tuple[str, str]:
    """The date and the time, as MQ writes them."""
    return _stamped(datetime.now(UTC))


def moment_of(text: str) -> tuple[str, str] | None:
    """The date and the time that a text says, in GMT unless it says a zone; None for an empty one.

    >>> moment_of("2026-01-02T03:04:05.067"), moment_of("2026-01-02 03:04+01:00")
    (('20260102', '03040506'), ('20260102', '02040000'))
    """
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigurationException(f"{text} is no date and time: write it as 2026-01-02T03:04:05") from error
    return _stamped(found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC))


def _stamped(moment: datetime) -> tuple[str, str]:
    return f"{moment:%Y%m%d}", f"{moment:%H%M%S}{moment.microsecond // 10_000:02d}"


def inside(place: str, name: str) -> str:
    """A place inside another."""
    return f"{place.rstrip('/')}/{name}" if "://" in place else str(Path(place) / name)


def refuse_taken(place: str, spark: SparkSession | None = None) -> None:
    """Refuse a place where something is; one that only Hadoop knows is looked at once there is a session."""
    if not place:
        raise ConfigurationException("no directory is named for the output: name one that is empty, or not there yet")
    if "://" not in place:
        empty = not Path(place).exists() or (Path(place).is_dir() and not any(Path(place).iterdir()))
    elif spark is not None:
        files, at = _hadoop(spark, place)
        empty = not files.exists(at) or not len(files.listStatus(at))
    else:
        return
    if not empty:
        raise ConfigurationException(f"{place} is not empty: name a directory that is, or that is not there yet")


def make_place(place: str) -> None:
    """Makes a directory for output, and refuses one that takes no file, before Spark is started for it."""
    if "://" in place:
        return
    folder = Path(place)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as tried:
            tried.write(b"tried")
    except OSError as error:
        text = f"{place} cannot be written: {reason(error, 'make its folder, or name another')}"
        raise ConfigurationException(text) from error


def write_text(spark: SparkSession, place: str, text: str) -> None:
    """Write a small file."""
    if "://" not in place:
        write_file(Path(place), text)
        return
    files, at = _hadoop(spark, place)
    stream = files.create(at)
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()


def _hadoop(spark: SparkSession, place: str) -> tuple[Any, Any]:
    context = spark.sparkContext
    assert context._jvm is not None
    at = context._jvm.org.apache.hadoop.fs.Path(place)
    return at.getFileSystem(context._jsc.hadoopConfiguration()), at

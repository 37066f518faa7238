"""Runs: a message set through a deployment, round by round, until no flow is fed any more."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine.errors import ConfigurationException
from spark_exec.message_sets import MESSAGE, spark_schema
from spark_exec.outputs import FAILURE, FED, PUT, RESULT, STATISTICS, WAITING
from spark_exec.plan import FlowPlan, Plan
from spark_exec.worker import Assignment, Counter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_ROUNDS: Final = 100


@dataclass(slots=True)
class Summary:
    """What a run has done."""

    messages: int = 0
    rounds: int = 0
    seconds: float = 0.0
    queues: dict[str, int] = field(default_factory=dict)
    failures: int = 0
    waiting: int = 0
    nodes: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        """The summary as JSON has it."""
        nodes = [
            {"flow": flow, "node": node or None, "cpu_ns": cpu, "messages": messages}
            for (flow, node), (cpu, messages) in sorted(self.nodes.items())
        ]
        return {
            "messages": self.messages,
            "rounds": self.rounds,
            "seconds": round(self.seconds, 3),
            "queues": self.queues,
            "failures": self.failures,
            "waiting": self.waiting,
            "nodes": nodes,
        }


def carried(
    frame: DataFrame, planned: Plan, moment: tuple[str, str] | None = None, counter: Counter | None = None
) -> DataFrame:
    """The rows that come of a message set in one round: a DataFrame to a DataFrame, nothing is written."""
    at = moment or _now()
    results = [_through(frame, planned, flow, at, counter) for flow in planned.flows]
    whole = results[0]
    for other in results[1:]:
        whole = whole.unionByName(other)
    return whole


def _through(
    frame: DataFrame, planned: Plan, flow: FlowPlan, moment: tuple[str, str], counter: Counter | None
) -> DataFrame:
    """One flow's own messages, dealt out as its order wants, and carried."""
    own = frame.where(frame["queue"].isin(*flow.reads))
    if flow.order == "default":
        dealt = own.repartition(flow.partitions, "sequence", "lineage")
    else:
        key = "user_identifier" if flow.order == "byUserID" else "queue"
        dealt = own.repartition(flow.partitions, key)
    dealt = dealt.sortWithinPartitions("sequence", "lineage")
    deployment = planned.deployment
    assignment = Assignment(
        group=flow.group,
        shipped=flow.shipped,
        reads=frozenset(planned.reads),
        queues=dict(deployment.queues),
        queue_manager=deployment.queue_manager,
        dead_letter_queue=deployment.dead_letter_queue,
        moment=moment,
        counter=counter,
    )
    return dealt.mapInArrow(assignment.carry, spark_schema(RESULT))


def run(
    spark: SparkSession,
    planned: Plan,
    frame: DataFrame,
    output: str,
    inputs: Mapping[str, Any] | None = None,
    counter: Counter | None = None,
) -> Summary:
    """Carry a message set, write what comes of it, and go on with what was fed to flows until nothing is."""
    started, moment = time.time(), _now()
    if Path(output).exists() and any(Path(output).iterdir()):
        raise ConfigurationException(f"{output} is not empty: name a directory that is, or that is not there yet")
    summary = Summary()
    fed: DataFrame | None = frame
    while fed is not None:
        if summary.rounds == MOST_ROUNDS:
            raise ConfigurationException(f"messages still feed flows after {MOST_ROUNDS} rounds: a flow feeds itself")
        place = str(Path(output) / f"round={summary.rounds}")
        carried(fed, planned, moment, counter).write.partitionBy("kind", "queue").parquet(place)
        counted = spark.read.schema(spark_schema(RESULT)).parquet(place)
        fed = _fed(counted) if _count(counted, summary) else None
        summary.rounds += 1
    summary.seconds = time.time() - started
    _write_manifest(Path(output), planned, summary, inputs or {})
    return summary


def _fed(results: DataFrame) -> DataFrame:
    return results.where(results["kind"] == FED).select(*MESSAGE.names)


def _count(results: DataFrame, summary: Summary) -> int:
    """Add what a round has done to the summary; how many messages are fed to the next."""
    from pyspark.sql import functions

    grouped = results.groupBy("kind", "queue", "flow", "node").agg(
        functions.count("*").alias("rows"),
        functions.sum("cpu_ns").alias("cpu"),
        functions.sum("messages").alias("given"),
    )
    fed = 0
    for row in grouped.collect():
        if row["kind"] == PUT:
            summary.queues[row["queue"]] = summary.queues.get(row["queue"], 0) + row["rows"]
        elif row["kind"] == FED:
            fed += row["rows"]
        elif row["kind"] == FAILURE:
            summary.failures += row["rows"]
        elif row["kind"] == WAITING:
            summary.waiting += row["rows"]
        elif row["kind"] == STATISTICS:
            key = row["flow"], row["node"] or ""
            before = summary.nodes.get(key, (0, 0))
            summary.nodes[key] = before[0] + row["cpu"], before[1] + row["given"]
            summary.messages += 0 if row["node"] else row["given"]
    return fed


def _write_manifest(output: Path, planned: Plan, summary: Summary, inputs: Mapping[str, Any]) -> None:
    flows = [
        {"flow": flow.shipped.name, "group": flow.group, "hash": flow.shipped.content_hash, "reads": list(flow.reads)}
        for flow in planned.flows
    ]
    said = {"flows": flows, "inputs": dict(inputs), **summary.as_data()}
    (output / "_manifest.json").write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")


def _now() -> tuple[str, str]:
    now = time.time()
    stamped = time.strftime("%Y%m%d%H%M%S", time.gmtime(now))
    return stamped[:8], f"{stamped[8:]}{int(now * 100) % 100:02d}"

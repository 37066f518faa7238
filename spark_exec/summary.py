"""Summaries: what a run has done, in numbers, and how far it has come, on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from spark_exec import rows
from spark_exec.cpu_accounts import AROUND_NODES, NODE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


@dataclass(slots=True)
class Cost:
    """The cost of a node, or of another part of a flow's tasks."""

    cpu_ns: int = 0
    messages: int = 0


@dataclass(slots=True)
class Summary:
    """The results of a run; `fed` is how many messages still fed flows when the limit of rounds was met."""

    messages: int = 0
    rounds: int = 0
    seconds: float = 0.0
    queues: dict[str, int] = field(default_factory=dict)
    failures: int = 0
    caught: int = 0
    reasons: dict[tuple[str, int, str], tuple[int, str]] = field(default_factory=dict)
    waiting: int = 0
    fed: int = 0
    memory: int = 0
    costs: dict[tuple[str, str, str], Cost] = field(default_factory=dict)
    timing: list[dict[str, Any]] = field(default_factory=list)
    partitions: dict[str, tuple[int, str]] = field(default_factory=dict)  # of each flow, and why so many

    @property
    def cpu_ns(self) -> int:
        """The processor time of all Python workers."""
        return sum(cost.cpu_ns for cost in self.costs.values())

    def as_data(self) -> dict[str, Any]:
        """The summary as JSON has it."""
        costs = [
            {"flow": flow, "part": part, "node": node or None, "cpu_ns": cost.cpu_ns, "messages": cost.messages}
            for (flow, part, node), cost in sorted(self.costs.items())
        ]
        return {
            "messages": self.messages,
            "rounds": self.rounds,
            "seconds": round(self.seconds, 3),
            "timing": self.timing,
            "partitions": {flow: {"partitions": n, "why": why} for flow, (n, why) in self.partitions.items()},
            "queues": dict(sorted(self.queues.items())),
            "failures": self.failures,
            "caught": self.caught,
            "by_reason": [
                {"kind": kind, "number": number, "node": node, "count": count, "text": text}
                for (kind, number, node), (count, text) in self._in_order()
            ],
            "waiting": self.waiting,
            "fed": self.fed,
            "cpu_ns": self.cpu_ns,
            "worker_memory": self.memory,
            "costs": costs,
        }

    def _in_order(self) -> list[tuple[tuple[str, int, str], tuple[int, str]]]:
        """The reasons of failures and of what was caught, the most frequent first."""
        return sorted(self.reasons.items(), key=lambda item: (-item[1][0], item[0]))

    def lines(self) -> Iterator[str]:
        """The summary in words, a line each."""
        rate = self.messages / self.seconds if self.seconds else 0.0
        yield (
            f"{_counted(self.messages, 'message')} in {_counted(self.rounds, 'round')},"
            f" {_counted(self.failures, 'failure')}, {self.seconds:.1f} s, {rate:,.0f} a second"
        )
        for flow, (count, why) in self.partitions.items():
            yield f"  {count:>12,}  partition{'' if count == 1 else 's'} of {flow}{f', {why}' if why else ''}"
        if self.waiting:
            yield f"  {self.waiting:>12,}  left waiting: no flow reads their queue, or theirs did not take them"
        if self.fed:
            yield f"  {self.fed:>12,}  still to go through flows when the limit of rounds was met"
        if self.caught:
            yield f"  {self.caught:>12,}  errors caught, and dealt with by the flow"
        for (kind, _, _), (count, text) in self._in_order():
            yield f"  {count:>12,}  {kind}: {text}"
        for queue, count in sorted(self.queues.items()):
            yield f"  {count:>12,}  on {queue}"
        for (flow, part, node), cost in self.costs.items():
            each = cost.cpu_ns / cost.messages / 1000 if cost.messages else 0.0
            what = f"through {flow}.{node}" if part == NODE else f"{flow}: {part}"
            yield f"  {cost.messages:>12,}  {what}, {each:,.1f} µs CPU each"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def counted(results: DataFrame, summary: Summary, began: float) -> int:
    """Add what a round has done to the summary; how many messages are fed to the next."""
    from pyspark.sql import functions

    grouped = results.groupBy("kind", "queue", "flow", "part", "node", "number").agg(
        functions.count("*").alias("rows"),
        functions.min_by("error", "sequence").alias("text"),
        functions.sum("cpu_ns").alias("cpu"),
        functions.sum("messages").alias("given"),
        functions.max("memory").alias("memory"),
    )
    before, fed = summary.messages, 0
    for row in sorted(grouped.collect(), key=lambda row: (row["flow"], row["part"] or "", row["node"] or "")):
        match row["kind"]:
            case rows.FED:
                fed += row["rows"]
            case rows.PUT | rows.PUBLICATION:
                summary.queues[row["queue"]] = summary.queues.get(row["queue"], 0) + row["rows"]
            case rows.FAILURE:
                summary.failures += row["rows"]
                _add_reason(summary, "failed", row)
            case rows.CAUGHT:
                summary.caught += row["rows"]
                _add_reason(summary, "caught", row)
            case rows.WAITING:
                summary.waiting += row["rows"]
            case rows.STATISTICS:
                _add_cost(summary, row)
    took = {"round": summary.rounds, "messages": summary.messages - before, "seconds": round(time.time() - began, 3)}
    summary.timing.append(took)
    summary.rounds += 1
    return fed


def _add_reason(summary: Summary, kind: str, row: Row) -> None:
    reason = kind, row["number"] or 0, row["node"] or ""
    count, text = summary.reasons.get(reason, (0, row["text"]))
    summary.reasons[reason] = count + row["rows"], text


def _add_cost(summary: Summary, row: Row) -> None:
    cost = summary.costs.setdefault((row["flow"], row["part"], row["node"] or ""), Cost())
    cost.cpu_ns += row["cpu"]
    cost.messages += row["given"]
    if row["part"] == AROUND_NODES:
        summary.messages += row["given"]
        summary.memory = max(summary.memory, row["memory"])


_OFTEN: Final = 1.0  # seconds
_STEPS: Final = {"opened(": "read", "task(": "out"}  # by the functions that Spark's plans name: see readers and worker
_ROWS: Final = "number of output rows"


@contextmanager
def shown(spark: SparkSession) -> Iterator[None]:
    """A line that shows how many messages were read, and how many came out of flows; nothing where nobody looks."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    over = threading.Event()
    columns = (TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(_words({}), total=None)

        def follow() -> None:
            while not over.wait(_OFTEN):
                progress.update(task, description=_words(counts(spark)))

        watcher = threading.Thread(target=follow, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def _words(found: dict[str, int]) -> str:
    read = f"{found['read']:,} messages read, " if found.get("read") else ""
    return f"{read}{found.get('out', 0):,} messages out of flows"


def counts(spark: SparkSession) -> dict[str, int]:
    """Returns how many messages have been read and put so far, as executors have told with their last heartbeats."""
    store: Any = spark._jsparkSession.sharedState().statusStore()
    found: dict[str, dict[int, int]] = {}  # by metric, as what is kept stands in several plans
    executions = store.executionsList()
    for at in range(executions.size()):
        number = executions.apply(at).executionId()
        values, nodes = store.executionMetrics(number), store.planGraph(number).allNodes()
        for node in map(nodes.apply, range(nodes.size())):
            step = next((_STEPS[name] for name in _STEPS if f"MapInArrow {name}" in node.desc()), "")
            if step:
                found.setdefault(step, {}).update(_rows(node.metrics(), values))
    return {step: sum(parts.values()) for step, parts in found.items()}


def _rows(metrics: Any, values: Any) -> Iterator[tuple[int, int]]:
    for metric in map(metrics.apply, range(metrics.size())):
        told = values.get(metric.accumulatorId()) if metric.name() == _ROWS else None
        if told is not None and told.isDefined():
            yield metric.accumulatorId(), int(told.get().replace(",", ""))

"""Summaries: what a run has done, in numbers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spark_exec import result_rows
from spark_exec.cpu_accounts import AROUND_NODES, NODE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


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
            case result_rows.FED:
                fed += row["rows"]
            case result_rows.PUT | result_rows.PUBLICATION:
                summary.queues[row["queue"]] = summary.queues.get(row["queue"], 0) + row["rows"]
            case result_rows.FAILURE:
                summary.failures += row["rows"]
                _add_reason(summary, "failed", row)
            case result_rows.CAUGHT:
                summary.caught += row["rows"]
                _add_reason(summary, "caught", row)
            case result_rows.WAITING:
                summary.waiting += row["rows"]
            case result_rows.STATISTICS:
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

"""Progress: how many messages have been read and put so far, on a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
    return {step: sum(rows.values()) for step, rows in found.items()}


def _rows(metrics: Any, values: Any) -> Iterator[tuple[int, int]]:
    for metric in map(metrics.apply, range(metrics.size())):
        told = values.get(metric.accumulatorId()) if metric.name() == _ROWS else None
        if told is not None and told.isDefined():
            yield metric.accumulatorId(), int(told.get().replace(",", ""))

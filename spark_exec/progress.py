"""Progress: how many messages have been carried so far, on a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator
    from pyspark.sql import SparkSession


@contextmanager
def shown(spark: SparkSession) -> Iterator[Accumulator[int] | None]:
    """A counter for tasks to add what they have carried to, and a line that shows it; None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    counter, over = spark.sparkContext.accumulator(0), threading.Event()
    columns = (TextColumn("{task.completed:,.0f} messages"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("messages", total=None)

        def follow() -> None:
            while not over.wait(0.5):
                progress.update(task, completed=counter.value)

        watcher = threading.Thread(target=follow, daemon=True)
        watcher.start()
        try:
            yield counter
        finally:
            over.set()
            watcher.join()

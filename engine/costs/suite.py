"""The suite: every group of benchmarks by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from multiprocessing import get_context
from types import MappingProxyType
from typing import Final

from engine.costs import broker, databases, esql, kernel, queues, spark
from engine.costs.measuring import Benchmark, Measured

GROUPS: Final[Mapping[str, Benchmark]] = MappingProxyType(
    {
        kernel.GROUP: kernel.benchmarks,
        kernel.HOPS_GROUP: kernel.hops,
        esql.GROUP: esql.benchmarks,
        kernel.FLOW_GROUP: kernel.whole_flow,
        kernel.BUDGET_GROUP: kernel.paying,
        **{module.GROUP: module.benchmarks for module in (queues, databases)},
        kernel.PARSERS_GROUP: kernel.parsers,
        **{module.GROUP: module.benchmarks for module in (broker, spark)},
    }
)


def measure(group: str | None = None, messages: int | None = None, seconds: float | None = None) -> Iterator[Measured]:
    """Measures one group, or all that need neither minutes nor more than Python, and yields figures as they are taken.

    All of them are taken group by group, each in a new process: one in which much has run has less of the processor's
    caches for small programs, and the programs by hand are the smallest.
    """
    if group == spark.GROUP:
        yield from spark.benchmarks(messages or spark.MESSAGES)
    elif group == queues.GROUP:
        yield from queues.benchmarks(messages or queues.DEPTH, seconds or queues.REUSE_SECONDS)
    elif group is not None:
        yield from GROUPS[group]()
    else:
        for name in GROUPS:
            if name != spark.GROUP:
                with get_context("spawn").Pool(1) as pool:
                    yield from pool.apply(_measured, (name,))


def _measured(group: str) -> list[Measured]:
    return list(GROUPS[group]())

"""The suite: every group of benchmarks by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from engine.costs import compute, esql, hops, kernel, records, spark
from engine.costs.bounds import Benchmark, Measured

GROUPS: Final[Mapping[str, Benchmark]] = MappingProxyType(
    {module.GROUP: module.benchmarks for module in (kernel, hops, esql, compute, records, spark)}
)


def measure(group: str | None = None, messages: int | None = None) -> Iterator[Measured]:
    """The figures of one group, or of all that need neither minutes nor more than Python, as they are taken."""
    if group == spark.GROUP:
        yield from spark.benchmarks(messages or spark.MESSAGES)
        return
    for name, benchmarks in GROUPS.items():
        if name != spark.GROUP and group in {None, name}:
            yield from benchmarks()

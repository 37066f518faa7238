"""The suite: every group of benchmarks by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from engine.costs import compute, esql, hops, kernel, records
from engine.costs.bounds import Benchmark, Measured

GROUPS: Final[Mapping[str, Benchmark]] = MappingProxyType(
    {module.GROUP: module.benchmarks for module in (kernel, hops, esql, compute, records)}
)


def measure(group: str | None = None) -> Iterator[Measured]:
    """The figures of one group, or of all, as they are taken."""
    for name, benchmarks in GROUPS.items():
        if group in {None, name}:
            yield from benchmarks()

"""The node-cost suite: its groups of benchmarks by name, and how they are measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from multiprocessing import get_context
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.costs.measuring import Benchmark, Measured

SPARK: Final = "spark"


def _group(module: str, function: str = "benchmarks") -> Benchmark:
    """Returns the benchmarks of a module, which is imported when they are measured."""

    def benchmarks(**options: float) -> Iterator[Measured]:
        found: Benchmark = getattr(import_module(f"{__name__}.{module}"), function)
        return found(**options)

    return benchmarks


GROUPS: Final[Mapping[str, Benchmark]] = MappingProxyType(
    {
        "kernel": _group("kernel"),
        "hops": _group("kernel", "hops"),
        "esql": _group("esql"),
        "compute": _group("kernel", "whole_flow"),
        "budget": _group("kernel", "paying"),
        "queues": _group("queues"),
        "databases": _group("databases"),
        "parsers": _group("kernel", "parsers"),
        "broker": _group("broker"),
        SPARK: _group("spark"),
    }
)


def measure(group: str | None = None, **options: float) -> Iterator[Measured]:
    """Measures one group, or all that need neither minutes nor more than Python, and yields figures as they are taken.

    All of them are taken group by group, each in a new process: one in which much has run has less of the processor's
    caches for small programs, and the programs by hand are the smallest.
    """
    if group is not None:
        yield from (replace(figure, group=group) for figure in GROUPS[group](**options))
        return
    for name in GROUPS:
        if name != SPARK:
            with get_context("spawn").Pool(1) as pool:
                yield from pool.apply(_measured, (name,))


def _measured(group: str) -> list[Measured]:
    return list(measure(group))

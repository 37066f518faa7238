"""Rows of the queues' benchmarks: ratios of programs that take turns, by their processor time or by their rates."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from engine.costs.measuring import Measured, side_by_side

GROUP: Final = "queues"
ROUNDS: Final = 5
Run = Callable[[], object]


def cost_beside(name: str, base: Run, own: Run, bound: float) -> Measured:
    """Returns the processor time of one program beside another's."""
    seen = side_by_side({"base": base, "own": own})
    ratio, timing, beside = seen.ratios["own"], seen.timings["own"], seen.timings["base"].median
    return Measured(GROUP, name, timing.median, ratio.median, bound, "x", ratio.low, ratio.high, beside)


def rates_beside(name: str, rates: Mapping[str, list[float]], bound: float) -> Measured:
    """Returns the rates of the second of two programs that took turns beside the first's; the bound is the least."""
    base, own = rates.values()
    ratios = [ours / theirs for ours, theirs in zip(own, base, strict=True)]
    return figure(name, ratios, bound, 1e6 / statistics.median(base), at_least=True)


def figure(
    name: str, values: Sequence[float], bound: float, beside: float | None = None, *, at_least: bool = False
) -> Measured:
    """Returns the median of what was measured several times, with its quartiles."""
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return Measured(GROUP, name, None, middle, bound, "x", low, high, beside, at_least)


def in_turn(runs: Mapping[str, Callable[[], float]], rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Returns what programs that take turns return, each several times."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            found[name].append(run())
    return found


def rate(act: Run, seconds: float) -> float:
    """Returns how often a second something can be done."""
    count, begun = 0, time.perf_counter()
    while time.perf_counter() < begun + seconds:
        act()
        count += 1
    return count / (time.perf_counter() - begun)


def rate_of_all(workers: Sequence[Callable[[float], int]], seconds: float) -> float:
    """Returns how much a second threads do together, each of which is told when to end, and returns how much it did."""
    done: list[int] = []
    begun = time.perf_counter()
    threads = [threading.Thread(target=lambda work=work: done.append(work(begun + seconds))) for work in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - begun)

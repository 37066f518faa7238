"""Results as a run might have found them: the published figures, scaled, each moved a little by what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from zlib import crc32

from engine.costs.measuring import Measured, Spread
from engine.costs.results import Key, Node, Place, Published, Results, Row, Taken, published

MACHINE = {"processor": "Example 3000, 2 cores", "system": "Linux 6.1", "python": "3.11.9", "memory": "24 GiB"}
OPTIONS = {"seconds": 0.5, "runs": 3, "scenario": [], "size": []}
LATER = "durable queues come with the queue manager"
PARALLEL = ("7.8.1", "7.8.2", "7.8.3")
BOUNDS = (
    Measured("kernel", "one field changed, 64 KiB", 310.4, 0.71, 1.0, "x", 0.69, 0.74, 437.2),
    Measured("esql", "compiling 1,000 lines", 3.2e6, 3.2e6, 3e6, "µs", 3.1e6, 3.3e6),
    Measured("queues", "put", None, 0.8, 0.7, "x", 0.75, 0.81, at_least=True),
)


def moved(name: str, low: float, high: float) -> float:
    """A figure between two others, the same for the same name whenever and wherever it is asked for."""
    return low + (high - low) * crc32(name.encode()) / 2**32


def spread(median: float, width: float = 0.03) -> Spread:
    return Spread(round(median, 6), round(median * (1 - width), 6), round(median * (1 + width), 6))


def taken(key: Key, report: Published, scale: float = 0.04, place: Place = "memory") -> Taken:
    """What was measured for a row, the same whenever it is asked for."""
    name = f"{key} {place}"
    cost = report.cpu_ms * scale * moved(f"cost of {name}", 0.7, 1.4)
    nodes = [("Input", 0.2), ("Compute", 0.5), ("Output", 0.15), ("", 0.1)]
    return Taken(
        runs=3,
        messages=round(400 / cost),
        drivers=2,
        rate=spread(report.rate / scale * moved(f"rate of {name}", 0.8, 1.2)),
        cpu_percent=spread(min(100, report.cpu_percent)),
        cpu_ms=spread(cost),
        limit_ms=spread(cost * moved(f"limit of {name}", 0.15, 0.6)),
        nodes=tuple(Node(label, round(cost * part, 6)) for label, part in nodes),
        rss_mib=round(moved(f"memory of {name}", 60, 180), 1),
    )


def later(key: Key) -> bool:
    """Whether a row cannot be measured yet."""
    return key.persistent or "publication" in key.scenario or "database" in key.scenario


def example(measurable: Callable[[Key], bool] = lambda key: not later(key)) -> Results:
    """A run with everything that can be measured; what cannot has its reason, and Spark stands beside the broker."""
    rows = [
        Row(key, "memory", taken(key, report) if measurable(key) else None, "" if measurable(key) else LATER)
        for key, report in published().items()
    ]
    rows += (
        Row(key, "spark", taken(key, report, 0.02, "spark"))
        for key, report in published().items()
        if key.section in PARALLEL and measurable(key)
    )
    return Results(MACHINE, "2026-11-18T16:00:00+00:00", OPTIONS, tuple(rows), BOUNDS)


def only(results: Results, wanted: Callable[[Row], bool]) -> Results:
    """The same with these rows alone, and no bounds."""
    return replace(results, rows=tuple(row for row in results.rows if wanted(row)), bounds=())

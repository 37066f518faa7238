"""Node costs on real Spark: rows are measured, and what comes out is what the program by hand makes."""

import pytest

from engine.costs.nodes import How, chosen
from engine.costs.spark import FEWEST, parallel, rows, versions

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_copies_and_instances() -> None:
    """Two flows with a queue each, and two partitions of one flow, carry every message."""
    wanted = parallel(chosen(["flow_copies_2", "additional_instances_2"], [4096]))
    for row in rows(wanted, How(seconds=0.001, runs=1)):
        assert row.taken is not None
        assert FEWEST == row.taken.messages
        assert row.taken.cpu_ms.median > 0
        assert row.taken.rss_mib > 100


def test_versions() -> None:
    """What Spark and Java there are is told."""
    assert {"Spark", "Java"} == set(versions())
    assert "version" in versions()["Java"]

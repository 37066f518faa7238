"""The report's parallel rows on a broker, as processes."""

from __future__ import annotations

import pytest

from engine.costs.nodes import How, chosen, rows


@pytest.mark.slow
def test_groups_are_processes() -> None:
    """Rows of several groups, copies or instances are measured on a broker, persistent or not."""
    wanted = list(chosen(["execution_groups_2", "additional_instances_2"], [4096]))
    found = list(rows(wanted, How(seconds=0.1, runs=1)))
    assert 4 * [("broker", "")] == [(row.place, row.reason) for row in found]
    assert all(row.taken is not None and row.taken.rate.median > 0 for row in found)

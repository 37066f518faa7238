"""The published figures are all there, and agree with the formula that the report gives."""

from __future__ import annotations

import pytest

from engine.costs.results import PROCESSORS, published


def test_every_row_of_the_appendix_is_carried() -> None:
    """192 rows, in 17 sections."""
    assert (192, 17) == (len(published()), len({key.section for key in published()}))


def test_the_milliseconds_follow_from_rate_and_share() -> None:
    """Processor time a message is the busy share of all processors, divided by the rate."""
    for key, row in published().items():
        by_formula = row.cpu_percent / 100 * PROCESSORS * 1000 / row.rate
        assert by_formula == pytest.approx(row.cpu_ms, rel=0.02), key

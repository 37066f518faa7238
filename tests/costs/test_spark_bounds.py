"""Spark's benchmarks, as far as they are made of figures alone."""

from pathlib import Path
from typing import Any

import pytest

from engine.costs import spark


def test_a_figure_lies_between_its_quartiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What two cores bring is the median of all runs on one beside all on two, and its quartiles are of the same."""
    took = {1: [40.0, 41.2, 46.0], 2: [20.0, 25.1, 19.0]}
    monkeypatch.setattr(spark, "_message_set", lambda *_: Path())
    monkeypatch.setattr(spark, "apart", lambda _work, _job, cores: took[cores])
    found: Any = spark.cores(tmp_path, 100_000)
    each = sorted(slow / fast for slow in took[1] for fast in took[2])
    assert (found.low, found.value, found.high) == (each[2], each[4], each[6])
    assert found.low <= found.value <= found.high

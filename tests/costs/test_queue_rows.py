"""Rows of the queues' benchmarks: ratios of what takes turns, and the space that a file takes."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from engine.costs import durable_queues, queue_streams
from engine.costs.measuring import Row, figure, in_turn, rate_of_all, rates_beside
from engine.costs.queue_programs import lasting
from engine.costs.sockets import _trips as trips
from engine.errors import BrokerError
from engine.mq import QueueManager


def test_rates_beside_each_other() -> None:
    """The second's rates are divided by the first's turn by turn, and the bound is the least."""
    turns = iter(range(1, 100))
    rates = in_turn({"base": lambda: 2.0, "own": lambda: float(next(turns))}, 3)
    row = rates_beside(Row("row", 1.0), rates)
    assert (1.0, True, 500_000.0) == (row.value, row.met, row.beside)
    assert not rates_beside(Row("row", 1.1), rates).met
    once = figure(Row("row", 1.0), [3.0])
    assert (3.0, 3.0, 3.0) == (once.low, once.value, once.high)


def test_rate_of_threads() -> None:
    """What all threads do together is counted, each until its end."""

    def work(end: float) -> int:
        time.sleep(max(0.0, end - time.perf_counter()))
        return 10

    assert 90 < rate_of_all([work] * 5, 0.5) <= 100


@pytest.mark.parametrize("lasts", [False, True])
def test_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, lasts: bool) -> None:
    """Getters get all that putters put, and all copies of it, before a rate is told."""
    monkeypatch.setattr(queue_streams, "SECONDS", 0.01)
    monkeypatch.setattr(queue_streams, "PUTTERS", (2,))
    with lasting(tmp_path / "QM") if lasts else QueueManager() as queues:
        rows = list(queue_streams.streams(queues))
        assert 4 + lasts == len({row.name for row in rows if row.value > 0})
        assert {0} == {queues.depth(name) for name in queues.names()}


def test_space(tmp_path: Path) -> None:
    """A file that is used again and again does not grow, and small messages take less than a page each."""
    rows = [*durable_queues.reuse(tmp_path / "REUSE", 1.0), *durable_queues.space(tmp_path / "SPACE")]
    assert [True, True, True] == [row.met for row in rows if "cost" not in row.name]
    assert len(rows) == len({row.name for row in rows}) == 4


@pytest.mark.parametrize("ends", ["who asks", "who answers"])
def test_processes_that_end_too_early(ends: str) -> None:
    """Round trips of which one side has ended are not waited for."""

    def act(side: str) -> None:
        if side == ends:
            os._exit(3)
        time.sleep(30)

    with pytest.raises(BrokerError, match="has ended"):
        trips(lambda _: act("who asks"), 1, lambda: act("who answers"))

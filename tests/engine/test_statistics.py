"""Accounting: every moment counts for one node, and for the one that spends it."""

from collections.abc import Generator
from itertools import count
from typing import Any, cast

import pytest

from engine.errors import BrokerError
from engine.runtime.accounting import AROUND, Account, Meter


def test_time_inside_a_yield_is_not_the_node_s() -> None:
    """A node is charged for its own steps; what happens downstream is charged to the nodes there."""
    now = [0]
    meter = Meter(clock=lambda: now[0])

    def spend(nanoseconds: int) -> None:
        now[0] += nanoseconds

    def upper(message: Any, work: Any) -> Generator[tuple[str, Any], bool, None]:
        spend(10)
        yield "out", message
        spend(5)

    def lower(message: Any, work: Any) -> Generator[tuple[str, Any], bool, None]:
        spend(100)
        yield "out", message

    above, below = meter.metered("upper", cast(Any, upper)), meter.metered("lower", cast(Any, lower))
    spend(1)
    for _ in above(cast(Any, "m"), cast(Any, None)):
        spend(2)
        for _ in below(cast(Any, "m"), cast(Any, None)):
            spend(3)
    assert meter.settled() == {AROUND: Account(6), "upper": Account(15, 1), "lower": Account(100, 1)}


def test_failures_pass_through() -> None:
    """A failure from below reaches the node inside its yield, and its own leaves as it is."""
    ticks = count()
    meter = Meter(clock=lambda: next(ticks))

    def careful(message: Any, work: Any) -> Generator[tuple[str, Any], bool, None]:
        try:
            yield "try", message
        except BrokerError as error:
            yield "catch", error

    evaluation = meter.metered("careful", cast(Any, careful))(cast(Any, "m"), cast(Any, None))
    assert next(evaluation) == ("try", "m")
    failure = BrokerError(2230, "no")
    assert evaluation.throw(failure) == ("catch", failure)
    with pytest.raises(StopIteration):
        next(evaluation)

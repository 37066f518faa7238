"""FlowOrder: which terminals a message takes, in which order, and what a failure does to that."""

from __future__ import annotations

import pytest

from engine.errors import BrokerError
from tests.nodes.bench import carried, message_of

ORDERS = [
    (("first", "second"), "", ["first", "second"]),
    (("second", "first"), "", ["first", "second"]),
    (("second",), "", ["second"]),
    (("first",), "", ["first"]),
    ((), "", []),
    (("first", "second", "failure"), "first", ["first"]),
    (("first", "second", "failure"), "second", ["first", "second"]),
]


@pytest.mark.parametrize(("wired", "fails", "expected"), ORDERS)
def test_order(wired: tuple[str, ...], fails: str, expected: list[str]) -> None:
    """First comes first; what fails there goes up, not to second and not to failure."""
    message, error = message_of(), BrokerError(2450, "below")
    seen = carried("FlowOrder", message, *wired, fails={fails: error})
    assert expected == seen.terminals
    assert all(sent is message for _, sent in seen.sent)
    assert (error if fails else None) is seen.error

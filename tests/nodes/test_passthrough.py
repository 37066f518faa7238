"""Passthrough: the message goes on as it came."""

from __future__ import annotations

from engine.errors import BrokerError
from tests.nodes.bench import carried, message_of


def test_the_same_message() -> None:
    """What comes in goes out, and a failure below goes up."""
    message, error = message_of(), BrokerError(2450, "below")
    assert [("out", message)] == carried("Passthrough", message, "out").sent
    assert carried("Passthrough", message, "out", fails={"out": error}).error is error
    assert carried("Passthrough", message).error is None

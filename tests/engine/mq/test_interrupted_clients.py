"""Clients whose calls a signal or a want of memory breaks off: they back out, and go on with another unit of work."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.mq import QueueManager, client_work, connection
from engine.mq.client import Client
from tests.engine.mq.interrupts import Interrupts
from tests.engine.mq.served import serving

LARGE = bytes(300_000)  # more than is sent in one piece, or read


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serving(QueueManager("A", "B"), tmp_path) as found:
        yield found


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a finalizer is interrupted as well
def test_a_call_that_is_broken_off_anywhere_keeps_no_other_waiting(client: Client) -> None:
    """Wherever a signal comes while messages are sent and read, the unit is backed out, and others are carried out."""
    place, interrupted = 1, True
    while interrupted:
        work, before, interrupts = client.work(), sys.gettrace(), Interrupts(place, connection, client_work)
        assert work.get("B") is None  # it is connected
        sys.settrace(interrupts)
        try:
            work.put("A", Descriptor(), LARGE)
            work.put("A", Descriptor(), LARGE)
            work.commit()
            work.get("A")
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        ended = threading.Thread(target=_go_on, args=(work,), daemon=True)
        ended.start()
        ended.join(20)
        assert not ended.is_alive(), place
        client.purge("A")
        interrupted, place = interrupts.left <= 0, place + 1
    assert place > 40


def _go_on(work: client_work.ClientWork) -> None:
    """Back out, and put and get in a unit of work of its own, as a flow does with its next message."""
    work.back_out()
    for _ in range(3):
        try:
            work.put("B", Descriptor(), b"next")
            work.commit()
            assert work.get("B") is not None
            work.commit()
        except BrokerError:  # an answer that was not read has broken the connection
            work.back_out()
        else:
            break
    work.close()

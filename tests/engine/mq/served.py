"""A queue manager in memory, served on a socket by a thread of the test, and what its clients do."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError, MessageException
from engine.mq import QueueManager
from engine.mq.client import Client
from engine.mq.server import Server


@contextmanager
def serving(manager: QueueManager, folder: Path) -> Iterator[Client]:
    """Serve a queue manager, and give a client of it."""
    server = Server(manager, folder)
    thread = threading.Thread(target=server.serve)
    thread.start()
    client = QueueManager.connect(folder)
    try:
        yield client
    finally:
        client.close()
        server.stop()
        thread.join(10)
        assert not thread.is_alive()


def put(client: Any, queue: str, *bodies: bytes, **fields: Any) -> list[Descriptor]:
    """Put messages in one unit, with fields of their descriptors."""
    work = client.work()
    done = [work.put(queue, Descriptor(**fields), body) for body in bodies]
    work.commit()
    return done


def bodies(client: Any, queue: str) -> list[bytes]:
    """Returns the bodies of the messages on a queue."""
    return [arrival.body for arrival in client.cursor(queue)]


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    assert condition()


def refused(call: Callable[[], object]) -> int:
    """Returns MQ's reason for which a call is refused."""
    with pytest.raises(BrokerError) as caught:
        call()
    assert isinstance(caught.value, MessageException)
    return caught.value.reason

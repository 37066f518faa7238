"""A queue manager in memory, served on a socket by a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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

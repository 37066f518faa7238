"""Requests over the socket that no client of ours makes, and waits beyond all measure: they end nobody else's work."""

import json
import socket
import threading
import time

import pytest

from engine.mq import QueueManager, frames
from engine.mq.frames import frame
from tests.engine.mq.served import bodies, put, refused, serving


@pytest.fixture
def client(tmp_path):
    with serving(QueueManager("A"), tmp_path) as found:
        yield found


def called(name: str, *arguments: object) -> bytes:
    return frame(frames.CALL, json.dumps({"call": name, "arguments": arguments, "options": {}}).encode())


def browsed(queue: object, selector: object) -> bytes:
    opened = json.dumps({"cursor": 1, "queue": queue, "selector": selector}).encode()
    return frame(frames.OPEN_CURSOR, opened) + frame(frames.NEXT_PAGE, b'{"cursor": 1}')


UNFOUNDED = {
    "no frame": b"GET / HTTP/1.1\r\n\r\n" * 9,
    "nothing asked": bytes(8),
    "no such request": b"\x04\0\0\0\x03\0\0\0oops",
    "a greeting of no record": b"\x02\0\0\0\x01\0\0\0[]",
    "nested": frame(frames.CALL, b"[" * 100_000),
    "cursor of no queue": browsed([], ""),
    "cursor by no selector": browsed("A", 5),
    "purge of no queue": called("purge", []),
    "definition of nothing": called("define", 1),
    "script of no text": called("mqsc", 5),
    "end of nothing": called("delete", None, None),
    "ids beyond number": called("new_ids", 10**30),
    "ids backwards": called("new_ids", -1),
}


@pytest.mark.parametrize("said", UNFOUNDED.values(), ids=UNFOUNDED.keys())
def test_requests_that_no_client_makes_end_their_connection_alone(client, tmp_path, said):
    """Who sends them, or what is no frame, waits for no answer that never comes; others are served as before."""
    with socket.socket(socket.AF_UNIX) as other:
        other.connect(str(tmp_path / "socket"))
        other.sendall(said)
        other.settimeout(20)
        while other.recv(4096):
            continue
    put(client, "A", b"still here")
    assert [b"still here"] == bodies(client, "A")


def test_a_process_that_can_have_no_more_threads_serves_on(client, monkeypatch):
    """A definition, which takes a thread, is refused by the end of its connection, and nobody else's."""
    start = threading.Thread.start

    def refuse(thread):
        if thread.name.startswith("queue manager's"):
            raise RuntimeError("can't start new thread")
        start(thread)

    with monkeypatch.context() as patches:
        patches.setattr(threading.Thread, "start", refuse)
        assert 2009 == refused(lambda: client.define("QLOCAL", "B", {}))
    put(client, "A", b"still here")
    client.define("QLOCAL", "B", {})
    assert [b"still here"] == bodies(client, "A")


@pytest.mark.parametrize("wait", [1e7, 1e300, float("inf"), float("nan")])
def test_a_get_may_wait_as_long_as_it_likes(client, wait):
    """Seconds beyond what the system counts are as good as no end, and nobody else's connection ends of them."""
    found, work = [], client.work()
    thread = threading.Thread(target=lambda: found.append(work.get("A", wait=wait).body))
    thread.start()
    time.sleep(0.1)
    put(client, "A", b"late")
    thread.join(20)
    assert [b"late"] == found

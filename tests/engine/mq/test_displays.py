"""Displays beside definitions: what comes and goes meanwhile is shown or not, and is no error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator

import pytest

from engine.mq import QueueManager

_SECONDS = 3.0
_KINDS = ("QLOCAL", "QALIAS", "TOPIC", "SUB", "AUTHREC", "HANDLE", "CONN", "SBSTATUS", "TPSTATUS", "PUBSUB", "POLICY")
_THERE = [f"THERE.{number}" for number in range(50)]


@pytest.fixture(autouse=True)
def _quick_turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_what_comes_and_goes_is_no_error() -> None:
    """Displays, statistics and changes of definitions go on while another thread defines and deletes objects."""
    queues, found, end = QueueManager(*_THERE), list[object](), time.monotonic() + _SECONDS
    work = queues.work()

    def define() -> None:
        for number in range(1_000_000):
            if time.monotonic() > end:
                return
            name = f"X{number % 20}"
            queues.mqsc(f"DEFINE QLOCAL({name})\nDEFINE QALIAS(A.{name}) TARGET({name})")
            queues.mqsc(f"DEFINE TOPIC({name}) TOPICSTR(t/{name})\nDEFINE SUB({name}) TOPICSTR(t/{name}) DEST({name})")
            queues.mqsc(f"SET AUTHREC PROFILE({name}) OBJTYPE(QUEUE) PRINCIPAL('root') AUTHADD(PUT)")
            work.get(name)
            queues.mqsc(f"DELETE AUTHREC PROFILE({name}) OBJTYPE(QUEUE) PRINCIPAL('root')")
            queues.mqsc(f"DELETE SUB({name})\nDELETE TOPIC({name})\nDELETE QALIAS(A.{name})\nDELETE QLOCAL({name})")

    def display() -> None:
        try:
            while time.monotonic() < end:
                shown = {kind: queues.display(kind, "#" if kind == "TPSTATUS" else "*") for kind in _KINDS}
                assert {*_THERE} <= {one["QUEUE"] for one in shown["QLOCAL"]}
                queues.statistics()
                queues.changed()
        except BaseException as error:  # whatever it is, it fails the test
            found.append(error)

    threads = [threading.Thread(target=do, daemon=True) for do in (define, display, display)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_SECONDS + 30)
    assert ([], False) == (found, any(thread.is_alive() for thread in threads))

"""Child processes: what they do with signals from the moment at which they are there."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from engine.broker.channel import Channel
from engine.broker.child_processes import Loop, fork


@pytest.fixture
def _handled() -> Iterator[None]:
    """A parent that does no more at SIGTERM than note it, as a loop does."""
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("_handled")
def test_a_child_that_is_told_to_end_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that gets SIGTERM while it still has the handlers of its parent ends, and the parent hears its own."""
    forked = os.fork

    def slowly() -> int:
        number = forked()
        if not number:
            time.sleep(0.3)
        return number

    monkeypatch.setattr(os, "fork", slowly)
    child = fork(lambda _: time.sleep(20))
    child.tell(signal.SIGTERM)
    _, status = os.waitpid(child.pid, 0)
    child.channel.close()
    assert -signal.SIGTERM == os.waitstatus_to_exitcode(status)
    assert signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


MUCH = "x" * 4_000_000


def _answer(channel: Channel) -> None:
    """Send much before anything is read, then say how much came."""
    channel.send({"mine": MUCH})
    channel.send({"came": len((channel.receive(20) or {})["yours"])})


def _exchange(channel: Channel) -> None:
    """Send a child much, and say how much of its two messages came."""
    loop, child = Loop(), fork(_answer)
    heard: list[dict[str, Any]] = []

    def hear() -> None:
        heard.extend(child.channel.arrived())
        if not child.channel.is_open or len(heard) == 2:
            loop.end()

    loop.watch(child.channel, hear)
    child.channel.send({"yours": MUCH})
    child.channel.send({"more": 1})
    loop.run()
    channel.send({"mine": len(heard[0]["mine"]), **heard[1]})


def test_two_that_send_much_at_once() -> None:
    """A parent that sends some megabytes to a child which sends as much before it reads does not wait for ever."""
    parent = fork(_exchange)
    said = parent.channel.receive(20)
    parent.tell(signal.SIGKILL)
    os.waitpid(parent.pid, 0)
    parent.channel.close()
    assert {"mine": len(MUCH), "came": len(MUCH)} == said

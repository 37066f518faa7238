"""Child processes: what they do with signals from the moment at which they are there."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from engine.broker.child_processes import fork


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

"""Commits over a socket that the store writes while the server goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.mq import QueueManager
from engine.mq.store.job import Job
from engine.mq.store.journal import Journal
from engine.mq.store_changes import Record
from tests.engine.mq.served import serving


def test_a_commit_that_another_session_has_written_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit that waits for the store is answered, also where the server's own thread writes it for someone else."""
    folder = tmp_path / "qm"
    QueueManager.create(folder)
    manager = QueueManager.open(folder)
    manager.define("QLOCAL", "LAST", {})
    submitted = threading.Event()

    def submit(journal: Journal, record: Record, then: Callable[[BrokerError | None], None]) -> None:
        journal._pending.append(Job(record, then, awaited=False))
        submitted.set()

    with manager, serving(manager, folder) as client:
        work = client.work()
        work.put("LAST", Descriptor(persistence=1), b"one")
        monkeypatch.setattr(Journal, "submit", submit)
        committing = threading.Thread(target=work.commit, daemon=True)
        committing.start()
        assert submitted.wait(5)
        client.refuse(b"branch")  # which the server's thread writes, and with it what waits
        committing.join(5)
        assert not committing.is_alive()

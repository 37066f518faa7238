"""Durable queue managers: made in a folder, and opened there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.mq.admission import Numbers
from engine.mq.attributes import checked_queue_manager_name, defaults
from engine.mq.persistence import Lasting
from engine.mq.security.principals import GROUPS, Principals
from engine.mq.store import store as stores
from engine.mq.supported_systems import check_place

if TYPE_CHECKING:
    from engine.mq.manager import QueueManager

_DEAD_LETTERS = "SYSTEM.DEAD.LETTER.QUEUE"


def create(manager: QueueManager, folder: Path, name: str, max_size: int) -> None:
    """Make a queue manager in a folder, with a dead-letter queue."""
    check_place(folder)
    checked_queue_manager_name(name)
    stores.create(folder, name, max_size)
    with opened(manager, folder, 0.0):
        manager.define("QLOCAL", _DEAD_LETTERS, {"DESCR": "messages that can be delivered nowhere else"})
        manager.alter("QMGR", "", {"DEADQ": _DEAD_LETTERS})


def opened(manager: QueueManager, folder: Path, wait: float) -> QueueManager:
    """Returns a queue manager with what is in its folder."""
    check_place(folder)
    store = stores.Store(folder, wait)
    manager.name = store.name
    manager.admission.numbers = Numbers(store.name, manager.lock, store.last_number())
    manager.directory.settings |= defaults("QMGR") | {"QMNAME": store.name}
    manager.store = Lasting(manager, store)
    manager.store.restore()
    manager.security.is_lasting = True
    manager.security.principals = Principals(folder / GROUPS)
    manager.configure()
    manager.topics.listen()
    manager.monitoring.change()
    return manager

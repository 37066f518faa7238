"""MQOutput with alternateUserAuthority: the user of the message has to have the authority to put."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.message.assembly import Message
from engine.message.received import Received
from engine.mq import QueueManager
from engine.mq.server import Server
from engine.node import build, node_catalog
from engine.tree.sharing import read_only

RECORD = "SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('ann') AUTHADD(PUT)"


def put(queues: Any, user: str, **properties: object) -> int:
    """Put a message of a user through the node; returns how many are on the queue, or why it was refused."""
    message = Message(read_only(Received(Descriptor(user_identifier=user), b"body").root()))
    work = queues.work()
    try:
        list(build(node_catalog.find("MQOutput"), {"queueName": "Q", **properties}).evaluate(message, work))
    except MessageException as error:
        work.back_out()
        return error.reason
    work.commit()
    return int(queues.depth("Q"))


@pytest.mark.parametrize(
    ("user", "asks", "found"), [("ann", True, 1), ("bob", True, 2035), ("", True, 2035), ("bob", False, 1)]
)
def test_the_users_authority(user: str, asks: bool, found: int) -> None:
    """A put fails with 2035 where the user that the MQMD names may not put; without the property nobody asks."""
    queues = QueueManager("Q")
    queues.mqsc(RECORD)
    assert found == put(queues, user, alternateUserAuthority=asks)


def test_without_records() -> None:
    """At a desk, where nobody has any record, all may put."""
    assert 1 == put(QueueManager("Q"), "bob", alternateUserAuthority=True)


def test_over_the_socket(tmp_path: Path) -> None:
    """The process of the queue manager is asked, and a durable one refuses who has no record."""
    QueueManager.create(tmp_path / "qm")
    with QueueManager.open(tmp_path / "qm") as manager:
        manager.mqsc("DEFINE QLOCAL(Q)")
        server = Server(manager, tmp_path / "qm")
        thread = Thread(target=server.serve)
        thread.start()
        with QueueManager.connect(tmp_path / "qm") as client:
            before = put(client, "ann", alternateUserAuthority=True)
            client.mqsc(RECORD)
            found = [put(client, user, alternateUserAuthority=True) for user in ("ann", "ann", "bob")]
        server.stop()
        thread.join()
    assert (2035, [1, 2, 2035]) == (before, found)

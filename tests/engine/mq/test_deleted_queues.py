"""Queues that end before the queue manager or its store: those that are deleted, and those that are not kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import lmdb
import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.mq import QueueManager, memory
from engine.mq.store.checking import check
from engine.mq.store_changes import Record
from engine.mq.unit import Work
from tests.engine.mq.served import put
from tests.engine.mq.test_authorities import ANN, QUEUE, commands, guarded, reason

LASTING = Descriptor(persistence=1)


def publish(work: Work) -> None:
    work.publish("t", LASTING, b"published")


def got(work: Work) -> None:
    publish(work)
    work.commit()
    (managed,) = (str(one["DEST"]) for one in work.manager.display("SUB"))
    found = work.get(managed)
    assert found is not None
    assert found.body == b"published"


@pytest.mark.parametrize("begin", [publish, got])
@pytest.mark.parametrize("end", [Work.commit, Work.back_out])
def test_a_unit_ends_without_the_messages_of_a_queue_that_went(
    tmp_path: Path, begin: Callable[[Work], None], end: Callable[[Work], None]
) -> None:
    """The rest of it is kept, nothing stays in the store of the queue, and no other queue has its messages later."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.mqsc("DEFINE QLOCAL(Q)\nDEFINE SUB(S) TOPICSTR('t') DESTCLAS(MANAGED)")
        work = queues.work()
        begin(work)
        work.put("Q", LASTING, b"kept")
        queues.delete("SUB", "S")
        end(work)
        assert (end is Work.commit) == queues.depth("Q")
    assert [] == list(check(tmp_path / "QM"))
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "NEW", {})
        put(queues, "NEW", b"own", persistence=1)
        assert [b"own"] == [one.body for one in queues.browse("NEW")]
    assert [] == list(check(tmp_path / "QM"))


@pytest.mark.parametrize("place", [0, 1])
def test_a_unit_in_the_transaction_of_a_deletion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    """A put and a deletion that are written together leave nothing, whichever comes first."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        put(queues, "Q", b"other", persistence=1)
        assert queues.store is not None
        store, queue, told = queues.store.store, queues.directory.queues["Q"], list[BrokerError | None]()
        stored = queues.admission.admit(queues.target("Q"), LASTING, b"late", ("", ""))
        records = [Record(puts=[(queue.number, stored)]), Record(objects=[("QLOCAL", "Q", None, queue.number)])]
        with monkeypatch.context() as patches:
            patches.setattr(store.journal, "_thread", threading.current_thread())  # that which writes does not come
            store.journal.submit(records[place], told.append)
            store.journal.commit(records[1 - place], told.append)
        del queues.directory.queues["Q"]
    assert ([None, None], []) == (told, list(check(tmp_path / "QM")))
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "NEW", {})
        assert 0 == queues.depth("NEW")


def test_a_deletion_that_is_not_kept_leaves_the_queue(tmp_path: Path) -> None:
    """Where the store has no room to delete a queue, messages are kept on it as before."""

    def refuse(_: str) -> None:
        raise lmdb.MapFullError("full")

    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        assert queues.store is not None
        transactions = queues.store.store.journal.transactions
        transactions.watch = refuse
        with pytest.raises(BrokerError, match="the store is full"):
            queues.delete("QLOCAL", "Q")
        transactions.watch = None
        put(queues, "Q", b"kept", persistence=1)
    with QueueManager.open(tmp_path / "QM") as queues:
        assert [b"kept"] == [one.body for one in queues.browse("Q")]


def test_queues_that_are_not_kept_have_messages_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Subscribers that last no longer than the queue manager get what is theirs, also where memory has no room for it.

    Who subscribes after a restart gets nothing of what was sent before.
    """
    monkeypatch.setattr(memory, "BUDGET", 50_000)
    QueueManager.create(tmp_path / "QM")
    for _ in range(2):
        with QueueManager.open(tmp_path / "QM") as queues:
            for topic in ("a", "b"):
                queues.define("SUB", topic, {"TOPICSTR": topic, "DESTCLAS": "MANAGED", "DURABLE": "NO"})
            work, managed = queues.work(), {str(one["SUB"]): str(one["DEST"]) for one in queues.display("SUB")}
            for number in range(100):
                for topic in managed:
                    work.publish(topic, Descriptor(), b"%s%d" % (topic.encode(), number) * 500)
                work.commit()
            for topic in ("a", "b"):
                got = [work.get(managed[topic]) for _ in range(60)]
                expected = [b"%s%d" % (topic.encode(), number) * 500 for number in range(60)]
                assert expected == [one and one.body for one in got]
            work.commit()
        assert [] == list(check(tmp_path / "QM"))


@pytest.mark.parametrize(("how", "left"), [("", ["Q.*"]), ("AUTHREC(YES)", ["Q.*"]), ("AUTHREC(NO)", ["Q.*", "Q.1"])])
@pytest.mark.parametrize("by_whom", ["owner", "ann"])
def test_records_go_with_their_object(tmp_path: Path, how: str, left: list[str], by_whom: str) -> None:
    """Who could use a queue that was deleted cannot use another of its name, unless AUTHREC(NO) keeps the records."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        commands(queues, "DEFINE QLOCAL(Q.1)", "DEFINE TOPIC(Q.1) TOPICSTR(t)")
        commands(queues, QUEUE.format("Q.1", ANN, "PUT,DLT"), QUEUE.format("Q.*", "GROUP('clerks')", "PUT"))
        commands(queues, "SET AUTHREC PROFILE(Q.1) OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHADD(PUB)")
        commands(queues if by_whom == "owner" else guarded(queues), f"DELETE QLOCAL(Q.1) {how}")
        commands(queues, "DEFINE QLOCAL(Q.1)")
        assert (0 if "Q.1" in left else 2035) == reason(lambda: guarded(queues).work().put("Q.1", Descriptor(), b"x"))
    with QueueManager.open(tmp_path / "QM") as queues:
        kept = [one["PROFILE"] for one in queues.display("AUTHREC") if one["OBJTYPE"] == "QUEUE"]
        assert left == sorted(map(str, kept))
        commands(queues, "DELETE TOPIC(Q.1)")
        assert left == sorted(str(one["PROFILE"]) for one in queues.display("AUTHREC"))

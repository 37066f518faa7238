"""Durable queue managers: what a restart finds again, what it does not, and what is refused."""

from __future__ import annotations

import os
import resource
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lmdb
import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError, MessageException
from engine.mq import QueueManager
from engine.mq.store.environment import write_format
from engine.mq.store.job import Job
from engine.mq.store.journal import Journal
from engine.mq.store.transactions import Transactions
from engine.mq.unit import Work
from engine.work import Selection

LASTING = Descriptor(persistence=1, reply_to_q="REPLIES")
NUMBERS = (
    *("report", "msg_type", "feedback", "encoding", "coded_char_set_id", "put_appl_type", "msg_seq_number"),
    *("offset", "original_length"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "QM"
    QueueManager.create(made, name="DURABLE")
    with QueueManager.open(made) as queues:
        queues.define("QLOCAL", "Q", {"BOTHRESH": 3})
        queues.define("QALIAS", "FRONT", {"TARGET": "Q"})
    return made


@pytest.fixture
def opened(folder: Path) -> Iterator[QueueManager]:
    with QueueManager.open(folder) as queues:
        yield queues


def crash(queues: QueueManager) -> None:
    """End as a process that is killed ends."""
    assert queues.store is not None
    queues.store.close(in_order=False)


@pytest.mark.parametrize("persistence", [0, 1])
def test_short_ids_are_whole_on_a_queue(folder: Path, persistence: int) -> None:
    """A message whose ids are short is found by them with and without zeros, before and behind a restart."""
    with QueueManager.open(folder) as queues:
        work = queues.work()
        put = Descriptor(persistence=persistence, msg_id=b"M", correl_id=b"K", group_id=b"G")
        assert b"K".ljust(24, b"\0") == work.put("Q", put, b"x").correl_id
        work.commit()
    with QueueManager.open(folder) as queues:
        wanted = [Selection(browse=True, **{name: value.ljust(length, b"\0")})
                  for name, value in (("msg_id", b"M"), ("correl_id", b"K"), ("group_id", b"G"))
                  for length in (1, 24)]  # fmt: skip
        assert [b"x"] * 6 == [found.body for each in wanted if (found := queues.work().get("Q", each)) is not None]


@pytest.mark.parametrize("persistence", [0, 1])
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (Descriptor(correl_id=bytes(30)), 2026),
        *((Descriptor(**{name: number}), 2026) for name in NUMBERS for number in (1 << 31, -(1 << 31) - 1)),  # type: ignore[arg-type]
        (Descriptor(expiry=1 << 31), 2013),
    ],
)
def test_a_descriptor_that_cannot_be_kept_is_refused(
    folder: Path, wrong: Descriptor, reason: int, persistence: int
) -> None:
    """The put is refused with MQ's reason, as a publication's is, and an orderly end keeps what is in memory."""
    with QueueManager.open(folder) as queues:
        work, own = queues.work(), wrong._replace(persistence=persistence)
        work.put("Q", Descriptor(), b"stays")
        is_given = wrong.report or wrong.put_appl_type  # to publications, by the queue manager
        for put in (work.put,) if is_given else (work.put, work.publish):
            with pytest.raises(MessageException) as refused:
                put("Q", own, b"never")
            assert reason == refused.value.reason
        work.commit()
        assert 1 == queues.depth("Q")
    with QueueManager.open(folder) as queues:
        assert [b"stays"] == bodies(queues)


OF_32_BITS = (1 << 31) - 1, -(1 << 31)
ENDS = {"report": ((1 << 31) - 1 & ~0x101F8000, -(1 << 31)), "msg_type": (999_999_999, 1), "feedback": (999_999_999, 0)}


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name in NUMBERS for number in ENDS.get(name, OF_32_BITS)]
)
def test_numbers_of_32_bits(folder: Path, name: str, number: int) -> None:
    """The largest and the smallest number of 32 bits that MQPUT takes is kept."""
    asks = LASTING._replace(reply_to_q="NOWHERE")
    with QueueManager.open(folder) as queues:
        queues.work().put("Q", asks._replace(**{name: number}), b"kept", syncpoint=False)
    with QueueManager.open(folder) as queues:
        (arrival,) = queues.browse("Q")
        assert number == getattr(arrival.descriptor, name)


def bodies(queues: QueueManager) -> list[bytes]:
    return [arrival.body for arrival in queues.cursor("Q")]


def fill(queues: QueueManager) -> None:
    """One message of each kind, and one of each that was not committed."""
    work, other = queues.work(), queues.work()
    work.put("Q", LASTING, b"persistent")
    work.put("Q", Descriptor(), b"not persistent")
    work.commit()
    other.put("Q", LASTING, b"uncommitted")


@pytest.mark.parametrize(("ends", "kept"), [("close", 2), ("crash", 1)])
def test_what_is_kept(folder: Path, ends: str, kept: int) -> None:
    """Committed messages are there after a restart: all after an orderly end, persistent ones after a crash."""
    queues = QueueManager.open(folder)
    fill(queues)
    queues.close() if ends == "close" else crash(queues)
    with QueueManager.open(folder) as again:
        assert [b"persistent", b"not persistent"][:kept] == bodies(again)
        assert ("DURABLE", 3) == (again.name, again.display("QLOCAL", "Q")[0]["BOTHRESH"])
        assert "Q" == again.display("QALIAS")[0]["TARGET"]
    with QueueManager.open(folder) as again:
        assert kept == again.depth("FRONT")


def test_backout_counts_are_hardened(folder: Path) -> None:
    """A message that was backed out says so after a crash as well."""
    queues = QueueManager.open(folder)
    fill(queues)
    work = queues.work()
    for _ in range(2):
        assert work.get("Q") is not None
        work.back_out()
    assert work.get("Q") is not None
    crash(queues)
    with QueueManager.open(folder) as again:
        assert [2] == [arrival.descriptor.backout_count for arrival in again.cursor("Q")]


def test_deep_queues(folder: Path) -> None:
    """What is not in memory is got in order, by id, by selector, and browsed, as if it were."""
    queues = QueueManager.open(folder)
    work = queues.work()
    for number in range(6_000):
        own = Descriptor(persistence=number % 2, correl_id=number.to_bytes(24), priority=number // 3_000)
        work.put("Q", own, b"%d" % number)
    work.commit()
    queues.close()
    expected = [*range(3_000, 6_000), *range(3_000)]
    with QueueManager.open(folder) as again:
        work = again.work()
        wanted = Selection(correl_id=(2_500).to_bytes(24))
        assert b"2500" == getattr(work.get("Q", wanted), "body", None)
        assert work.get("Q", wanted) is None
        assert 5_999 == again.depth("Q")
        work.back_out()
        assert expected == [int(body) for body in bodies(again)]
        assert [b"2777"] == [one.body for one in again.cursor("Q", f"JMSCorrelationID = 'ID:{2_777:048x}'")]
        got = [int(arrival.body) for _ in range(6_000) if (arrival := work.get("Q")) is not None]
        assert expected == got
        work.commit()
        assert (None, 0) == (work.get("Q"), again.depth("Q"))


@pytest.mark.parametrize("size", [0, 1, 1_800, 2_000, 5_000, 70_000, 1_000_000])
def test_bodies_of_any_size(folder: Path, size: int) -> None:
    """A body comes back byte by byte, and leaves nothing behind when it is got."""
    body = bytes(number * 7 % 256 for number in range(size))
    queues = QueueManager.open(folder)
    queues.work().put("Q", LASTING, body, syncpoint=False)
    crash(queues)
    with QueueManager.open(folder) as again:
        assert [body] == bodies(again)
        assert again.work().get("Q", syncpoint=False) is not None
        assert again.store is not None
        assert {"messages": 0, "chunks": 0, "ids": 0, "expiry": 0} == again.store.store.entries()


def test_a_folder_has_one_process_at_a_time(folder: Path, opened: QueueManager) -> None:
    """Who finds a folder taken is refused with the process that has it."""
    assert opened.name == "DURABLE"
    with pytest.raises(MessageException, match=f"in use by process {os.getpid()}"):
        QueueManager.open(folder, wait=0.1)


def test_what_is_no_queue_manager(tmp_path: Path, folder: Path) -> None:
    """A folder without a queue manager is refused, and so is making one where something is."""
    with pytest.raises(BrokerError, match="no queue manager"):
        QueueManager.open(tmp_path)
    with pytest.raises(BrokerError, match="not empty"):
        QueueManager.create(folder)


def test_another_format_is_refused(folder: Path) -> None:
    """A store of another format is not opened; the refusal says what brings it up to date."""
    write_format(folder, "DURABLE", 0, number=0)
    with pytest.raises(BrokerError, match="queue-manager upgrade"):
        QueueManager.open(folder)


def filled(queues: QueueManager) -> int:
    """Put messages until the store is full; returns how many."""
    work = queues.work()
    for put in range(10_000):
        work.put("Q", LASTING, bytes(1_000))
        try:
            work.commit()
        except MessageException as error:
            return put if error.reason == 2192 else -1
    return 10_000


def test_a_store_warns_before_it_is_full(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """At 85 % of what messages may fill there is one warning, and the next once the store has been emptied."""
    QueueManager.create(tmp_path / "QM", max_size=4 << 20)
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        for _ in range(2):
            work, put = queues.work(), 0
            while not caplog.records:
                work.put("Q", LASTING, bytes(1_000))
                work.commit()
                put += 1
            assert put < filled(queues) + put < 1.25 * put
            (told,) = [record.getMessage() for record in caplog.records]
            assert "8" == told.partition(" is ")[2][0]
            queues.purge("Q")
            caplog.clear()


def test_a_full_store_can_be_drained(tmp_path: Path) -> None:
    """A store that is full refuses puts with 2192, alone of all that commit, and gets still work until it is empty."""
    QueueManager.create(tmp_path / "QM", max_size=1 << 20)
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        work, put = queues.work(), filled(queues)
        assert put > 100
        for number in range(put):
            assert work.get("Q") is not None
            if number % 4 == 0:
                work.commit()
        work.commit()
        assert 0 == queues.depth("Q")
        for _ in range(put // 2):
            work.put("Q", LASTING, bytes(1_000))
            work.commit()


def test_decisions(folder: Path) -> None:
    """A decision is kept with its unit of work; a branch that was refused before cannot be decided otherwise."""
    queues = QueueManager.open(folder)
    work = queues.work()
    assert queues.refuse(b"late")
    work.put("Q", LASTING, b"late")
    with pytest.raises(MessageException, match="refused before"):
        work.commit(decision=(b"late",))
    work.put("Q", LASTING, b"in time")
    work.commit(decision=(b"one", b"two"))
    assert not queues.refuse(b"one")
    crash(queues)
    with QueueManager.open(folder) as again:
        assert {b"one": True, b"two": True, b"late": False} == again.decisions()
        for branch in again.decisions():
            again.forget(branch)
        assert {} == again.decisions()
        assert [b"in time"] == bodies(again)


def test_a_failed_sync_ends_the_queue_manager(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk fails, the commit is refused, nothing more is done, and a restart has what was promised."""
    queues, ended = QueueManager.open(folder), list[str]()
    fill(queues)
    queues.when_ended = lambda: ended.append("ended")
    work = queues.work()
    work.put("Q", LASTING, b"never synced")

    def fail(*_: object) -> None:
        raise lmdb.Error("mdb_txn_commit: Input/output error")

    monkeypatch.setattr(Transactions, "_written", fail)
    with pytest.raises(MessageException, match="disk failed"):
        work.commit()
    for again in (lambda: work.get("Q"), lambda: queues.work().put("Q", LASTING, b"")):
        with pytest.raises(MessageException, match="disk failed"):
            again()
    assert ["ended"] == ended
    crash(queues)
    monkeypatch.undo()
    with QueueManager.open(folder) as restarted:
        assert [b"persistent"] == bodies(restarted)


def test_a_full_disk_refuses_what_grows(folder: Path) -> None:
    """A disk without room refuses a unit with 2192; the queue manager goes on."""
    with QueueManager.open(folder) as queues:
        work, limit = queues.work(), resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, limit[1]))
        try:
            put = filled(queues)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        assert 10 < put == queues.depth("Q")
        work.put("Q", LASTING, b"room again", syncpoint=False)
    with QueueManager.open(folder) as again:
        assert put + 1 == len(bodies(again))


def test_many_commit_together(folder: Path) -> None:
    """Of threads that commit, by waiting or by being told, every one has its unit kept, with fewer syncs than units."""
    queues = QueueManager.open(folder)
    told: list[object] = []

    def run(number: int) -> None:
        work = queues.work()
        for turn in range(20):
            work.put("Q", LASTING, b"%d.%d" % (number, turn))
            work.commit_then(told.append) if number % 2 else work.commit()

    assert queues.store is not None
    before = queues.store.store.journal.transactions.syncs
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, range(8)))
    queues.store.store.journal.close()
    assert [None] * 80 == told
    assert queues.store.store.journal.transactions.syncs - before < 160
    crash(queues)
    with QueueManager.open(folder) as again:
        assert sorted(b"%d.%d" % (number, turn) for number in range(8) for turn in range(20)) == sorted(bodies(again))


def test_committers_who_take_turns_do_not_wait_for_each_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it has waited in vain for those who committed before it, a commit seldom waits for them again."""
    commits, begun, waited = 128, list[int](), set[int]()
    waits = Journal._waits_in_vain

    def watched(journal: Journal, job: Job) -> bool:
        waited.add(len(begun))
        return waits(journal, job)

    monkeypatch.setattr(Journal, "_waits_in_vain", watched)
    with QueueManager.open(folder) as queues, ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        works = queues.work(), queues.work()

        def put(work: Work) -> None:
            work.put("Q", LASTING, b"in turn")
            work.commit()

        for turn in range(commits):
            begun.append(turn)
            (first, second)[turn % 2].submit(put, works[turn % 2]).result()
    assert 0 < len(waited) < commits // 8


def test_who_finds_its_unit_written_lets_others_write(folder: Path) -> None:
    """A unit that another has written before its owner could try to lets those write who come later."""

    class Overtaken(deque[Job]):
        """Units that wait, of which the first is written before its owner goes on."""

        def append(self, job: Job) -> None:
            super().append(job)
            if job.record.puts[0][1].body == b"overtaken":
                pool.submit(put, b"other").result()

    with QueueManager.open(folder) as queues, ThreadPoolExecutor(2) as pool:

        def put(body: bytes) -> None:
            queues.work().put("Q", LASTING, body, syncpoint=False)

        assert queues.store is not None
        queues.store.store.journal._pending = Overtaken()
        put(b"overtaken")
        pool.submit(put, b"later").result(timeout=10)
        assert {b"overtaken", b"other", b"later"} == set(bodies(queues))

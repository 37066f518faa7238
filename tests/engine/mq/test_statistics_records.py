"""Statistics and accounting: intervals, what is counted, and the records that are written of it."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager, pcf
from engine.mq.message_json import from_line, to_line
from engine.mq.served_manager import unprotected
from engine.work import Selection
from tests.engine.mq.served import serving

STATISTICS, ACCOUNTING = "SYSTEM.ADMIN.STATISTICS.QUEUE", "SYSTEM.ADMIN.ACCOUNTING.QUEUE"


class Stopped:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Stopped:
    return Stopped()


@pytest.fixture
def queues(clock: Stopped) -> Iterator[QueueManager]:
    with QueueManager("A", "B", name="QM1", clock=clock) as made:
        yield made


def carried_out(queues: QueueManager, *commands: str) -> None:
    for answer in queues.mqsc("\n".join(commands)):
        assert not answer.failed, answer


def records(queues: QueueManager, queue: str) -> list[dict[str, Any]]:
    """Takes the records that are there."""
    found = []
    while (arrival := queues.work().get(queue, syncpoint=False)) is not None:
        assert pcf.FORMAT == arrival.descriptor.format
        found.append(json.loads(to_line(*arrival))["pcf"])
    return found


INTERVALS = [
    ("0.05", True),
    ("0.01", True),
    ("1.00", True),
    ("30", True),
    ("1440", True),
    ("1440.00", True),
    ("0", True),
]
INTERVALS += [(text, False) for text in ("0.60", "0.5", ".05", "1.234", "-2", "0.00", "1440.01", "1.", "1,00", "x", "")]


@pytest.mark.parametrize(("text", "good"), INTERVALS)
@pytest.mark.parametrize("attribute", ["STATIME", "ACCTIME"])
@pytest.mark.parametrize("command", ["ALTER QMGR", "ALTER QL(A)"])
def test_intervals(queues: QueueManager, command: str, attribute: str, text: str, good: bool) -> None:
    """An interval is minutes, or minutes and seconds with two digits; anything else is refused, and nothing changes."""
    (answer,) = queues.mqsc(f"{command} {attribute}({text})" if text else f"{command} {attribute}(' ')")
    assert good != answer.failed
    shown = queues.display(*(("QMGR", "") if "QMGR" in command else ("QLOCAL", "A")))[0][attribute]
    assert (
        text if good else {"ALTER QL(A)": "QMGR"}.get(command, {"STATIME": "30", "ACCTIME": "-1"}[attribute])
    ) == shown


def test_what_is_counted(queues: QueueManager, clock: Stopped) -> None:
    """A record has what was done to each queue in its interval, by persistence, and how deep it was."""
    carried_out(
        queues, "ALTER QL(A) STATQ(ON) STREAMQ(B)\nALTER QMGR STATIME(0.05)\nDEFINE QL(C) STATQ(ON) MAXDEPTH(0)"
    )
    work = queues.work()
    for persistence, body in ((0, b"12"), (1, b"345"), (0, b"6"), (0, b"")):
        work.put("A", Descriptor(persistence=persistence, expiry=1 if not body else -1), body, syncpoint=False)
    with pytest.raises(MessageException):
        work.put("C", Descriptor(), b"")
    clock.now += 2
    work.get("A", Selection(browse=True))
    work.get("A", syncpoint=False)
    work.get("A", syncpoint=False)
    work.get("A", Selection(selector="JMSPriority = 9"))
    queues.expire()
    queues.purge("A")
    clock.now += 2.9
    queues.monitoring.run()
    assert [] == records(queues, STATISTICS)
    clock.now += 0.1
    queues.monitoring.run()
    (told,) = queues.cursor(STATISTICS)
    assert ("QM1", 7) == (told.descriptor.put_appl_name, told.descriptor.put_appl_type)
    (record,) = records(queues, STATISTICS)
    a, c = record["queues"]
    assert ("statistics", "QM1", ["A", "C"]) == (record["kind"], record["queue_manager"], [a["queue"], c["queue"]])
    expected = {
        "puts": [3, 1],
        "put_bytes": [3, 3],
        "gets": [1, 1],
        "get_bytes": [2, 3],
        "browses": [1, 0],
        "browse_bytes": [2, 0],
        "gets_failed": 1,
        "expired": 1,
        "purged": 1,
        "streamed": 4,
        "stream_failed": 0,
        "depth": 0,
        "low_depth": 0,
        "high_depth": 4,
        "average_time": [2_000_000, 2_000_000],
        "puts_failed": 0,
    }
    assert expected == {name: a[name] for name in expected}
    shown = queues.display("QLOCAL", "C")[0]
    assert (shown["CRDATE"], shown["CRTIME"], 1) == (c["creation_date"], c["creation_time"], c["definition_type"])
    assert (1, [0, 0]) == (c["puts_failed"], c["puts"])


def test_a_change_counts_at_the_end_of_the_interval(queues: QueueManager, clock: Stopped) -> None:
    """STATIME that is altered is shown at once, beside the one that still runs; so it is with STATQ."""
    carried_out(queues, "ALTER QMGR STATQ(ON) STATIME(0.10)")
    carried_out(queues, "ALTER QMGR STATIME(0.03)\nALTER QL(A) STATQ(OFF)")
    shown = queues.display("QMGR", "")[0]
    assert ("0.03", "0.10") == (shown["STATIME"], shown["CURSTATIME"])
    clock.now += 4
    queues.monitoring.run()
    assert [] == records(queues, STATISTICS)
    clock.now += 6
    queues.monitoring.run()
    assert {"A", "B"} <= {one["queue"] for record in records(queues, STATISTICS) for one in record["queues"]}
    assert "0.03" == queues.display("QMGR", "")[0]["CURSTATIME"]
    clock.now += 3
    queues.monitoring.run()
    (record,) = records(queues, STATISTICS)
    assert "A" not in {one["queue"] for one in record["queues"]}
    carried_out(queues, "ALTER QMGR STATQ(OFF)")
    for expected in (1, 0, 0):
        clock.now += 3
        queues.monitoring.run()
        assert expected == len(records(queues, STATISTICS))


def test_intervals_of_queues(queues: QueueManager, clock: Stopped) -> None:
    """A queue with a STATIME of its own has records of its own, and NONE of the queue manager ends all."""
    carried_out(queues, "ALTER QMGR STATQ(ON) STATIME(0.10)\nALTER QL(A) STATIME(0.04)")
    clock.now += 10
    queues.monitoring.run()
    records(queues, STATISTICS)
    for seconds, expected in ((4, {"A"}), (4, {"A"}), (2, {"B", "SYSTEM.DEAD.LETTER.QUEUE"})):
        clock.now += seconds
        queues.monitoring.run()
        assert expected == {one["queue"] for record in records(queues, STATISTICS) for one in record["queues"]}
    carried_out(queues, "ALTER QL(A) STATQ(ON)\nALTER QMGR STATQ(NONE)")
    for expected_count in (True, False):
        clock.now += 20
        queues.monitoring.run()
        assert expected_count == bool(records(queues, STATISTICS))


def test_many_queues(clock: Stopped) -> None:
    """Records of an interval have a hundred queues each, and say which is the last."""
    with QueueManager(*(f"Q{number:03d}" for number in range(250)), clock=clock, dead_letter_queue="") as queues:
        carried_out(queues, "ALTER QMGR STATQ(ON) STATIME(0.01)")
        clock.now += 1
        queues.monitoring.run()
        found = records(queues, STATISTICS)
        assert [(1, False, 100), (2, False, 100), (3, True, 50)] == [
            (one["number"], one["last"], len(one["queues"])) for one in found
        ]


def test_records_that_find_no_room(queues: QueueManager, clock: Stopped, caplog: pytest.LogCaptureFixture) -> None:
    """A full queue of records loses the next ones, blocks nobody, and the log says so once."""
    carried_out(queues, "ALTER QMGR STATQ(ON) STATIME(0.01)", f"ALTER QL({STATISTICS}) MAXDEPTH(1)")
    for _ in range(4):
        clock.now += 1
        queues.monitoring.run()
    assert 1 == len(records(queues, STATISTICS))
    assert 1 == sum("are lost" in record.getMessage() for record in caplog.records)


def test_a_queue_manager_that_is_closed_twice(caplog: pytest.LogCaptureFixture) -> None:
    """What was counted is written when the queue manager is closed first, and no record is lost by the next time."""
    closed = QueueManager("A", name="QM1")
    closed.mqsc("ALTER QMGR STATQ(ON) STATIME(1)")
    for _ in range(2):
        closed.close()
    assert [] == caplog.messages


def test_accounting(queues: QueueManager, clock: Stopped) -> None:
    """Each unit of work has a record of its own of what it did, at the end of an interval and at its end."""
    before = queues.work(user="bob", application="old")
    carried_out(queues, "ALTER QMGR ACCTIME(0.05)\nALTER QL(A) ACCTQ(ON)")
    work = queues.work(user="ada", application="orders")
    for persistence in (0, 0, 1):
        work.put("A", Descriptor(persistence=persistence), b"1234", syncpoint=False)
    work.put("B", Descriptor(), b"not accounted", syncpoint=False)
    before.get("A", syncpoint=False)
    before.get("A", Selection(correl_id=b"9" * 24))
    clock.now += 5
    queues.monitoring.run()
    found = {record["application"]: record for record in records(queues, ACCOUNTING)}
    assert {"orders": "ada", "old": "bob"} == {name: record["user"] for name, record in found.items()}
    (put,), (got,) = found["orders"]["queues_of_task"], found["old"]["queues_of_task"]
    assert ("A", [2, 1], [8, 4], [0, 0]) == (put["queue"], put["puts"], put["put_bytes"], put["gets"])
    assert ([0, 1], 1, [0, 0]) == ([0, sum(got["gets"])], got["gets_failed"], got["puts"])
    assert put["put_elapsed"] > 0
    work.put("A", Descriptor(), b"", syncpoint=False)
    del work
    queues.monitoring.run()
    (record,) = records(queues, ACCOUNTING)
    assert ("orders", [1, 0]) == (record["application"], record["queues_of_task"][0]["puts"])
    assert (1, 2) == (found["orders"]["sequence_number"], record["sequence_number"])
    assert found["orders"]["connection"] == record["connection"] != found["old"]["connection"]
    assert f"{id(before):016x}" == found["old"]["connection"][32:]
    carried_out(queues, "ALTER QL(A) ACCTQ(OFF)")
    for _ in range(2):
        clock.now += 5
        queues.monitoring.run()
    assert before.account is None


def test_accounting_of_other_processes(queues: QueueManager, clock: Stopped) -> None:
    """A record has the process that works, and the connection, as DISPLAY CONN shows them."""
    carried_out(queues, "ALTER QMGR ACCTIME(0.05) ACCTQ(ON)")
    work = unprotected(queues.work(), process=4711)
    work.put("A", Descriptor(), b"1", syncpoint=False)
    (shown,) = (one for one in queues.display("CONN") if one["PID"] == 4711)
    clock.now += 5
    queues.monitoring.run()
    (record,) = records(queues, ACCOUNTING)
    assert (4711, f"{shown['EXTCONN']}{shown['CONN']}") == (record["process"], record["connection"].upper())


def test_accounting_follows_statistics(queues: QueueManager) -> None:
    """ACCTIME(-1) is the interval of statistics."""
    carried_out(queues, "ALTER QMGR STATIME(0.07) ACCTQ(ON)")
    shown = queues.display("QMGR", "")[0]
    assert ("-1", "0.07") == (shown["ACCTIME"], shown["CURACCTIME"])


def test_in_time(tmp_path: Path) -> None:
    """Records come by themselves when their time is over, over the socket as well, and with the end of all."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as manager, serving(manager, tmp_path / "QM") as client:
        assert not [one for one in client.mqsc("DEFINE QL(Q) STATQ(ON)\nALTER QMGR STATIME(0.01)") if one.failed]
        work = client.work()
        work.put("Q", Descriptor(persistence=1), b"1")
        work.commit()
        arrival = work.get(STATISTICS, wait=5)
        assert arrival is not None
        found = pcf.read(arrival.body)
        assert found is not None
        assert [{"Q": [0, 1]}] == [{one["queue"]: one["puts"]} for one in found["queues"]]  # type: ignore[attr-defined]
        snapshot = {one["queue"]: one for one in client.statistics()}
        assert ([0, 1], 1) == (snapshot["Q"]["puts"], snapshot["Q"]["depth"])
        work.commit()
    with QueueManager.open(tmp_path / "QM") as manager:
        assert manager.depth(STATISTICS) > 0
        began = time.monotonic()
        assert manager.work().get(STATISTICS) is not None
        assert time.monotonic() - began < 5


def test_as_json() -> None:
    """A record that is printed as JSON says what it has, and is the same record when it is put again."""
    record = pcf.written("statistics", {"queue_manager": "QM", "queues": [{"queue": "A", "put_bytes": [1 << 40, 0]}]})
    line = to_line(Descriptor(format=pcf.FORMAT), record)
    assert [{"queue": "A", "put_bytes": [1 << 40, 0]}] == json.loads(line)["pcf"]["queues"]
    assert record == from_line(line)[1]


@pytest.mark.parametrize("cut", [0, 10, 36, 50, -1])
def test_what_is_no_record(cut: int) -> None:
    """Bytes that are no record, or not all of one, are a body like any other."""
    record = pcf.written("statistics", {"queue_manager": "QM", "queues": [{"queue": "A"}]})
    assert pcf.read(record[:cut]) is None
    assert "pcf" not in to_line(Descriptor(format=pcf.FORMAT), record[:cut])


def test_numbers_that_are_written_often() -> None:
    """A form writes what parameters one by one are, also numbers that four bytes do not hold."""
    for puts, size in ((3, 4), (1 << 40, 1 << 40)):
        pairs = pcf.Numbers(["puts", "put_bytes"], 2).written((puts, size), (1, 2))
        single = pcf.Numbers([], 0, ["depth", "put_cpu"]).written((puts, size))
        expected = {"puts": [puts, 1], "put_bytes": [size, 2], "depth": puts, "put_cpu": size}
        assert pcf.written("accounting", expected) == pcf.record("accounting", [pairs, single])


def test_all_that_a_task_did(queues: QueueManager) -> None:
    """A record of accounting has each kind of call, by persistence, and what failed; a second one what came since."""
    carried_out(queues, "ALTER QMGR ACCTQ(ON)\nDEFINE QL(FULL) MAXDEPTH(0)")
    work, found = queues.work(), []
    for rounds in (1, 2):
        for _ in range(rounds):
            for persistence in (0, 1, 1):
                work.put("A", Descriptor(persistence=persistence), bytes(10 + persistence), syncpoint=False)
            work.get("A", Selection(browse=True, rewind=True), syncpoint=False)
            while work.get("A", syncpoint=False) is not None:
                pass
            with pytest.raises(MessageException):
                work.put("FULL", Descriptor(), b"")
        account = work.account
        assert account is not None
        queues.monitoring.accounting._write(account, {tally.key for tally in account.tallies.values()}, 1.0)
        found += records(queues, ACCOUNTING)
    for rounds, record in zip((1, 2), found, strict=True):
        a, full = record["queues_of_task"]
        expected = {"puts": [1, 2], "put_bytes": [10, 22], "gets": [1, 2], "get_bytes": [10, 22], "browses": [1, 0]}
        assert {name: [rounds * one for one in pair] for name, pair in expected.items()} == {
            name: a[name] for name in expected
        }
        assert (rounds, 0, rounds) == (a["gets_failed"], a["puts_failed"], full["puts_failed"])
        assert min(a["put_elapsed"], a["put_cpu"], a["get_elapsed"], a["get_cpu"]) > 0


def test_a_task_may_end_anywhere() -> None:
    """A unit of work that the interpreter removes while its queue manager looks what is due holds nobody up."""
    queues = QueueManager("A")
    carried_out(queues, "ALTER QMGR ACCTQ(ON)")
    units, files = [queues.work() for _ in range(500)], {threading.__file__, "engine/mq/monitoring.py"}

    def end_one(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and units:
            units.pop()
        return end_one if frame.f_code.co_filename.endswith(tuple(files)) else None

    def tell() -> None:
        sys.settrace(end_one)
        queues.monitoring.change()

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    thread.join(20)
    assert (False, True) == (thread.is_alive(), len(units) < 500)
    queues.close()

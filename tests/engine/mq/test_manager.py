"""The queue manager: what it refuses, aliases, expiry, reports, cursors and waits, on queues in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.flow.dead_letters import put_away
from engine.mq import QueueManager
from engine.mq.unit import Work
from engine.mq.waiting_gets import register
from engine.work import Selection

COA, COD, EXPIRATION = 0x100, 0x800, 0x200000
ANSWERED = (COA, COD | 0x1000, EXPIRATION, 0x7000000, 0x1, 0x2, 0x4)  # exceptions, PAN, NAN and activity behind them


def manager(**queues: Mapping[str, object]) -> QueueManager:
    """A queue manager with these queues, underscores in names for dots."""
    made = QueueManager()
    for name, attributes in queues.items():
        made.define("QLOCAL", name.replace("_", "."), attributes)
    return made


def put(work: Work, queue: str, *bodies: bytes, **fields: object) -> None:
    for body in bodies:
        work.put(queue, Descriptor(**fields), body)  # type: ignore[arg-type]
    work.commit()


def bodies(queues: QueueManager, queue: str) -> list[bytes]:
    return [arrival.body for arrival in queues.browse(queue)]


UNKNOWN = 0x10000000, 0x100000, 0x80000, 0x40000, 0x20000, 0x10000, 0x8000  # report options, of the rejected places
WRONG: list[tuple[int, dict[str, int]]] = [
    *((2029, {"msg_type": kind}) for kind in (0, -1, 1_000_000_000)),
    *((2061, {"report": option}) for option in UNKNOWN),
    (2061, {"report": -1}),
    *((2249, {"msg_flags": flag}) for flag in (0x20, 0x800, 0x1000, 0x80000)),
    *((2014, {"feedback": feedback}) for feedback in (-1, 1_000_000_000)),
    *((2250, {"msg_flags": flag, "msg_seq_number": number}) for flag, number in ((8, 0), (16, 1_000_000_000))),
    *((2251, {"msg_flags": flag, "offset": offset}) for flag, offset in ((2, -16), (4, 1_000_000_000))),
]
ACCEPTED: list[dict[str, int]] = [
    *({"msg_type": kind} for kind in (2, 3, 4, 8, 112, 65_535, 65_536, 999_999_999)),
    *({"report": option} for option in (0x8, 0x10, 0x20, 0x20000000, 0x40000000, -(1 << 31), 0x4000, 0x8000000)),
    *({"msg_flags": flag} for flag in (1, 2, 8, 31, 0x100000)),
    {"feedback": 999_999_999},
    {"msg_seq_number": 0},
]
REFUSED: list[tuple[int, Callable[[QueueManager, Work], object]]] = [
    (2085, lambda _, work: work.put("NONE", Descriptor(), b"")),
    (2085, lambda _, work: work.get("NONE")),
    (2051, lambda _, work: work.put("SHUT", Descriptor(), b"")),
    (2016, lambda _, work: work.get("SHUT")),
    (2051, lambda _, work: work.put("TO.SHUT", Descriptor(), b"")),
    (2016, lambda _, work: work.get("TO.SHUT")),
    (2053, lambda _, work: (work.put("SMALL", Descriptor(), b"1"), work.put("SMALL", Descriptor(), b"2"))),
    (2030, lambda _, work: work.put("SMALL", Descriptor(), b"12345")),
    (2031, lambda _, work: work.put("BIG", Descriptor(), bytes(40_000))),
    (2082, lambda _, work: work.put("TO.NOWHERE", Descriptor(), b"")),
    (2001, lambda _, work: work.put("TO.ALIAS", Descriptor(), b"")),
    (2013, lambda _, work: work.put("BIG", Descriptor(expiry=0), b"")),
    (2024, lambda _, work: [work.put("BIG", Descriptor(), b"") for _ in range(4)]),
    (2027, lambda _, work: work.put("BIG", Descriptor(msg_type=1), b"")),
    (2027, lambda _, work: work.put("BIG", Descriptor(msg_type=1, reply_to_q="  "), b"")),
    (2027, lambda _, work: work.publish("prices", Descriptor(msg_type=1), b"")),
    (2027, lambda _, work: work.publish("prices", Descriptor(report=COA), b"")),
    *((2027, lambda _, work, option=option: work.put("BIG", Descriptor(report=option), b"")) for option in ANSWERED),
    (2026, lambda _, work: work.publish("prices", Descriptor(report=COA, reply_to_q="R" * 49), b"")),
    *((reason, lambda _, work, wrong=wrong: work.put("BIG", Descriptor(**wrong), b"")) for reason, wrong in WRONG),
    *((reason, lambda _, work, wrong=wrong: work.publish("a", Descriptor(**wrong), b"")) for reason, wrong in WRONG),
    (2459, lambda _, work: work.get("BIG", Selection(selector="colour ="))),
    (2100, lambda queues, _: queues.define("QLOCAL", "BIG", {})),
    (2100, lambda queues, _: queues.define("QALIAS", "BIG", {}, replace=True)),
    (2085, lambda queues, _: queues.alter("QLOCAL", "NONE", {"MAXDEPTH": 1})),
    (2085, lambda queues, _: queues.delete("QALIAS", "BIG")),
    (4005, lambda queues, _: queues.alter("QLOCAL", "BIG", {"MAXDEPTH": "many"})),
    (2042, lambda queues, work: (work.put("BIG", Descriptor(), b""), queues.delete("QLOCAL", "BIG", purge=True))),
    (2055, lambda queues, work: (put(work, "BIG", b""), queues.delete("QLOCAL", "BIG"))),
]


@pytest.mark.parametrize(("reason", "act"), REFUSED)
def test_refusals(reason: int, act: Callable[[QueueManager, Work], object]) -> None:
    """What a queue manager does not do is refused by MQ's reason, and the unit of work goes on without it."""
    queues = manager(SHUT={"GET": "DISABLED", "PUT": "DISABLED"}, SMALL={"MAXDEPTH": 1, "MAXMSGL": 4}, BIG={})
    for alias, target in (("TO.SHUT", "SHUT"), ("TO.NOWHERE", "NOWHERE"), ("TO.ALIAS", "TO.SHUT")):
        queues.define("QALIAS", alias, {"TARGET": target})
    queues.alter("QMGR", "", {"MAXUMSGS": 3, "MAXMSGL": 32_768})
    work = queues.work()
    with pytest.raises(MessageException) as caught:
        act(queues, work)
    assert reason == caught.value.reason
    work.back_out()
    put(work, "BIG", b"goes on")
    assert b"goes on" in bodies(queues, "BIG")


@pytest.mark.parametrize("fields", [{}, {"msg_type": 1, "reply_to_q": "Q"}, {"put_date": "20260101"}])
def test_the_character_set_of_the_queue_manager_is_said(fields: dict[str, Any]) -> None:
    """A message that leaves its CCSID to the queue manager has that one, on queues and as it is published."""
    queues = manager(Q={})
    queues.mqsc("DEFINE SUB(S) TOPICSTR('a') DEST(Q) PSPROP(NONE)")
    work = queues.work()
    assert 1208 == work.put("Q", Descriptor(coded_char_set_id=0, **fields), b"").coded_char_set_id
    work.publish("a", Descriptor(coded_char_set_id=0, **fields), b"")
    work.commit()
    assert [1208, 1208] == [arrival.descriptor.coded_char_set_id for arrival in queues.browse("Q")]


@pytest.mark.parametrize("fields", ACCEPTED)
def test_types_options_and_flags_that_are_put(fields: dict[str, int]) -> None:
    """Types of MQ and of programs are put, and unknown options in the places that MQ accepts them in, as they are."""
    queues = manager(Q={})
    work = queues.work()
    put(work, "Q", b"", **fields)
    arrival = work.get("Q")
    assert arrival is not None
    assert fields == {name: getattr(arrival.descriptor, name) for name in fields}


def test_an_alias_is_its_queue_under_another_name_with_defaults_of_its_own() -> None:
    """What is put to an alias is on its queue, with the alias's default priority and persistence."""
    queues = manager(BASE={"DEFPRTY": 2, "BOTHRESH": 3})
    queues.define("QALIAS", "FRONT", {"TARGET": "BASE", "DEFPRTY": 7, "DEFPSIST": "YES"})
    work = queues.work()
    own = work.put("FRONT", Descriptor(priority=-1, persistence=2), b"x")
    work.commit()
    assert (7, 1) == (own.priority, own.persistence)
    assert (1, 3) == (queues.depth("FRONT"), getattr(work.attributes("FRONT"), "backout_threshold", None))
    arrival = work.get("FRONT")
    assert arrival is not None
    assert b"x" == arrival.body


def test_fifo_keeps_arrival_order_whatever_priorities_say() -> None:
    """MSGDLVSQ(FIFO) gives messages by arrival; after an ALTER, new ones by priority."""
    queues = manager(Q={"MSGDLVSQ": "FIFO"})
    work = queues.work()
    for priority in (0, 9, 4):
        put(work, "Q", b"%d" % priority, priority=priority)
    assert [b"0", b"9", b"4"] == bodies(queues, "Q")
    queues.alter("QLOCAL", "Q", {"MSGDLVSQ": "PRIORITY"})
    put(work, "Q", b"new", priority=1)
    assert [b"new", b"0", b"9", b"4"] == bodies(queues, "Q")


def test_display_shows_what_was_defined_and_how_deep_queues_are() -> None:
    """DISPLAY takes a pattern, shows attributes under MQ's names, and counts uncommitted puts and open handles."""
    queues = manager(A_ONE={"MAXDEPTH": 7}, A_TWO={}, B={})
    work = queues.work()
    work.put("A.ONE", Descriptor(), b"")
    work.get("A.ONE")
    shown = queues.display("QLOCAL", "A.*")
    assert ["A.ONE", "A.TWO"] == [one["QUEUE"] for one in shown]
    assert (7, 1, 1, 1) == tuple(shown[0][name] for name in ("MAXDEPTH", "CURDEPTH", "IPPROCS", "OPPROCS"))
    assert "QM" == queues.display("QMGR")[0]["QMNAME"]


@pytest.mark.parametrize(
    "look", [None, Selection(msg_id=b"m" * 24), Selection(selector="JMSPriority = 0"), Selection(browse=True)]
)
def test_a_message_past_its_expiry_is_never_delivered(look: Selection | None) -> None:
    """A message is given with what remains of its expiry; once that has passed it counts until someone meets it."""
    now = [1_000.0]
    queues = QueueManager("IN", "REPORTS", clock=lambda: now[0])
    work = queues.work()
    put(work, "IN", b"late", expiry=50, msg_id=b"m" * 24, report=EXPIRATION, reply_to_q="REPORTS")
    now[0] += 2
    arrival = work.get("IN", Selection(browse=True))
    assert arrival is not None
    assert 30 == arrival.descriptor.expiry
    now[0] += 3
    assert 1 == queues.depth("IN")
    assert queues.work().get("IN", look) is None
    assert 0 == queues.depth("IN")
    report = work.get("REPORTS")
    assert report is not None
    assert (4, 258, b"m" * 24, b"") == (
        report.descriptor.msg_type, report.descriptor.feedback, report.descriptor.correl_id, report.body
    )  # fmt: skip


def test_the_expiry_task_removes_what_is_late_and_nothing_else() -> None:
    """A run removes messages whose time has passed, but for those that a unit of work has."""
    now = [1_000.0]
    queues = QueueManager("IN", clock=lambda: now[0])
    work, other = queues.work(), queues.work()
    for expiry in (10, -1, 20, 10):
        put(work, "IN", b"%d" % expiry, expiry=expiry)
    assert other.get("IN") is not None
    now[0] += 1.5
    assert 1 == queues.expire()
    other.back_out()
    assert 1 == queues.expire()
    assert [b"-1", b"20"] == bodies(queues, "IN")


REPORTED: list[tuple[int, int, bytes, bool]] = [
    (COA, 259, b"", True),
    (COA | 0x600, 259, bytes(200), True),
    (COA | 0x200, 259, bytes(100), True),
    (COD, 260, b"", False),
    (COD | 0x1000, 260, bytes(100), False),
]


@pytest.mark.parametrize(("option", "feedback", "body", "at_put"), REPORTED)
def test_confirmations(option: int, feedback: int, body: bytes, at_put: bool) -> None:
    """A confirmation comes with the unit of work that it confirms, with as much of the message as was asked for."""
    queues = manager(IN={}, REPORTS={})
    work = queues.work()
    own = work.put("IN", Descriptor(report=option, reply_to_q="REPORTS", correl_id=b"c" * 24), bytes(200))
    assert 0 == queues.depth("REPORTS")
    work.commit()
    assert at_put == bool(queues.depth("REPORTS"))
    work.get("IN")
    work.back_out()
    assert at_put == bool(queues.depth("REPORTS"))
    work.get("IN")
    work.commit()
    assert 1 == queues.depth("REPORTS")
    report = queues.browse("REPORTS")[0]
    assert (feedback, own.msg_id, body) == (report.descriptor.feedback, report.descriptor.correl_id, report.body)


@pytest.mark.parametrize("persistence", [0, 1])
def test_a_confirmation_is_part_of_the_unit_that_its_message_is_part_of(persistence: int) -> None:
    """Where the message says whether it is got in the unit, it says so of its confirmation too."""
    queues = manager(IN={}, REPORTS={})
    work = queues.work()
    put(work, "IN", b"", report=COD, reply_to_q="REPORTS", persistence=persistence)
    assert work.get("IN", syncpoint=None) is not None
    assert 1 - persistence == queues.depth("REPORTS")
    work.back_out()
    assert (persistence, 1 - persistence) == (queues.depth("IN"), queues.depth("REPORTS"))


@pytest.mark.parametrize(
    ("asked", "passed", "left"), [(0, 0, (-1, -1)), (0x4000, 0, (100, 60)), (0x8004000, 0x8000000, (100, 60))]
)
def test_reports_have_what_is_left_of_the_expiry_where_that_is_asked_for(
    asked: int, passed: int, left: tuple[int, int]
) -> None:
    """A message that passes them on has its reports discarded as itself, when it would expire; others stay."""
    now = [1_000.0]
    queues = QueueManager("IN", "REPORTS", clock=lambda: now[0])
    work = queues.work()
    put(work, "IN", b"", report=COA | COD | asked, reply_to_q="REPORTS", expiry=100)
    now[0] += 4
    assert work.get("IN") is not None
    work.commit()
    now[0] -= 4
    reports = [one.descriptor for one in queues.browse("REPORTS")]
    assert [passed, passed] == [one.report for one in reports]
    assert left[0] == reports[0].expiry
    now[0] += 4
    assert left[1] == queues.browse("REPORTS")[1].descriptor.expiry


def test_an_exception_report() -> None:
    """A message that is put away on the dead-letter queue and asks for it has its sender told the reason."""
    queues = manager(IN={}, REPORTS={})
    work = queues.work()
    put(work, "IN", b"x" * 300, report=0x3000000, reply_to_q="REPORTS", format="MQSTR")
    arrival = work.get("IN")
    assert arrival is not None
    put_away("IN", *arrival, work, reason=2362)
    assert 0 == queues.depth("REPORTS")
    work.commit()
    report = queues.browse("REPORTS")[0]
    assert (2362, arrival.descriptor.msg_id, "MQSTR", b"x" * 100) == (
        report.descriptor.feedback, report.descriptor.correl_id, report.descriptor.format, report.body
    )  # fmt: skip


def test_a_report_that_cannot_be_delivered_goes_to_the_dead_letter_queue() -> None:
    """A report whose queue is not there is on the dead-letter queue, with an MQDLH that says why."""
    queues = manager(IN={})
    work = queues.work()
    put(work, "IN", b"body", report=COA | 0x200, reply_to_q="NOWHERE", format="MQSTR")
    (letter,) = queues.browse(queues.dead_letter_queue)
    assert ("MQDEAD", 259, 4) == (letter.descriptor.format, letter.descriptor.feedback, letter.descriptor.msg_type)
    assert (b"DLH ", b"body") == (letter.body[:4], letter.body[172:])
    assert (2085, b"NOWHERE", b"MQSTR") == (
        int.from_bytes(letter.body[8:12], "little"), letter.body[12:60].rstrip(), letter.body[116:124].rstrip()
    )  # fmt: skip


def test_a_cursor_shows_each_message_once_while_others_put_and_get() -> None:
    """A cursor goes on through what changes: what is gone is not shown, what comes behind it is."""
    queues = manager(Q={})
    work = queues.work()
    put(work, "Q", b"1", b"2", b"3")
    cursor = queues.cursor("Q")
    assert b"1" == next(cursor).body
    work.get("Q")
    work.get("Q")
    work.commit()
    put(work, "Q", b"4")
    put(work, "Q", b"before", priority=5)
    assert [b"3", b"4"] == [arrival.body for arrival in cursor]


def test_a_selector_scan_goes_on_where_it_stood() -> None:
    """A second look with the same selector asks only what has come since, or came back."""
    queues = manager(Q={})
    work, other = queues.work(), queues.work()
    put(work, "Q", *[b"%d" % number for number in range(5)], priority=1)
    high = Selection(selector="JMSPriority > 4")
    assert other.get("Q") is not None
    assert work.get("Q", high) is None
    put(work, "Q", b"high", priority=5)
    assert b"high" == getattr(work.get("Q", high), "body", None)
    work.back_out()
    assert b"high" == getattr(work.get("Q", high), "body", None)
    work.commit()
    assert work.get("Q", high) is None
    other.back_out()
    assert [b"0", b"1", b"2", b"3", b"4"] == bodies(queues, "Q")


def test_purge_and_clear() -> None:
    """A purge takes what can be got; CLEAR is refused where a unit of work has messages of the queue."""
    queues = manager(Q={})
    work = queues.work()
    put(work, "Q", *[b""] * 2500)
    work.get("Q")
    with pytest.raises(MessageException, match="uncommitted"):
        queues.clear("Q")
    assert 2499 == queues.purge("Q")
    work.back_out()
    queues.clear("Q")
    assert 0 == queues.depth("Q")


def test_a_message_for_who_waits_is_given_beside_the_queue() -> None:
    """Who waits has the message in its unit, with the backout count as ever; who waits no longer has it go back."""
    queues = manager(Q={})
    work, other, woken = queues.work(), queues.work(), list[bool]()
    assert work.get("Q") is None
    waiting = register(work, "Q", None, lambda: woken.append(True), takes=True)
    put(other, "Q", b"first", b"second")
    assert ([True], [b"second"]) == (woken, bodies(queues, "Q"))
    arrival = waiting.taken(syncpoint=True)
    assert arrival is not None
    assert b"first" == arrival.body
    assert waiting.taken(syncpoint=True) is None
    work.back_out()
    assert [1, 0] == [one.descriptor.backout_count for one in queues.browse("Q")]
    queues.purge("Q")
    assert work.get("Q") is None
    waiting = register(work, "Q", None, lambda: woken.append(True), takes=True)
    put(other, "Q", b"third")
    assert [] == bodies(queues, "Q")
    waiting.cancel()
    assert [b"third"] == bodies(queues, "Q")
    assert 0 == queues.browse("Q")[0].descriptor.backout_count


@pytest.mark.parametrize(
    "fields", [{"persistence": 1}, {"expiry": 500}, {"group_id": b"G" * 24, "msg_flags": 24}], ids=str
)
def test_other_messages_go_by_the_queue(fields: dict[str, object]) -> None:
    """A message that lasts, expires, or is one of several is on the queue before who waits for it has it."""
    queues = manager(Q={})
    work, woken = queues.work(), list[bool]()
    assert work.get("Q") is None
    waiting = register(work, "Q", None, lambda: woken.append(True), takes=True)
    put(queues.work(), "Q", b"body", **fields)
    assert ([True], [b"body"]) == (woken, bodies(queues, "Q"))
    assert waiting.taken(syncpoint=True) is None
    waiting.cancel()
    assert work.get("Q") is not None


def test_a_put_of_what_is_no_number_takes_no_place() -> None:
    """A put that fails as its descriptor has no number where one belongs leaves the queue as it was."""
    queues = QueueManager("Q")
    queues.mqsc("ALTER QLOCAL(Q) MAXDEPTH(1)")
    work = queues.work()
    with pytest.raises(TypeError):
        work.put("Q", Descriptor(encoding=cast("int", None)), b"")
    work.put("Q", Descriptor(), b"", syncpoint=False)
    assert 1 == queues.depth("Q")

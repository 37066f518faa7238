"""Groups in logical order, in units of work and outside them: one way for all messages of a group."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP, NO_ID, Descriptor
from engine.mq import QueueManager
from engine.work import Selection
from tests.engine.mq.served import refused, serving

LOGICAL = Selection(logical=True)
BROWSED = Selection(logical=True, browse=True)


@pytest.fixture(params=["in the process", "over a socket"])
def queues(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """A queue manager with two groups of three messages on a queue, and one message of no group between them."""
    manager = QueueManager("Q")
    work = manager.work()
    for name in (b"a1", b"a2", b"a3", b"-", b"b1", b"b2", b"b3"):
        own = (
            Descriptor(group_id=name[:1] * 24, msg_seq_number=int(name[1:]), msg_flags=FLAGS[name[1:]])
            if name[1:]
            else Descriptor()
        )
        work.put("Q", own, name)
    work.commit()
    if request.param == "in the process":
        yield manager
        return
    with serving(manager, tmp_path) as client:
        yield client


FLAGS = {b"1": MSG_IN_GROUP, b"2": MSG_IN_GROUP, b"3": MSG_IN_GROUP | LAST_MSG_IN_GROUP}


def got(work: Any, selection: Selection, *units: bool | None) -> str:
    """Returns the bodies that gets give, each in the unit or outside it."""
    found = [work.get("Q", selection, syncpoint=unit) for unit in units]
    return b" ".join(arrival.body for arrival in found if arrival is not None).decode()


@pytest.mark.parametrize("begins", [True, False])
def test_a_group_goes_on_as_it_was_begun(queues: Any, *, begins: bool) -> None:
    """Its next message is refused the other way (2245), also behind a commit, and is still there the right way."""
    work = queues.work()
    assert "a1" == got(work, LOGICAL, begins)
    for _ in range(2):
        assert 2245 == refused(lambda: work.get("Q", LOGICAL, syncpoint=not begins))
        work.commit()
    assert "a2 a3" == got(work, LOGICAL, begins, begins)
    assert "- b1" == got(work, LOGICAL, not begins, not begins)
    assert 2245 == refused(lambda: work.get("Q", LOGICAL, syncpoint=begins))
    work.back_out()
    assert ("" if begins else "- b1") == b" ".join(
        one.body for one in queues.browse("Q") if one.body in {b"-", b"b1"}
    ).decode()


def test_gets_in_any_order_and_browsing_have_no_group_in_hand(queues: Any) -> None:
    """Gets that do not ask for logical order are free, and who browses is elsewhere in the queue than who gets."""
    work = queues.work()
    assert "a1" == got(work, LOGICAL, True)
    assert "b2" == got(work, Selection(group_id=b"b" * 24, selector="JMSXGroupSeq = 2"), False)
    assert "- b1" == got(work, BROWSED, False, True)
    assert "a2 a3" == got(work, LOGICAL, True, True)


def test_what_is_got_outside_a_unit_stays_got_when_one_is_backed_out(queues: Any) -> None:
    """The group goes on behind its last message that was got."""
    work = queues.work()
    assert "a1" == got(work, LOGICAL, False)
    work.put("Q", Descriptor(), b"never")
    work.back_out()
    assert "a2 a3" == got(work, LOGICAL, False, False)


def test_a_unit_that_is_backed_out_has_no_group_in_hand_for_gets_outside_it(queues: Any) -> None:
    """After that, the group may be begun outside a unit."""
    work = queues.work()
    assert "a1 a2" == got(work, LOGICAL, True, True)
    work.back_out()
    assert "a1 a2 a3" == got(work, LOGICAL, False, False, False)
    assert 4 == queues.depth("Q")


def test_a_group_that_was_whole_outside_a_unit_stays_whole_when_one_is_backed_out(queues: Any) -> None:
    """The rest of a group whose first was got for good is got though it is not whole any more."""
    work = queues.work()
    assert "a1" == got(work, Selection(whole_groups=True), False)
    work.put("Q", Descriptor(), b"never")
    work.back_out()
    assert "a2 a3" == got(work, Selection(whole_groups=True), False, False)


def test_a_group_that_was_whole_when_it_was_browsed_is_so_for_who_browses(queues: Any) -> None:
    """Who browses is shown the rest of it, and who gets is not given what is no whole group."""
    work, browsed = queues.work(), Selection(whole_groups=True, browse=True)
    assert "a1" == got(work, browsed, True)
    assert "a3" == got(queues.work(), Selection(group_id=b"a" * 24, selector="JMSXGroupSeq = 3"), False)
    assert "a2 -" == got(work, browsed, True, True)
    assert "- b1" == got(work, Selection(whole_groups=True), True, True)


@pytest.mark.parametrize("logical", [True, False])
def test_a_group_with_the_id_of_one_that_was_got_waits_for_its_messages(queues: Any, *, logical: bool) -> None:
    """Where whole groups alone are wanted, one is whole that was whole before, and not another of its name."""
    whole = Selection(whole_groups=True, logical=logical)
    work = queues.work()
    assert "a1 a2 a3" == got(work, whole, True, True, True)
    work.back_out()
    assert "a1 a2" == got(work, whole, True, True)
    work.commit()
    assert "a3 - b1" == got(work, whole, True, True, True)
    work.commit()
    work.put("Q", Descriptor(group_id=b"a" * 24, msg_flags=MSG_IN_GROUP), b"a1")
    work.commit()
    assert "b2 b3" == got(work, whole, True, True, True)
    work.put("Q", Descriptor(group_id=b"a" * 24, msg_seq_number=2, msg_flags=LAST_MSG_IN_GROUP), b"a2")
    work.commit()
    assert "a1 a2" == got(work, whole, True, True, True)


@pytest.mark.parametrize(
    ("flags", "kept"), [(8, 8), (16, 24), (2, 2), (4, 6), (1, 1), (20, 30), (0x100000, 0x100000), (0, 0)]
)
def test_flags_that_others_imply_and_the_id_that_they_want(queues: Any, flags: int, kept: int) -> None:
    """The last of a group is in it, the last segment is one, and the queue manager gives a group id where none is."""
    work = queues.work()
    given = Descriptor(msg_flags=flags, put_date="20260101")
    own = [work.put("Q", given, b"own", syncpoint=unit) for unit in (True, True, False)]
    other = work.put("Q", given._replace(group_id=b"g" * 24), b"own")
    work.commit()
    found = [arrival.descriptor for arrival in queues.cursor("Q") if arrival.body == b"own"]
    assert {tuple(one) for one in found} == {tuple(one) for one in (*own, other)}
    assert [kept] * 4 == [one.msg_flags for one in found]
    ids = {one.group_id for one in own}
    assert ids == {NO_ID} if flags in {0, 0x100000} else len(ids - {NO_ID}) == 3
    assert b"g" * 24 == other.group_id

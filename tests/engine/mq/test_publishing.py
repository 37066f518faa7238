"""Publish/subscribe: which subscriptions get a publication, in which form, in which unit of work."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager
from engine.mq.addresses import owner_name
from engine.mq.properties import join, properties_of, split
from engine.mq.topics.retained import retained_topics
from engine.work import Selection

RED = join({"colour": "red"}, Descriptor(format="MQSTR"), b"body")


def manager(*commands: str, queues: tuple[str, ...] = ("A", "B", "C")) -> QueueManager:
    """Returns a queue manager with queues, after these commands."""
    made = QueueManager(*queues, name="QM1")
    for answer in made.mqsc("\n".join(commands)):
        assert not answer.failed, answer
    return made


def bodies(queues: QueueManager, *names: str) -> list[list[bytes]]:
    """Returns the bodies on each queue."""
    return [[split(*arrival)[2] for arrival in queues.browse(name)] for name in names]


def test_copies() -> None:
    """Each subscription that fits gets a message with an id of its own and the subscription's correlation id."""
    queues = manager(
        "DEFINE SUB(ONE) TOPICSTR('news/+') DEST(A)",
        "DEFINE SUB(TWO) TOPICSTR('news/#') DEST(B) DESTCORL('01')",
        "DEFINE SUB(THREE) TOPICSTR('sport/#') DEST(C)",
    )
    given = Descriptor(
        priority=7, report=3, correl_id=b"\x05" * 24, reply_to_q="R", format="MQSTR", msg_id=b"\x09" * 24
    )
    queues.publish("news/rain", given, b"wet")
    (one,), (two,) = queues.browse("A"), queues.browse("B")
    assert ([[b"wet"], [b"wet"], []], True) == (bodies(queues, "A", "B", "C"), one.body is two.body)
    assert 3 == len({given.msg_id, one.descriptor.msg_id, two.descriptor.msg_id})
    subscribed = queues.display("SUB", "ONE")[0]["SUBID"]
    assert (subscribed, b"\x01" + bytes(23)) == (one.descriptor.correl_id.hex().upper(), two.descriptor.correl_id)
    assert (7, 0, "R", "MQSTR", "QM1") == tuple(
        getattr(one.descriptor, name) for name in ("priority", "report", "reply_to_q", "format", "put_appl_name")
    )


def test_context() -> None:
    """A copy has its subscription's user, the queue manager's origin, and nothing of the publisher's identity."""
    queues = manager(
        "DEFINE SUB(ONE) TOPICSTR('n') DEST(A)",
        "DEFINE SUB(TWO) TOPICSTR('n') DEST(B) SUBUSER('ann') PSPROP(MSGPROP)",
        "DEFINE SUB(THREE) TOPICSTR('n') DEST(C) SUBUSER('ann') PSPROP(RFH2)",
        "DEFINE SUB(FOUR) TOPICSTR('n') DEST(D) PUBACCT('07') PUBAPPID('mine')",
        queues=("A", "B", "C", "D"),
    )
    given = Descriptor(
        msg_type=1, reply_to_q="R", user_identifier="bob", accounting_token=b"t" * 32, appl_identity_data="who"
    )
    queues.publish("n", given, b"x")
    asked = (1, "R", "")
    for name, user, replies in (("A", owner_name(), asked), ("B", "ann", asked), ("C", "ann", (8, "", "QM1"))):
        (found,) = queues.browse(name)
        told = found.descriptor
        assert (user, bytes(32), "", 26, "QM1") == (*told[14:17], *told[17:19])
        assert replies == (told.msg_type, told.reply_to_q, told.reply_to_q_mgr)
    assert (owner_name(), b"\7" + bytes(31), "mine") == queues.browse("D")[0].descriptor[14:17]


def test_units() -> None:
    """A publication is seen with the commit of its unit, on all queues, and not at all when that is backed out."""
    queues = manager("DEFINE SUB(ONE) TOPICSTR(T) DEST(A)", "DEFINE SUB(TWO) TOPICSTR(T) DEST(B)")
    work = queues.work()
    work.publish("T", Descriptor(), b"1", retain=True)
    assert [[], []] == bodies(queues, "A", "B")
    work.back_out()
    work.publish("T", Descriptor(), b"2")
    work.put("C", Descriptor(), b"3")
    work.commit()
    assert [[b"2"], [b"2"], [b"3"]] == bodies(queues, "A", "B", "C")
    work.publish("T", Descriptor(), b"4", syncpoint=False)
    work.back_out()
    assert [[b"2", b"4"], [b"2", b"4"]] == bodies(queues, "A", "B")


def test_nobody() -> None:
    """A publication that nobody wants is none the less made."""
    assert bytes(24) != manager().publish("T", Descriptor(), b"1").msg_id


SELECTED = (
    ("SELECTOR('colour = ''red''')", True),
    ("SELECTOR('colour = ''blue''')", False),
    ("SELECTOR('size > 3')", False),
    ("SELECTOR('JMSPriority = 2')", True),
    ("REQONLY(YES)", False),
    ("SUBPOINT('eur')", False),
)


@pytest.mark.parametrize(("attributes", "expected"), SELECTED)
def test_selected(attributes: str, expected: bool) -> None:
    """A subscription gets what its selector selects, of its subscription point, unless it asks each time."""
    queues = manager(f"DEFINE SUB(ONE) TOPICSTR(T) DEST(A) {attributes}", "DEFINE SUB(TWO) TOPICSTR(T) DEST(B)")
    descriptor, body = RED
    queues.publish("T", descriptor._replace(priority=2), body)
    assert [[b"body"] * expected, [b"body"]] == bodies(queues, "A", "B")


def test_points() -> None:
    """A publication on a subscription point goes to the subscriptions of that point."""
    queues = manager("DEFINE SUB(ONE) TOPICSTR('t') DEST(A) SUBPOINT('eur')", "DEFINE SUB(TWO) TOPICSTR('t') DEST(B)")
    queues.publish("t", Descriptor(), b"1", point="eur")
    assert [[b"1"], []] == bodies(queues, "A", "B")


def test_content() -> None:
    """A selector that is none of properties is compiled as a filter of bodies, where the caller gives what does it."""
    queues = QueueManager("A", name="QM1")
    answer = queues.mqsc("DEFINE SUB(ONE) TOPICSTR(T) DEST(A) SELECTOR('Body.n > 3')")[0]
    assert (True, "2459" in answer.text) == (answer.failed, True)
    queues.topics.objects.compile_content = lambda text: lambda descriptor, body: body == text.encode()
    queues.mqsc("DEFINE SUB(ONE) TOPICSTR(T) DEST(A) SELECTOR('Body.n > 3')")
    queues.publish("T", Descriptor(), b"Body.n > 3")
    queues.publish("T", Descriptor(), b"other")
    assert ([[b"Body.n > 3"]], "EXTENDED") == (bodies(queues, "A"), queues.display("SUB", "ONE")[0]["SELTYPE"])


def test_characters_that_are_meant() -> None:
    """A pattern whose characters all stand for themselves is one topic, retained ones and WILDCARD(BLOCK) included."""
    queues = manager("DEFINE TOPIC(T) TOPICSTR('t') WILDCARD(BLOCK)")
    queues.publish("t/*", Descriptor(), b"1", retain=True)
    queues.mqsc(
        "DEFINE SUB(ONE) TOPICSTR('t/%*') WSCHEMA(CHAR) DEST(A)\nDEFINE SUB(TWO) TOPICSTR('t/*') WSCHEMA(CHAR) DEST(B)"
    )
    queues.publish("t/*", Descriptor(), b"2")
    assert [[b"1", b"2"], []] == bodies(queues, "A", "B")


def test_inherited() -> None:
    """A topic has what the nearest topic object at it or above says."""
    queues = manager(
        "DEFINE TOPIC(N) TOPICSTR('n') DEFPRTY(4) DEFPSIST(YES) PUB(DISABLED)",
        "DEFINE TOPIC(M) TOPICSTR('n/m') PUB(ENABLED) SUB(DISABLED)",
        "DEFINE SUB(ONE) TOPICSTR('n/+/+') DEST(A)",
    )
    queues.publish("n/m/x", Descriptor(priority=-1, persistence=2), b"")
    assert (4, 1) == queues.browse("A")[0].descriptor[7:9]
    with pytest.raises(MessageException) as caught:
        queues.publish("n/x", Descriptor(), b"")
    assert 2051 == caught.value.reason
    assert "2503" in queues.mqsc("DEFINE SUB(TWO) TOPICSTR('n/m/y') DEST(A)")[0].text


def test_blocked() -> None:
    """A wildcard above a topic that blocks it gets nothing from there; one below does."""
    queues = manager(
        "DEFINE TOPIC(N) TOPICSTR('n/m') WILDCARD(BLOCK)",
        "DEFINE SUB(ONE) TOPICSTR('n/#') DEST(A)",
        "DEFINE SUB(TWO) TOPICSTR('n/m/#') DEST(B)",
    )
    for topic in ("n/m/x", "n/y"):
        queues.publish(topic, Descriptor(), topic.encode())
    assert [[b"n/y"], [b"n/m/x"]] == bodies(queues, "A", "B")


def test_characters() -> None:
    """A subscription of the character scheme has wildcards that are characters."""
    queues = manager("DEFINE SUB(ONE) TOPICSTR('n*/x?') WSCHEMA(CHAR) DEST(A)")
    for topic in ("news/a/b/x1", "news/x", "news/+x1"):
        queues.publish(topic, Descriptor(), topic.encode())
    assert [[b"news/a/b/x1"]] == bodies(queues, "A")


DELIVERIES = (
    ("PMSGDLV(ALL)", 1, True),
    ("PMSGDLV(ALLDUR)", 1, True),
    ("PMSGDLV(ALLAVAIL)", 1, False),
    ("", 1, True),
    ("", 0, False),
    ("NPMSGDLV(ALL)", 0, True),
    ("NPMSGDLV(ALLDUR)", 0, True),
    ("PMSGDLV(ALLAVAIL) NPMSGDLV(ALL)", 1, False),
)


@pytest.mark.parametrize(("attributes", "persistence", "fails"), DELIVERIES)
def test_not_delivered(attributes: str, persistence: int, fails: bool) -> None:
    """A queue that takes nothing fails the publication or not, as the topic has it; what fails goes to nobody."""
    queues = manager(
        "DEFINE QLOCAL(FULL) MAXDEPTH(0)",
        f"DEFINE TOPIC(N) TOPICSTR('n') USEDLQ(NO) {attributes}",
        "DEFINE SUB(ONE) TOPICSTR('n') DEST(A)",
        "DEFINE SUB(TWO) TOPICSTR('n') DEST(FULL)",
    )
    work = queues.work()
    reason = 0
    try:
        work.publish("n", Descriptor(persistence=persistence), b"x")
    except MessageException as error:
        reason = error.reason
    work.commit()
    assert (2502 * fails, [[] if fails else [b"x"]]) == (reason, bodies(queues, "A"))
    assert 0 == queues.display("QLOCAL", "FULL")[0]["CURDEPTH"]


def test_dead_letters() -> None:
    """What a queue does not take goes to the dead-letter queue with the reason, unless the topic says otherwise."""
    queues = manager("DEFINE QLOCAL(FULL) PUT(DISABLED)", "DEFINE SUB(ONE) TOPICSTR('n') DEST(FULL)")
    queues.publish("n", Descriptor(persistence=1, format="MQSTR"), b"x")
    letter = queues.browse(queues.dead_letter_queue)[0]
    assert ("MQDEAD", 2051, b"FULL") == (
        letter.descriptor.format,
        int.from_bytes(letter.body[8:12], "little"),
        letter.body[12:60].rstrip(),
    )


def test_alias() -> None:
    """A put to an alias of a topic is a publication there."""
    queues = manager(
        "DEFINE TOPIC(N) TOPICSTR('n')",
        "DEFINE QALIAS(AL) TARGTYPE(TOPIC) TARGET(N)",
        "DEFINE SUB(ONE) TOPICOBJ(N) TOPICSTR('#') DEST(A)",
        "DEFINE SUB(TWO) TOPICOBJ(N) DEST(B)",
    )
    work = queues.work()
    work.put("AL", Descriptor(), b"x")
    work.commit()
    assert [[b"x"], [b"x"]] == bodies(queues, "A", "B")
    assert "2001" in queues.mqsc("DEFINE SUB(THREE) TOPICSTR(T) DEST(AL)")[0].text
    assert not queues.mqsc("ALTER QALIAS(AL) PUT(DISABLED)")[0].failed
    with pytest.raises(MessageException) as caught:
        work.put("AL", Descriptor(), b"x")
    assert 2051 == caught.value.reason


def test_alias_of_a_topic_that_a_queue_is_called_like() -> None:
    """From an alias of a topic nothing is got, also where a queue has the topic's name; without it nothing is put."""
    queues = manager("DEFINE TOPIC(A) TOPICSTR('n')", "DEFINE QALIAS(AL) TARGTYPE(TOPIC) TARGET(A)")
    work = queues.work()
    work.put("A", Descriptor(), b"of the queue")
    work.commit()
    for wanted in (Selection(), Selection(browse=True)):
        with pytest.raises(MessageException) as caught:
            work.get("AL", wanted)
        assert 2045 == caught.value.reason
    with pytest.raises(MessageException) as caught:
        queues.browse("AL")
    assert (2045, None) == (caught.value.reason, queues.attributes("AL"))
    queues.delete("TOPIC", "A")
    with pytest.raises(MessageException) as caught:
        work.put("AL", Descriptor(), b"x")
    assert 2082 == caught.value.reason


def test_retained() -> None:
    """The last retained publication of a topic is sent to who subscribes later, with word that it was retained."""
    queues = manager("ALTER QLOCAL(A) PROPCTL(ALL)")
    queues.publish("n/a", *RED, retain=True)
    queues.publish("n/a", Descriptor(priority=9, correl_id=b"\x07" * 24), b"1", retain=True)
    queues.publish("n/a", Descriptor(priority=1, format="MQSTR"), b"2", retain=True)
    queues.publish("n/b", Descriptor(), b"3", retain=True)
    queues.publish("n/c", Descriptor(), b"4")
    for command in (
        "DEFINE SUB(ONE) TOPICSTR('n/a') DEST(A) PSPROP(MSGPROP)",
        "DEFINE SUB(TWO) TOPICSTR('n/#') DEST(B)",
        "DEFINE SUB(THREE) TOPICSTR('n/#') DEST(C) REQONLY(YES)",
    ):
        assert not queues.mqsc(command)[0].failed
    assert [[b"2"], [b"3", b"2"], []] == [sorted(found, reverse=True) for found in bodies(queues, "A", "B", "C")]
    found = queues.browse("A")[0]
    assert ({"mqps.Top": "n/a", "mqps.Ret": True}, 1) == (properties_of(*found), found.descriptor.priority)
    assert queues.mqsc("CLEAR TOPICSTR('n/a') CLRTYPE(RETAINED)")[0].failed is False
    (again,) = queues.mqsc("CLEAR TOPICSTR('n/a') CLRTYPE(RETAINED) SCOPE(LOCAL)")
    assert (False, "nothing is retained on n/a.") == (again.failed, again.text)
    queues.mqsc("DEFINE SUB(FOUR) TOPICSTR('n/a') DEST(A)")
    assert [[b"2"]] == bodies(queues, "A")


def test_clear_topics_that_fit() -> None:
    """What is retained on topics that fit wildcards goes at once, or none of it where the user may not clear one."""
    queues = manager()
    queues.mqsc("SET AUTHREC PROFILE('topic://n') OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHADD(PUB)")
    queues.mqsc("SET AUTHREC PROFILE('topic://n/b') OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHRMV(PUB)")
    topics = ("n/a/x", "n/b/x", "n/b/y", "o/x")
    for topic in topics:
        queues.publish(topic, Descriptor(), topic.encode(), retain=True)
    for by_whom, topic, left in (
        (queues.acting_for("ann"), "n/+/x", topics),
        (queues.acting_for("ann"), "n/a/#", topics[1:]),
        (queues, "n/+/x", topics[2:]),
        (queues, "#", ()),
    ):
        (answer,) = by_whom.mqsc(f"CLEAR TOPICSTR('{topic}') CLRTYPE(RETAINED)")
        assert (left == topics, left) == (answer.failed, tuple(sorted(retained_topics(queues, ""))))


def test_retained_in_a_unit() -> None:
    """What is retained changes with the commit of its unit, and comes back with its back-out."""
    queues = manager()
    queues.publish("n", Descriptor(), b"1", retain=True)
    work = queues.work()
    work.publish("n", Descriptor(), b"2", retain=True)
    work.back_out()
    queues.mqsc("DEFINE SUB(ONE) TOPICSTR('n') DEST(A)")
    assert [[b"1"]] == bodies(queues, "A")


def test_managed() -> None:
    """A managed subscription has a queue of its own, which goes with it."""
    queues = manager("DEFINE SUB(ONE) TOPICSTR('n') DESTCLAS(MANAGED)")
    queue = str(queues.display("SUB", "ONE")[0]["DEST"])
    queues.publish("n", Descriptor(), b"1")
    assert (True, 1) == (queue.startswith("SYSTEM.MANAGED.DURABLE."), queues.depth(queue))
    queues.mqsc("DELETE SUB(ONE)")
    assert queue not in queues.names()


@pytest.mark.parametrize("topic", ["n", "n/#"])
def test_retained_while_it_is_replaced(topic: str) -> None:
    """A new subscriber is sent what is retained until a unit that replaces it commits, and then what replaces it."""
    queues = manager()
    queues.publish("n", Descriptor(), b"1", retain=True)
    work = queues.work()
    for body in (b"2", b"3"):
        work.publish("n", Descriptor(), body, retain=True)
    for name in "AB":
        queues.define("SUB", name, {"TOPICSTR": topic, "DEST": name})
        work.commit()
    work.publish("n", Descriptor(), b"4", retain=True)
    queues.define("SUB", "C", {"TOPICSTR": topic, "DEST": "C"})
    work.back_out()
    assert [[b"1", b"3"], [b"3"], [b"3"]] == bodies(queues, "A", "B", "C")


def test_what_is_retained_has_no_past() -> None:
    """A retained publication that a unit replaced in vain comes to a new subscriber with a backout count of nothing."""
    queues = manager()
    queues.publish("n", Descriptor(), b"1", retain=True)
    work = queues.work()
    work.publish("n", Descriptor(), b"2", retain=True)
    work.back_out()
    queues.define("SUB", "S", {"TOPICSTR": "n", "DEST": "A"})
    assert [(0, b"1")] == [(one.descriptor.backout_count, one.body) for one in queues.browse("A")]

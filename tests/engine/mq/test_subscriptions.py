"""Subscriptions and topics as commands define, alter, replace, display and refuse them."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq.addresses import owner_name
from tests.engine.mq.test_commands import OK, REG, ask, error
from tests.engine.mq.test_commands import manager as listening
from tests.engine.mq.test_publishing import bodies, manager

REFUSED = (
    ("DEFINE SUB(ONE) TOPICSTR(T)", "says nowhere to send to: give it DEST(QUEUE), or DESTCLAS(MANAGED) (2085)"),
    ("DEFINE SUB(ONE) TOPICSTR(T) DEST(A) DESTCLAS(MANAGED)", "4005"),
    ("DEFINE SUB(' ') TOPICSTR(T) DEST(A)", "2440"),
    ("DEFINE SUB(ONE) DEST(A)", "2425"),
    ("DEFINE SUB(ONE) TOPICSTR(T) DEST(NONE)", "2085"),
    ("DEFINE SUB(ONE) TOPICSTR(T) TOPICOBJ(NONE) DEST(A)", "2085"),
    ("DEFINE SUB(ONE) TOPICSTR(T) DEST(A) SELECTOR('a = ')", "2459"),
    ("DEFINE SUB(ONE) TOPICSTR(T) DEST(A) DESTCORL('xyz')", "2207"),
    ("DEFINE SUB(ONE) TOPICSTR(T) DEST(A) PUBACCT('xyz')", "4005"),
    ("ALTER SUB(THERE) PUBACCT('0')", "4005"),
    ("DEFINE SUB(ONE) TOPICSTR(T) DEST(A) SUBLEVEL(2)", "3213"),
    ("DEFINE TOPIC(N) TOPICSTR('n') MCAST(ENABLED)", "4005"),
    ("DEFINE TOPIC(N) TOPICSTR('n') MDURMDL(M)", "3213"),
    ("DEFINE SUB(ONE) TOPICSTR('a%b') WSCHEMA(CHAR) DEST(A)", "2425"),
    ("DEFINE SUB(THERE) TOPICSTR(T) DEST(A)", "2100"),
    ("ALTER SUB(THERE) TOPICSTR('other')", "2510"),
    ("DEFINE SUB(THERE) TOPICSTR('other') DEST(A) REPLACE", "2510"),
    ("ALTER SUB(THERE) TOPICOBJ(THERE)", "2510"),
    ("ALTER SUB(THERE) WSCHEMA(CHAR)", "2510"),
    ("ALTER SUB(THERE) SUBPOINT('p')", "2510"),
    ("ALTER SUB(THERE) DESTCLAS(MANAGED)", "2533"),
    ("ALTER SUB(OWN) DEST(A)", "2533"),
    ("DEFINE SUB(OWN) TOPICSTR('t') DEST(A) REPLACE", "2533"),
    ("ALTER TOPIC(THERE) TOPICSTR('other')", "3213"),
    ("ALTER SUB(NONE) DEST(A)", "2085"),
    ("DELETE SUB(NONE)", "2085"),
    ("DELETE TOPIC(NONE)", "2085"),
    ("DELETE TOPIC(SYSTEM.BASE.TOPIC)", "2042"),
    ("DEFINE TOPIC(N)", "2425"),
    ("DEFINE TOPIC(N) TOPICSTR('a/#')", "2425"),
    ("DEFINE TOPIC(N) TOPICSTR('there')", "2100"),
    ("CLEAR TOPICSTR('a')", "CLRTYPE(RETAINED)"),
    ("CLEAR TOPICSTR('a') CLRTYPE(RETAINED) SCOPE(ALL)", "CLRTYPE(RETAINED)"),
    ("DEFINE TOPIC(N) TOPICSTR('n') DEFPRESP(ASYNC)", "DEFPRESP takes one of ASPARENT, SYNC"),
    ("DEFINE SUB(ONE) TOPICSTR('t') DESTCLAS(MANAGED) SELECTOR('a = ')", "2459"),
    ("DISPLAY TPSTATUS('t') TYPE(QUEUE)", "TYPE takes TOPIC, SUB or PUB"),
    ("DISPLAY TPSTATUS('t') TYPE(SUB) NUMPUBS", "no attribute NUMPUBS"),
    ("DISPLAY SBSTATUS(NONE)", "2085"),
    ("DISPLAY SBSTATUS(*) DURABLE(MAYBE)", "DURABLE takes ALL, NO, YES"),
    ("DISPLAY PUBSUB TYPE(REMOTE)", "TYPE takes ALL, CHILD, LOCAL, PARENT"),
)


@pytest.mark.parametrize(("command", "text"), REFUSED)
def test_refused(command: str, text: str) -> None:
    """What cannot be subscribed to, or is there already, is refused with MQ's reason and changes nothing."""
    queues = manager(
        "DEFINE SUB(THERE) TOPICSTR('t') DEST(A)",
        "DEFINE SUB(OWN) TOPICSTR('t') DESTCLAS(MANAGED)",
        "DEFINE TOPIC(THERE) TOPICSTR('there')",
    )
    before = queues.display("SUB", "*"), queues.display("TOPIC", "*"), queues.names()
    answer = queues.mqsc(command)[0]
    assert (True, True) == (answer.failed, text in answer.text), answer
    assert before == (queues.display("SUB", "*"), queues.display("TOPIC", "*"), queues.names())


def test_altered() -> None:
    """A subscription that is altered, replaced or deleted takes what it then asks for."""
    queues = manager("DEFINE SUB('one') TOPICSTR('t') DEST(A)")
    for number, command in enumerate(
        ("ALTER SUB('one') DEST(B)", "DEF SUB('one') REPLACE DEST(C) TOPICSTR('t')", "DELETE SUB(one)")
    ):
        queues.publish("t", Descriptor(), str(number).encode())
        assert not queues.mqsc(command)[0].failed
    queues.publish("t", Descriptor(), b"3")
    assert [[b"0"], [b"1"], [b"2"]] == bodies(queues, "A", "B", "C")


def test_replaced() -> None:
    """What REPLACE does not name has its default again, but for topic, queue and user; nothing ends to be durable."""
    queues = manager(
        "DEFINE SUB(ONE) TOPICSTR('t*') WSCHEMA(CHAR) DEST(A) PUBPRTY(3) SUBUSER('ann')",
        "DEFINE SUB(OWN) TOPICSTR('t') DESTCLAS(MANAGED) USERDATA('x')",
        "DEFINE TOPIC(N) TOPICSTR('n') DESCR('news') PUB(DISABLED)",
    )
    commands = "DEFINE SUB(ONE) REPLACE\nDEFINE SUB(OWN) TOPICSTR('t') REPLACE\nDEFINE TOPIC(N) PMSGDLV(ALL) REPLACE"
    assert not any(answer.failed for answer in queues.mqsc(commands))
    one, own, topic = queues.display("SUB", "ONE")[0], queues.display("SUB", "OWN")[0], queues.display("TOPIC", "N")[0]
    assert ("t*", "CHAR", "A", "ASPUB", "ann") == tuple(
        one[word] for word in ("TOPICSTR", "WSCHEMA", "DEST", "PUBPRTY", "SUBUSER")
    )
    assert ("MANAGED", "") == (own["DESTCLAS"], own["USERDATA"])
    assert ("n", "", "ASPARENT", "ALL") == tuple(topic[word] for word in ("TOPICSTR", "DESCR", "PUB", "PMSGDLV"))
    queues.define("SUB", "ONE", {"DURABLE": "YES"}, replace=True)
    with pytest.raises(MessageException) as caught:
        queues.define("SUB", "ONE", {"DURABLE": "NO"}, replace=True)
    assert 2509 == caught.value.reason


def test_scripts_of_other_queue_managers() -> None:
    """Definitions as MQ writes them are taken, with what means nothing here as by default."""
    queues = manager(
        "DEFINE TOPIC('N') TYPE(LOCAL) TOPICSTR('n') CLROUTE(DIRECT) CLUSTER(' ') COMMINFO(' ') MCAST(ASPARENT) +\n"
        "  MDURMDL(' ') MNDURMDL(' ') PROXYSUB(FIRSTUSE) DEFPRESP(ASPARENT) USEDLQ(ASPARENT) REPLACE",
        "DEFINE SUB('S') TOPICSTR('t') TOPICOBJ(' ') DEST('A') DESTQMGR(' ') PUBACCT('') PUBAPPID(' ') SUBLEVEL(1) +\n"
        "  EXPIRY(UNLIMITED) VARUSER(ANY) WSCHEMA(TOPIC) SUBSCOPE(ALL) PUBPRTY(ASPUB) REPLACE",
    )
    queues.publish("t", Descriptor(), b"1")
    assert [[b"1"]] == bodies(queues, "A")


def test_the_owner_subscribes() -> None:
    """A subscription that names no user is shown with the owner's name, in its status as well."""
    queues = manager("DEFINE SUB(ONE) TOPICSTR('t') DEST(A)", "DEFINE SUB(TWO) TOPICSTR('t') DEST(A) SUBUSER('ann')")
    for command in ("DISPLAY SUB(*) SUBUSER", "DISPLAY SBSTATUS(*) SUBUSER"):
        (answer,) = queues.mqsc(command)
        assert [owner_name(), "ann"] == [dict(one)["SUBUSER"] for one in answer.objects]


def test_displayed() -> None:
    """Topics and subscriptions are displayed with their attributes."""
    queues = manager("DEFINE TOPIC(N) TOPICSTR('n') DESCR('news')", "DEFINE SUB(ONE) TOPICSTR('n/#') DEST(A)")
    topic, sub = queues.mqsc("DISPLAY TOPIC(N) TOPICSTR\nDISPLAY SUB(*) TOPICSTR DEST DURABLE")
    assert (
        "AMQ8633I: Display topic details.\n   TOPIC(N)                                TYPE(LOCAL)\n   TOPICSTR(n)"
        == str(topic)
    )
    assert "SUB(ONE)                                TOPICSTR(n/#)" in str(sub)
    assert "DEST(A)                                 DURABLE(YES)" in str(sub)


RIGHTS: tuple[tuple[str, str, str], ...] = (
    ("", "bob", OK),
    ("PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('ann') AUTHADD(PUT)", "ann", OK),
    ("PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('ann') AUTHADD(PUT)", "bob", error(3081)),
    ("PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('ann') AUTHADD(GET)", "ann", error(3081)),
    ("PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('ann') AUTHADD(PUT)", owner_name(), OK),
    ("PROFILE(OTHER) OBJTYPE(QUEUE) PRINCIPAL('ann') AUTHADD(PUT)", "bob", OK),
    ("PROFILE('topic://n') OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHADD(SUB)", "ann", OK),
    ("PROFILE('topic://n') OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHADD(SUB)", "bob", error(3081)),
)


@pytest.mark.parametrize(("record", "user", "expected"), RIGHTS)
def test_rights_of_who_registers(record: str, user: str, expected: str) -> None:
    """A command subscribes where its user may subscribe to the topic and put to the queue, if those have records."""
    queues = listening()
    if record:
        assert not queues.mqsc(f"SET AUTHREC {record}")[0].failed
    assert expected == ask(queues, REG, user=user)


KINDS = (
    ("", ["cli", "mine", "own", "read"]),
    ("SUBTYPE(ALL)", ["cli", "mine", "own", "read"]),
    ("SUBTYPE(USER)", ["cli", "mine", "own", "read"]),
    ("SUBTYPE(ADMIN)", ["own", "read"]),
    ("SUBTYPE(API)", ["cli", "mine"]),
    ("SUBTYPE(PROXY)", []),
    ("WHERE(SUBTYPE EQ API)", ["cli", "mine"]),
    ("WHERE(SUBTYPE NE API) DURABLE(YES)", ["own", "read"]),
    ("DURABLE(NO)", []),
)


@pytest.mark.parametrize("what", ["SUB", "SBSTATUS"])
@pytest.mark.parametrize(("chosen", "expected"), KINDS)
def test_kinds(what: str, chosen: str, expected: list[str]) -> None:
    """Subscriptions of programs are of type API, those of MQSC, and those that it changes, of type ADMIN."""
    queues = listening()
    queues.mqsc("DEFINE SUB('own') TOPICSTR('t') DEST(Q)")
    for name in ("cli", "read"):
        queues.define("SUB", name, {"TOPICSTR": "t", "DEST": "Q", "SUBTYPE": "API"})
    queues.mqsc("ALTER SUB('read') PUBPRTY(3)")
    for name in ("cli", "own"):
        queues.define("SUB", name, {"TOPICSTR": "t", "DEST": "OTHER", "SUBTYPE": "API"}, replace=True)
    for data in "ab":
        assert OK == ask(queues, f"{REG}<SubName>mine</SubName><SubUserData>{data}</SubUserData>")
    (answer,) = queues.mqsc(f"DISPLAY {what}(*) {chosen}")
    assert expected == [dict(shown)["SUB"] for shown in answer.objects]


def test_like_one_with_a_queue_of_its_own() -> None:
    """A subscription like one whose queue was made for it has another queue of its own."""
    queues = manager("DEFINE SUB(ONE) TOPICSTR('t') DESTCLAS(MANAGED) PUBPRTY(3)", "DEFINE SUB(TWO) LIKE(ONE)")
    one, two = queues.display("SUB")
    assert (3, True) == (int(str(two["PUBPRTY"])), one["DEST"] != two["DEST"])


def test_by_id() -> None:
    """A subscription is shown, changed and deleted by its SUBID as by its name."""
    queues = manager("DEFINE SUB('one') TOPICSTR('t') DEST(A)", "DEFINE SUB(TWO) TOPICSTR('t') DEST(A)")
    number = next(one["SUBID"] for one in queues.display("SUB") if one["SUB"] == "one")
    for command, expected in (
        ("DISPLAY SUB SUBID('{}') DEST", [{"SUB": "one", "DEST": "A"}]),
        ("DIS SBSTATUS SUBID({}) NUMMSGS", [{"SUB": "one", "NUMMSGS": 0}]),
        ("ALTER SUB SUBID('{}') PUBPRTY(4)", []),
        ("DISPLAY SUB(*) PUBPRTY", [{"SUB": "TWO", "PUBPRTY": "ASPUB"}, {"SUB": "one", "PUBPRTY": "4"}]),
        ("ALTER SUB(one) SUBID('{}') PUBPRTY(5)", []),
        ("DELETE SUB('one') SUBID('{}')", []),
    ):
        (answer,) = queues.mqsc(command.format(number))
        assert (False, expected) == (answer.failed, [dict(one) for one in answer.objects])
    assert ["TWO"] == [one["SUB"] for one in queues.display("SUB")]
    assert "2085" in queues.mqsc(f"DELETE SUB SUBID('{number}')")[0].text
    other = queues.display("SUB")[0]["SUBID"]
    assert "that of subscription TWO (2085)" in queues.mqsc(f"DELETE SUB('one') SUBID('{other}')")[0].text


COMPARED = (
    ("SUB(*) WHERE(PUBPRTY GT 3)", ["FIVE"]),
    ("SUB(*) WHERE(PUBPRTY LT 9)", ["FIVE"]),
    ("SUB(*) WHERE(PUBPRTY EQ ASPUB)", ["ANY"]),
    ("SUB(*) WHERE(PUBPRTY NE 5)", ["ANY"]),
    ("TOPIC(T*) WHERE(CAPEXPRY LT 100)", ["T50"]),
    ("TOPIC(T*) WHERE(CAPEXPRY GE 50)", ["T1000", "T50"]),
    ("TOPIC(*) WHERE(CAPEXPRY GT 100)", ["T1000"]),
    ("TPSTATUS('#') WHERE(CAPEXPRY LE 99)", ["t"]),
    ("QLOCAL(A) WHERE(STATIME GT 2)", ["A"]),
    ("QLOCAL(A) WHERE(STATIME EQ 10)", ["A"]),
    ("QLOCAL(A) WHERE(DESCR LT 5)", ["A"]),
)


@pytest.mark.parametrize(("asked", "expected"), COMPARED)
def test_numbers_are_compared(asked: str, expected: list[str]) -> None:
    """WHERE compares as numbers what is one unless it is a word; a word is neither more nor less than a number."""
    queues = manager(
        "DEFINE SUB(ANY) TOPICSTR('t') DEST(A)",
        "DEFINE SUB(FIVE) TOPICSTR('t') DEST(A) PUBPRTY(5)",
        "DEFINE TOPIC(T50) TOPICSTR('t') CAPEXPRY(50)",
        "DEFINE TOPIC(T1000) TOPICSTR('s') CAPEXPRY(1000)",
        "ALTER QLOCAL(A) STATIME(10.00) DESCR('10')",
    )
    (answer,) = queues.mqsc(f"DISPLAY {asked}")
    assert (False, expected) == (answer.failed, [str(one[0][1]) for one in answer.objects])

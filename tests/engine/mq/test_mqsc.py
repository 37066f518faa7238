"""MQSC: what commands do, what is printed, and what is refused."""

from __future__ import annotations

import re

import pytest

from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq.mqsc import Answer, printed, run
from engine.work import Selection


def manager() -> QueueManager:
    """Returns a queue manager with a queue of two messages and an alias of it."""
    made = QueueManager(name="QM1")
    made.define("QLOCAL", "APP.FULL", {"MAXDEPTH": 5, "DESCR": "a queue"})
    made.define("QALIAS", "APP.ALIAS", {"TARGET": "APP.FULL"})
    work = made.work()
    for _ in range(2):
        work.put("APP.FULL", Descriptor(), b"x")
    work.commit()
    return made


DONE = (
    ("DEFINE QLOCAL(NEW)", "AMQ8006I", "DISPLAY QLOCAL(NEW) MAXMSGL", "MAXMSGL(4194304)"),
    ("def ql('low.er') descr('It''s')", "AMQ8006I", "DIS QL('low.er') DESCR", "DESCR(It's)"),
    ("DEFINE QLOCAL(NEW) LIKE(APP.FULL) MAXMSGL(10)", "AMQ8006I", "DIS Q(NEW) DESCR MAXDEPTH", "MAXDEPTH(5)"),
    ("DEFINE QLOCAL(APP.FULL) REPLACE BOTHRESH(3)", "AMQ8006I", "DIS Q(APP.FULL) BOTHRESH CURDEPTH", "CURDEPTH(2)"),
    ("DEFINE QLOCAL(APP.FULL) REPLACE BOTHRESH(3)", "AMQ8006I", "DIS Q(APP.FULL)", "MAXDEPTH(999999999)"),
    ("DEFINE QALIAS(B) TARGQ(APP.FULL) PUT(DISABLED)", "AMQ8006I", "DIS QA(B) TARGET PUT", "PUT(DISABLED)"),
    ("ALTER QLOCAL(APP.FULL) GET(DISABLED) FORCE", "AMQ8008I", "DIS Q(APP.FULL) GET", "GET(DISABLED)"),
    ("ALTER QLOCAL(APP.FULL) NOHARDENBO", "AMQ8008I", "DIS Q(APP.FULL) HARDENBO", "NOHARDENBO"),
    ("ALTER QL(APP.FULL) MAXDEPTH(10)", "AMQ8008I", "DIS Q(APP.*) WHERE(MAXDEPTH EQ 10)", "QUEUE(APP.FULL)"),
    ("ALTER QL(APP.FULL) MAXDEPTH(10)", "AMQ8008I", "DIS Q(APP.*) WHERE(MAXDEPTH EQ 10)", "MAXDEPTH(10)"),
    ("ALTER QMGR DEADQ(APP.FULL) DESCR('mine')", "AMQ8005I", "DIS QMGR DEADQ", "DEADQ(APP.FULL)"),
    (
        "ALTER QMGR CHLAUTH(DISABLED) CONNAUTH(' ') CCSID(1208)",
        "AMQ8005I",
        "DIS QMGR CHLAUTH CCSID",
        "CHLAUTH(DISABLED)",
    ),
    ("ALTER QMGR MAXHANDS(1024) SSLKEYR('/k') MONCHL(LOW)", "AMQ8005I", "DIS QMGR MAXHANDS", "MAXHANDS(1024)"),
    ("REFRESH SECURITY TYPE(CONNAUTH)", "AMQ8560I", "REF SEC", "security cache refreshed"),
    ("SET AUTHREC OBJTYPE(QMGR) GROUP('g') AUTHADD(SYSTEM)", "AMQ8862I", "DIS AUTHREC", "AUTHLIST(SYSTEM)"),
    ("DEFINE QLOCAL(NEW) LIKE(SYSTEM.DEFAULT.LOCAL.QUEUE)", "AMQ8006I", "DIS Q(NEW)", "MAXDEPTH(999999999)"),
    ("ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) BOTHRESH(9)", "AMQ8008I", "DEF QL(A);DIS Q(A)", "BOTHRESH(9)"),
    (
        "DEF QA(SYSTEM.DEFAULT.ALIAS.QUEUE) GET(DISABLED)",
        "AMQ8006I",
        "DEF QA(A) PUT(DISABLED);DIS Q(A)",
        "GET(DISABLED)",
    ),
    ("DEFINE QLOCAL(NEW) MAXFSIZE(DEFAULT)", "AMQ8006I", "DIS Q(NEW) MAXFSIZE", "MAXFSIZE(DEFAULT)"),
    ("DEF SUB(S) TOPICSTR(t) DEST(APP.FULL) DESTQMGR(QM1)", "AMQ8094I", "ALT SUB(S) DESTQMGR('QM1')", "changed"),
    ("DEFINE QLOCAL(A), , MAXDEPTH(1),PUT(DISABLED) ,", "AMQ8006I", "DIS Q(A), PUT , MAXDEPTH", "MAXDEPTH(1)"),
    ("CLEAR QLOCAL(APP.FULL)", "AMQ8022I", "DIS Q(APP.FULL) CURDEPTH", "CURDEPTH(0)"),
    ("DELETE QLOCAL(APP.FULL) PURGE", "AMQ8007I", "DIS Q(APP.*) ", "QUEUE(APP.ALIAS)"),
    ("DELETE QALIAS(APP.ALIAS)", "AMQ8007I", "DIS Q(APP.*)", "QUEUE(APP.FULL)"),
    ("DELETE QLOCAL(APP.FULL) IGNSTATE(NO) PURGE", "AMQ8007I", "DEL QL(NONE) IGNSTATE(YES)", "nothing to delete"),
    ("DELETE SUB(NONE) IGNSTATE(YES)", "AMQ8097I", "DELETE POLICY(NONE) IGNSTATE(YES)", "AMQ9089I"),
    ("DELETE AUTHREC PROFILE(Q) OBJTYPE(QUEUE) GROUP('g') IGNSTATE(YES)", "AMQ8863I", "DIS AUTHREC", "no such"),
    ("PING QMGR", "AMQ8415I", "DIS QMGR", "QMNAME(QM1)"),
    ("DIS Q(*) TYPE(QALIAS)", "AMQ8409I", "DIS QS(APP.FULL)", "CURDEPTH(2)"),
    ("DIS QSTATUS(APP.FULL) ALL", "AMQ8450I", "DIS QS(APP.*) WHERE(CURDEPTH GT 1) UNCOM", "UNCOM(NO)"),
    ("DIS QSTATUS(APP.FULL) TYPE(HANDLE)", "AMQ8450I", "DIS QS(*) TYPE(HANDLE) INPUT", "INPUT(SHARED)"),
    ("DIS QS(APP.*) TYPE(HANDLE) CHANNEL", "AMQ8450I", "DIS CONN(*) WHERE(CHANNEL EQ ' ') CONNAME", "CONNAME( )"),
    ("DIS CONN(*) WHERE(USERID EQ 'me')", "AMQ8276I", "DIS CONN(*) TYPE(HANDLE) WHERE(OBJNAME LK APP*)", "USERID(me)"),
    ("DIS QS(*) WHERE(USERID EQ 'me') TYPE(HANDLE) ALL", "AMQ8450I", "DIS QS(APP.FULL) LGETDATE QTIME", "LGETDATE( )"),
    ("DIS QMGR CMDLEVEL PLATFORM", "AMQ8408I", "DIS QMGR QMID MAXPRTY VERSION CCSID", "MAXPRTY(9)"),
    ("DIS Q(*) QTYPE(QALIAS)", "AMQ8409I", "DIS Q(*) WHERE(QTYPE EQ QALIAS)", "QUEUE(APP.ALIAS)"),
    ("DIS QMSTATUS", "AMQ8705I", "DIS QMSTATUS STATUS", "STATUS(RUNNING)"),
    ("DIS Q(*) WHERE(TYPE EQ QALIAS)", "AMQ8409I", "DIS Q(*) WHERE(TYPE NE QLOCAL) TARGET", "TARGET(APP.FULL)"),
    ("ALTER QL(APP.FULL) DESCR('[a]?')", "AMQ8008I", "DIS QL(*) WHERE(DESCR LK '[a]*')", "QUEUE(APP.FULL)"),
    ("ALTER QL(APP.FULL) DESCR('ab')", "AMQ8008I", "DIS QL(*) WHERE(DESCR LK '[a]?*')", "no queue fits"),
    ("DISPLAY QUEUE(APP.*) WHERE(CURDEPTH GT 1) ALL", "AMQ8409I", "DIS Q(NO*)", "no queue fits"),
)


@pytest.mark.parametrize(("command", "code", "shown", "text"), DONE)
def test_done(command: str, code: str, shown: str, text: str) -> None:
    """A command does what it says, and answers with its number; DISPLAY shows it."""
    queues = manager()
    work = queues.work("me", "here")
    assert work.get("APP.FULL", Selection(correl_id=b"none")) is None
    answers = run(queues, f"{command}\n{shown}\n")
    assert not any(answer.failed for answer in answers), answers
    assert code == answers[0].code
    assert text in str(answers[-1])


REFUSED = (
    ("DEFINE QLOCAL(APP.FULL)", "AMQ8150E", "2100", False),
    ("DEFINE QALIAS(APP.FULL) REPLACE TARGET(X)", "AMQ8150E", "2100", False),
    ("DELETE QLOCAL(APP.FULL)", "AMQ8143E", "2055", False),
    ("DELETE QLOCAL(NONE)", "AMQ8147E", "2085", False),
    ("ALTER TOPIC(SYSTEM.DEFAULT.TOPIC) DEFPRTY(5)", "AMQ8147E", "2085", False),
    ("DELETE QLOCAL(NONE) IGNSTATE(NO)", "AMQ8147E", "2085", False),
    ("DELETE QLOCAL(APP.FULL) IGNSTATE(YES)", "AMQ8143E", "2055", False),
    ("DELETE QLOCAL(APP.FULL) AUTHREC(KEEP)", "AMQ8405E", "AUTHREC takes YES or NO", True),
    ("DELETE SUB(NONE) AUTHREC(YES)", "AMQ8405E", "no parameter of DELETE SUB", True),
    ("ALTER QLOCAL(NONE) MAXDEPTH(1)", "AMQ8147E", "2085", False),
    ("CLEAR QLOCAL(NONE)", "AMQ8147E", "2085", False),
    ("CLEAR QLOCAL(APP.ALIAS)", "AMQ8147E", "APP.ALIAS is an alias", False),
    ("DELETE QLOCAL(APP.ALIAS)", "AMQ8147E", "2085", False),
    ("ALTER QLOCAL(APP.ALIAS) MAXDEPTH(1)", "AMQ8147E", "2085", False),
    ("DISPLAY QLOCAL(NONE)", "AMQ8147E", "2085", False),
    ("DEFINE QLOCAL(X) LIKE(NONE)", "AMQ8147E", "2085", False),
    ("DISPLAY QSTATUS(APP.FULL) TYPE(HANDLE)", "AMQ8147E", "nobody has APP.FULL open", False),
    ("DISPLAY CONN(12)", "AMQ8147E", "2085", False),
    ("DISPLAY CONN(*) TYPE(OPEN)", "AMQ8405E", "TYPE takes CONN or HANDLE", True),
    ("DISPLAY QSTATUS(APP.FULL) MAXDEPTH", "AMQ8405E", "no attribute MAXDEPTH", True),
    ("DEFINE QREMOTE(X)", "AMQ8147E", "other queue managers", False),
    ("START CHANNEL(X)", "AMQ8147E", "no channels here", False),
    ("DIS CHS(*)", "AMQ8147E", "no channels here", False),
    ("ALTER QMGR CONNAUTH(USE.LDAP)", "AMQ8405E", "the system says who users are", True),
    ("ALTER QMGR MAXHANDS(10)", "AMQ8405E", "256 to", True),
    ("DEF SUB(S) TOPICSTR(t) DEST(APP.FULL) DESTQMGR(QM2)", "AMQ8405E", "other queue managers", True),
    ("DEFINE QLOCAL(X) MAXDEPTH(-1)", "AMQ8405E", "4005", True),
    ("DEFINE QLOCAL(X) MAXDEPTH", "AMQ8405E", "lacks its value", True),
    ("DEFINE QLOCAL(X) MAXDEPTH(1) MAXDEPTH(2)", "AMQ8405E", "twice", True),
    ("DEFINE QLOCAL(X) MAXDEPTH(1,2)", "AMQ8405E", "one value", True),
    ("DEFINE QLOCAL(X) MAXDEPHT(1)", "AMQ8405E", "did you mean MAXDEPTH?", True),
    ("DEFINE QLOCAL(X) CURDEPTH(1)", "AMQ8405E", "shown only", True),
    ("DEFINE QLOCAL(X) TRIGGER", "AMQ8405E", "start no programs here; leave TRIGGER out, or write NOTRIGGER", True),
    ("DEFINE QLOCAL(X) REPLACE(YES)", "AMQ8405E", "takes no value", True),
    ("DEFINE QLOCAL", "AMQ8405E", "QLOCAL(NAME)", True),
    ("DEFINE QLOCAL('no name')", "AMQ8141E", "2152", False),
    ("DEFINE QLOCAL(A", "AMQ8405E", "closing parenthesis", True),
    ("DEFINE QLOCAL(A) DESCR('x)", "AMQ8405E", "closing quote", True),
    ("DEFINE (A)", "AMQ8405E", "kind of object", True),
    ("DEFINE QLOCAL(A) ) MAXDEPTH(1)", "AMQ8405E", "no place", True),
    ('DEFINE QLOCAL(A) DESCR("a queue")', "AMQ8405E", "single quotes", True),
    ("DEFINE QLOCAL(A) REPLACE NOREPLACE", "AMQ8405E", "beside NOREPLACE", True),
    ("DELETE QLOCAL(APP.FULL) PURGE PURGE", "AMQ8405E", "twice", True),
    ("ALTER QLOCAL(APP.FULL) HARDENBO NOHARDENBO", "AMQ8405E", "twice", True),
    ("DEFINE QLOCAL(X) NOSHARE", "AMQ8405E", "or write SHARE (", True),
    ("DEFINE QLOCAL(X) CLUSTER(C)", "AMQ8405E", "CLUSTER(' ')", True),
    ("DEFINE QLOACL(A)", "AMQ8405E", "did you mean QLOCAL?", True),
    ("DEFIEN QLOCAL(A)", "AMQ8405E", "did you mean DEFINE?", True),
    ("DEFINE", "AMQ8405E", "kind of object", True),
    ("CLEAR QALIAS(APP.ALIAS)", "AMQ8405E", "QLOCAL", True),
    ("DELETE QALIAS(APP.ALIAS) PURGE", "AMQ8405E", "no parameter", True),
    ("DISPLAY Q(A*B)", "AMQ8405E", "at the end only", True),
    ("DISPLAY Q(*) WHERE(CURDEPTH)", "AMQ8405E", "WHERE takes", True),
    ("DISPLAY Q(*) WHERE(CURDEPTH GT many)", "AMQ8405E", "is a number", True),
    ("DISPLAY Q(*) CURDEPTH(5)", "AMQ8405E", "takes no value", True),
    ("PING CHANNEL(X)", "AMQ8405E", "PING QMGR", True),
)


@pytest.mark.parametrize(("command", "code", "text", "syntax"), REFUSED)
def test_refused(command: str, code: str, text: str, syntax: bool) -> None:
    """A command that cannot be carried out says why and what to do, and those behind it are carried out."""
    queues = manager()
    before = queues.names()
    wrong, right = run(queues, f"{command}\nDEFINE QLOCAL(BEHIND)")
    assert (True, code, syntax, False) == (wrong.failed, wrong.code, wrong.syntax, right.failed), wrong
    assert text in wrong.text
    assert sorted([*before, "BEHIND"]) == queues.names()


def test_printed() -> None:
    """A script prints as runmqsc prints it, and counts what went wrong."""
    script = "* first\nDEFINE QLOCAL(A)\nDEFINE QLOCAL(A)\nDISPLAY QLOCAL(A) CURDEPTH GET\nNONSENSE X\nend\n"
    found = "\n".join(printed(run(QueueManager(name="QM1"), script), "QM1"))
    expected = """\
Starting MQSC for queue manager QM1.
     2 : DEFINE QLOCAL(A)
AMQ8006I: queue created.
     3 : DEFINE QLOCAL(A)
AMQ8150E: ...
     4 : DISPLAY QLOCAL(A) CURDEPTH GET
AMQ8409I: Display Queue details.
   QUEUE(A)                                TYPE(QLOCAL)
   CURDEPTH(0)                             GET(ENABLED)
     5 : NONSENSE X
AMQ8405E: ...
4 MQSC commands read.
One command has a syntax error.
One valid MQSC command could not be processed."""
    assert expected == re.sub(r"(E: ).*", r"\1...", found)


def test_answers_as_data() -> None:
    """An answer that travelled as a list is the same answer again."""
    for answer in run(manager(), "DISPLAY QUEUE(*) ALL\nDELETE QLOCAL(NONE)"):
        assert str(answer) == str(Answer(*list(answer)))

"""Publication: who gets a message, on which topics, and in which unit of work."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.message.assembly import Message
from engine.message.received import Received
from engine.mq.properties import opened, with_folders
from engine.mq.topics.commands import STREAM
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from engine.tree.sharing import copy
from engine.tree.step import step
from tests.engine.mq.served import serving
from tests.engine.runtime_nodes import flow_of, use
from tests.nodes.bench import Seen, carried, exception_numbers


def queue_manager() -> MemoryQueues:
    queues = MemoryQueues("A", "B", "C")
    for name, queue, topic, point in (("1", "A", "n/#", ""), ("2", "B", "m", ""), ("3", "C", "#", "eur")):
        queues.define("SUB", name, {"TOPICSTR": topic, "DEST": queue, "SUBPOINT": point})
    return queues


def message(*topics: str, transactional: bool = True) -> Message:
    """Returns a message with topics in Properties."""
    root = copy(Received(Descriptor(priority=3), b"body", transactional=transactional).root())
    properties = root.ensure(step("Properties"))
    for number, topic in enumerate(topics):
        (properties.ensure(step("Topic")) if number == 0 else properties.add("Topic")).value = topic
    return Message(root)


def published(queues: MemoryQueues, sent: Message, *wired: str, commits: bool = True, **properties: object) -> Seen:
    work = queues.work()
    seen = carried("Publication", sent, *wired, properties=properties, work=work)
    work.commit() if commits else work.back_out()
    return seen


def depths(queues: MemoryQueues) -> tuple[int, ...]:
    return tuple(queues.depth(name) for name in "ABC")


TOPICS: tuple[tuple[tuple[str, ...], dict[str, object], tuple[int, ...]], ...] = (
    (("n/a",), {}, (1, 0, 0)),
    (("n/a", "m"), {}, (1, 1, 0)),
    (("n/a", "n/b"), {}, (2, 0, 0)),
    (("m", "m"), {}, (0, 1, 0)),
    (("nobody",), {}, (0, 0, 0)),
    (("n/a",), {"subscriptionPoint": "eur"}, (0, 0, 1)),
)


@pytest.mark.parametrize(("topics", "properties", "expected"), TOPICS)
def test_topics(topics: tuple[str, ...], properties: dict[str, object], expected: tuple[int, ...]) -> None:
    """A message is published once on each of its topics, to the subscribers of the node's subscription point."""
    queues = queue_manager()
    seen = published(queues, message(*topics), "out", "noMatch", **properties)
    assert (expected, ["out" if any(expected) else "noMatch"]) == (depths(queues), seen.terminals)


MATCHED = (
    ("n/a", "", "out"),
    ("x", "", "noMatch"),
    ("s", "", "noMatch"),
    ("s</Topic><Topic>m", "", "out"),
    ("x", "RetainPub", "noMatch"),
    ("x", "Local", "noMatch"),
    ("own", "OtherSubsOnly", "noMatch"),
    ("own", "", "out"),
)


@pytest.mark.parametrize("transactional", [True, False])
@pytest.mark.parametrize("is_served", [False, True])
@pytest.mark.parametrize(("topics", "options", "expected"), MATCHED)
def test_matched(
    topics: str, options: str, expected: str, is_served: bool, transactional: bool, tmp_path: Path
) -> None:
    """A message goes on to noMatch where no subscription takes it, though it is retained, else to out."""
    with serving(queue_manager(), tmp_path) if is_served else nullcontext(queue_manager()) as queues:
        queues.define("SUB", "s", {"TOPICSTR": "s", "DEST": "B", "SELECTOR": "a = 1"})
        queues.define("SUB", "own", {"TOPICSTR": "own", "DEST": "B", "DESTCORL": "00" * 24})
        folder = (
            f"<psc><Command>Publish</Command><PubOpt>{options}</PubOpt><Topic>{topics}</Topic><QName>B</QName></psc>"
        )
        descriptor, body = with_folders([folder], Descriptor(format="MQSTR", feedback=2550), b"body")
        for number in range(3):  # also once the client knows the topic
            sent = Message(copy(Received(descriptor, body, transactional=transactional).root()))
            seen = published(queues, sent, "out", "noMatch", commits=number != 1)
            assert ([expected], None) == (seen.terminals, seen.error)
            assert "retain" not in options.lower() or queues.depth("SYSTEM.RETAINED.PUB.QUEUE") == 1


def noted(puts: list[str], queue: str, descriptor: Descriptor, _: bytes, *, syncpoint: bool) -> Descriptor:
    """Note where a message is put."""
    assert syncpoint
    puts.append(queue)
    return descriptor


WIRES = (("", False), ("In.out -> P", False), ("P.failure -> Q", False), ("P.out -> Q", True), ("P.noMatch -> Q", True))


@pytest.mark.parametrize(("wires", "expected"), WIRES)
def test_wires(wires: str, expected: bool) -> None:
    """A flow asks what fits only where messages go further than the Publication node, or are listened to."""
    nodes = [use("In: MQInput", ("queueName", "IN")), use("P: Publication"), use("Q: MQOutput", ("queueName", "Q"))]
    for listen, asks in ((None, expected), (lambda *_: None, True)):
        puts: list[str] = []
        work: Any = SimpleNamespace(queue_manager="QM1", knows_subscribers=True, put=partial(noted, puts))
        deploy(flow_of(nodes, wires), listen=listen).stations["P"].carry(message("n/a"), work)
        assert [f"topic:{'asks' if asks else ''}//n/a"] == puts[:1]


def test_where_nobody_knows_subscribers() -> None:
    """On Spark a publication has the plain address of its topic, whomever it should leave out."""
    folder = (
        "<psc><Command>Publish</Command><PubOpt>OtherSubsOnly</PubOpt><PubOpt>RetainPub</PubOpt><Topic>t</Topic></psc>"
    )
    own = Descriptor(format="MQSTR", reply_to_q="A")
    puts: list[str] = []
    sent = Message(copy(Received(*with_folders([folder], own, b"body")).root()))
    work = SimpleNamespace(queue_manager="QM1", put=partial(noted, puts))
    seen = carried("Publication", sent, "out", "noMatch", work=work)
    assert (["topic:retain//t"], ["out"], None) == (puts, seen.terminals, seen.error)


OTHERS: tuple[tuple[str, dict[str, Any], tuple[int, ...], int], ...] = (
    ("<QName>A</QName>", {}, (0, 2, 1), 0),
    ("", {"reply_to_q": "A", "msg_type": 8}, (0, 2, 1), 0),
    ("<QName>B</QName>", {"correl_id": b"\1" * 24}, (1, 1, 1), 0),
    ("<QName>B</QName><PubOpt>CorrelAsId</PubOpt>", {"correl_id": b"\1" * 24}, (1, 1, 1), 1),
    ("<QName>B</QName><PubOpt>CorrelAsId</PubOpt>", {"correl_id": b"\2" * 24}, (1, 2, 1), 0),
    ("<QName>B</QName><PubOpt>RetainPub</PubOpt><PubOpt>Local</PubOpt>", {}, (1, 1, 1), 0),
    ("<QName>A</QName><QMgrName>QM1</QMgrName>", {}, (0, 2, 1), 0),
    ("<QName>A</QName><QMgrName>OTHER</QMgrName>", {}, (0, 0, 0), 3074),
    ("<QName>A</QName><PubOpt>CorrelAsId</PubOpt>", {}, (0, 0, 0), 3080),
    ("", {"reply_to_q": "", "msg_type": 8}, (0, 0, 0), 3076),
)


@pytest.mark.parametrize("by_node", [True, False])
@pytest.mark.parametrize(("folder", "changes", "expected", "reason"), OTHERS)
def test_others_only(
    folder: str, changes: dict[str, Any], expected: tuple[int, ...], reason: int, by_node: bool
) -> None:
    """OtherSubsOnly leaves out the publisher's own subscriptions, in a Publication node as on the default stream."""
    queues = MemoryQueues("A", "B", "C", "ANSWERS", STREAM, name="QM1")
    for name, queue, correl_id in (("1", "A", "00"), ("2", "B", "00"), ("3", "B", "01"), ("4", "C", "00")):
        queues.define("SUB", name, {"TOPICSTR": "t", "DEST": queue, "DESTCORL": correl_id * 24, "PSPROP": "RFH2"})
    own = Descriptor(msg_type=1, reply_to_q="ANSWERS", format="MQSTR")._replace(**changes)
    said = f"<psc><Command>Publish</Command><PubOpt>OtherSubsOnly</PubOpt><Topic>t</Topic>{folder}</psc>"
    put = with_folders([said], own, b"body")
    if by_node:
        error = published(queues, Message(copy(Received(*put).root())), "out").error
        assert (reason if reason == 3076 else None) == (error and error.number)
    else:
        work = queues.work()
        work.put(STREAM, *put)
        work.commit()
        queues.topics.drain()
    assert expected == depths(queues)
    if reason == 1:
        assert [bytes(24)] == [one.descriptor.correl_id for one in queues.browse("B")]
    told = [value for arrival in queues.browse("ANSWERS") for name, value in opened(*arrival)[0] if "Reason" in name]
    assert ([str(reason)] if reason in {3074, 3080} else []) == told


@pytest.mark.parametrize(
    ("transactional", "commits", "expected"), [(True, True, 1), (True, False, 0), (False, False, 1)]
)
def test_units(transactional: bool, commits: bool, expected: int) -> None:
    """What is published is part of the unit of work that its message came in."""
    queues = queue_manager()
    published(queues, message("n", transactional=transactional), commits=commits)
    assert expected == queues.depth("A")


def test_folder() -> None:
    """The topics and options of a psc folder stand in front of those of Properties."""
    queues = queue_manager()
    folder = "<psc><Command>Publish</Command><PubOpt>RetainPub</PubOpt><Topic>m</Topic><Topic>n/x</Topic></psc>"
    descriptor, body = with_folders([folder], Descriptor(format="MQSTR"), b"body")
    root = copy(Received(descriptor, body).root())
    root.ensure(step("Properties")).ensure(step("Topic")).value = "other"
    published(queues, Message(root))
    assert (1, 1, 0) == depths(queues)
    queues.define("SUB", "late", {"TOPICSTR": "+", "DEST": "C"})
    assert (1, 1, 1) == depths(queues)


def commanded(folder: str, user: str = "") -> Message:
    """Returns a message with a psc folder, which a user has put."""
    own = Descriptor(format="MQSTR", user_identifier=user)
    return Message(copy(Received(*with_folders([f"<psc>{folder}</psc>"], own, b"body")).root()))


def test_deletion() -> None:
    """A DeletePub removes what is retained on its topics, wildcards and all, with the unit, and publishes nothing."""
    queues = queue_manager()
    for topic in ("n/x", "n/y", "m"):
        queues.publish(topic, Descriptor(), b"kept", retain=True)
    for queue in "AB":
        queues.purge(queue)
    command = "<Command>DeletePub</Command><DelOpt>Local</DelOpt><Topic>n/+</Topic>"
    assert ["out"] == published(queues, commanded(command), "out", commits=False).terminals
    published(queues, commanded(command), subscriptionPoint="eur")
    assert 3 == queues.depth("SYSTEM.RETAINED.PUB.QUEUE")
    published(queues, commanded(command))
    queues.define("SUB", "late", {"TOPICSTR": "#", "DEST": "C"})
    assert ((0, 0, 1), 1) == (depths(queues), queues.depth("SYSTEM.RETAINED.PUB.QUEUE"))


def test_users() -> None:
    """A message is published on those topics on which its user may publish, and refused where there are none."""
    queues = queue_manager()
    queues.mqsc(
        "SET AUTHREC PROFILE('topic://n') OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHADD(PUB)\n"
        "SET AUTHREC PROFILE('topic://m') OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHADD(SUB)"
    )
    both, kept = "<Command>Publish</Command><Topic>n/a</Topic><Topic>m</Topic>", "<PubOpt>RetainPub</PubOpt>"
    published(queues, commanded(both + kept, "ann"), "out")
    assert (1, 0, 0) == depths(queues)
    seen = published(queues, commanded(both, "bob"), "failure")
    assert ((1, 0, 0), ["failure"]) == (depths(queues), seen.terminals)
    assert 2035 in exception_numbers(seen.message)
    published(queues, commanded("<Command>DeletePub</Command><Topic>+/a</Topic>", "bob"), "failure")
    assert 1 == queues.depth("SYSTEM.RETAINED.PUB.QUEUE")
    published(queues, commanded("<Command>Publish</Command><Topic>open</Topic>", "bob"), "out")
    published(queues, commanded(both), "out")
    assert (2, 1, 0) == depths(queues)


PUBLISH = "<Command>Publish</Command><Topic>n/a</Topic>"
WARNED = "Completion=warning Reason=3081 Topic=n/a"
ANSWERED: tuple[tuple[str, dict[str, object], str, str, tuple[int, ...]], ...] = (
    (PUBLISH, {}, "out", "Completion=ok", (1, 0, 0)),
    ("<Command>DeletePub</Command><Topic>n/a</Topic>", {}, "out", "Completion=ok", (0, 0, 0)),
    (PUBLISH, {"msg_type": 8}, "out", "", (1, 0, 0)),
    (PUBLISH, {"msg_type": 8, "report": 1}, "out", "Completion=ok", (1, 0, 0)),
    (PUBLISH, {"msg_type": 8, "report": 2}, "out", "", (1, 0, 0)),
    (PUBLISH, {"reply_to_q": "", "msg_type": 8}, "out", "", (1, 0, 0)),
    (PUBLISH, {"reply_to_q": "NONE"}, "out", "", (1, 0, 0)),
    ("<Topic>n/a</Topic>", {}, "out", "", (1, 0, 0)),
    (PUBLISH + "<Topic>open</Topic>", {"user_identifier": "bob"}, "noMatch", WARNED, (0, 0, 0)),
    (PUBLISH + "<Topic>m/#</Topic>", {}, "out", "Completion=warning Reason=3072 Topic=m/#", (1, 0, 0)),
    (PUBLISH, {"user_identifier": "bob"}, "failure", "Completion=error Reason=3081", (0, 0, 0)),
    (
        PUBLISH,
        {"user_identifier": "bob", "msg_type": 8, "report": 2},
        "failure",
        "Completion=error Reason=3081",
        (0,) * 3,
    ),
    (PUBLISH, {"user_identifier": "bob", "msg_type": 8, "report": 1}, "", "", (0, 0, 0)),
    ("<Command>Publish</Command>", {}, "failure", "Completion=error Reason=3072", (0, 0, 0)),
    (PUBLISH + "<PubOpt>Twice</PubOpt>", {}, "failure", "Completion=error Reason=3084", (0, 0, 0)),
    (PUBLISH + "<PubOpt>None</PubOpt>", {}, "out", "Completion=ok", (1, 0, 0)),
    (PUBLISH + "<Colour>red</Colour>", {}, "failure", "Completion=error Reason=2337", (0, 0, 0)),
    (PUBLISH + "<SeqNum>1</SeqNum><SeqNum>2</SeqNum>", {}, "failure", "Completion=error Reason=2338", (0, 0, 0)),
    (PUBLISH + "<Command>DeletePub</Command>", {"msg_type": 8}, "", "", (0, 0, 0)),
    ("<Topic>n/a</Topic><Colour>red</Colour>", {}, "out", "", (1, 0, 0)),
    (
        "<Command>DeletePub</Command><DelOpt>X</DelOpt><Topic>n</Topic>",
        {},
        "failure",
        "Completion=error Reason=3087",
        (0,) * 3,
    ),
    ("<Command>RegSub</Command><Topic>n/a</Topic>", {}, "failure", "Completion=error Reason=2336", (0, 0, 0)),
    ("<Command>RegSub</Command><Topic>n/a</Topic>", {"msg_type": 8}, "", "", (0, 0, 0)),
)


@pytest.mark.parametrize(("folder", "changes", "terminal", "expected", "depth"), ANSWERED)
@pytest.mark.parametrize("is_wired", [True, False])
def test_answered(
    folder: str, changes: dict[str, Any], terminal: str, expected: str, depth: tuple[int, ...], is_wired: bool
) -> None:
    """A command is answered with the unit where its descriptor asks for that; a wrong one goes to failure too."""
    queues = queue_manager()
    queues.define("QLOCAL", "ANSWERS", {})
    queues.mqsc("SET AUTHREC PROFILE('topic://n') OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHADD(PUB)")
    own = Descriptor(msg_type=1, reply_to_q="ANSWERS", msg_id=b"\7" * 24, format="MQSTR")._replace(**changes)
    sent = Message(copy(Received(*with_folders([f"<psc>{folder}</psc>"], own, b"body")).root()))
    work = queues.work()
    seen = carried("Publication", sent, *(("out", "failure", "noMatch") if is_wired and terminal else ()), work=work)
    assert 0 == queues.depth("ANSWERS")
    work.commit()
    assert ([terminal] if is_wired and terminal else [], not terminal) == (seen.terminals, seen.error is not None)
    assert depth == depths(queues)
    assert (1 if changes.get("reply_to_q") == "NONE" else 0) == queues.depth("SYSTEM.DEAD.LETTER.QUEUE")
    found = []
    for arrival in queues.browse("ANSWERS"):
        leaves, _, body = opened(*arrival)
        assert (2, b"\7" * 24, b"") == (arrival.descriptor.msg_type, arrival.descriptor.correl_id, body)
        said = [(name.split(".")[-1], value) for name, value in leaves if name.startswith("pscr.")]
        found.append(" ".join(f"{name}={value}" for name, value in said))
        assert ("Completion=ok" in found[0]) is not any(name.startswith("psc.") for name, _ in leaves)
    assert ([expected] if expected else []) == found


REFUSED = (((), 3072), (("n/#",), 2425))


@pytest.mark.parametrize(("topics", "number"), REFUSED)
def test_refused(topics: tuple[str, ...], number: int) -> None:
    """A message without a topic, or with one that is a pattern, goes to the failure terminal."""
    seen = published(queue_manager(), message(*topics), "failure")
    assert ["failure"] == seen.terminals
    assert number in exception_numbers(seen.message)


def test_not_delivered() -> None:
    """Where a subscriber's queue takes nothing, and the topic asks for that, the publication fails."""
    queues = queue_manager()
    queues.define("TOPIC", "N", {"TOPICSTR": "n", "NPMSGDLV": "ALL", "USEDLQ": "NO"})
    queues.alter("QLOCAL", "A", {"PUT": "DISABLED"})
    error = published(queues, message("n")).error
    assert isinstance(error, MessageException)
    assert 2502 == error.reason


def test_pending() -> None:
    """The name of a stream is taken from a queue only when there are streams."""
    queues = queue_manager()
    published(queues, message("m"), implicitStreamNaming=True)
    assert (0, 1, 0) == depths(queues)

"""Commands of publish/subscribe in an MQRFH2, each with its answer."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.flow.command_answers import Answered
from engine.mq import QueueManager
from engine.mq.properties import folders_of, opened, properties_of, with_folders
from engine.mq.topics import commands
from engine.mq.topics.asking import Asked
from engine.mq.topics.commands import CONTROL, STREAM
from engine.mq.unit import Work

REQUEST = 1
ID = b"\x07" * 24
WAIT = 5.0


def ask(queues: QueueManager, folder: str, *, body: bytes = b"", user: str = "ada", msg_type: int = REQUEST) -> str:
    """Returns what answers a request."""
    own = Descriptor(msg_type=msg_type, reply_to_q="ANSWERS", correl_id=ID, user_identifier=user, format="MQSTR")
    return answer(queues, own, folder, body)


def answer(queues: QueueManager, own: Descriptor, folder: str, body: bytes = b"") -> str:
    """Returns the pscr folder that answers a command, or nothing where none comes."""
    work = queues.work()
    put = work.put(CONTROL, *with_folders([f"<psc>{folder}</psc>"], own, body))
    work.commit()
    queues.topics.drain()
    arrival = work.get("ANSWERS")
    work.commit()
    if arrival is None:
        return ""
    assert put.msg_id == arrival.descriptor.correl_id
    leaves = opened(*arrival)[0]
    asked = "".join(f"<{name[4:]}>{escape(str(value))}</{name[4:]}>" for name, value in leaves if name[:4] == "psc.")
    assert ("" if ("pscr.Completion", "ok") in leaves else folder) == asked  # as the manual has it
    told = [(name.removeprefix("pscr.").removeprefix("Response."), value) for name, value in leaves]
    return " ".join(f"{name}={value}" for name, value in told if not name.startswith("psc."))


def manager() -> QueueManager:
    return QueueManager("ANSWERS", "Q", "OTHER", CONTROL, STREAM, name="QM1")


REG = "<Command>RegSub</Command><Topic>n/+</Topic><QName>Q</QName>"
DEREG = "<Command>DeregSub</Command><Topic>n/+</Topic><QName>Q</QName>"
PUB = "<Command>Publish</Command><Topic>n/a</Topic>"
RETAIN = "<Command>Publish</Command><PubOpt>RetainPub</PubOpt><Topic>n/a</Topic>"
UPDATE = "<Command>ReqUpdate</Command><Topic>n/+</Topic><QName>Q</QName>"
OK = "Completion=ok"


def error(reason: int) -> str:
    return f"Completion=error Reason={reason}"


NAMED = REG + "<SubName>mine</SubName>"
ANN, BOB = "<SubIdentity>ann</SubIdentity>", "<SubIdentity>bob</SubIdentity>"
SHARE, LOCK = "<RegOpt>JoinShared</RegOpt>", "<RegOpt>JoinExcl</RegOpt>"
LEAVE, WHOLE = "<RegOpt>LeaveOnly</RegOpt>", "<RegOpt>FullResp</RegOpt>"
WARNED = "Completion=warning Reason=3157 Topic=n/+"
TOLD = f"{OK} Topic=n/+ RegOpt=PersAsPub%s QMgrName=QM1 QName=Q%s"
SHARED: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("join and tell", ((REG + ANN + SHARE + WHOLE, TOLD % ("", " SubIdentity=ann")),)),
    (
        "inform and tell",
        ((REG + "<RegOpt>InformIfRet</RegOpt>" + WHOLE, TOLD.replace("AsPub", "AsPub RegOpt=InformIfRet") % ("", "")),),
    ),
    (
        "local and tell",
        ((REG + "<RegOpt>Local</RegOpt>" + WHOLE, TOLD.replace("PersAsPub", "PersAsPub RegOpt=Local") % ("", "")),),
    ),
    ("join alone and tell", ((REG + ANN + LOCK + WHOLE, TOLD % (" RegOpt=Locked", " SubIdentity=ann")),)),
    ("two join", ((REG + ANN + SHARE, OK), (REG + BOB + SHARE, OK), (REG + ANN + SHARE, WARNED))),
    ("join one that is locked", ((REG + ANN + LOCK, OK), (REG + BOB + SHARE, error(3156)))),
    ("lock one that is shared", ((REG + ANN + SHARE, OK), (REG + BOB + LOCK, error(3155)))),
    ("lock one's own", ((REG + ANN + SHARE, OK), (REG + ANN + LOCK, OK), (REG + BOB + SHARE, error(3156)))),
    ("unlock one's own", ((REG + ANN + LOCK, OK), (REG + ANN + SHARE, OK), (REG + BOB + SHARE, OK))),
    ("no identity", ((REG + SHARE, error(3083)),)),
    ("both ways", ((REG + ANN + SHARE + LOCK, error(3083)),)),
    ("long identity", ((REG + SHARE + f"<SubIdentity>{'x' * 65}</SubIdentity>", error(3154)),)),
    ("not joined", ((REG + ANN, error(3154)),)),
    (
        "changed by one of two",
        (
            (REG + ANN + SHARE, OK),
            (REG + ANN + "<SubUserData>u</SubUserData>", OK),
            (REG + BOB + SHARE + "<RegOpt>NoAlter</RegOpt>", OK),
            (REG + ANN + "<SubUserData>v</SubUserData>", error(3155)),
            (REG + "<SubUserData>w</SubUserData>", OK),
        ),
    ),
    (
        "end one that another has joined",
        (
            (REG + ANN + SHARE, OK),
            (REG + BOB + SHARE, OK),
            (DEREG + ANN, error(3155)),
            (DEREG + ANN + LEAVE, OK),
            (DEREG + ANN + LEAVE, error(3154)),
            (DEREG + BOB, OK),
            (DEREG, error(3073)),
        ),
    ),
    ("leave, and it stays", ((REG + ANN + SHARE, OK), (DEREG + ANN + LEAVE, OK), (DEREG, OK))),
    ("leave without identity", ((REG, OK), (DEREG + LEAVE, error(3083)))),
    ("end whatever identities", ((REG + ANN + LOCK, OK), (DEREG, OK))),
    ("name added", ((REG, OK), (NAMED + "<RegOpt>AddName</RegOpt>", OK), (NAMED, OK), (DEREG, OK))),
    ("name added to none", ((NAMED + "<RegOpt>AddName</RegOpt>", OK),)),
    ("name added twice", ((NAMED, OK), (NAMED + "<RegOpt>AddName</RegOpt>", error(3152)))),
    ("no name to add", ((REG + "<RegOpt>AddName</RegOpt>", error(3083)),)),
    ("named, and without", ((NAMED, OK), (REG, OK), (DEREG, OK), (DEREG, error(3073)))),
    ("without, and named", ((REG, OK), (NAMED, error(3153)))),
    ("another name", ((NAMED, OK), (REG + "<SubName>yours</SubName>", error(3152)))),
    ("same name", ((NAMED, OK), (NAMED.replace("n/+", "m"), error(3152)))),
    (
        "name told",
        (
            (NAMED + WHOLE, TOLD % ("", " SubName=mine")),
            ("<Command>DeregSub</Command><SubName>mine</SubName>" + WHOLE, TOLD % ("", " SubName=mine")),
        ),
    ),
    ("full response of all", ((REG, OK), (DEREG + WHOLE + "<RegOpt>DeregAll</RegOpt>", error(3083)))),
    ("unlisted option", ((REG + "<RegOpt>Locked</RegOpt>", error(3083)),)),
)

TABLE: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("register", ((REG, OK), (REG, OK))),
    ("options", ((REG + "<RegOpt>PersAsPub</RegOpt><RegOpt>CorrelAsId</RegOpt><RegOpt>Local</RegOpt>", OK),)),
    ("two persistences", ((REG + "<RegOpt>Pers</RegOpt><RegOpt>NonPers</RegOpt>", error(3083)),)),
    ("no such option", ((REG + "<RegOpt>Loudly</RegOpt>", error(3083)),)),
    ("no topic", (("<Command>RegSub</Command><QName>Q</QName>", error(2339)),)),
    ("long topic", (("<Command>RegSub</Command><Topic>" + 10_241 * "n" + "</Topic><QName>Q</QName>", error(3072)),)),
    ("empty topic", (("<Command>RegSub</Command><Topic></Topic><QName>Q</QName>", error(3072)),)),
    ("other queue manager", ((REG + "<QMgrName>QM2</QMgrName>", error(3074)),)),
    ("own queue manager", ((REG + "<QMgrName>QM1</QMgrName>", OK),)),
    ("no such queue", (("<Command>RegSub</Command><Topic>t</Topic><QName>NONE</QName>", error(3076)),)),
    ("no queue at all", (("<Command>RegSub</Command><Topic>t</Topic><Song>x</Song>", error(2337)),)),
    ("filter", ((REG + "<Filter>size &gt; 3</Filter>", OK),)),
    ("bad filter", ((REG + "<Filter>size &gt;</Filter>", error(3150)),)),
    ("two topics", ((REG + "<Topic>m</Topic>", OK),)),
    ("full response", ((REG + "<RegOpt>FullResp</RegOpt>", f"{OK} Topic=n/+ RegOpt=PersAsPub QMgrName=QM1 QName=Q"),)),
    ("full response of two", ((REG + "<Topic>m</Topic><RegOpt>FullResp</RegOpt>", error(3083)),)),
    ("deregister", ((REG, OK), (DEREG, OK), (DEREG, error(3073)))),
    ("never registered", ((DEREG, error(3073)),)),
    ("other filter", ((REG, OK), (DEREG + "<Filter>a = 1</Filter>", error(3073)))),
    ("other point", ((REG, OK), (DEREG + "<SubPoint>p</SubPoint>", error(3073)))),
    ("other subscriber", ((REG, OK), (DEREG + "<RegOpt>CorrelAsId</RegOpt>", error(3073)))),
    (
        "one of two",
        ((REG, OK), (DEREG + "<Topic>m</Topic>", "Completion=warning Reason=3073 Topic=m")),
    ),
    (
        "all",
        (
            (REG + "<Topic>m</Topic>", OK),
            ("<Command>DeregSub</Command><RegOpt>DeregAll</RegOpt><QName>Q</QName>", OK),
            ("<Command>DeregSub</Command><RegOpt>DeregAll</RegOpt><QName>Q</QName>", error(3073)),
        ),
    ),
    ("by name", ((REG + "<SubName>mine</SubName>", OK), ("<Command>DeregSub</Command><SubName>mine</SubName>", OK))),
    ("publish", ((PUB, OK),)),
    ("publish on a pattern", (("<Command>Publish</Command><Topic>n/#</Topic>", error(3072)),)),
    ("publish on nothing", (("<Command>Publish</Command>", error(2339)),)),
    ("publish on some", ((PUB + "<Topic>n/#</Topic>", "Completion=warning Reason=3072 Topic=n/#"),)),
    ("no such way to publish", ((PUB + "<PubOpt>Twice</PubOpt>", error(3084)),)),
    ("no options", ((REG + "<RegOpt>None</RegOpt>", OK), (PUB + "<PubOpt>None</PubOpt>", OK))),
    ("none beside others", ((RETAIN + "<PubOpt>None</PubOpt>", OK), (REG + "<RegOpt>None</RegOpt>", OK), (UPDATE, OK))),
    ("no option of a deletion", (("<Command>DeletePub</Command><DelOpt>None</DelOpt><Topic>n/a</Topic>", OK),)),
    (
        "delete",
        ((RETAIN, OK), ("<Command>DeletePub</Command><Topic>n/a</Topic>", OK), (REG, OK), (UPDATE, error(3077))),
    ),
    (
        "delete all",
        ((RETAIN, OK), ("<Command>DeletePub</Command><Topic>#</Topic>", OK), (REG, OK), (UPDATE, error(3077))),
    ),
    ("delete nothing", (("<Command>DeletePub</Command><Topic>n/a</Topic>", OK),)),
    ("no such way to delete", (("<Command>DeletePub</Command><DelOpt>X</DelOpt><Topic>a</Topic>", error(3087)),)),
    ("update", ((RETAIN, OK), (REG, OK), (UPDATE, OK))),
    ("update of nobody", ((UPDATE, error(3073)),)),
    ("unknown", (("<Command>Sing</Command>", error(2336)),)),
    ("none", (("<Topic>a</Topic>", error(2339)),)),
    ("update of two", ((REG, OK), (UPDATE + "<Topic>m</Topic>", error(2338)))),
    ("twice", ((REG + "<QName>OTHER</QName>", error(2338)),)),
    *SHARED,
)


@pytest.mark.parametrize("commands", [pytest.param(row[1], id=row[0]) for row in TABLE])
def test_answers(commands: tuple[tuple[str, str], ...]) -> None:
    """Each command is answered with ok, or with the reason why it is not carried out."""
    queues = manager()
    assert [expected for _, expected in commands] == [ask(queues, folder) for folder, _ in commands]


@pytest.mark.parametrize("queue", [CONTROL, STREAM, "AROUND"])
def test_a_command_that_is_published_to_a_queue_of_commands(queue: str, caplog: pytest.LogCaptureFixture) -> None:
    """What a program publishes may be a command; what that publishes is sent to others, and never round again."""
    queues = manager()
    queues.mqsc(f"DEFINE QALIAS(AROUND) TARGET({CONTROL})")
    assert [OK] * 2 == [ask(queues, REG.replace("<QName>Q", f"<QName>{queue}")), ask(queues, REG)]
    work = queues.work()
    work.publish("n/a", *with_folders([f"<psc>{PUB}</psc>"], Descriptor(), b"first"))
    work.commit()
    queues.topics.drain()
    assert 2 == queues.depth("Q")
    (warned,) = [record.getMessage() for record in caplog.records]
    assert "is not sent what a command publishes" in warned
    assert OK == ask(queues, PUB)
    assert 3 == queues.depth("Q")


def test_delivered() -> None:
    """A subscriber gets publications with a psc folder in front, from the stream as from the control queue."""
    queues = manager()
    assert OK == ask(queues, REG + "<RegOpt>CorrelAsId</RegOpt>")
    work = queues.work()
    descriptor = Descriptor(format="MQSTR", reply_to_q="OTHER")
    folders = ["<psc><Command>Publish</Command><Topic>n/a</Topic><Topic>n/b</Topic></psc>", "<usr><c>red</c></usr>"]
    work.put(STREAM, *with_folders(folders, descriptor, b"body"))
    work.commit()
    found = [work.get("Q", wait=WAIT) for _ in range(2)]
    told = []
    for arrival in found:
        assert arrival is not None
        leaves, behind, body = opened(*arrival)
        told.append((dict(leaves), behind.format, body, arrival.descriptor.correl_id))
    expected = {"psc.Command": "Publish", "psc.Topic": "n/a", "c": "red"}
    assert [(expected | {"psc.Topic": topic}, "MQSTR", b"body", ID) for topic in ("n/a", "n/b")] == told


def test_retained() -> None:
    """Who registers is sent what is retained, unless only what is new is wanted; ReqUpdate sends it again."""
    queues = manager()
    assert [OK] * 2 == [ask(queues, RETAIN, body=b"kept"), ask(queues, REG + "<RegOpt>NewPubsOnly</RegOpt>")]
    assert 0 == queues.depth("Q")
    assert [OK] * 2 == [ask(queues, REG), ask(queues, UPDATE)]
    assert 2 == queues.depth("Q")


def test_informed() -> None:
    """Who asks for that is told which publications were retained, as soon as it registers so, and nobody else."""
    queues, marked = manager(), ("psc.PubOpt", "IsRetainedPub")
    assert OK == ask(queues, RETAIN, body=b"kept")
    informed = REG + "<RegOpt>InformIfRet</RegOpt>"
    for folder, expected in ((REG, False), (informed, True), (UPDATE, True), (REG, False), (UPDATE, False)):
        assert OK == ask(queues, folder)
        (arrival,) = queues.browse("Q")
        assert expected == (marked in opened(*arrival)[0])
        queues.purge("Q")
    assert [OK] * 2 == [ask(queues, informed), ask(queues, RETAIN, body=b"new")]
    queues.mqsc("DEFINE SUB(OWN) TOPICSTR('n/a') DEST(OTHER) PSPROP(RFH2)")
    assert [False, True] == [marked in opened(*queues.browse(name)[-1])[0] for name in ("Q", "OTHER")]


def test_on_request_only() -> None:
    """Who registers for publications on request gets what is retained when it asks, and nothing else."""
    queues = manager()
    assert [OK] * 2 == [ask(queues, REG + "<RegOpt>PubOnReqOnly</RegOpt>"), ask(queues, RETAIN)]
    assert (0, OK, 1) == (queues.depth("Q"), ask(queues, UPDATE), queues.depth("Q"))


def test_persistence() -> None:
    """A subscriber says whether its messages last."""
    queues = manager()
    assert [OK] * 2 == [ask(queues, REG + "<RegOpt>Pers</RegOpt>"), ask(queues, PUB)]
    assert 1 == queues.browse("Q")[0].descriptor.persistence


def test_other_users() -> None:
    """A subscription is its user's, unless it was registered as one whose users vary, and the command says so too."""
    queues, vary = manager(), "<RegOpt>VariableUserId</RegOpt>"
    assert OK == ask(queues, REG)
    assert [error(3151)] * 3 == [ask(queues, one, user="bob") for one in (DEREG, DEREG + vary, REG + vary)]
    assert OK == ask(queues, REG + vary)
    assert (error(3151), OK) == (ask(queues, DEREG, user="bob"), ask(queues, DEREG + vary, user="bob"))


def test_other_folders() -> None:
    """Subscribers get the other folders of a publication as they came, also where names repeat or have attributes."""
    queues = manager()
    queues.mqsc("DEFINE SUB(TELL) TOPICSTR('n/#') DEST(OTHER) PSPROP(MSGPROP)")
    assert OK == ask(queues, REG)
    usr = "<usr><k>1</k><k colour='red'>2</k><e><f>x</f></e></usr>"
    work = queues.work()
    descriptor = Descriptor(format="MQSTR", reply_to_q="ANSWERS", msg_type=1)
    publish = "<psc><Command>Publish</Command><Topic>n/a</Topic><SeqNum>3</SeqNum></psc>"
    work.put(CONTROL, *with_folders([publish + usr], descriptor, b"body"))
    work.commit()
    queues.topics.drain()
    for queue, told in (("Q", ["psc", "usr"]), ("OTHER", ["mqps", "mqpse", "usr"])):
        (arrival,) = queues.browse(queue)
        folders = folders_of(*arrival)
        assert (told, usr, b"body") == ([name for name, _ in folders], folders[-1][1], opened(*arrival)[2])


def test_what_the_publisher_tells() -> None:
    """Subscribers are told when a publication was made, and its number, where the publisher tells them."""
    queues = manager()
    queues.mqsc("DEFINE SUB(TELL) TOPICSTR('n/#') DEST(OTHER) PSPROP(MSGPROP)\nALTER QL(OTHER) PROPCTL(ALL)")
    assert OK == ask(queues, REG)
    assert OK == ask(queues, PUB + "<PubTime>2026111910000000</PubTime><SeqNum>7</SeqNum>")
    told = dict(opened(*queues.browse("Q")[0])[0])
    assert ("2026111910000000", "7") == (told["psc.PubTime"], told["psc.SeqNum"])
    properties = properties_of(*queues.browse("OTHER")[0])
    assert {"mqps.Top": "n/a", "mqpse.Pts": "2026111910000000", "mqpse.Seq": 7} == properties


def test_a_shared_subscription_is_kept(tmp_path: Path) -> None:
    """Who has joined a subscription is known after a restart as well."""
    QueueManager.create(tmp_path / "QM1", name="QM1")
    with QueueManager.open(tmp_path / "QM1") as queues:
        queues.mqsc("DEFINE QL(ANSWERS)\nDEFINE QL(Q)")
        assert [OK] * 2 == [ask(queues, REG), ask(queues, NAMED + ANN + LOCK + "<RegOpt>AddName</RegOpt>")]
    with QueueManager.open(tmp_path / "QM1") as queues:
        assert ["mine"] == [one["SUB"] for one in queues.display("SUB", "*")]
        assert error(3156) == ask(queues, NAMED + BOB + SHARE)


def test_others_only() -> None:
    """A publisher that subscribes as well is left out where it asks for that."""
    queues = manager()
    assert OK == ask(queues, REG)
    assert OK == ask(queues, REG.replace(">Q<", ">OTHER<"))
    assert OK == ask(queues, PUB + "<PubOpt>OtherSubsOnly</PubOpt><QName>Q</QName>")
    assert (0, 1) == (queues.depth("Q"), queues.depth("OTHER"))


def test_others_only_by_correlation_ids() -> None:
    """Of those who share a queue, a publisher is the one whose correlation id its command has, where it says so."""
    queues, own = manager(), Descriptor(msg_type=REQUEST, reply_to_q="ANSWERS", format="MQSTR")
    for correl_id in (ID, ID[::-1], b"\x08" * 24):
        assert OK == answer(queues, own._replace(correl_id=correl_id), REG + "<RegOpt>CorrelAsId</RegOpt>")
    assert OK == answer(queues, own, REG)
    others = PUB + "<PubOpt>OtherSubsOnly</PubOpt><QName>Q</QName>"
    assert OK == answer(queues, own._replace(correl_id=ID), others + "<PubOpt>CorrelAsId</PubOpt>")
    assert {b"\x08" * 24, bytes(24)} == {one.descriptor.correl_id for one in queues.browse("Q")}
    queues.purge("Q")
    assert OK == answer(queues, own._replace(correl_id=ID), others)
    assert {ID, b"\x08" * 24} == {one.descriptor.correl_id for one in queues.browse("Q")}
    assert error(3080) == answer(queues, own, others + "<PubOpt>CorrelAsId</PubOpt>")


def test_no_command() -> None:
    """A message that is no command goes to the dead-letter queue."""
    queues = manager()
    work = queues.work()
    work.put(CONTROL, Descriptor(format="MQSTR"), b"hello")
    work.commit()
    queues.topics.drain()
    letter = queues.browse(queues.dead_letter_queue)[0]
    assert (2334, b"hello") == (int.from_bytes(letter.body[8:12], "little"), letter.body[-5:])


def test_what_no_answer_can_repeat() -> None:
    """A command with a character that no header can hold is answered without it, and others after it."""
    queues = manager()
    own = Descriptor(msg_type=REQUEST, reply_to_q="ANSWERS", user_identifier="ada")
    for folder in (DEREG.replace("n/+", "a&#1;b"), PUB + "<Topic>&#1;/#</Topic>", REG):
        work = queues.work()
        work.put(CONTROL, *with_folders([f"<psc>{folder}</psc>"], own, b""))
        work.commit()
    queues.topics.drain()
    told = [[value for _, value in opened(*arrival)[0]] for arrival in queues.browse("ANSWERS")]
    assert [["error", "3073"], ["warning", "3072"], ["ok"]] == told


def test_a_command_that_fails_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that fails for no reason of its own is put away, and those behind it are carried out."""
    queues, carry_out = manager(), commands.carry_out

    def fail(manager: QueueManager, work: Work, command: Asked) -> Answered:
        if command.one("Topic") == "poison":
            raise BrokerError(2951, "it fails")
        return carry_out(manager, work, command)

    monkeypatch.setattr(commands, "carry_out", fail)
    assert "" == ask(queues, PUB.replace("n/a", "poison"))
    assert OK == ask(queues, REG)
    letter = queues.browse(queues.dead_letter_queue)[0]
    assert (2362, 0) == (int.from_bytes(letter.body[8:12], "little"), queues.depth(CONTROL))


def test_queues_are_there() -> None:
    """The queues of commands are there as soon as something is put to them, unless the queue manager is without."""
    queues = QueueManager("Q", "ANSWERS", name="QM1")
    assert OK == ask(queues, REG)
    queues.mqsc(f"DELETE QLOCAL({CONTROL})\nALTER QMGR PSMODE(COMPAT)")
    assert CONTROL not in queues.names()

"""ValidateMaster and validateFailureAction of the nodes that read, make and write bodies, and the OPTIONS of ESQL."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import ParserException
from engine.message.assembly import Message
from engine.message.received import Received, RootDomain
from engine.node import build, node_catalog
from engine.parser import Options, Template
from engine.transports.memory import MemoryQueues
from engine.tree.sharing import read_only
from parsers.mrm.model import SimpleType
from tests.nodes.bench import carried
from tests.nodes.esql_nodes import made, sent
from tests.parsers.mrm.records import TEMPLATE, field, parser

CHOSEN = SimpleType("string", enumeration=("x", "y"))
MRM = parser(field("a", CHOSEN, {"length": 1}), field("b", "string", {"length": 1}))
COPY = "SET OutputRoot = InputRoot;"
FIRST = "M.a is 'z', and must be one of x, y"


def came(body: bytes = b"xb", **options: Any) -> Message:
    """A record as it was received, by a deployment that knows its message set."""
    received = Received(Descriptor(encoding=785), body, template=TEMPLATE, options=Options(**options))
    received.domain = RootDomain({"MRM": MRM})
    return Message(read_only(received.root()))


COMPUTED: list[tuple[str, Message, dict[str, str], str | None]] = [
    (f"{COPY} SET OutputRoot.MRM.a = 'z';", came(), {}, None),
    (f"{COPY} SET OutputRoot.MRM.a = 'z';", came(), {"validateMaster": "content"}, None),
    (f"{COPY} SET OutputRoot.MRM.a = 'z';", came(), {"validateMaster": "contentAndValue"}, FIRST),
    (f"{COPY} SET OutputRoot.MRM.a = 'z';", came(), {"validateMaster": "inherit"}, None),
    (f"{COPY} SET OutputRoot.MRM.a = 'z';", came(validation="contentAndValue"), {"validateMaster": "inherit"}, FIRST),
    (f"{COPY} SET OutputRoot.MRM.a = 'z';", came(validation="contentAndValue"), {}, None),
    (f"{COPY} SET OutputRoot.MRM.b = NULL;", came(), {"validateMaster": "content"}, "M.b occurs 0 times, and must 1"),
    (f"{COPY} SET OutputRoot.MRM.a = 'y';", came(), {"validateMaster": "contentAndValue"}, None),
    ("SET OutputRoot.XMLNSC.a = 'z';", came(), {"validateMaster": "contentAndValue"}, None),
    (
        "SET OutputLocalEnvironment.a = 1;",
        came(b"zb"),
        {"validateMaster": "content", "computeMode": "destination"},
        None,
    ),
    (
        f"{COPY} PROPAGATE TO TERMINAL 'failure'; RETURN FALSE;",
        came(b"zb"),
        {"validateMaster": "contentAndValue"},
        None,
    ),
    (f"{COPY} PROPAGATE TO TERMINAL 'out1';", came(b"zb"), {"validateMaster": "contentAndValue"}, FIRST),
]


@pytest.mark.parametrize(("program", "message", "settings", "text"), COMPUTED)
def test_compute(program: str, message: Message, settings: dict[str, str], text: str | None) -> None:
    """What a Compute node makes is validated when it goes out, but not to failure; inherit does as the input asked."""
    node = made("Compute", program, **settings)
    if text is None:
        assert len(sent(node, message)) == 1
        return
    with pytest.raises(ParserException) as failed:
        sent(node, message)
    assert failed.value.text.startswith(text)


def test_a_handler_of_compute_is_told() -> None:
    """What is not valid fails where it is propagated from, so that a handler may send something else."""
    program = f"""
    DECLARE EXIT HANDLER FOR SQLSTATE LIKE '%' SET OutputRoot.XMLNSC.wrong = SQLERRORTEXT;
    {COPY} PROPAGATE DELETE NONE; RETURN FALSE;"""
    ((terminal, one),) = sent(made("Compute", program, validateMaster="contentAndValue"), came(b"zb"))
    wrong = one.root.at("XMLNSC", "wrong")
    assert (terminal, wrong is not None and FIRST in str(wrong.value)) == ("out", True)


ACTIONS = [
    ("exception", 2, ""),
    ("exceptionList", 3, ""),
    ("userTrace", 0, "penstock.usertrace"),
    ("localErrorLog", 0, "penstock.localerror"),
]


@pytest.mark.parametrize(("action", "inserts", "log"), ACTIONS)
def test_what_becomes_of_it(action: str, inserts: int, log: str, caplog: pytest.LogCaptureFixture) -> None:
    """It fails for the first reason or for all, or a log is told of each and the message goes on."""
    caplog.set_level(logging.INFO, "penstock")
    settings = {"validateMaster": "contentAndValue", "validateFailureAction": action}
    node = made("Compute", f"{COPY} SET OutputRoot.MRM.a = 'z'; SET OutputRoot.MRM.b = NULL;", **settings)
    try:
        assert len(sent(node, came())) == 1
        found = 0
    except ParserException as error:
        found = len(error.inserts)
    told = [record.name for record in caplog.records if "the message goes on" in record.getMessage()]
    assert (found, told) == (inserts, [log, log] if log else [])


@pytest.mark.parametrize("kind", ["MQOutput", "MQReply"])
@pytest.mark.parametrize(
    ("master", "action", "puts"),
    [
        ("none", "exception", 1),
        ("inherit", "exception", 1),
        ("content", "exception", 1),
        ("contentAndValue", "exception", 0),
        ("contentAndValue", "userTrace", 1),
    ],
)
def test_before_a_put(kind: str, master: str, action: str, puts: int) -> None:
    """A body that is not valid is not put, where the node asks for that."""
    queues = MemoryQueues("OUT")
    work = queues.work()
    received = Received(Descriptor(encoding=785, reply_to_q="OUT"), b"zb", template=TEMPLATE)
    received.domain = RootDomain({"MRM": MRM})
    properties = {"validateMaster": master, "validateFailureAction": action}
    node = build(node_catalog.find(kind), properties | ({"queueName": "OUT"} if kind == "MQOutput" else {}))
    try:
        text = str(len(list(node.evaluate(Message(read_only(received.root())), work))))
    except ParserException as error:
        text = error.text
    work.commit()
    assert (text, len(queues.browse("OUT"))) == (str(puts) if puts else FIRST, puts)


@pytest.mark.parametrize(
    ("master", "given", "fails"),
    [
        ("none", "contentAndValue", False),
        ("content", "none", False),
        ("contentAndValue", "none", True),
        ("inherit", "contentAndValue", True),
        ("inherit", "none", False),
    ],
)
def test_reset_content_descriptor(master: str, given: str, fails: bool) -> None:
    """What the node makes of the bytes is validated as it says, when it is parsed."""
    properties: dict[str, object] = {
        "messageDomain": "MRM",
        "resetMessageDomain": True,
        "validateMaster": master,
        "validateTiming": "immediate",
    }
    received = Received(
        Descriptor(encoding=785),
        b"zb",
        template=Template("BLOB", *TEMPLATE[1:]),
        options=Options(validation=given),  # type: ignore[arg-type]  # one of the literals
    )
    received.domain = RootDomain({"MRM": MRM})
    seen = carried("ResetContentDescriptor", Message(read_only(received.root())), "out", properties=properties)
    assert (seen.error is not None) == fails


def test_what_is_read(caplog: pytest.LogCaptureFixture) -> None:
    """A parser that finds what is not valid may write it to a log; the body is there all the same."""
    caplog.set_level(logging.INFO, "penstock")
    body = came(b"zb", validation="contentAndValue", action="userTrace").root.last_child
    assert body is not None
    assert [child.value for child in body] == ["z", "b"]
    assert [record.getMessage() for record in caplog.records] == [f"BIP5285: {FIRST}; the message goes on"]


OPTIONS = [
    ("RootBitStream", None),
    ("ValidateContent", None),
    ("ValidateValue", FIRST),
    ("BITOR(RootBitStream, ValidateContentAndValue, ValidateExceptionList)", FIRST),
    ("BITOR(ValidateContentAndValue, ValidateLocalError)", None),
    ("BITOR(ValidateContentAndValue, ValidateUserTrace)", None),
]
CLAUSES = "SET 'SET' TYPE 'M' FORMAT 'CWF'"


@pytest.mark.parametrize(("options", "text"), OPTIONS)
@pytest.mark.parametrize(
    "program",
    [
        "SET OutputRoot.BLOB.BLOB = ASBITSTREAM(InputRoot.MRM OPTIONS {} " + CLAUSES + ");",
        "CREATE LASTCHILD OF OutputRoot DOMAIN 'MRM' PARSE(X'7a62' OPTIONS BITOR({}, ValidateImmediate) "
        "ENCODING 785 CCSID 819 " + CLAUSES + ");",
    ],
)
def test_options(program: str, options: str, text: str | None) -> None:
    """ASBITSTREAM and PARSE validate by their OPTIONS."""
    node = made("Compute", program.format(options))
    if text is None:
        assert len(sent(node, came(b"zb"))) == 1
        return
    with pytest.raises(ParserException, match="must be one of x, y"):
        sent(node, came(b"zb"))

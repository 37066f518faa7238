"""Poison: whatever a message breaks, it ends on the backout or dead-letter queue as it came, and the next goes on."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from engine.catalog import Catalog
from engine.descriptor import Descriptor
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import Message
from engine.message.received import Received
from engine.mq.definitions import QueueDefinition
from engine.node import NodeType, node, node_catalog, prop
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from engine.work import QueueAttributes
from esql.runtime.activation import Limits
from flows.programs import binder

if TYPE_CHECKING:
    from engine.work import UnitOfWork

KINDS = ("MQInput", "MQOutput", "Compute", "Filter", "Validate", "ResetContentDescriptor", "RouteToLabel", "Throw")
own: Catalog[NodeType] = Catalog("node type", package="nodes")
for _kind in KINDS:
    own.register(_kind)(node_catalog.find(_kind))


@node("Own", catalog=own)
@dataclass(frozen=True, slots=True)
class Own:
    """A node as users write them, which breaks in the way that it is told."""

    way: str = prop("", "How it breaks.")

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        source: Any = message.root.source
        if source.body != GOOD.body:
            if self.way == "terminal":
                yield "nowhere", message
            raise {"value": ValueError("bad"), "memory": MemoryError(), "deep": RecursionError(), "key": KeyError("x")}[
                self.way
            ]
        yield "out", message


class Letter(NamedTuple):
    """A message: its bytes, and what the descriptor says of them."""

    body: bytes
    format: str = ""
    ccsid: int = 1208


class Poison(NamedTuple):
    """A message that cannot be worked on, and the node that finds that out."""

    letter: Letter
    domain: str = "XMLNSC"
    properties: dict[str, str] = {}  # noqa: RUF012  # never changed
    node: tuple[str, dict[str, str]] = ("Compute", {"computeExpression": "SET OutputRoot = InputRoot;"})
    good: Letter | None = None


GOOD = Letter(b"<a><b>1</b></a>")
JSON, CSV, BITS = Letter(b'{"b": 1}'), Letter(b"1,2\n"), Letter(b"1")
EARLY = {"validateTiming": "complete"}
AT_ONCE = {"validateTiming": "immediate"}
WRONG = "IF InputBody.a.b = 'x' THEN "
COPY = "SET OutputRoot.MQMD = InputRoot.MQMD; "


def compute(text: str) -> tuple[str, dict[str, str]]:
    return "Compute", {"computeExpression": text}


LOOK = compute("SET Environment.x = InputBody.*[<].*[<];")
ADD = compute("SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.a.c = CAST(InputBody.a.b AS INTEGER) + 1;")
DOWN = compute(
    "CREATE FUNCTION down(IN n INTEGER) RETURNS INTEGER BEGIN RETURN down(n + 1); END;"
    "IF InputRoot.XMLNSC.a.b <> '1' THEN SET Environment.x = down(1); END IF; SET OutputRoot = InputRoot;"
)
ROUND = compute("WHILE InputRoot.XMLNSC.a.b <> '1' DO SET Environment.x = 1; END WHILE; SET OutputRoot = InputRoot;")
GROW = compute(
    "DECLARE s CHARACTER InputRoot.XMLNSC.a.b; WHILE s <> '1' DO SET s = s || s; END WHILE; SET OutputRoot = InputRoot;"
)
MANY = compute(
    "DECLARE i INTEGER 0; WHILE InputRoot.XMLNSC.a.b <> '1' DO SET i = i + 1; SET Environment.x[i] = 'xxxxxxxxx';"
    " END WHILE; SET OutputRoot = InputRoot;"
)
OTHER = Letter(b"<a><b>x</b></a>")

TABLE: dict[str, Poison] = {
    # what cannot be read, by domain and by when it is
    "XMLNSC at input": Poison(Letter(b"<a"), properties=EARLY),
    "XMLNSC at input, at once": Poison(Letter(b"<a><b></a>"), properties=AT_ONCE),
    "XMLNSC in Compute": Poison(Letter(b"<a><b>\xff</b></a>"), node=LOOK),
    "XMLNSC, empty": Poison(Letter(b""), properties=EARLY),
    "XMLNSC, not XML": Poison(Letter(b"\x00\xff"), node=LOOK),
    "XMLNSC, too deep": Poison(Letter(b"<a>" * 100_000), node=LOOK),
    "XMLNSC, entities": Poison(
        Letter(b'<!DOCTYPE a [<!ENTITY x "yy"><!ENTITY z "&x;&x;">]><a><b>&z;</b><a>'), properties=EARLY
    ),
    "XMLNS at input": Poison(Letter(b"<a"), "XMLNS", EARLY),
    "XMLNS in Compute": Poison(Letter(b"<a"), "XMLNS", node=LOOK),
    "XML at input": Poison(Letter(b"<a"), "XML", EARLY),
    "XML in Compute": Poison(Letter(b"<a"), "XML", node=LOOK),
    "JSON at input": Poison(Letter(b'{"a": '), "JSON", EARLY, good=JSON),
    "JSON in Compute": Poison(Letter(b'{"a": 1}}'), "JSON", node=LOOK, good=JSON),
    "JSON, too deep": Poison(Letter(b"[" * 100_000), "JSON", node=LOOK, good=JSON),
    "MRM without a message set": Poison(Letter(b"1"), "MRM", EARLY),
    "RFH2 that is cut off": Poison(Letter(b"RFH \x02\0\0\0", "MQHRF2"), properties=EARLY),
    "RFH2 that is cut off, in Compute": Poison(Letter(b"RFH \x02\0\0\0", "MQHRF2"), node=LOOK),
    "DLH that is cut off": Poison(Letter(b"DLH ", "MQDEAD"), node=LOOK),
    "a CCSID that there is not": Poison(Letter(b"<a/>", ccsid=99999), properties={"convert": "true"}),
    "what cannot be converted": Poison(Letter(b"\xff", "MINE", 500), properties={"convert": "true"}),
    # what fails in a program
    "an operation": Poison(OTHER, node=ADD),
    "a division": Poison(OTHER, node=compute(f"{COPY}{WRONG}SET Environment.x = 1 / 0; END IF;")),
    "a throw": Poison(OTHER, node=compute(f"{WRONG}THROW USER EXCEPTION; END IF;")),
    "a condition": Poison(OTHER, node=("Filter", {"filterExpression": "CAST(Body.a.b AS INTEGER) = 1"})),
    "a recursion without end": Poison(OTHER, node=DOWN),
    "a loop without end": Poison(OTHER, node=ROUND),
    "a text without end": Poison(Letter(b"<a><b>xxxxxxxxxxxxxxxxxxxxx</b></a>"), node=GROW),
    "a tree without end": Poison(OTHER, node=MANY),
    # what cannot be written
    "a domain that there is not": Poison(
        OTHER, node=compute(f"SET OutputRoot = InputRoot; {WRONG} SET OutputRoot.Nix.a = 1; END IF;")
    ),
    "characters that a CCSID has not": Poison(
        OTHER, node=compute(f"{COPY} {WRONG} SET Environment.x = CAST('\N{SNOWMAN}' AS BLOB CCSID 500); END IF;")
    ),
    "a header field of the wrong type": Poison(
        OTHER, node=compute(f"SET OutputRoot = InputRoot; {WRONG} SET OutputRoot.MQMD.MsgId = 'x'; END IF;")
    ),
    "a name that XML has not": Poison(
        OTHER, node=compute(f"{COPY} SET OutputRoot.XMLNSC.a = 1; {WRONG} SET OutputRoot.XMLNSC.a NAME = '<'; END IF;")
    ),
    "a body of JSON without its form": Poison(
        OTHER, node=compute(f"{COPY} SET OutputRoot.JSON.Data.a = 1; {WRONG} SET OutputRoot.JSON.Nix = 1; END IF;")
    ),
    "a queue that there is not": Poison(Letter(b"<a/>"), node=("MQOutput", {"queueName": "NONE"})),
    # what other nodes find
    "Validate": Poison(JSON, "JSON", node=("Validate", {"checkDomain": "true", "domain": "XMLNSC"}), good=JSON),
    "ResetContentDescriptor": Poison(
        Letter(b"{"),
        "XMLNSC",
        node=(
            "ResetContentDescriptor",
            {"resetMessageDomain": "true", "messageDomain": "XMLNSC", "validateTiming": "complete"},
        ),
    ),
    "RouteToLabel": Poison(OTHER, node=("RouteToLabel", {})),
    "Throw": Poison(OTHER, node=("Throw", {})),
    **{
        f"a node of the user's: {way}": Poison(OTHER, node=("Own", {"way": way}))
        for way in ("value", "memory", "deep", "key", "terminal")
    },
}
# here the next fails as well
ALWAYS = ("a queue that there is not", "Validate", "RouteToLabel", "Throw", "MRM without a message set")
LIMITS = ("a loop without end", "a tree without end", "a text without end")


@pytest.mark.parametrize("requeue", ["BOQ", ""])
@pytest.mark.parametrize("name", TABLE)
def test_poison(name: str, requeue: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is put away with its bytes and its ids, the one behind it is processed, and no turn is the last."""
    poison = TABLE[name]
    monkeypatch.setattr("engine.runtime.deployment.node_catalog", own)
    kind, settings = poison.node
    given = {"queueName": "IN", "messageDomainProperty": poison.domain, **poison.properties}
    flow = Flow(
        "F",
        nodes=(
            NodeUse("In", "MQInput", tuple(Setting(*pair) for pair in given.items())),
            NodeUse("N", kind, tuple(Setting(*pair) for pair in settings.items())),
            NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),)),
        ),
        wires=(Wire("In", "out", "N"), Wire("N", {"Filter": "true", "Validate": "match"}.get(kind, "out"), "Out")),
    )
    queues = MemoryQueues(QueueDefinition("IN", QueueAttributes(2, requeue)), "BOQ", "OUT", "SYSTEM.DEAD.LETTER.QUEUE")
    work = queues.work()
    for number, letter in enumerate((poison.letter, poison.good or GOOD)):
        descriptor = Descriptor(msg_id=b"%d" % number * 24, format=letter.format, coded_char_set_id=letter.ccsid)
        work.put("IN", descriptor, letter.body, syncpoint=False)
    bind = binder(flow, catalog=own)
    if name in LIMITS:
        bind = limited(bind)
    deployed = deploy(flow, bind=bind)
    for _ in range(10):
        if deployed.process(deployed.entrances[0], work) is None:
            break
    else:
        pytest.fail("the queue is never empty")
    away = queues.browse(requeue or "SYSTEM.DEAD.LETTER.QUEUE")
    assert away
    assert away[0].descriptor.msg_id == b"0" * 24
    body = away[0].body if requeue else Received(*away[0]).body[172:]
    assert body == poison.letter.body
    if requeue:
        assert away[0].descriptor.format == poison.letter.format
    assert (len(away), queues.depth("OUT")) == ((2, 0) if name in ALWAYS else (1, 1))


def limited(bind: Any) -> Any:
    """The same programs with limits that are reached soon."""
    routines = {
        key: replace(one, around=replace(one.around, limits=Limits(turns=20_000, nodes=10_000, string=100_000)))
        for key, one in bind.routines.items()
    }
    return replace(bind, routines=routines)

"""A large message that a program takes apart by PROPAGATE: what is done is let go, so memory does not grow with it."""

from __future__ import annotations

import gc
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.programs import binder

RECORDS = 4000
BODY = b"<Day><Date>2001-01-01</Date>%s</Day>" % b"".join(
    b"<Sale><Item>%d</Item><Quantity>2</Quantity><Price>1.50</Price></Sale>" % n for n in range(RECORDS)
)
SAMPLE = (Path(__file__).parents[2] / "flows/samples/splitting/splitting.esql").read_text("utf-8")
BY_PREVIOUS_SIBLING = """CREATE COMPUTE MODULE Split CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    CREATE FIELD Environment.Variables.Day;
    DECLARE day REFERENCE TO Environment.Variables.Day;
    CREATE LASTCHILD OF day DOMAIN('XMLNSC') NAME 'XMLNSC';
    SET day.XMLNSC = InputRoot.XMLNSC;
    DECLARE sale REFERENCE TO day.XMLNSC.Day.Sale[1];
    WHILE LASTMOVE(sale) DO
        SET OutputRoot.XMLNSC.Sale = sale;
        PROPAGATE TO TERMINAL 'out1' DELETE DEFAULT;
        MOVE sale NEXTSIBLING;
        DELETE PREVIOUSSIBLING OF sale;
    END WHILE;
    RETURN FALSE;
END; END MODULE;"""
MADE_HERE = f"""CREATE COMPUTE MODULE Split CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    DECLARE i INTEGER 0;
    WHILE i < {RECORDS} DO
        SET i = i + 1;
        SET OutputRoot.XMLNSC.Sale.Item = i;
        PROPAGATE TO TERMINAL 'out1';
    END WHILE;
    RETURN FALSE;
END; END MODULE;"""


class Gone:
    """A unit of work that counts what is put and keeps none of it, and measures memory on the way."""

    def __init__(self, work: Any) -> None:
        self._work = work
        self.puts = 0
        self.held: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        self.puts += 1
        if self.puts % (RECORDS // 4) == 1:
            gc.collect()
            self.held.append(tracemalloc.get_traced_memory()[0])
        return descriptor


PROGRAMS = {"the sample": SAMPLE, "DELETE PREVIOUSSIBLING": BY_PREVIOUS_SIBLING, "messages made here": MADE_HERE}


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_done_is_let_go(program: str) -> None:
    """The further a program is, the less it holds: at most the fields that are still to come."""
    nodes = (
        NodeUse("In", "MQInput", (Setting("queueName", "IN"), Setting("messageDomainProperty", "XMLNSC"))),
        NodeUse("Split", "Compute", (Setting("computeExpression", "Split"),)),
        NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),)),
    )
    wires = (Wire("In", "out", "Split"), Wire("Split", "out1", "Out"))
    schema = "samples.splitting" if program == "the sample" else ""
    flow = Flow("F", schema, nodes=nodes, wires=wires)
    queues = MemoryQueues("IN", "OUT")
    deployed = deploy(flow, bind=binder(flow, files=[("split.esql", PROGRAMS[program].encode())]))
    work = Gone(queues.work())
    queues.work().put("IN", Descriptor(), BODY, syncpoint=False)
    gc.collect()
    tracemalloc.start()
    try:
        outcome = deployed.process(deployed.entrances[0], work)
        gc.collect()
        left = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert outcome is not None
    assert (outcome.error, work.puts) == (None, RECORDS)
    _, *later = work.held  # in front of the first, siblings have not been looked for
    assert all(after < before + 50_000 for before, after in pairwise(later)), work.held
    assert max(work.held) < 300 * RECORDS
    assert left < 100_000

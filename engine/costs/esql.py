"""ESQL's benchmarks: the report's compute programs beside lxml, loops over repeating fields, arithmetic, compiling."""

from __future__ import annotations

import gc
import statistics
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from engine.costs.hand_written import complex_path_by_hand
from engine.costs.measuring import BROKEN, Measured, Pair, Program, Row, compared, cost_beside, cpu, figure
from engine.costs.sample_messages import complex_path
from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.message.writer import write_message
from engine.parser import Template
from esql.cache import Cache, version
from esql.compile import compile_text
from esql.runtime.program import Compiled

TURNS: Final = 1000
RECORDS: Final = 242

_COMPLEX: Final = """
SET C = CARDINALITY(OutputRoot.XML.CSIM.TestCase.Stack.ProcessingPath.Element[]);
SET i = 1;
WHILE i <= C DO
    SET OutputRoot.XML.CSIM.TestCase.ProcessingPath.Component[i].Name =
        OutputRoot.XML.CSIM.TestCase.Stack.ProcessingPath.Element[i].COMPONENT;
    SET OutputRoot.XML.CSIM.TestCase.ProcessingPath.Component[i].Transport.(XML.attr)Type = 'A';
    SET OutputRoot.XML.CSIM.TestCase.ProcessingPath.Component[i].Transport.Queue =
        OutputRoot.XML.CSIM.TestCase.Stack.ProcessingPath.Element[i].QUEUE;
    SET i = i + 1;
END WHILE;
"""
_START: Final = "SET OutputRoot = InputRoot;\nDECLARE i INTEGER;\nDECLARE C INTEGER;\n"

_SUBSCRIPTS: Final = """
DECLARE i INTEGER 1;
WHILE i <= CARDINALITY(InputRoot.XMLNSC.List.Item[]) DO
    SET OutputRoot.XMLNSC.List.Item[i].A = InputRoot.XMLNSC.List.Item[i].A;
    SET OutputRoot.XMLNSC.List.Item[i].B = InputRoot.XMLNSC.List.Item[i].B;
    SET OutputRoot.XMLNSC.List.Item[i].C = InputRoot.XMLNSC.List.Item[i].C;
    SET OutputRoot.XMLNSC.List.Item[i].D = InputRoot.XMLNSC.List.Item[i].D;
    SET i = i + 1;
END WHILE;
"""
_REFERENCES: Final = """
CREATE FIELD OutputRoot.XMLNSC.List;
DECLARE list REFERENCE TO OutputRoot.XMLNSC.List;
DECLARE target REFERENCE TO list;
DECLARE source REFERENCE TO InputRoot.XMLNSC.List.Item;
WHILE LASTMOVE(source) DO
    CREATE LASTCHILD OF list AS target NAME 'Item';
    SET target.A = source.A;
    SET target.B = source.B;
    SET target.C = source.C;
    SET target.D = source.D;
    MOVE source NEXTSIBLING NAME 'Item';
END WHILE;
"""
_ARITHMETIC: Final = f"""
DECLARE a INTEGER 3; DECLARE b INTEGER 4; DECLARE c INTEGER 5; DECLARE x INTEGER; DECLARE i INTEGER 0;
WHILE i < {TURNS} DO
    {"SET x = a * b + c; " * 10}
    SET i = i + 1;
END WHILE;
RETURN x = 17;
"""


def benchmarks() -> Iterator[Measured]:
    """All of them."""
    yield from compared(PAIRS)
    yield linear()
    yield compiling()
    yield from_cache()


def _run(compiled: Compiled, body: bytes, domain: str) -> bytes:
    message = Message.received(Descriptor(), body, template=Template(domain))
    return b"".join(write_message(sent.root)[1] for _, sent in compiled.evaluate(message))


def reported(repetitions: int) -> Program:
    """Returns the report's compute program, so many times over; for none of them the same by hand with lxml."""
    body = complex_path(4096)
    if not repetitions:
        return partial(complex_path_by_hand, body)
    return partial(_run, compile_text(_START + _COMPLEX * repetitions, "COMPUTE", "complex"), body, "XML")


def _records(count: int) -> bytes:
    return (
        b"<List>" + b"".join(b"<Item><A>%d</A><B>b</B><C>c</C><D>d</D></Item>" % n for n in range(count)) + b"</List>"
    )


def copied(text: str) -> Program:
    """Returns a program that copies repeating records."""
    body, compiled = _records(RECORDS), compile_text(text, "COMPUTE", "copy")
    if _run(compiled, body, "XMLNSC") != body:
        raise BrokerError(BROKEN, "a program does not copy its message, so what it costs says nothing")
    return partial(_run, compiled, body, "XMLNSC")


def linear() -> Measured:
    """Ten times as many records by subscript take about ten times as long, Python's search for garbage apart."""
    compiled = compile_text(_SUBSCRIPTS, "COMPUTE", "copy")
    few, many = (partial(_run, compiled, _records(count), "XMLNSC") for count in (1000, 10_000))
    gc.collect()
    gc.disable()
    try:
        return cost_beside(Row("10,000 records beside 1,000", 12.0), few, many, rounds=3)
    finally:
        gc.enable()


def added(kind: str) -> Program:
    """Returns `a * b + c` over declared INTEGERs, or bare Python with a test for NULL."""
    if kind == "bare":
        return partial(_bare, 3, 4, 5)
    compiled = compile_text(_ARITHMETIC, "FILTER", "arithmetic")
    message = Message.received(Descriptor(), b"", template=Template("BLOB"))
    entrance = compiled.entrance()

    def run() -> object:
        return entrance.run(compiled.activation(message), 1)

    if run() is not True or _bare(3, 4, 5) != 17:
        raise BrokerError(BROKEN, "arithmetic: the programs do not agree, so their cost says nothing")
    return run


def _bare(a: Any, b: Any, c: Any) -> object:
    x, i = None, 0
    while i < TURNS:
        x = a * b + c if a is not None and b is not None and c is not None else None
        x = a * b + c if a is not None and b is not None and c is not None else None
        x = a * b + c if a is not None and b is not None and c is not None else None
        x = a * b + c if a is not None and b is not None and c is not None else None
        x = a * b + c if a is not None and b is not None and c is not None else None
        x = a * b + c if a is not None and b is not None and c is not None else None
        x = a * b + c if a is not None and b is not None and c is not None else None
        x = a * b + c if a is not None and b is not None and c is not None else None
        x = a * b + c if a is not None and b is not None and c is not None else None
        x = a * b + c if a is not None and b is not None and c is not None else None
        i += 1
    return x


PAIRS: Final = (
    Pair("complex, 4 KiB", 2.0, reported, 0, 1, alike=True),
    Pair("very complex, 4 KiB", 5.0, reported, 0, 5, alike=True),
    Pair(f"{RECORDS} records by subscript", 1.3, copied, _REFERENCES, _SUBSCRIPTS, alike=True),
    Pair(f"a*b+c, {TURNS * 10:,} times", 2.0, added, "bare", "compiled"),
)


def compiling() -> Measured:
    """A program of 1,000 lines, from text to code."""
    text = _START + _COMPLEX * 100
    took = min(cpu(lambda: compile_text(text, "COMPUTE", "long")) for _ in range(3)) * 1e6
    return figure(Row("compiling 1,000 lines", 3_000_000.0, "µs"), [took], microseconds=took)


def from_cache() -> Measured:
    """The same program at a second start: the key worked out, the entry read, checked, and made ready to run."""
    text = _START + _COMPLEX * 100
    with tempfile.TemporaryDirectory() as folder:
        kept = Cache(Path(folder) / "esql")
        kept.text(text, "COMPUTE", "long")
        if len(list((Path(folder) / "esql").iterdir())) != 1:
            raise BrokerError(BROKEN, "from the cache: nothing was kept, so what it costs says nothing")

        def start() -> object:
            version.cache_clear()
            return kept.text(text, "COMPUTE", "long")

        took = [cpu(start) * 1e6 for _ in range(9)]
    row = Row("1,000 lines from the cache", 50_000.0, "µs")
    return figure(row, took, microseconds=statistics.median(took))

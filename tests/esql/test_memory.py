"""Places that are remembered: programs do the same with and without memory, whatever they do to trees."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import esql.emit
from engine.errors import BrokerError
from esql.compile import compile_text
from esql.emit.cached_elements import Memory
from esql.runtime.activation import Limits, Surroundings
from esql.runtime.interactive_session import message_of, outcomes
from tests.esql.programs import gives, programs

INPUT = b"<t><a><b>1</b><b>2</b><c>3</c></a><a><c>4</c></a></t>"
NAMES = st.sampled_from(["a", "b", "c"])
INDEXES = st.sampled_from(["", "", "[1]", "[2]", "[i]", "[j]", "[<]"])
ROOTS = st.sampled_from(["OutputRoot.XMLNSC.t", "OutputRoot.XMLNSC.t", "r", "q", "InputRoot.XMLNSC.t", "Environment"])
WRITABLE = st.sampled_from(["OutputRoot.XMLNSC.t", "OutputRoot.XMLNSC.t", "r", "q", "Environment"])
STEPS = st.lists(st.builds("{}{}".format, NAMES, INDEXES), min_size=1, max_size=3).map(".".join)
PATHS = st.builds("{}.{}".format, ROOTS, STEPS)
TARGETS = st.builds("{}.{}".format, WRITABLE, STEPS)
PLACES = st.sampled_from(["FIRSTCHILD", "LASTCHILD", "NEXTSIBLING", "PREVIOUSSIBLING"])
SIMPLE = st.one_of(
    st.builds("SET {} = {};".format, TARGETS, PATHS),
    st.builds("SET {} = {};".format, TARGETS, PATHS),
    st.builds("SET {} = 'v';".format, TARGETS),
    st.builds("SET {} = NULL;".format, TARGETS),
    st.builds("SET {} VALUE = NULL;".format, TARGETS),
    st.builds("SET {} NAME = 'c';".format, TARGETS),
    st.builds("SET {}.b[] = {}.b[];".format, TARGETS, PATHS),
    st.builds("SET i = {};".format, st.sampled_from(["1", "2", "j", "CARDINALITY(OutputRoot.XMLNSC.t.a[])"])),
    st.just("SET s = s || COALESCE(FIELDNAME(r), '') || COALESCE(OutputRoot.XMLNSC.t.a[i].b, '-');"),
    st.builds("SET s = s || COALESCE({0}, '-') || COALESCE({0}, '-');".format, PATHS),
    st.builds("DELETE FIELD {};".format, TARGETS),
    st.builds("MOVE r TO {};".format, TARGETS),
    st.builds("MOVE q {};".format, st.sampled_from(["PARENT", "FIRSTCHILD", "NEXTSIBLING", "LASTCHILD NAME 'b'"])),
    st.builds("CREATE {} OF OutputRoot.XMLNSC.t.a NAME 'b' VALUE 'n';".format, PLACES),
    st.builds("CREATE {} OF OutputRoot.XMLNSC.t AS r NAME 'a';".format, st.sampled_from(["FIRSTCHILD", "LASTCHILD"])),
    st.builds("CREATE FIELD {};".format, TARGETS),
    st.just("CALL p(); "),
    st.just("PROPAGATE DELETE NONE;"),
    st.just("SET OutputRoot = InputRoot;"),
)
BLOCKS = st.lists(SIMPLE, min_size=1, max_size=6).map("\n".join)
STATEMENTS = st.one_of(
    SIMPLE,
    st.builds("SET j = 0; WHILE j < 3 DO SET j = j + 1;\n{}\nEND WHILE;".format, BLOCKS),
    st.builds(
        "IF EXISTS({}[]) THEN {} ELSE {} END IF;".format, PATHS.map(lambda p: p.partition("[")[0]), BLOCKS, BLOCKS
    ),
    st.builds(
        "FOR x AS OutputRoot.XMLNSC.t.a[] DO SET x.b[j] = x.c; SET s = s || COALESCE(x.c, '-');\n{}\nEND FOR;".format,
        BLOCKS,
    ),
)
PROGRAMS = st.lists(STATEMENTS, min_size=1, max_size=6).map("\n".join)
HEAD = """SET OutputRoot = InputRoot; DECLARE i INTEGER 1; DECLARE j INTEGER 1; DECLARE s CHARACTER '';
DECLARE r REFERENCE TO OutputRoot.XMLNSC.t.a; DECLARE q REFERENCE TO OutputRoot.XMLNSC.t.a[2];
"""
TAIL = """
SET OutputRoot.XMLNSC.t.s = s;
CREATE PROCEDURE p() BEGIN DELETE FIELD OutputRoot.XMLNSC.t.a; SET OutputRoot.XMLNSC.t.b.c = 'p'; END;
"""


def ran(text: str) -> list[str]:
    """What a program sends and how it ends; where in the text it failed is not told."""
    around = Surroundings(limits=Limits(turns=1000, nodes=2000, string=10000))
    found: list[str] = []
    try:
        compiled = compile_text(text, "COMPUTE", "p.esql")
        found.extend(outcomes(compiled, message_of(INPUT, "XMLNSC"), around=around))
    except BrokerError as error:
        found.append(f"{error.number}")
    return found


def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember nothing from now on."""
    monkeypatch.setattr(esql.emit, "TABLES", replace(esql.emit.TABLES, plan=lambda body, statements: Memory()))


@settings(max_examples=80, deadline=None)
@given(PROGRAMS)
def test_memory_changes_nothing(program: str) -> None:
    """A random program does the same with memory as without."""
    text = HEAD + program + TAIL
    with pytest.MonkeyPatch.context() as patch:
        expected = ran(text)
        forgetful(patch)
        assert ran(text) == expected


def test_programs_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of the folder do the same without memory."""
    expected = {path: gives(path.read_text("utf-8"), path.name) for path in programs()}
    forgetful(monkeypatch)
    assert expected == {path: gives(path.read_text("utf-8"), path.name) for path in programs()}


def test_prefixes_are_looked_up_once() -> None:
    """In a loop a prefix of an input path is looked up where it is not known yet, and nowhere else."""
    loop = "WHILE i < 9 DO SET i = i + 1; SET OutputRoot.XMLNSC.r[i] = InputRoot.XMLNSC.t.a.c; END WHILE;"
    text = f"DECLARE i INTEGER 0; {loop}"
    assert "h1 is not None or (h1 := " in compile_text(text, "COMPUTE", "p.esql").text

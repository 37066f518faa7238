"""SET of a child in one go: programs do the same as by looking, making and copying one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import BrokerError
from engine.tree import sharing
from engine.tree.element import Element
from engine.tree.step import Step
from esql.compile import compile_text
from esql.runtime.activation import Limits, Surroundings
from esql.runtime.interactive_session import message_of, outcomes
from esql.runtime.limits import Nodes
from esql.trees import assignments
from esql.trees.assignments import set_field
from tests.esql.programs import gives, programs

INPUT = b"<t><a k='1'><b>1</b>\n<b>2</b><c><d>3</d></c></a><a><c>4<!-- no --><d/></c></a><b/>&lt;&#13;</t>"
PLAIN = b"<t><a><b>1</b><b>2</b><c><d>3</d></c></a><a><c>4</c><d/></a></t>"
NAMES = st.sampled_from(["a", "b", "c", "d"])
INDEXES = st.sampled_from(["", "", "", "[2]", "[i]", "[<]"])
STEPS = st.lists(st.builds("{}{}".format, NAMES, INDEXES), min_size=1, max_size=3).map(".".join)
OUTPUT = st.sampled_from(
    ["OutputRoot.XML.t", "OutputRoot.XML.t", "OutputRoot.XMLNSC.t", "Environment.t", "OutputLocalEnvironment.t", "r"]
)
SOURCES = st.one_of(
    OUTPUT, st.sampled_from(["InputRoot.XML.t", "InputRoot.XMLNSC.t", "InputLocalEnvironment.t", "InputRoot"])
)
PATHS = st.builds("{}.{}".format, SOURCES, STEPS)
TARGETS = st.builds("{}.{}".format, OUTPUT, STEPS)
COPIES = st.builds("SET {} = {};".format, TARGETS, PATHS)
STATEMENTS = st.one_of(
    COPIES,
    COPIES,
    COPIES,
    st.builds("SET {0}.{1} = {0}.{2};".format, OUTPUT, STEPS, NAMES),
    st.builds("SET {} = {};".format, TARGETS, SOURCES),
    st.builds("SET {} = 'v';".format, TARGETS),
    st.builds("SET {}.(XML.Attribute)k = 'v';".format, TARGETS),
    st.builds("SET {}.(XMLNSC.Attribute)k = {}.k;".format, TARGETS, PATHS),
    st.builds("SET {} NAME = 'd';".format, TARGETS),
    st.builds("SET {} TYPE = XML.Attribute;".format, TARGETS),
    st.builds("SET s = s || COALESCE({}, '-') || COALESCE(FIELDNAME({}.*[<]), '-');".format, PATHS, PATHS),
    st.builds(
        "SET s = s || CAST(CARDINALITY({}.*[]) AS CHARACTER) || COALESCE({}.(XML.Attribute)k, '-');".format,
        PATHS,
        PATHS,
    ),
    st.builds("SET s = s || COALESCE(CAST(FIELDTYPE({}) AS CHARACTER), '-');".format, PATHS),
    st.builds("DELETE FIELD {};".format, TARGETS),
    st.builds("CREATE FIRSTCHILD OF {} NAME 'b' VALUE 'n';".format, OUTPUT),
    st.builds("CREATE LASTCHILD OF {} DOMAIN {} NAME 'c';".format, OUTPUT, st.sampled_from(["'XML'", "'XMLNSC'"])),
    st.builds("CREATE FIELD {} DOMAIN 'XMLNSC';".format, TARGETS),
    st.builds("MOVE r TO {};".format, TARGETS),
    st.builds("DETACH {0}; ATTACH r TO {1} AS LASTCHILD;".format, st.just("r"), OUTPUT),
    st.just("SET i = 3 - i;"),
    st.just("SET OutputRoot = InputRoot;"),
    st.just("PROPAGATE DELETE NONE;"),
)
PROGRAMS = st.lists(STATEMENTS, min_size=1, max_size=10).map("\n".join)
HEAD = """DECLARE i INTEGER 1; DECLARE s CHARACTER ''; SET Environment.t = InputRoot.*[<].t; SET OutputRoot = InputRoot;
CREATE FIELD Environment.u; DECLARE r REFERENCE TO Environment.u;
"""
TAIL = """
SET OutputRoot.XML = NULL; CREATE LASTCHILD OF OutputRoot DOMAIN 'XMLNSC' NAME 'XMLNSC';
"""


def give_plainly(parent: Element, wanted: Step, value: object, nodes: Nodes) -> None:
    nodes.made(parent.child(wanted) is None)
    parent.ensure(wanted).value = value


def ensure_nth_plainly(parent: Element, wanted: Step, number: int, nodes: Nodes) -> Element:
    nodes.made(parent.count(wanted) + 1 == number)
    return parent.ensure_nth(wanted, number)


def set_plainly(parent: Element, wanted: Step, found: Element, above: Element, asked: Step, nodes: Nodes) -> None:
    set_field(parent.ensure(wanted), found, nodes)


PLAINLY: Sequence[tuple[Any, str, Any]] = (
    (assignments, "give_child", give_plainly),
    (assignments, "set_child", set_plainly),
    (sharing, "peek", Element.child),
    (assignments, "ensure_nth", ensure_nth_plainly),
)


def ran(text: str, body: bytes, domain: str) -> list[str]:
    """What a program sends and how it ends, and what it has left in the Environment."""
    found: list[str] = []
    around = Surroundings(limits=Limits(turns=1000, nodes=500, string=10000))
    for last in ("", "SET OutputRoot.XMLNSC = NULL;" + TAIL + "SET OutputRoot.XMLNSC.e = Environment; "):
        try:
            compiled = compile_text(text + last + "SET OutputRoot.*[<].*[<].s = s;", "COMPUTE", "p.esql")
            found.extend(outcomes(compiled, message_of(body, domain), around=around))
        except BrokerError as error:
            found.append(f"{error.number} {error.text}")
    return found


def plainly(patch: pytest.MonkeyPatch) -> None:
    """Do one thing after the other from now on."""
    for module, name, function in PLAINLY:
        patch.setattr(module, name, function)


@settings(max_examples=60, deadline=None)
@given(PROGRAMS, st.sampled_from([(INPUT, "XML"), (INPUT, "XMLNSC"), (PLAIN, "XML"), (PLAIN, "XMLNSC")]))
def test_it_changes_nothing(program: str, message: tuple[bytes, str]) -> None:
    """A random program does the same in one go as step by step."""
    text = HEAD + program
    with pytest.MonkeyPatch.context() as patch:
        found = ran(text, *message)
        plainly(patch)
        assert ran(text, *message) == found


def test_programs_do_the_same_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of the folder do the same step by step."""
    expected = {path: gives(path.read_text("utf-8"), path.name) for path in programs()}
    plainly(monkeypatch)
    assert expected == {path: gives(path.read_text("utf-8"), path.name) for path in programs()}


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("SET Environment.x.a = InputRoot.XMLNSC.t.a;", "set_child(output"),
        ("SET Environment.x.a = 'v';", "give_child("),
        ("SET Environment.x.a[3] = 'v';", "ensure_nth("),
    ],
)
def test_it_is_used(program: str, expected: str) -> None:
    """These are emitted; the programs above would show nothing otherwise."""
    assert expected.partition("(")[0] + "(" in compile_text(program, "COMPUTE", "p.esql").text


@pytest.mark.parametrize(("limit", "number"), [(0, 2570), (1, 2570), (2, 2570), (3, 2570), (4, None)])
def test_as_many_elements_are_counted(limit: int, number: int | None) -> None:
    """The limit on elements counts what is copied, whether its target was there or not."""
    text = "SET OutputRoot.XMLNSC.t.a = InputRoot.XMLNSC.t.b; SET OutputRoot.XMLNSC.t.b = InputRoot.XMLNSC.t.b; " * 2
    around = Surroundings(limits=Limits(nodes=limit))
    found = None
    try:
        list(compile_text(text, "COMPUTE").evaluate(message_of(INPUT, "XMLNSC"), around))
    except BrokerError as error:
        found = error.number
    assert number == found

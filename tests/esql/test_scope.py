"""What each name refers to, and what is known of variables, loops and routines."""

from __future__ import annotations

import pytest

from esql import syntax
from esql.names.constants import NamedConstant
from esql.names.predefined import BrokerProperty, Correlation, ElementType, SpecialName
from esql.read import read_file, read_statements
from esql.scope import DeclaredRoutine, File, Library, Resolution, Variable, body_may_propagate, resolve, routine_facts


def paths(text: str, kind: str = "COMPUTE") -> dict[str, object]:
    """Resolve a text; give what its paths refer to, by their roots."""
    found = resolve(read_statements(text, "text"), kind)
    return {visit.node.root: found.of(visit.node) for visit in found.each(syntax.Path)}


PREDEFINED = [
    ("InputRoot.a", Correlation("InputRoot", "InputRoot", writable=False)),
    ("inputroot.a", Correlation("InputRoot", "InputRoot", writable=False)),
    ("InputBody", Correlation("InputBody", "InputRoot", writable=False)),
    ("OutputDestinationList", Correlation("OutputDestinationList", "OutputLocalEnvironment", writable=True)),
    ("Environment", Correlation("Environment", "Environment", writable=True)),
    ("Current_Date", SpecialName("CURRENT_DATE", "DATE")),
    ("SQLCODE", SpecialName("SQLCODE", "INTEGER")),
    ("NodeName", BrokerProperty("NodeName", "CHARACTER")),
    ("RootBitStream", NamedConstant("RootBitStream", 0)),
    ("XMLNSC.Attribute", ElementType("XMLNSC", "Attribute")),
    ("xml.Attr", ElementType("XML", "attr")),
    ("NameValue", ElementType("", "NameValue")),
]


@pytest.mark.parametrize(("text", "expected"), PREDEFINED)
def test_predefined(text: str, expected: object) -> None:
    """A name that needs no declaration means the same in any case."""
    (found,) = paths(f"RETURN {text};").values()
    assert expected == found


# what is read, the name, and the type and role of the variable that it means
VARIABLES = [
    ("DECLARE x INTEGER; SET x = 1;", "x", "INTEGER", "text"),
    ("DECLARE x INTEGER; BEGIN DECLARE x DATE; SET x = NULL; END;", "x", "DATE", "local"),
    ("DECLARE x INTEGER; BEGIN DECLARE x DATE; END; SET x = NULL;", "x", "INTEGER", "text"),
    ("DECLARE x INTEGER; BEGIN DECLARE X DATE; SET x = NULL; END;", "x", "INTEGER", "text"),
    ("BEGIN DECLARE X DATE; SET x = NULL; END;", "x", "DATE", "local"),
    ("DECLARE environment DATE; SET environment = NULL;", "environment", "DATE", "text"),
    ("CREATE PROCEDURE p(OUT x DATE) SET x = NULL;", "x", "DATE", "parameter"),
    ("DECLARE x INTEGER; CREATE PROCEDURE p() SET x = 1;", "x", "INTEGER", "text"),
    ("FOR x AS InputRoot.a[] DO SET x = 1; END FOR;", "x", "REFERENCE", "for"),
    ("SET OutputRoot.a[] = (SELECT x.b FROM InputRoot.a[] AS x);", "x", "", "select"),
    ("SET OutputRoot.a[] = (SELECT x.b FROM InputRoot.q.x[]);", "x", "", "select"),
    ("RETURN FOR ANY InputRoot.a[] (I.b = 1);", "I", "", "quantified"),
    ("UPDATE Database.x SET a = x.a;", "x", "", "table"),
]


@pytest.mark.parametrize(("text", "name", "kind", "role"), VARIABLES)
def test_variables(text: str, name: str, kind: str, role: str) -> None:
    """The innermost declaration counts, one spelt exactly so before any other."""
    variable = paths(text)[name]
    assert isinstance(variable, Variable)
    assert (kind, role) == (variable.type_name, variable.role)


TYPES = [
    ("1", "INTEGER"),
    ("99999999999999999999", "DECIMAL"),
    ("1.5", "FLOAT"),
    ("1 + 2 * 3", "INTEGER"),
    ("1 / 2.0E0", "FLOAT"),
    ("1 + DECIMAL '1'", "DECIMAL"),
    ("InputRoot.a + 1", ""),
    ("'a' || InputRoot.b", "CHARACTER"),
    ("InputRoot.a[]", "LIST"),
    ("NOT InputRoot.a", "BOOLEAN"),
    ("CURRENT_DATE + INTERVAL '1' DAY", "DATE"),
    ("(CURRENT_DATE - CURRENT_DATE) DAY", "INTERVAL"),
    ("INTERVAL '1' DAY * 2", "INTERVAL"),
    ("UPPER('a')", "CHARACTER"),
    ("LENGTH(InputRoot.a)", "INTEGER"),
    ("COALESCE(1, 2)", ""),
    ("CAST(InputRoot.a AS DATE)", "DATE"),
    ("CASE WHEN TRUE THEN 1 ELSE 2 END", "INTEGER"),
    ("CASE WHEN TRUE THEN 1 ELSE 'x' END", ""),
    ("(SELECT COUNT(*) FROM InputRoot.a[])", "INTEGER"),
    ("(SELECT ITEM T.a FROM InputRoot.a[] AS T)", "LIST"),
    ("NULL", ""),
]


@pytest.mark.parametrize(("text", "expected"), TYPES)
def test_types(text: str, expected: str) -> None:
    """The type of an expression is known as far as its parts are."""
    program = read_statements(f"RETURN {text};", "text")
    (returned,) = program.statements
    assert isinstance(returned, syntax.Return)
    assert expected == resolve(program, "COMPUTE").type_of(returned.result)


def test_names_that_are_no_paths() -> None:
    """Prefixes, aliases, labels and AS refer to what they name."""
    text = """DECLARE ns NAMESPACE 'urn:x'; DECLARE alias NAME 'a'; DECLARE r REFERENCE TO OutputRoot;
        SET OutputRoot.ns:alias = 1; CREATE LASTCHILD OF r AS r NAME 'x'; l: LOOP LEAVE L; END LOOP;"""
    found = resolve(read_statements(text, "text"), "COMPUTE")
    (step,) = (visit.node for visit in found.each(syntax.Step))
    (create,) = (visit.node for visit in found.each(syntax.CreateField))
    (leave,) = (visit.node for visit in found.each(syntax.Leave))
    (loop,) = (visit.node for visit in found.each(syntax.Loop))
    assert isinstance(step, syntax.Step)
    named = [found.variable(node) for node in (step.namespace, step.name, create)]
    expected = ["ns", "alias", "r"]
    assert expected == [variable.name for variable in named if variable]
    assert found.of(leave) is loop


def library(**texts: str) -> Library:
    return Library(tuple(File(name, read_file(text, name), text) for name, text in texts.items()))


def test_facts_across_files() -> None:
    """Whether a routine propagates or recurs is found through all that it calls."""
    deployed = library(
        a="""BROKER SCHEMA a PATH b; CREATE COMPUTE MODULE M
            CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN CALL one(); CALL quiet(1, NULL); RETURN f(3) = 1; END;
            CREATE PROCEDURE one() CALL two();
            CREATE FUNCTION f(n INTEGER) RETURNS INTEGER RETURN g(n);
            CREATE FUNCTION g(n INTEGER) RETURNS INTEGER RETURN f(n) + EVAL('1'); END MODULE;
            CREATE PROCEDURE quiet(IN a INTEGER, OUT b INTEGER) BEGIN END;""",
        b="""BROKER SCHEMA b; CREATE PROCEDURE two() BEGIN PROPAGATE; CALL self(); END;
            CREATE PROCEDURE self() CALL self();""",
    )
    facts = routine_facts([resolve(file.program, None, deployed) for file in deployed.files])
    known = {fact.routine.node.name: fact for fact in facts.values()}
    assert {"Main", "one", "two", "f", "g"} == {
        name for name, fact in known.items() if fact.may_propagate
    }  # by EVAL too
    assert {"f", "g", "self"} == {name for name, fact in known.items() if fact.is_recursive}
    expected = (1,)
    assert expected == known["quiet"].routine.outputs


CIRCLES = [
    ({"a": "b", "b": "c", "c": ""}, ""),
    ({"a": "a"}, "a"),
    ({"a": "b", "b": "a"}, "ab"),
    ({"a": "b", "b": "cd", "c": "b", "d": "e", "e": "f", "f": "e"}, "bcef"),
    ({"a": "bc", "b": "d", "c": "d", "d": ""}, ""),
    ({"d": "c", "c": "b", "b": "d", "a": "b"}, "bcd"),
    ({"a": "bb", "b": "ca", "c": "c"}, "abc"),
]


@pytest.mark.parametrize(("calls", "expected"), CIRCLES)
def test_recursion(calls: dict[str, str], expected: str) -> None:
    """A routine is recursive when it stands on a circle of calls, not when it only leads to one."""
    bodies = {name: " ".join(f"CALL {other}();" for other in called) for name, called in calls.items()}
    text = " ".join(f"CREATE PROCEDURE {name}() BEGIN {body} END;" for name, body in bodies.items())
    facts = routine_facts([resolve(read_file(text, "file"))])
    assert set(expected) == {fact.routine.node.name for fact in facts.values() if fact.is_recursive}


def test_propagation_of_a_property() -> None:
    """The statements of a node's property propagate when a routine does that they call."""
    for call, expected in (("CALL p();", True), ("CALL q();", False), ("PROPAGATE;", True)):
        text = f"CREATE PROCEDURE p() PROPAGATE; CREATE PROCEDURE q() BEGIN END; {call}"
        found = resolve(read_statements(text, "text"), "COMPUTE")
        assert expected == body_may_propagate(found, routine_facts([found]))


def test_shared_objects() -> None:
    """A variable of a schema is the same object in every file, and so is a routine."""
    deployed = library(
        a="DECLARE Counter SHARED INTEGER; CREATE PROCEDURE p() BEGIN SET Counter = 1; CALL p(); END;",
        b="CREATE PROCEDURE q() BEGIN SET Counter = 2; CALL p(); END;",
    )
    first, second = (resolve(file.program, None, deployed) for file in deployed.files)
    assert _only(first, syntax.Path) is _only(second, syntax.Path)
    assert isinstance(_only(first, syntax.Path), Variable)
    assert _only(first, syntax.CallStatement) is _only(second, syntax.CallStatement)
    assert isinstance(_only(first, syntax.CallStatement), DeclaredRoutine)


def _only(found: Resolution, kind: type) -> object:
    (visit,) = found.each(kind)
    return found.of(visit.node)


def test_kinds() -> None:
    """The kind of a node is one of four; modules have their own."""
    program = read_statements("RETURN TRUE;", "text")
    with pytest.raises(ValueError, match="no node kind is called MAPPING"):
        resolve(program, "MAPPING")
    assert resolve(program, "filter").kind == "FILTER"
    assert resolve(read_file("CREATE FILTER MODULE M END MODULE;", "file"), "COMPUTE").kind == ""

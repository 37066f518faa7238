"""Emitted code: no user text in tokens, ESQL's positions in tracebacks, the oracle's results, long chains, limits."""

from __future__ import annotations

import ast
import re
import traceback
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.errors import BrokerError, UserException
from esql.compile import compile_expression, compile_sources, compile_text, problems_in
from esql.read import read_expression
from esql.runtime.activation import Limits, Surroundings
from esql.runtime.interactive_session import Case, evaluated, message_of, outcomes
from esql.runtime.program import Compiled
from esql.text import SyntaxProblems
from esql.values.literals import to_literal
from tests.esql.evaluator import Scope, evaluate

ALLOWED = {
    *("Module", "FunctionDef", "arguments", "arg", "Return", "Assign", "AugAssign", "Expr", "If", "While", "For"),
    *("Break", "Continue", "Pass", "Try", "ExceptHandler", "Raise", "With", "withitem", "Lambda", "keyword"),
    *("Name", "Constant", "Attribute", "Subscript", "Call", "NamedExpr", "IfExp", "Compare", "BoolOp", "BinOp"),
    *("UnaryOp", "Tuple", "List", "Load", "Store", "And", "Or", "Not", "Is", "IsNot", "Eq", "NotEq", "Lt", "LtE"),
    *("Gt", "GtE", "Add", "Sub", "Mult", "BitAnd", "BitOr", "Yield", "YieldFrom"),
}
GENERATED = re.compile("[a-z][0-9]+")
ANYTHING = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"]), max_size=12)
NAMES = ANYTHING.filter(lambda text: text.strip() and "\0" not in text)


def quoted(text: str, mark: str) -> str:
    return mark + text.replace(mark, mark * 2) + mark


def identifiers(compiled: Compiled) -> set[str]:
    """Every word that stands in emitted code outside of constants."""
    found = set()
    for tree in compiled.trees:
        for node in ast.walk(tree):
            assert type(node).__name__ in ALLOWED
            for field in ("id", "attr", "name", "arg"):
                word = getattr(node, field, None)
                if isinstance(word, str):
                    found.add(word)
    return found


PLAIN = """
DECLARE {variable} CHARACTER {text};
SET OutputRoot.XMLNSC.{name} = {text} || {variable};
SET Environment.{name}.{{{text}}} = InputRoot.XMLNSC.{name}[2];
CALL {routine}({variable});
CREATE PROCEDURE {routine}(IN {variable} CHARACTER) BEGIN LOG EVENT VALUES({variable}, {text}); END;
"""


@settings(max_examples=100, deadline=None)
@given(ANYTHING, NAMES, NAMES, NAMES)
def test_user_text_is_never_a_token(text: str, variable: str, name: str, routine: str) -> None:
    """Whatever strings and identifiers say, the code has the same words; they only ever are constants."""
    usual = PLAIN.format(variable='"v"', text="'t'", name='"n"', routine='"p"')
    program = PLAIN.format(
        variable=quoted(variable, '"'), text=quoted(text, "'"), name=quoted(name, '"'), routine=quoted(routine, '"')
    )
    try:
        compiled = compile_text(program, "COMPUTE")
    except SyntaxProblems:
        return  # a name that hides another
    words = identifiers(compiled) - identifiers(compile_text(usual, "COMPUTE"))
    assert all(GENERATED.fullmatch(word) for word in words)


# positions


def test_tracebacks_show_esql_lines() -> None:
    """A traceback names the file, the line and the piece of the line."""
    text = "SET Environment.x = 1;\nSET Environment.y =\n    'é' || CAST(1 / 0 AS CHARACTER);\n"
    compiled = compile_text(text, "COMPUTE", "some/orders.esql")
    with pytest.raises(BrokerError) as caught:
        list(outcomes(compiled, message_of(None, "")))
    assert str(caught.value.place) == "some/orders.esql:3:17"
    frames = [frame for frame in traceback.extract_tb(caught.tb) if frame.filename == "some/orders.esql"]
    assert [(frame.lineno, frame.colno, frame.end_colno) for frame in frames] == [(3, 17, 22)]  # in bytes


def test_every_line_that_runs_is_esql() -> None:
    """Code objects, also of functions inside functions, know only lines of the file."""
    text = "\n\n\nSET Environment.x[] = (SELECT ITEM T\n FROM InputRoot.*[] AS T\n WHERE T = 1);"
    compiled = compile_text(text, "COMPUTE", "p.esql")
    codes = [compiled.entrance().run.__code__]
    codes += [inner for inner in codes[0].co_consts if hasattr(inner, "co_code")]
    assert len(codes) == 2
    assert {line for code in codes for _, _, line in code.co_lines() if line} <= {1, 4, 5, 6}


def test_an_error_of_python_shows_where() -> None:
    """What a registered callable raises by itself keeps its traceback through the file."""
    text = (
        "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n CALL f();\n RETURN TRUE; END;\n"
        'CREATE PROCEDURE f() LANGUAGE JAVA EXTERNAL NAME "a.b"; END MODULE;'
    )
    compiled = compile_sources([("m.esql", text)])
    around = Surroundings(callables={"a.b": lambda: {}["missing"]})
    with pytest.raises(KeyError) as caught:
        list(compiled.evaluate(message_of(None, ""), around))
    assert [f.lineno for f in traceback.extract_tb(caught.tb) if f.filename == "m.esql"] == [2]


# the oracle

VALUES: dict[str, Any] = {"i": 7, "n": None, "big": 2**63 - 1, "s": "abc ", "b": True, "u": None, "z": 0, "d": "x"}
TYPES = {"i": "INTEGER", "n": "INTEGER", "big": "INTEGER", "s": "CHARACTER", "b": "BOOLEAN", "u": "BOOLEAN"}
TYPES |= {"z": "INTEGER", "d": "CHARACTER"}
DECLARED = "".join(f"DECLARE {name} {TYPES[name]} {to_literal(VALUES[name])}; " for name in TYPES)
NUMBERS = st.sampled_from(
    ["i", "n", "big", "z", "0", "1", "-3", "2.5", "DECIMAL '1.10'", "9223372036854775807", "NULL"]
)
TEXTS = st.sampled_from(["s", "d", "'abc'", "'b'", "''", "NULL"])
TRUTHS = st.sampled_from(["b", "u", "TRUE", "FALSE", "UNKNOWN"])


def numeric(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner),
        st.builds("({} {} {} {} {})".format, inner, st.sampled_from("+*"), inner, st.sampled_from("+-"), inner),
        st.builds("(- {})".format, inner),
        st.builds("ABS({})".format, inner),
        st.builds("LENGTH({})".format, TEXTS),
        st.builds("CASE WHEN {0} IS NULL THEN {1} ELSE {0} END".format, inner, inner),
        st.builds("COALESCE({}, {})".format, inner, inner),
    )


NUMERIC = st.recursive(NUMBERS, numeric, max_leaves=6)
TEXTUAL = st.recursive(
    TEXTS,
    lambda inner: st.one_of(
        st.builds("({} || {})".format, inner, inner),
        st.builds("UPPER({})".format, inner),
        st.builds("SUBSTRING({} FROM {} FOR 2)".format, inner, st.sampled_from(["1", "i", "n", "2"])),
        st.builds("TRIM({})".format, inner),
    ),
    max_leaves=5,
)
OPERATORS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
LOGICAL = st.recursive(
    st.one_of(
        TRUTHS,
        st.builds("({} {} {})".format, NUMERIC, OPERATORS, NUMERIC),
        st.builds("({} {} {})".format, TEXTUAL, OPERATORS, TEXTUAL),
        st.builds("({} BETWEEN {} AND {})".format, NUMERIC, NUMERIC, NUMERIC),
        st.builds("({} LIKE 'a%')".format, TEXTUAL),
        st.builds("({} IS NULL)".format, NUMERIC),
        st.builds("({} IN (1, i, n))".format, NUMBERS),
    ),
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {} OR {})".format, inner, inner, inner),
        st.builds("(NOT {})".format, inner),
        st.builds("({} IS TRUE)".format, inner),
    ),
    max_leaves=6,
)
EXPRESSIONS = st.one_of(NUMERIC, TEXTUAL, LOGICAL)


def oracle(text: str) -> str:
    try:
        return repr(evaluate(read_expression(text, "e"), Scope({}, VALUES)))
    except BrokerError as error:
        return f"error {error.number}"


def compiled_value(text: str) -> str | None:
    try:
        compiled = compile_text(f"{DECLARED} RETURN {text};", "COMPUTE")
    except SyntaxProblems:
        return None  # known to fail before it runs
    try:
        return repr(compiled.entrance().run(compiled.activation(message_of(None, "")), 1))
    except BrokerError as error:
        return f"error {error.number}"


SUMS = st.recursive(
    st.sampled_from(["i", "big", "z", "0", "1", "-3", "9223372036854775807", "1073741823", "-4294967296"]),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(SUMS)
def test_sums_given_to_variables_are_what_the_oracle_says(text: str) -> None:
    """A variable gets what the slow evaluator gives, also where it is an operand itself, or fails as it does."""
    for start in ("DECLARE x INTEGER; SET x = ", "DECLARE x INTEGER 1; SET x = x * "):
        try:
            compiled = compile_text(f"{DECLARED} {start}{text}; RETURN x;", "COMPUTE")
        except SyntaxProblems:
            continue  # known to fail before it runs
        try:
            found = repr(compiled.entrance().run(compiled.activation(message_of(None, "")), 1))
        except BrokerError as error:
            found = f"error {error.number}"
        assert found == oracle(f"1 * {text}" if "x *" in start else text)


@settings(max_examples=300, deadline=None)
@example("((i + i + big) + (i / z))")
@given(EXPRESSIONS)
def test_expressions_are_what_the_oracle_says(text: str) -> None:
    """Compiled expressions over variables give what the slow evaluator gives, errors included."""
    found = compiled_value(text)
    assert found is None or found == oracle(text)


@settings(max_examples=100, deadline=None)
@given(LOGICAL)
def test_conditions_are_what_the_oracle_says(text: str) -> None:
    """IF takes its branch exactly where the oracle says TRUE."""
    try:
        compiled = compile_text(f"{DECLARED} IF {text} THEN RETURN TRUE; ELSE RETURN FALSE; END IF;", "COMPUTE")
    except SyntaxProblems:
        return
    expected = oracle(text)
    try:
        found = str(compiled.entrance().run(compiled.activation(message_of(None, "")), 1))
    except BrokerError as error:
        found = f"error {error.number}"
    assert found == (expected if expected.startswith("error") else str(expected == "True"))


# long and deep


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" || ".join(["'a'"] * 10_000), "'" + "a" * 10_000 + "'"),
        (" + ".join(["1"] * 10_000), "10000"),
        (" * ".join(["1"] * 3_000), "1"),
        (" AND ".join(["1 = 1"] * 3_000), "TRUE"),
        (" OR ".join(["1 = 2"] * 3_000), "FALSE"),
    ],
    ids=["joined", "added", "multiplied", "and", "or"],
)
def test_long_chains(text: str, value: str) -> None:
    """A chain of thousands of operators compiles and runs."""
    assert evaluated(Case(text)) == value


def test_chains_of_variables() -> None:
    """A long chain of a variable is as right as a short one."""
    text = "DECLARE i INTEGER 2; RETURN " + " + ".join(["i"] * 2_000) + " = 4000;"
    compiled = compile_text(text, "FILTER")
    assert list(outcomes(compiled, message_of(None, ""))) == ["terminal:true"]


def test_many_branches() -> None:
    """Of a thousand ELSEIFs the right one is taken, and ELSE where none is."""
    branches = "".join(f"ELSEIF i = {number} THEN SET j = {number}; " for number in range(1, 1000))
    text = "DECLARE i INTEGER {}; DECLARE j INTEGER 0; IF i = 0 THEN SET j = 7; {}ELSE SET j = -1; END IF;"
    text += " RETURN j = {};"
    for i, j in ((0, 7), (1, 1), (50, 50), (51, 51), (999, 999), (5000, -1)):
        compiled = compile_text(text.format(i, branches, j), "FILTER")
        assert list(outcomes(compiled, message_of(None, ""))) == ["terminal:true"]


@pytest.mark.parametrize("depth", [10, 30, 140])
def test_deep_blocks(depth: int) -> None:
    """Loops inside loops compile, or are one clear problem, however deep they are."""
    text = "WHILE TRUE DO " * depth + "RETURN TRUE; " + "END WHILE;" * depth
    problems = problems_in([("deep.esql", text)])
    assert [problem.text.partition(" (")[0] for problem in problems] in (
        [],
        ["the program is nested too deeply to be compiled"],
    )
    assert not problems or depth > 10


# limits and surroundings


def test_limits_are_those_of_the_surroundings() -> None:
    """A loop may turn exactly as often as the limit says."""
    text = "DECLARE i INTEGER 0; WHILE i < 100 DO SET i = i + 1; END WHILE;"
    compiled = compile_text(text, "COMPUTE")
    for turns, failed in ((100, False), (99, True)):
        around = Surroundings(limits=Limits(turns=turns))
        try:
            list(compiled.evaluate(message_of(None, ""), around))
            ended = False
        except BrokerError as error:
            ended = error.number == 2571
        assert ended is failed


def test_shared_variables_outlive_a_message() -> None:
    """A SHARED variable keeps what an earlier message left in it; others start anew."""
    text = (
        "CREATE COMPUTE MODULE M DECLARE n SHARED INTEGER 0; DECLARE m INTEGER 0;\n"
        "CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN BEGIN ATOMIC SET n = n + 1; SET m = m + 1; END;\n"
        "SET OutputRoot.XMLNSC.r = CAST(n AS CHARACTER) || CAST(m AS CHARACTER); RETURN TRUE; END; END MODULE;"
    )
    compiled = compile_sources([("m.esql", text)])
    lines = [line for _ in range(3) for line in outcomes(compiled, message_of(None, ""))]
    assert lines == ["out|<r>11</r>", "out|<r>21</r>", "out|<r>31</r>"]


def test_the_clock_stands_still() -> None:
    """CURRENT_TIMESTAMP is the same all through an invocation."""
    moments = iter(datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in range(9))
    compiled = compile_text("RETURN CURRENT_TIMESTAMP = CURRENT_TIMESTAMP;", "FILTER")
    around = Surroundings(clock=lambda: next(moments), displace=timedelta)
    assert list(outcomes(compiled, message_of(None, ""), around=around)) == ["terminal:true"]


def test_routines_across_files() -> None:
    """A routine of another schema is called by PATH or by its qualified name."""
    library = "BROKER SCHEMA lib.text\nCREATE FUNCTION twice(s CHARACTER) RETURNS CHARACTER BEGIN RETURN s || s; END;"
    main = (
        "BROKER SCHEMA app PATH lib.text\nCREATE FILTER MODULE F CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n"
        "RETURN twice('a') = 'aa' AND lib.text.twice('b') = 'bb'; END; END MODULE;"
    )
    compiled = compile_sources([("lib.esql", library), ("app.esql", main)])
    assert list(outcomes(compiled, message_of(None, ""))) == ["terminal:true"]


def test_errors_from_behind_are_handled() -> None:
    """What fails behind a PROPAGATE is thrown in at it, and a handler takes it."""
    text = (
        "BEGIN DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE '%' SET OutputRoot.XMLNSC.r.h = SQLERRORTEXT;\n"
        "SET OutputRoot.XMLNSC.r.x = 1; PROPAGATE; END;"
    )
    evaluation = compile_text(text, "COMPUTE").evaluate(message_of(None, ""))
    assert next(evaluation)[0] == "out"
    _, message = evaluation.throw(BrokerError(2000, "far behind"))
    found = message.root.at("XMLNSC", "r", "h")
    assert found is not None
    assert found.value == "far behind"


def test_expressions_may_use_the_names_of_any_node() -> None:
    """Root and InputRoot both are the message of an expression that stands alone."""
    compiled = compile_expression("Root.XMLNSC.a || InputRoot.XMLNSC.a")
    here = compiled.activation(message_of(b"<a>x</a>", "XMLNSC"))
    assert compiled.entrance().run(here, 1) == "xx"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("THROW EXCEPTION", (2951, "BIPmsgs", 1, ())),
        ("THROW USER EXCEPTION", (2951, "BIPmsgs", 1, ())),
        ("THROW USER EXCEPTION VALUES('a', 1, NULL)", (2951, "BIPmsgs", 1, ("a", "1", ""))),
        ("THROW USER EXCEPTION SEVERITY 3 CATALOG 'mine' MESSAGE 42", (42, "mine", 3, ())),
    ],
)
def test_throw(statement: str, expected: tuple[object, ...]) -> None:
    """THROW raises a UserException with its number, catalogue, severity and inserts."""
    with pytest.raises(UserException) as caught:
        list(compile_text(f"{statement};", "COMPUTE").evaluate(message_of(None, "")))
    error = caught.value
    assert (error.number, error.catalog, error.severity, tuple(one.text for one in error.inserts)) == expected

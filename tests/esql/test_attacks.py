"""Values and programs that once took all time or memory, or led to an error that was not ours: each ends at once."""

from __future__ import annotations

import threading

import pytest

from engine.budget import Allowance, Budget, spending, take
from engine.errors import BrokerError, LimitExceeded
from esql.runtime.activation import Surroundings
from esql.runtime.interactive_session import Case, evaluated, lines_of
from esql.runtime.limits import Limits
from esql.text import SyntaxProblems
from esql.values.errors import sqlstate_of

QUICK = Surroundings(limits=Limits(cpu=4))
VALUES = [
    ("CAST(DECIMAL '1E9999999' AS CHARACTER FORMAT '0.0')", "S22003"),
    ("CAST(DECIMAL '1E999999999' AS CHARACTER FORMAT '0.0E0')", "'1.0E999999999'"),
    ("CAST(DECIMAL '1E-9999999' AS CHARACTER FORMAT '#,##0.00%')", "'0.00%'"),
    ("INTERVAL '1' DAY * DECIMAL '1E9999'", "S22015"),
    ("INTERVAL '1' DAY * DECIMAL '1E99999999'", "S22015"),
    ("INTERVAL '1' DAY * DECIMAL '-1E-99999999'", "INTERVAL '0' DAY"),
    ("INTERVAL '1' DAY / DECIMAL '1E99999999'", "INTERVAL '0' DAY"),
    ("INTERVAL '1' MONTH / DECIMAL '1E-9999'", "S22015"),
    ("INTERVAL '0' DAY * DECIMAL '1E99999999'", "INTERVAL '0' DAY"),
    ("CAST(DECIMAL '1E4500' AS INTERVAL MINUTE)", "S22015"),
    ("CAST(DECIMAL '1E45000000' AS INTERVAL SECOND)", "S22015"),
    ("CAST(DECIMAL '1E-45000000' AS INTERVAL SECOND)", "INTERVAL '0' SECOND"),
    ("CAST(2000, DECIMAL '1E999999999', 1 AS DATE)", "S22008"),
    ("CAST(1, 1, DECIMAL '1E999999999' AS TIME)", "S22008"),
    ("CAST(1, 1, DECIMAL '1E-999999999' AS TIME)", "TIME '01:01:00'"),
    ("CAST(1, 1, DECIMAL 'NAN' AS TIME)", "S22008"),
    ("SLEEP(9223372036854775807)", "S22023"),
    ("RAND(DECIMAL '1E99999999') BETWEEN 0 AND 1", "TRUE"),
    ("RAND(DECIMAL 'NAN')", "S22023"),
    ("SIGN(DECIMAL 'NAN')", "0"),
    ("CAST(REPLICATE(' ', 50000) AS INTERVAL DAY TO SECOND)", "S22015"),
    ("CAST('INTERVAL' || REPLICATE(' ', 50000) || 'x' AS INTERVAL DAY TO SECOND)", "S22015"),
    ("CAST('INTERVAL ''1'' DAY TO' || REPLICATE(' ', 50000) || 'x' AS INTERVAL DAY)", "S22015"),
    ("CAST(REPLICATE('1', 500000) || '.x' AS DECIMAL)", "S22018"),
    ("REPLICATE('a', 100000) LIKE '%_' || REPLICATE('a', 50000) || 'b%'", "FALSE"),
    ("REPLICATE('a', 100000) || 'b' LIKE '%_' || REPLICATE('a_', 20000) || 'b%'", "TRUE"),
    ("REPLICATE('a', 100000) LIKE '%' || REPLICATE('a_', 25000) || 'b%'", "FALSE"),
    ("CAST(REPLICATE('1', 60) || 'x' AS DECIMAL FORMAT '#,##0:groupsep=11')", "S22018"),
    ("CAST('1111' AS DECIMAL FORMAT '#,##0:groupsep=11')", "DECIMAL '1111'"),
    ("LENGTH(CAST(1 AS CHARACTER FORMAT REPLICATE('''z''', 100000) || '0'))", "200000"),
    ("LENGTH(CAST(1 AS CHARACTER FORMAT '''' || REPLICATE(':groupsep=', 50000) || '''0'))", "500001"),
    ("POSITION(B'1' IN CAST(REPLICATE('01', 50000) AS BIT) REPEAT 50000)", "100000"),
    ("POSITION(B'1' IN CAST(REPLICATE('01', 50000) AS BIT) REPEAT -50000)", "2"),
    ("POSITION(REPLICATE('a', 100000) IN REPLICATE('a', 300000) REPEAT 200000)", "200000"),
    ("POSITION(REPLICATE('a', 99999) || 'b' || REPLICATE('a', 99999) IN REPLICATE('a', 500000) REPEAT -1)", "0"),
    ("TRIM(REPLICATE('x', 1000000) || 'b' FROM REPLICATE('b', 1000000))", "''"),
]


def outcome(expression: str, around: Surroundings = QUICK) -> str:
    """The value of an expression, or the SQLSTATE of its error."""
    try:
        return evaluated(Case(expression), around)
    except BrokerError as error:
        return f"BIP{error.number}" if isinstance(error, LimitExceeded) else sqlstate_of(error)


@pytest.mark.parametrize(("expression", "expected"), VALUES)
def test_values(expression: str, expected: str) -> None:
    """A huge number, a long text or an odd pattern gives its value or an error with a SQLSTATE, within seconds."""
    assert expected == outcome(expression)


ROWS = "<doc>" + "<r><a>1</a></r>" * 2000 + "</doc>"
INSIDE = "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN {} RETURN TRUE; END; END MODULE;"
TWICE = """CREATE COMPUTE MODULE M
CREATE FUNCTION f(IN n INTEGER) RETURNS INTEGER BEGIN RETURN f(n + 1) + f(n + 1); END;
CREATE FUNCTION once(IN n INTEGER) RETURNS INTEGER BEGIN IF n > 24 THEN RETURN 1; END IF; RETURN once(n+1)+once(n+1);
END; CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN DECLARE i INTEGER {}(1); RETURN TRUE; END; END MODULE;"""
SMALL_LOOPS = """CREATE COMPUTE MODULE M
CREATE FUNCTION f() RETURNS INTEGER BEGIN DECLARE i INTEGER 0; WHILE i < 90 DO SET i = i + 1; END WHILE; RETURN i; END;
CREATE FUNCTION g() RETURNS INTEGER BEGIN DECLARE i INTEGER 0;
WHILE TRUE DO SET i = i + 1; IF i > 90 THEN RETURN i; END IF; END WHILE; END;
CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN DECLARE i INTEGER 0; WHILE i < 50 DO SET i = i + 1;
DECLARE j INTEGER {}(); END WHILE; RETURN TRUE; END; END MODULE;"""
CHAIN = "DECLARE s CHARACTER REPLICATE('a', 20000000); SET s = {};".format("||".join(["s"] * 24))
JOIN = "SET OutputRoot.XMLNSC.r.n = (SELECT COUNT(*) FROM InputBody.doc.r[] AS a, InputBody.doc.r[] AS b);"
DOUBLING = """DECLARE i INTEGER 0; SET Environment.t.a = 1;
WHILE TRUE DO SET i = i + 1; SET Environment.t.b[i] = Environment.t; END WHILE;"""
GROWING = "DECLARE i INTEGER 0; WHILE TRUE DO SET i = i + 1; SET Environment.t.b[i] = REPLICATE('a', {}); END WHILE;"
PROGRAMS = [
    (TWICE.format("f"), Limits(depth=30), 2572),
    (TWICE.format("once"), Limits(turns=1000), 2571),
    (TWICE.format("once"), Limits(cpu=1), 2574),
    (SMALL_LOOPS.format("f"), Limits(turns=3000), 2571),
    (SMALL_LOOPS.format("g"), Limits(turns=3000), 2571),
    (JOIN, Limits(turns=10_000), 2571),
    (JOIN, Limits(cpu=0.3), 2574),
    ("SET Environment.b = FOR ALL InputBody.doc.r[] AS a (a.a = '1');", Limits(turns=1000), 2571),
    ("DECLARE i INTEGER 0; WHILE TRUE DO SET i = i + 1; END WHILE;", Limits(cpu=0.5, turns=10**17), 2574),
    (
        "DECLARE i INTEGER 0; WHILE i < 200 DO SET i = i + 1; SET Environment.a[i] = i; END WHILE;",
        Limits(nodes=99),
        2570,
    ),
    ("SET OutputRoot.XMLNSC = InputRoot.XMLNSC;", Limits(nodes=1000), 2570),
    ("CREATE LASTCHILD OF OutputRoot FROM InputRoot.XMLNSC;", Limits(nodes=1000), 2570),
    (DOUBLING, Limits(memory=30_000_000), 2575),
    (GROWING.format(1_000_000), Limits(memory=60_000_000), 2575),
    (GROWING.format(4_000), Limits(memory=60_000_000), 2575),
    ("DECLARE s CHARACTER REPLICATE('a', 3000000); SET s = REPLACE(s, 'a', REPLICATE('b', 1000));", Limits(), 2573),
    ("DECLARE s CHARACTER REPLICATE('a', 3000000); SET s = REPLACE(s, 'a', 'bcdefg');", Limits(memory=9_000_000), 2575),
    (CHAIN, Limits(), 2573),
    ("EVAL('SET Environment.a = 1' || REPLICATE('+1', 100000) || ';');", Limits(cpu=1), 2574),
]


@pytest.mark.parametrize(("text", "limits", "expected"), PROGRAMS)
def test_limits_hold(text: str, limits: Limits, expected: int) -> None:
    """Whatever a program spends, it ends with the error of the limit that it goes beyond."""
    program = text if "MODULE" in text else INSIDE.format(text)
    with pytest.raises(LimitExceeded) as raised:
        lines_of(Case(program, ROWS.encode(), "XMLNSC"), Surroundings(limits=limits))
    assert expected == raised.value.number


def spend(budget: Budget) -> None:
    """Spend what is left of a budget."""
    while True:
        budget.look()


def test_way_of_failure() -> None:
    """What is over its budget has some of it left once, for its way of failure; then each look fails."""
    with spending(Allowance(cpu=0.01)) as budget:
        with pytest.raises(LimitExceeded):
            spend(budget)
        budget.look()
        for _ in range(3):
            with pytest.raises(LimitExceeded):
                spend(budget)
        with pytest.raises(LimitExceeded):
            budget.look()


@pytest.mark.parametrize("steps", [251, 1000, 5000])
def test_long_paths(steps: int) -> None:
    """A path of very many steps is a problem of the program."""
    with pytest.raises(SyntaxProblems, match="250 steps at most"):
        evaluated(Case("InputBody" + ".a" * steps), QUICK)


def test_longest_path() -> None:
    """A path that is just short enough is emitted, to be read and to be made."""
    path = "Environment" + ".a" * 250
    program = INSIDE.format(f"SET {path} = 1; SET OutputRoot.XMLNSC.r = {path};")
    assert ["out|<r>1</r>"] == lines_of(Case(program), QUICK)


def test_budget_is_the_thread_s_own() -> None:
    """A budget is spent by the thread that carries its message, and by no other."""
    found: list[str] = []

    def work() -> None:
        take(1 << 40)
        found.append(outcome("LENGTH(REPLICATE('a', 100000))"))

    with spending(Allowance(memory=1)):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert ["100000"] == found

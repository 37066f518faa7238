"""Statements of databases: what a connection is asked, as data and bound values, and what becomes of its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import pytest

from engine.databases.statements import (
    Answer,
    Column,
    Commit,
    Computed,
    Delete,
    Insert,
    Parameter,
    Passthru,
    Procedure,
    Rollback,
    Select,
    Statement,
    Term,
    Update,
)
from engine.errors import BrokerError
from esql.cache import from_bytes, to_bytes
from esql.compile import compile_text, parts_of_text
from esql.runtime.activation import Surroundings
from esql.runtime.interactive_session import message_of, outcomes
from esql.runtime.linker import link
from esql.text import SyntaxProblems

INPUT = b"<m><id>7</id><name>O'Brien</name><q>2</q><i><id>1</id></i><i><id>2</id></i></m>"
A, B = Column("A"), Column("B")
Row = Iterable[tuple[str, Any]]
ROWS: tuple[Row, ...] = ((("A", 1), ("B", "one")), (("A", 2), ("B", None)))


def answer(rows: Iterable[Row]) -> Answer:
    """Rows of names and values as a connection answers them."""
    found = [tuple(row) for row in rows]
    return Answer(tuple(name for row in found[:1] for name, _ in row), [tuple(v for _, v in row) for row in found])


@dataclass
class Recording:
    """A connection that writes down what it is asked, and answers rows that it was given."""

    rows: Iterable[Row] = ()
    asked: list[tuple[Statement, tuple[str, ...], tuple[Any, ...]]] = field(default_factory=list)
    throws: bool = True

    def execute(self, statement: Statement, place: tuple[str, ...], values: tuple[Any, ...]) -> Answer:
        if isinstance(statement, Select | Insert | Update | Delete):
            assert all(known in {"", named} for known, named in zip(statement.table, place, strict=True))
            assert statement.at[0]
            statement = replace(statement, table=())
        self.asked.append((statement, place, values))
        return answer(self.rows)


def run(text: str, rows: Iterable[Row] = ()) -> tuple[list[str], list[tuple[Any, ...]]]:
    """What a Compute node sends, and what it asked of its database; also when it comes from the cache."""
    found = []
    for again in (False, True):
        parts = parts_of_text(text, "COMPUTE")
        if again:
            parts = from_bytes("key", to_bytes("key", parts), parts.texts) or parts
        connection = Recording(rows)
        sent = list(outcomes(link(parts), message_of(INPUT, "XMLNSC"), "", Surroundings(database=connection)))
        found.append((sent, connection.asked))
    assert found[0] == found[1]
    return found[0]


def is_equal(column: Term, number: int) -> Computed:
    return Computed("=", (column, Parameter(number)))


STATEMENTS: list[tuple[str, Statement, tuple[str, ...], tuple[Any, ...]]] = [
    ("INSERT INTO Database.T(A, B) VALUES(1, InputBody.m.name)", Insert(("A", "B")), ("T",), (1, "O'Brien")),
    ("INSERT INTO Database.d.s.T VALUES(NULL, DECIMAL '1.50')", Insert(), ("d", "s", "T"), (None, Decimal("1.50"))),
    ("INSERT INTO Database.{'s' || 'x'}.T VALUES(1)", Insert(), ("sx", "T"), (1,)),
    ("UPDATE Database.T SET A = 1", Update((("A", Parameter(0)),)), ("T",), (1,)),
    (
        "UPDATE Database.T AS X SET A = X.A + InputBody.m.q, B = InputBody.m.name || '!' WHERE X.B = InputBody.m.id",
        Update((("A", Computed("+", (A, Parameter(0)))), ("B", Parameter(1))), is_equal(B, 2)),
        ("T",),
        ("2", "O'Brien!", "7"),
    ),
    ("UPDATE Database.T SET A = T.B", Update((("A", B),)), ("T",), ()),
    ("DELETE FROM Database.T", Delete(), ("T",), ()),
    ("DELETE FROM Database.s.T AS X WHERE X.A = 1", Delete(is_equal(A, 0)), ("s", "T"), (1,)),
    (
        "DELETE FROM Database.T WHERE T.A IS NOT NULL AND (T.B NOT LIKE 'a%' ESCAPE '!' OR T.A NOT IN (1, 2))",
        Delete(
            Computed(
                "AND",
                (
                    Computed("IS NOT NULL", (A,)),
                    Computed(
                        "OR",
                        (
                            Computed("NOT LIKE", (B, Parameter(0), Parameter(1))),
                            Computed("NOT IN", (A, Parameter(2), Parameter(3))),
                        ),
                    ),
                ),
            )
        ),
        ("T",),
        ("a%", "!", 1, 2),
    ),
    (
        "DELETE FROM Database.T WHERE T.A BETWEEN 1 AND x AND UPPER(T.B) = SUBSTRING(T.B FROM 1 FOR 2)",
        Delete(
            Computed(
                "AND",
                (
                    Computed("BETWEEN", (A, Parameter(0), Parameter(1))),
                    Computed("=", (Computed("UPPER", (B,)), Computed("SUBSTRING", (B, Parameter(2), Parameter(3))))),
                ),
            )
        ),
        ("T",),
        (1, 5, 1, 2),
    ),
    ("DELETE FROM Database.T WHERE T.A = -T.A", Delete(Computed("=", (A, Computed("-", (A,))))), ("T",), ()),
    ("DELETE FROM Database.T AS InputRoot WHERE InputRoot.A = x", Delete(is_equal(A, 0)), ("T",), (5,)),
    ("PASSTHRU('DROP ?', InputBody.m.name)", Passthru(), (), ("DROP ?", "O'Brien")),
    ("PASSTHRU 'x' TO Database.dsn VALUES(1, 'b')", Passthru(), ("dsn",), ("x", 1, "b")),
    ("PASSTHRU('x' VALUES(1, 'b'))", Passthru(), (), ("x", 1, "b")),
    ("PASSTHRU('x' TO Database.dsn VALUES(InputBody.m.id))", Passthru(), ("dsn",), ("x", "7")),
    ("PASSTHRU('x') VALUES(2)", Passthru(), (), ("x", 2)),
    ("PASSTHRU('x', InputBody.m.i[])", Passthru(), (), ("x", None, None)),
    ("PASSTHRU('x', LIST{1, 2, 3})", Passthru(), (), ("x", 1, 2, 3)),
    ("PASSTHRU 'x' VALUES((SELECT ITEM I.id FROM InputBody.m.i[] AS I))", Passthru(), (), ("x", "1", "2")),
    ("COMMIT", Commit(), (), ()),
    ("COMMIT Database.dsn", Commit(), ("dsn",), ()),
    ("ROLLBACK Database.dsn", Rollback(), ("dsn",), ()),
]


@pytest.mark.parametrize(("text", "statement", "place", "values"), STATEMENTS, ids=[row[0] for row in STATEMENTS])
def test_statement(text: str, statement: Statement, place: tuple[str, ...], values: tuple[Any, ...]) -> None:
    """Columns are asked for by name; what the message or a variable says is bound, never part of the statement."""
    assert run(f"DECLARE x INTEGER 5; {text}; RETURN FALSE;")[1] == [(statement, place, values)]


def selected(text: str, rows: Iterable[Row] = ROWS) -> tuple[list[str], list[tuple[Any, ...]]]:
    return run(f"SET OutputRoot.XMLNSC.r.x[] = ({text});", rows)


SELECTS: list[tuple[str, list[tuple[Any, ...]], str]] = [
    (
        "SELECT T.A, T.B AS name FROM Database.T AS T",
        [(Select((A, B)), ("T",), ())],
        "<x><A>1</A><name>one</name></x><x><A>2</A><name/></x>",
    ),
    ("SELECT ITEM T.A FROM Database.T", [(Select((A,)), ("T",), ())], "<x>1</x><x>2</x>"),
    ("SELECT * FROM Database.T", [(Select(), ("T",), ())], "<x><A>1</A><B>one</B></x><x><A>2</A><B/></x>"),
    ("SELECT T.* FROM Database.T AS T", [(Select(), ("T",), ())], "<x><A>1</A><B>one</B></x><x><A>2</A><B/></x>"),
    (
        "SELECT ITEM T.A FROM Database.T AS T WHERE T.A = InputBody.m.id AND T.B = 'x'",
        [(Select((A, B), Computed("AND", (is_equal(A, 0), is_equal(B, 1)))), ("T",), ("7", "x"))],
        "<x>1</x><x>2</x>",
    ),
    (
        "SELECT ITEM T.A FROM Database.T AS T WHERE T.A > 0 AND CAST(T.A AS CHARACTER) = '2'",
        [(Select((A,), Computed(">", (A, Parameter(0))), rest=True), ("T",), (0,))],
        "<x>2</x>",
    ),
    ("SELECT ITEM T.A FROM Database.T AS T WHERE InputBody.m.id = '8'", [(Select((A,), rest=True), ("T",), ())], ""),
    (
        "SELECT ITEM M.id || COALESCE(T.B, '') FROM InputBody.m.i[] AS M, Database.T AS T WHERE T.A = M.id",
        [(Select((B, A), is_equal(A, 0)), ("T",), (number,)) for number in "12"],
        "<x>1one</x><x>1</x><x>2one</x><x>2</x>",
    ),
    (
        "SELECT ITEM T.A FROM Database.T AS T, InputBody.m.i[] AS M WHERE CAST(M.id AS INTEGER) = T.A",
        [(Select((A,), rest=True), ("T",), ())],
        "<x>1</x><x>2</x>",
    ),
]


@pytest.mark.parametrize(("text", "asked", "expected"), SELECTS, ids=[row[0] for row in SELECTS])
def test_select(text: str, asked: list[tuple[Any, ...]], expected: str) -> None:
    """A SELECT asks for the columns it speaks of and lets the database test what it can; ESQL tests the rest."""
    found = selected(text)
    assert found == ([f"out|<r>{expected}</r>" if expected else "out|<r/>"], asked)


def test_aggregate() -> None:
    """An aggregate is for the database to work out, where it can test all conditions; else it goes through the rows."""
    sent, asked = run("SET OutputRoot.XMLNSC.r = SELECT SUM(T.A) FROM Database.T AS T WHERE T.A > 0;", ((("", 7),),))
    total = Select((Computed("SUM", (A,)),), Computed(">", (A, Parameter(0))))
    assert (sent, asked) == (["out|<r>7</r>"], [(total, ("T",), (0,))])
    text = "SET OutputRoot.XMLNSC.r = SELECT SUM(T.A) FROM Database.T AS T WHERE CAST(T.A AS CHARACTER) <> '9';"
    assert run(text, ROWS) == (["out|<r>3</r>"], [(Select((A,), rest=True), ("T",), ())])


def test_joined_tables() -> None:
    """Tables of one data source are joined by it, and lists of the message with what comes of that."""
    text = """SELECT M.id AS i, X.A AS a, Y.B AS b FROM InputBody.m.i[] AS M, Database.T AS X, Database.U AS Y
        WHERE X.A = Y.A AND X.A > M.id AND CAST(Y.B AS CHARACTER) <> ''"""
    is_joined = Computed("=", (Column("A"), Column("A", 1)))
    test = Computed("AND", (is_joined, Computed(">", (Column("A"), Parameter(0)))))
    asked = Select((Column("A"), Column("B", 1), Column("A", 1)), test, joined=(("U",),), rest=True)
    sent, found = run(f"SET OutputRoot.XMLNSC.r.x[] = ({text});", ((("A", 8), ("B", "b"), ("A", 8)),))
    assert found == [(asked, ("T",), ("1",)), (asked, ("T",), ("2",))]
    assert sent == ["out|<r><x><i>1</i><a>8</a><b>b</b></x><x><i>2</i><a>8</a><b>b</b></x></r>"]


def test_passthru_gives_rows() -> None:
    """PASSTHRU as an expression is a list of rows; THE is the first of them."""
    rows = "<x><A>1</A><B>one</B></x><x><A>2</A><B/></x>"
    expected = [(Passthru(), (), ("q", 1))]
    assert selected("PASSTHRU('q' VALUES(1))") == ([f"out|<r>{rows}</r>"], expected)
    for text in ("THE(PASSTHRU('q', 1))", "PASSTHRU('q', 1)"):
        sent, asked = run(f"SET OutputRoot.XMLNSC.r = {text};", ROWS)
        assert (sent, asked) == (["out|<r><A>1</A><B>one</B></r>"], expected)


PROCEDURE = """
CREATE PROCEDURE p(IN a INTEGER, OUT b CHARACTER, INOUT c INTEGER){returns} LANGUAGE DATABASE EXTERNAL NAME "s.proc";
DECLARE b CHARACTER; DECLARE c INTEGER 3; DECLARE r INTEGER;
{call};
SET OutputRoot.XMLNSC.r = COALESCE(CAST(r AS CHARACTER), '-') || b || CAST(c AS CHARACTER);
"""


def test_procedure() -> None:
    """A stored procedure is given IN and INOUT, and answers its result, OUT and INOUT in one row."""
    text = PROCEDURE.format(returns="", call="CALL p(1, b, c) IN Database.dsn EXTERNAL SCHEMA 'me'")
    directions = ("IN", "OUT", "INOUT")
    assert run(text, [(("b", "x"), ("c", 4))]) == (
        ["out|<r>-x4</r>"],
        [(Procedure("s.proc", directions), ("dsn", "me"), (1, 3))],
    )
    text = PROCEDURE.format(returns=" RETURNS INTEGER", call="CALL p(1, b, c) INTO r")
    assert run(text, [(("", 9), ("b", "x"), ("c", 4))]) == (
        ["out|<r>9x4</r>"],
        [(Procedure("s.proc", directions, returns=True), ("", ""), (1, 3))],
    )
    with pytest.raises(BrokerError, match=r"s\.proc answered 1 values and should answer 2"):
        run(PROCEDURE.format(returns="", call="CALL p(1, b, c)"), [(("b", "x"),)])


def test_procedure_with_result_sets() -> None:
    """Result sets go to the lists behind the arguments, which they replace."""
    text = """
    CREATE PROCEDURE p(IN a INTEGER, OUT b CHARACTER) LANGUAGE DATABASE DYNAMIC RESULT SETS 2 EXTERNAL NAME "s.p";
    DECLARE b CHARACTER; SET OutputRoot.XMLNSC.r.one[1] = '3';
    CALL p(7, b, OutputRoot.XMLNSC.r.one[], Environment.two[]);
    SET OutputRoot.XMLNSC.r.b = b || CAST(CARDINALITY(Environment.two[]) AS CHARACTER);
    """
    rows = answer([[("ID", 1), ("N", "x")], [("ID", 2), ("N", None)]])
    assert run(text, [(("b", "out"), ("", rows), ("", Answer()))]) == (
        ["out|<r><one><ID>1</ID><N>x</N></one><one><ID>2</ID><N/></one><b>out0</b></r>"],
        [(Procedure("s.p", ("IN", "OUT"), result_sets=2), ("", ""), (7,))],
    )
    with pytest.raises(BrokerError, match=r"s\.p answered 1 values and should answer 3"):
        run(text, [(("b", "x"),)])


REFUSED = [
    (
        "UPDATE Database.T AS X SET A = CAST(X.A AS CHARACTER FORMAT '0')",
        "a database cannot work this out for its columns",
    ),
    ("DELETE FROM Database.T AS X WHERE X.A.b = 1", "a database cannot work this out for its columns"),
    ("DELETE FROM Database.T AS X WHERE own(X.A) = 1", "a database cannot work this out for its columns"),
    (
        "SET Environment.x = p(Environment.y[]); CREATE FUNCTION p() RETURNS INTEGER "
        'LANGUAGE DATABASE DYNAMIC RESULT SETS 1 EXTERNAL NAME "p"',
        "p gives result sets, which an expression has no place for: use CALL … INTO",
    ),
    ("INSERT INTO Database.a.b.c.d VALUES(1)", "a table is named Database.table"),
    ("UPDATE InputRoot.T SET A = 1", "Database"),
]


@pytest.mark.parametrize(("text", "expected"), REFUSED)
def test_refused(text: str, expected: str) -> None:
    """What no database could be asked is a problem before anything runs."""
    own = "CREATE FUNCTION own(IN a INTEGER) RETURNS INTEGER RETURN a;"
    with pytest.raises(SyntaxProblems) as caught:
        compile_text(f"{text}; {own}", "COMPUTE")
    assert expected in caught.value.problems[0].text


@pytest.mark.parametrize("text", ["COMMIT", "UPDATE Database.T SET A = 1", "SET Environment.x[] = PASSTHRU('x')"])
def test_no_database(text: str) -> None:
    """A node without a database fails where it asks for one."""
    with pytest.raises(
        BrokerError, match=r"BIP2393 ESQL:1:\d+: there is no database for \w+: give the node a"
    ) as caught:
        list(outcomes(compile_text(f"{text};", "COMPUTE"), message_of(INPUT, "XMLNSC")))
    assert caught.value.number == 2393


def test_errors_of_the_database() -> None:
    """What a connection raises is placed in the program, and its state reaches a handler."""

    class Failing:
        throws = True

        def execute(self, statement: Statement, place: tuple[str, ...], values: tuple[Any, ...]) -> Answer:
            error = BrokerError(2321, "no such table: T")
            error.sqlstate = "D42S02"  # type: ignore[attr-defined]  # as errors of databases have it
            raise error

    text = """BEGIN DECLARE EXIT HANDLER FOR SQLSTATE LIKE 'D%' SET OutputRoot.XMLNSC.r = SQLSTATE || SQLERRORTEXT;
    INSERT INTO Database.T VALUES(1); END;"""
    sent = outcomes(compile_text(text, "COMPUTE"), message_of(INPUT, "XMLNSC"), "", Surroundings(database=Failing()))
    assert list(sent) == ["out|<r>D42S02no such table: T</r>"]

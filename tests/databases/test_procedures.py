"""Stored procedures and functions of PostgreSQL, and databases that have none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.databases.definitions import Definition
from engine.databases.sources import Sources
from engine.errors import BrokerError
from tests.databases.programs import define, rows, run
from tests.databases.server import Server

ROUTINES = (
    "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)",
    "INSERT INTO items VALUES (1, 'one'), (2, 'two')",
    """CREATE PROCEDURE keep(a INTEGER, INOUT b TEXT, OUT c INTEGER) LANGUAGE plpgsql AS $$
       BEGIN INSERT INTO items VALUES (a, b); b := b || '!'; c := a * 2; END $$""",
    "CREATE FUNCTION twice(a INTEGER) RETURNS INTEGER LANGUAGE sql AS 'SELECT a * 2'",
    "CREATE FUNCTION split(a INTEGER, OUT b INTEGER, OUT c TEXT) LANGUAGE sql AS 'SELECT a + 1, a::text'",
    "CREATE FUNCTION found(a INTEGER) RETURNS TABLE(id INTEGER, name TEXT) LANGUAGE sql AS "
    "'SELECT i.id, i.name FROM items i WHERE i.id >= a ORDER BY 1'",
    """CREATE PROCEDURE two_sets(a INTEGER, INOUT x refcursor, INOUT y refcursor) LANGUAGE plpgsql AS $$
       BEGIN x := 'x'; y := 'y'; OPEN x FOR SELECT id FROM items ORDER BY id; OPEN y FOR SELECT name FROM items
       WHERE id = a; END $$""",
)

CALLS = [
    ("CREATE PROCEDURE p(IN a INTEGER, INOUT b CHARACTER, OUT c INTEGER) LANGUAGE DATABASE EXTERNAL NAME \"KEEP\";",
     "DECLARE b CHARACTER 'x'; DECLARE c INTEGER; CALL p(7, b, c);"
     " SET OutputRoot.XMLNSC.r = b || CAST(c AS CHARACTER);",
     "x!14", 3),
    ("CREATE FUNCTION f(IN a INTEGER) RETURNS INTEGER LANGUAGE DATABASE EXTERNAL NAME \"public.twice\";",
     "SET OutputRoot.XMLNSC.r.x = f(21);", "<x>42</x>", 2),
    ("CREATE PROCEDURE s(IN a INTEGER, OUT b INTEGER, OUT c CHARACTER) LANGUAGE DATABASE EXTERNAL NAME \"split\";",
     "DECLARE b INTEGER; DECLARE c CHARACTER; CALL s(4, b, c) IN Database.DB EXTERNAL SCHEMA 'public';"
     " SET OutputRoot.XMLNSC.r = c || CAST(b AS CHARACTER);", "45", 2),
    ("CREATE FUNCTION f(IN a INTEGER) RETURNS INTEGER LANGUAGE DATABASE EXTERNAL NAME \"%.twice\";",
     "DECLARE b INTEGER; CALL f(4) IN Database.DB EXTERNAL SCHEMA 'public' INTO b;"
     " SET OutputRoot.XMLNSC.r.x = b + f(1);",
     "<x>10</x>", 2),
    ("CREATE PROCEDURE t(IN a INTEGER) LANGUAGE DATABASE DYNAMIC RESULT SETS 1 EXTERNAL NAME \"found\";",
     "CALL t(2, OutputRoot.XMLNSC.r.x[]);", "<x><id>2</id><name>two</name></x>", 2),
    ("CREATE PROCEDURE t(IN a INTEGER) LANGUAGE DATABASE DYNAMIC RESULT SETS 2 EXTERNAL NAME \"two_sets\";",
     "CALL t(2, OutputRoot.XMLNSC.r.x[], OutputRoot.XMLNSC.r.y[]);",
     "<x><id>1</id></x><x><id>2</id></x><y><name>two</name></y>", 2),
]  # fmt: skip


@pytest.fixture
def sources(server: Server, numbers: Iterator[int]) -> Iterator[Sources]:
    name = f"routines{next(numbers)}"
    server.execute(f"CREATE DATABASE {name}")
    made = Sources([Definition("DB", server.url(name))])
    define(made, *ROUTINES)
    yield made
    made.close()


@pytest.mark.database
@pytest.mark.parametrize(("routine", "text", "expected", "count"), CALLS)
def test_calls(sources: Sources, routine: str, text: str, expected: str, count: int) -> None:
    """Parameters go in and out, and result sets are lists; what a procedure writes is the unit's."""
    assert run(sources, f"{routine} {text}") == [f"out|<r>{expected}</r>"]
    assert rows(sources, "SELECT count(*) FROM items") == [(count,)]


@pytest.mark.database
def test_a_routine_that_is_not_there(sources: Sources) -> None:
    """A name that no routine has says what is near."""
    routine = 'CREATE FUNCTION f(IN a INTEGER) RETURNS INTEGER LANGUAGE DATABASE EXTERNAL NAME "twicee";'
    with pytest.raises(BrokerError, match="there is no stored procedure twicee; did you mean twice"):
        run(sources, f"{routine} SET OutputRoot.XMLNSC.r.x = f(21);")


def test_a_database_without_any() -> None:
    """SQLite has no stored procedures, and says so."""
    sources = Sources([Definition("DB", "sqlite://")])
    routine = 'CREATE PROCEDURE p(IN a INTEGER) LANGUAGE DATABASE EXTERNAL NAME "p";'
    with pytest.raises(BrokerError, match="p cannot be called: stored procedures are called in PostgreSQL only"):
        run(sources, f"{routine} CALL p(1);")
    sources.close()

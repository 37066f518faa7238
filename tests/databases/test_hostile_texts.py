"""SQL in values, names and parameters is data, whatever statement it stands in."""

from __future__ import annotations

import pytest

from engine.databases.sources import Sources
from engine.errors import BrokerError
from esql.text import SyntaxProblems
from tests.databases.programs import define, rows, run

TEXTS = (
    *("'; DROP TABLE t; --", '"; DROP TABLE t; --', "x' OR '1'='1", "%s %(a)s $1 ? :a", "\\'; DELETE FROM t; --"),
    *("t; DELETE FROM t", "` ; DROP TABLE t", '" UNION SELECT 1 --', "/* */ t", 't"--', "%", "$$; DROP TABLE t; $$"),
    *("é\u2028\u202e", "{x}", "t T2, t"),
)
COUNT = "SET OutputRoot.XMLNSC.r = SELECT COUNT(*) FROM Database.T AS T WHERE "
# Programs with a hostile text as a value, of which all answer 1.
OF_VALUES = (
    "INSERT INTO Database.T(ID, NAME) VALUES(2, x); " + COUNT + "T.NAME = x;",
    COUNT + "T.NAME IN (LIST{x, 'z'});",
    COUNT + "EXISTS(SELECT U.ID FROM Database.T AS U WHERE U.NAME = x AND U.ID = T.ID);",
    "SET OutputRoot.XMLNSC.r = THE(SELECT ITEM P.n FROM "
    "PASSTHRU('SELECT COUNT(*) AS n FROM t WHERE name = ?', x) AS P);",
    "UPDATE Database.T AS T SET NAME = x || T.NAME WHERE T.NAME <> x AND T.ID = 7; SET OutputRoot.XMLNSC.r = 1;",
    "DELETE FROM Database.T AS T WHERE T.NAME LIKE x AND T.ID = 99; SET OutputRoot.XMLNSC.r = 1;",
)
# Programs with a hostile text as a name, of which all are refused.
OF_NAMES = (
    "SET Environment.a[] = (SELECT T.ID FROM Database.{x} AS T);",
    "INSERT INTO Database.{x}.T(ID) VALUES(1);",
    "DELETE FROM Database.{x}.main.T;",
    "UPDATE Database.{x} AS T SET ID = 9;",
    "PASSTHRU 'DELETE FROM t' TO Database.{x};",
    'DELETE FROM Database."QUOTED";',
    'INSERT INTO Database.T("QUOTED") VALUES(1);',
    'SET Environment.a[] = (SELECT T."QUOTED" FROM Database.T AS T);',
)


@pytest.mark.parametrize("hostile", TEXTS)
def test_hostile_text(sources: Sources, hostile: str) -> None:
    """A text is found as the value that it is, and as a name it is none that there is."""
    define(sources, "CREATE TABLE t (id INTEGER, name VARCHAR(60))", "INSERT INTO t VALUES (1, 'a')")
    declared = f"DECLARE x CHARACTER '{hostile.replace(chr(39), chr(39) * 2)}'; "
    for text in OF_VALUES:
        assert run(sources, declared + text) == ["out|<r>1</r>"], text
    for text in OF_NAMES:
        with pytest.raises((BrokerError, SyntaxProblems)):
            run(sources, declared + text.replace("QUOTED", hostile.replace('"', '""')))
    assert rows(sources, "SELECT id, name FROM t ORDER BY id") == [(1, "a"), (2, hostile)]

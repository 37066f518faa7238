"""Values both ways: each type of a column with values at its edges, on every database."""

from __future__ import annotations

import pytest

from engine.databases.sources import Sources
from engine.errors import BrokerError
from tests.databases.programs import define, run

# The type of a column, and literals of ESQL that come back as they went.
TYPES: list[tuple[str, list[str]]] = [
    ("BIGINT", ["9223372036854775807", "-9223372036854775808", "0"]),
    ("SMALLINT", ["32767", "-32768"]),
    ("DECIMAL(12,2)", ["DECIMAL '9999999999.99'", "DECIMAL '-0.01'", "DECIMAL '0.10'", "DECIMAL '1.00'"]),
    ("DECIMAL(15,0)", ["DECIMAL '999999999999999'"]),
    ("DECIMAL(18,6)", ["DECIMAL '123456789.123456'", "DECIMAL '0.000001'"]),
    ("DECIMAL(31,10)", ["DECIMAL '123456789012345678901.0123456789'", "DECIMAL '-0.0000000001'", "DECIMAL '5'"]),
    ("NUMERIC", ["DECIMAL '1E30'", "DECIMAL '3.000000000000000000000000000000001'", "DECIMAL '-12345678901234567.8'"]),
    ("DOUBLE PRECISION", ["1.7976931348623157E308", "-2.5E0", "5E-324"]),
    ("VARCHAR(100)", ["''", "'O''Brien; DROP TABLE t'", "'Zoë 漢字 😀'", "'  blanks  '"]),
    ("TEXT", ["REPLICATE('long ', 200000)", "'%s $1 ? :x \\'"]),
    ("BOOLEAN", ["TRUE", "FALSE"]),
    ("DATE", ["DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '2000-02-29'"]),
    ("TIME", ["TIME '00:00:00'", "TIME '23:59:59.999999'"]),
    ("TIMESTAMP", ["TIMESTAMP '9999-12-31 23:59:59.999999'", "TIMESTAMP '0001-01-01 00:00:00'"]),
    ("{blob}", ["X''", "X'00ff27'", "CAST(REPLICATE('ab', 100000) AS BLOB CCSID 1208)"]),
    ("INTERVAL", ["INTERVAL '2-06' YEAR TO MONTH", "INTERVAL '-1 02:03:04.5' DAY TO SECOND"]),
]


@pytest.mark.parametrize(("kind", "literals"), TYPES, ids=[row[0] for row in TYPES])
def test_there_and_back(sources: Sources, kind: str, literals: list[str]) -> None:
    """A value comes back as it went, by SELECT and by PASSTHRU, and is found by WHERE; NULL stays NULL."""
    blob = "BYTEA" if sources.find("DB").driver.name == "postgresql" else "BLOB"
    define(sources, f"CREATE TABLE t (id INTEGER, v {kind.format(blob=blob)})")
    text = "DECLARE n INTEGER 0; "
    for number, literal in enumerate(literals):
        where = "" if kind == "INTERVAL" else f" AND T.V = {literal}"
        text += f"""INSERT INTO Database.T(ID, V) VALUES({number}, {literal});
        IF THE(SELECT ITEM T.V FROM Database.T AS T WHERE T.ID = {number}{where}) = {literal}
          AND THE(SELECT ITEM R.v FROM PASSTHRU('SELECT v FROM t WHERE id = ?', {number}) AS R) = {literal}
        THEN SET n = n + 1; ELSE SET OutputRoot.XMLNSC.r.wrong[] = LIST{{'{number}',
          CAST(THE(SELECT ITEM T.V FROM Database.T AS T WHERE T.ID = {number}) AS CHARACTER)}}; END IF;"""
    text += """INSERT INTO Database.T(ID, V) VALUES(-1, NULL);
        SET OutputRoot.XMLNSC.r.null = THE(SELECT ITEM T.ID FROM Database.T AS T WHERE T.V IS NULL);
        SET OutputRoot.XMLNSC.r.same = n;"""
    assert run(sources, text) == [f"out|<r><null>-1</null><same>{len(literals)}</same></r>"]


WIDE = "CREATE TABLE t (k INTEGER, v DECIMAL(31,10), w NUMERIC)"
NUMBERS = (
    "INSERT INTO Database.T VALUES(1, DECIMAL '123456789012345678901.0123456789', DECIMAL '1E30');"
    "INSERT INTO Database.T VALUES(2, DECIMAL '123456789012345678901.0123456788', 3);"
    "INSERT INTO Database.T VALUES(3, 5, DECIMAL '5.00000000000000000001');"
    "INSERT INTO Database.T VALUES(4, DECIMAL '-123456789012345678901.0123456789', NULL);"
)
# What is asked of decimals of more digits than a REAL has, and the answer.
ASKED: list[tuple[str, str]] = [
    ("SELECT SUM(T.K) FROM Database.T AS T WHERE T.V > DECIMAL '123456789012345678901.01234567885'", "1"),
    ("SELECT SUM(T.K) FROM Database.T AS T WHERE T.V IN (5, '123456789012345678901.0123456788')", "5"),
    ("SELECT SUM(T.K) FROM Database.T AS T WHERE T.V < T.W", "4"),
    ("SELECT SUM(T.K) FROM Database.T AS T WHERE T.V BETWEEN -5 AND 5", "3"),
    ("SELECT SUM(T.K) FROM Database.T AS T WHERE T.V * 2 - T.V = 5", "3"),
    ("SELECT SUM(T.V) FROM Database.T AS T", "123456789012345678906.0123456788"),
    ("SELECT MAX(T.V) FROM Database.T AS T", "123456789012345678901.0123456789"),
    ("SELECT MIN(T.V) FROM Database.T AS T", "-123456789012345678901.0123456789"),
]


@pytest.mark.parametrize(("asked", "expected"), ASKED, ids=[row[0] for row in ASKED])
def test_long_decimals(sources: Sources, asked: str, expected: str) -> None:
    """Decimals of more digits than a REAL has are compared, computed and summed up exactly."""
    define(sources, WIDE)
    assert run(sources, f"{NUMBERS} SET OutputRoot.XMLNSC.r = {asked};") == [f"out|<r>{expected}</r>"]


REFUSED: list[tuple[str, str]] = [
    ("INTEGER", "'no number'"),
    ("DECIMAL(30,10)", "DECIMAL '12345678901234567890.1234567890'"),
]


@pytest.mark.parametrize(("kind", "literal"), REFUSED)
def test_what_does_not_fit(sources: Sources, kind: str, literal: str) -> None:
    """A value that a database would not keep as it is, is refused or kept exactly, never changed."""
    define(sources, f"CREATE TABLE t (v {kind})")
    text = f"""INSERT INTO Database.T(V) VALUES({literal});
        SET OutputRoot.XMLNSC.r = CAST(THE(SELECT ITEM T.V FROM Database.T AS T) AS CHARACTER);"""
    sent: list[str] = []
    state = "D22"
    try:
        sent = run(sources, text)
    except BrokerError as error:
        state = str(getattr(error, "sqlstate", ""))
    kept = f"out|<r>{literal.partition(chr(39))[2].rstrip(chr(39))}</r>"
    assert sent in ([], [kept])
    assert state.startswith("D22")

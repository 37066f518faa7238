"""The same programs on SQLite and on PostgreSQL: statements, what they send, and what stands in the tables."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from engine.databases.sources import Sources
from engine.errors import BrokerError
from tests.databases.programs import define, rows, run

CUSTOMER = "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40), amount DECIMAL(12,2), note TEXT)"
FILLED = (
    "INSERT INTO customer VALUES (1, 'Ada', 10.50, NULL)",
    "INSERT INTO customer VALUES (2, 'Bob', 20.25, 'late')",
    "INSERT INTO customer VALUES (3, 'Cy', NULL, '100%')",
)
ALL = "SELECT id, name, amount, note FROM customer ORDER BY id"
ADA, BOB, CY = (1, "Ada", Decimal("10.50"), None), (2, "Bob", Decimal("20.25"), "late"), (3, "Cy", None, "100%")
OUT = "SET OutputRoot.XMLNSC.r.x[] = ({});"

# A condition of WHERE, and the names of the customers for which it is true.
CONDITIONS: list[tuple[str, list[str]]] = [
    ("C.AMOUNT > 10.5", ["Bob"]),
    ("C.id = InputBody.m.i[2].id", ["Bob"]),
    ("C.NAME LIKE 'a%'", []),
    ("C.NOTE LIKE '1__!%' ESCAPE '!'", ["Cy"]),
    ("C.NOTE LIKE '100\\%'", ["Cy"]),
    ("C.NOTE IS NULL", ["Ada"]),
    ("C.ID NOT IN (1, 2)", ["Cy"]),
    ("C.ID BETWEEN SYMMETRIC 3 AND 2", ["Bob", "Cy"]),
    ("NOT (C.ID = 1 OR C.ID = 2)", ["Cy"]),
    ("UPPER(C.NAME) = 'ADA'", ["Ada"]),
    ("SUBSTRING(C.NAME FROM 0 FOR 3) = 'Bo'", ["Bob"]),
    ("C.ID * 2 + 1 = 5", ["Bob"]),
    ("COALESCE(C.NOTE, 'none') = 'none'", ["Ada"]),
    ("C.ID = '2'", ["Bob"]),
    ("C.ID + 1 = '3'", ["Bob"]),
    ("C.AMOUNT * DECIMAL '1.1' = DECIMAL '11.55'", ["Ada"]),
    ("C.AMOUNT + DECIMAL '0.20' - DECIMAL '0.1' = DECIMAL '10.6'", ["Ada"]),
    ("C.AMOUNT IN ('10.50', 3)", ["Ada"]),
    ("C.AMOUNT NOT BETWEEN SYMMETRIC 21 AND DECIMAL '10.6'", ["Ada"]),
    ("C.AMOUNT = DECIMAL '10.50000000000000000001'", []),
    ("C.ID < DECIMAL '2.00000000000000000001'", ["Ada", "Bob"]),
    ("COALESCE(C.AMOUNT, 0) = '0'", ["Cy"]),
    ("ABS(C.AMOUNT - 100) > 80", ["Ada"]),
    ("C.ID IN (InputBody.m.i[1].id, SELECT ITEM M.id FROM InputBody.m.i[] AS M WHERE M.id > 1)", ["Ada", "Bob"]),
    ("C.ID IN (SELECT ITEM D.ID FROM Database.customer AS D WHERE D.AMOUNT > 0)", ["Ada", "Bob"]),
    ("EXISTS(SELECT D.ID FROM Database.customer AS D WHERE D.ID = C.ID + 1)", ["Ada", "Bob"]),
    ("C.NAME = 5", []),
    ("(SELECT MIN(D.AMOUNT) FROM Database.customer AS D) = C.AMOUNT", ["Ada"]),
    ("C.NOTE LIKE '%a%a%' OR C.NOTE LIKE '%l_t%'", ["Bob"]),
    ("CASE C.ID WHEN 3 THEN TRUE ELSE FALSE END", ["Cy"]),
    ("C.ID IN (SELECT ITEM M.id FROM InputBody.m.i[] AS M WHERE M.id > 1)", ["Bob"]),
    ("C.ID NOT IN (3, SELECT ITEM M.id FROM InputBody.m.i[] AS M WHERE M.id < 2)", ["Bob"]),
    ("C.ID IN (InputBody.m.nothing[])", []),
    ("C.ID NOT IN (InputBody.m.nothing[])", ["Ada", "Bob", "Cy"]),
    ("C.ID IN (LIST{1, NULL})", ["Ada"]),
    ("C.ID NOT IN (LIST{1, NULL})", []),
    ("C.AMOUNT IN (LIST{'10.50', DECIMAL '20.25', 7})", ["Ada", "Bob"]),
    ("C.AMOUNT + 1 IN (LIST{DECIMAL '11.50', 3})", ["Ada"]),
    ("C.ID NOT IN (SELECT ITEM D.ID FROM Database.CUSTOMER AS D WHERE D.AMOUNT > 15)", ["Ada", "Cy"]),
    ("C.AMOUNT NOT IN (SELECT ITEM D.AMOUNT FROM Database.customer AS D)", []),
    (
        "C.ID IN (1, SELECT ITEM D.ID FROM Database.customer AS D WHERE D.ID = C.ID AND D.NOTE LIKE 'l%')",
        ["Ada", "Bob"],
    ),
    ("C.ID + 1 IN (SELECT ITEM D.ID FROM Database.customer AS D)", ["Ada", "Bob"]),
    ("EXISTS(SELECT * FROM Database.customer AS D WHERE D.AMOUNT > C.AMOUNT)", ["Ada"]),
    ("NOT EXISTS(SELECT D.ID FROM Database.customer AS D WHERE D.ID > C.ID AND D.NAME <> InputBody.m.name)", ["Cy"]),
    ("EXISTS(SELECT D.ID FROM Database.customer AS D WHERE D.ID = 99)", []),
    (
        "EXISTS(SELECT D.ID FROM Database.customer AS D, Database.customer AS E WHERE D.ID = C.ID AND E.ID = D.ID + 1)",
        ["Ada", "Bob"],
    ),
    ("EXISTS(InputBody.m.i[])", ["Ada", "Bob", "Cy"]),
    ("C.AMOUNT = (SELECT MIN(D.AMOUNT) FROM Database.customer AS D)", ["Ada"]),
    ("C.AMOUNT = (SELECT MAX(D.AMOUNT) FROM Database.customer AS D WHERE D.ID <= C.ID)", ["Ada", "Bob"]),
    ("(SELECT COUNT(*) FROM Database.customer AS D WHERE D.ID < C.ID) = 1", ["Bob"]),
    ("C.NAME = THE(SELECT ITEM D.NAME FROM Database.customer AS D WHERE D.ID = C.ID AND D.ID > 1)", ["Bob", "Cy"]),
    ("C.NAME = COALESCE(THE(SELECT ITEM D.NOTE FROM Database.customer AS D WHERE D.ID = C.ID), 'Ada')", ["Ada"]),
]

ADA_XML = "<x><id>1</id><name>Ada</name><amount>10.50</amount><note/></x>"

# A program, and what it sends.
READING: list[tuple[str, str]] = [
    (
        "SET OutputRoot.XMLNSC.r.x[] = (SELECT C.ID, C.NAME FROM Database.CUSTOMER AS C WHERE C.ID = 1);",
        "<x><ID>1</ID><NAME>Ada</NAME></x>",
    ),
    (
        ("SET OutputRoot.XMLNSC.r.x[] = (SELECT ITEM C.AMOUNT FROM Database.CUSTOMER AS C WHERE C.AMOUNT < 11);"),
        "<x>10.50</x>",
    ),
    (
        (
            "SET OutputRoot.XMLNSC.r.x[] = (SELECT M.id AS of, C.NAME AS name FROM InputBody.m.i[] AS "
            "M, Database.customer AS C WHERE C.ID = M.id);"
        ),
        "<x><of>1</of><name>Ada</name></x><x><of>2</of><name>Bob</name></x>",
    ),
    (
        (
            "SET OutputRoot.XMLNSC.r.x[] = (SELECT A.ID AS a, B.ID AS b FROM Database.customer AS A, "
            "Database.customer AS B WHERE A.ID + 1 = B.ID);"
        ),
        "<x><a>1</a><b>2</b></x><x><a>2</a><b>3</b></x>",
    ),
    (
        (
            "SET OutputRoot.XMLNSC.r.x[] = (SELECT EVAL('C.NAME') AS n FROM Database.customer AS C "
            "WHERE C.ID < 3 AND C.ID > EVAL('C.ID - C.AMOUNT + 10.5'));"
        ),
        "<x><n>Bob</n></x>",
    ),
    (
        (
            "SET OutputRoot.XMLNSC.r.x[] = (SELECT A.ID AS a, EVAL('B.NAME') AS b FROM Database.customer AS A, "
            "Database.customer AS B WHERE A.ID + 1 = B.ID);"
        ),
        "<x><a>1</a><b>Bob</b></x><x><a>2</a><b>Cy</b></x>",
    ),
    ("SET OutputRoot.XMLNSC.r.x = SELECT SUM(EVAL('C.AMOUNT')) FROM Database.customer AS C;", "<x>30.75</x>"),
    ("SET OutputRoot.XMLNSC.r.x = SELECT COUNT(*) FROM Database.customer AS C;", "<x>3</x>"),
    ("SET OutputRoot.XMLNSC.r.x = SELECT COUNT(C.NOTE) FROM Database.customer AS C;", "<x>2</x>"),
    ("SET OutputRoot.XMLNSC.r.x = SELECT SUM(C.AMOUNT) FROM Database.customer AS C;", "<x>30.75</x>"),
    ("SET OutputRoot.XMLNSC.r.x = SELECT SUM(C.ID) FROM Database.customer AS C WHERE C.ID > 1;", "<x>5</x>"),
    ("SET OutputRoot.XMLNSC.r.x = SELECT SUM(C.AMOUNT * C.ID) FROM Database.customer AS C;", "<x>51.00</x>"),
    ("SET OutputRoot.XMLNSC.r.x[] = SELECT C FROM Database.customer AS C WHERE C.ID = 1;", ADA_XML),
    ("SET OutputRoot.XMLNSC.r.x[] = SELECT C.* FROM Database.customer AS C WHERE C.ID = 1;", ADA_XML),
    ("SET OutputRoot.XMLNSC.r.x[] = SELECT ITEM C FROM Database.customer AS C WHERE C.ID = 1;", ADA_XML),
    ("SET OutputRoot.XMLNSC.r.x = SELECT MAX(C.NAME) FROM Database.customer AS C;", "<x>Cy</x>"),
    (
        ("SET OutputRoot.XMLNSC.r.x = COALESCE((SELECT MIN(C.ID) FROM Database.customer AS C WHERE C.ID > 9), -1);"),
        "<x>-1</x>",
    ),
    (
        "UPDATE Database.CUSTOMER AS C SET NAME = 'x' WHERE C.ID = 77; SET OutputRoot.XMLNSC.r.x = SQLCODE;",
        "<x>100</x>",
    ),
    (
        (
            "SET OutputRoot.XMLNSC.r.x[] = (PASSTHRU('SELECT id, note FROM customer WHERE id IN (?, ?) "
            "ORDER BY id' VALUES(2, 3)));"
        ),
        "<x><id>2</id><note>late</note></x><x><id>3</id><note>100%</note></x>",
    ),
    ("SET OutputRoot.XMLNSC.r.x[] = (PASSTHRU('SELECT ''100%'' AS a, ''?'' AS b'));", "<x><a>100%</a><b>?</b></x>"),
    ("SET OutputRoot.XMLNSC.r = THE(SELECT ITEM C.NAME FROM Database.customer AS C WHERE C.ID = 2);", "Bob"),
]

# How a program speaks of columns whose names a database has in another case.
ONE = "SET Environment.c = THE(SELECT C.* FROM Database.CUSTOMER AS C WHERE C.ID = 2); "
SOME = "SET Environment.c[] = SELECT * FROM Database.CUSTOMER AS C; "
BOB_XML = "<id>2</id><name>Bob</name><amount>20.25</amount><note>late</note>"
SPELLED: list[tuple[str, str]] = [
    (ONE + "SET OutputRoot.XMLNSC.r = Environment.c.NAME;", "Bob"),
    (SOME + "SET OutputRoot.XMLNSC.r = Environment.c[2].Name;", "Bob"),
    (SOME + "FOR c AS Environment.c[] DO SET OutputRoot.XMLNSC.r = c.NAME; END FOR;", "Cy"),
    (
        "SET Environment.c[] = PASSTHRU('SELECT id AS Id FROM customer'); SET OutputRoot.XMLNSC.r = Environment.c.ID;",
        "1",
    ),
    (ONE + "SET Environment.d = Environment.c; SET OutputRoot.XMLNSC.r = CARDINALITY(Environment.d.NAME[]);", "1"),
    (
        "DECLARE n CHARACTER 'NAME'; "
        "SET OutputRoot.XMLNSC.r.x[] = (SELECT ITEM C.{n} FROM Database.CUSTOMER AS C WHERE C.ID < 3);",
        "<x>Ada</x><x>Bob</x>",
    ),
    (
        "SET OutputRoot.XMLNSC.r.x[] = "
        "(SELECT C.*, UPPER(C.NAME) AS BIG FROM Database.CUSTOMER AS C WHERE RIGHT(C.NAME, 1) = 'b');",
        f"<x>{BOB_XML}<BIG>BOB</BIG></x>",
    ),
    (
        "SET OutputRoot.XMLNSC.r.x[] = (SELECT C.*, UPPER(C.NAME) AS Name FROM Database.CUSTOMER AS C WHERE C.ID = 2);",
        f"<x>{BOB_XML}<Name>BOB</Name></x>",
    ),
    (ONE + "SET OutputRoot.XMLNSC.r = Environment.c; SET OutputRoot.XMLNSC.r = OutputRoot.XMLNSC.r.NAME;", "Bob"),
    (ONE + "SET Environment.c.NAME = 'Bo'; SET OutputRoot.XMLNSC.r = Environment.c;", BOB_XML.replace("Bob", "Bo")),
    (
        "SET OutputRoot.XMLNSC.r = THE(SELECT C.NAME AS name FROM Database.CUSTOMER AS C WHERE C.ID = 2); "
        "SET OutputRoot.XMLNSC.r.NAME = 'Bo';",
        "<name>Bob</name><NAME>Bo</NAME>",
    ),
]

# A program, what it sends, and the rows of the table afterwards.
CHANGING: list[tuple[str, str, list[tuple[Any, ...]]]] = [
    (
        ("INSERT INTO Database.CUSTOMER(ID, NAME) VALUES(4, InputBody.m.name); SET OutputRoot.XMLNSC.r.x = SQLCODE;"),
        "<x>0</x>",
        [ADA, BOB, CY, (4, "O'Brien", None, None)],
    ),
    (
        "INSERT INTO Database.CUSTOMER VALUES('5', 'x', '7.5', NULL); SET OutputRoot.XMLNSC.r = 'ok';",
        "ok",
        [ADA, BOB, CY, (5, "x", Decimal("7.50"), None)],
    ),
    (
        (
            "UPDATE Database.CUSTOMER AS C SET AMOUNT = C.AMOUNT + 1, NAME = C.NAME || '!' WHERE C.ID ="
            " 1; SET OutputRoot.XMLNSC.r = 'ok';"
        ),
        "ok",
        [(1, "Ada!", Decimal("11.50"), None), BOB, CY],
    ),
    (
        (
            "UPDATE Database.CUSTOMER AS C SET AMOUNT = C.AMOUNT + DECIMAL '0.1' + DECIMAL '0.2', NOTE = CASE"
            " WHEN C.ID = 1 THEN 'one' ELSE CAST(C.ID AS CHARACTER) END WHERE C.ID < 3; UPDATE Database.CUSTOMER"
            " AS C SET NOTE = TRIM(LEADING 'o' FROM C.NOTE) WHERE C.AMOUNT = DECIMAL '10.8';"
            " SET OutputRoot.XMLNSC.r = 'ok';"
        ),
        "ok",
        [(1, "Ada", Decimal("10.80"), "ne"), (2, "Bob", Decimal("20.55"), "2"), CY],
    ),
    (
        (
            "UPDATE Database.CUSTOMER AS C SET ID = CAST(C.AMOUNT AS INTEGER) + ROUND(C.AMOUNT, 0), NAME ="
            " OVERLAY(LEFT(C.NAME, 2) || RIGHT(C.NAME, 1) PLACING 'X' FROM 2), AMOUNT = MOD(C.ID, 2) WHERE"
            " POSITION('o' IN C.NAME) = 2; SET OutputRoot.XMLNSC.r = 'ok';"
        ),
        "ok",
        [ADA, CY, (40, "BXb", Decimal("0.00"), "late")],
    ),
    ("DELETE FROM Database.CUSTOMER AS C WHERE C.ID <> 2; SET OutputRoot.XMLNSC.r = SQLSTATE;", "00000", [BOB]),
    (
        ("DELETE FROM Database.CUSTOMER; SET OutputRoot.XMLNSC.r.x = SELECT COUNT(*) FROM Database.customer AS C;"),
        "<x>0</x>",
        [],
    ),
    (
        "PASSTHRU('UPDATE customer SET name = ? WHERE id = ?', 'a?b', 2); SET OutputRoot.XMLNSC.r = 'ok';",
        "ok",
        [ADA, (2, "a?b", Decimal("20.25"), "late"), CY],
    ),
    (
        (
            "PASSTHRU 'DELETE FROM customer WHERE id > ? -- all of them?' TO Database.DB VALUES(1); SET"
            " OutputRoot.XMLNSC.r = 'ok';"
        ),
        "ok",
        [ADA],
    ),
    (
        (
            "DECLARE t CHARACTER 'CUSTOMER'; DELETE FROM Database.{t} AS C WHERE C.ID = 1; SET "
            "OutputRoot.XMLNSC.r = 'ok';"
        ),
        "ok",
        [BOB, CY],
    ),
    (
        (
            "BEGIN DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE 'D23%' SET OutputRoot.XMLNSC.r.state = "
            "SQLSTATE; INSERT INTO Database.CUSTOMER(ID, NAME) VALUES(4, 'new'); INSERT INTO "
            "Database.CUSTOMER(ID, NAME) VALUES(1, 'twice'); INSERT INTO Database.CUSTOMER(ID, NAME) "
            "VALUES(5, 'more'); END;"
        ),
        "<state>D23505</state>",
        [ADA, BOB, CY, (4, "new", None, None), (5, "more", None, None)],
    ),
    (
        (
            "BEGIN DECLARE EXIT HANDLER FOR SQLSTATE LIKE 'D%' SET OutputRoot.XMLNSC.r = SQLSTATE; "
            "PASSTHRU('DELETE FROM nowhere'); END; DELETE FROM Database.CUSTOMER AS C WHERE C.ID = 1;"
        ),
        "D42S02",
        [BOB, CY],
    ),
    (
        (
            "INSERT INTO Database.CUSTOMER(ID) VALUES(9); ROLLBACK; INSERT INTO Database.CUSTOMER(ID) "
            "VALUES(8); SET OutputRoot.XMLNSC.r = 'ok';"
        ),
        "ok",
        [ADA, BOB, CY, (8, None, None, None)],
    ),
    ("EVAL('DELETE FROM Database.CUSTOMER AS C WHERE C.ID = 3;'); SET OutputRoot.XMLNSC.r = 'ok';", "ok", [ADA, BOB]),
    (
        (
            "DELETE FROM Database.CUSTOMER AS C WHERE C.ID = EVAL('1 + 1'); BEGIN DECLARE EXIT HANDLER FOR "
            "SQLEXCEPTION SET OutputRoot.XMLNSC.r = SQLERRORTEXT; DELETE FROM Database.CUSTOMER AS C "
            "WHERE C.ID = EVAL('C.ID'); END;"
        ),
        "EVAL:1:1: nothing called C is declared here; declare it first",
        [ADA, CY],
    ),
]


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS, ids=[row[0] for row in CONDITIONS])
def test_condition(sources: Sources, condition: str, expected: list[str]) -> None:
    """A condition is true for the same rows on every database."""
    define(sources, CUSTOMER, *FILLED)
    sent = run(sources, OUT.format(f"SELECT ITEM C.NAME FROM Database.customer AS C WHERE {condition}"))
    assert sent == ["out|<r>" + "".join(f"<x>{name}</x>" for name in expected) + "</r>" if expected else "out|<r/>"]


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS, ids=[row[0] for row in CONDITIONS])
def test_condition_of_changes(sources: Sources, condition: str, expected: list[str]) -> None:
    """UPDATE and DELETE change and take away the rows for which SELECT finds a condition true."""
    define(sources, CUSTOMER, *FILLED)
    run(sources, f"UPDATE Database.customer AS C SET NOTE = C.NOTE, ID = C.ID + 10 WHERE {condition};")
    assert rows(sources, "SELECT name FROM customer WHERE id > 10 ORDER BY id") == [(name,) for name in expected]
    define(sources, "UPDATE customer SET id = id - 10 WHERE id > 10")
    run(sources, f"DELETE FROM Database.customer AS C WHERE {condition};")
    left = [name for name in ("Ada", "Bob", "Cy") if name not in expected]
    assert rows(sources, "SELECT name FROM customer ORDER BY id") == [(name,) for name in left]


PROGRAMS = [*((text, expected, [ADA, BOB, CY]) for text, expected in [*READING, *SPELLED]), *CHANGING]


@pytest.mark.parametrize(("text", "expected", "left"), PROGRAMS, ids=[row[0][:60] for row in PROGRAMS])
def test_program(sources: Sources, text: str, expected: str, left: list[tuple[Any, ...]]) -> None:
    """A program sends the same and leaves the same rows on every database."""
    define(sources, CUSTOMER, *FILLED)
    sent = run(sources, text)
    assert sent == [f"out|<r>{expected}</r>" if expected else "out|<r/>"]
    assert rows(sources, ALL) == left


def test_places_of_names_in_another_case(sources: Sources) -> None:
    """A second field cannot be made by a name that a row has once, in another case."""
    define(sources, CUSTOMER, *FILLED)
    with pytest.raises(BrokerError, match="c has 0 of ID"):
        run(sources, f"{ONE}SET Environment.c.ID[2] = 5;")


MOMENTS = (
    "CREATE TABLE m (id INTEGER, d DATE, t TIME, s TIMESTAMP)",
    "INSERT INTO m VALUES (1, '2020-01-31', '23:59:59', '2020-02-28 23:00:00')",
)
# A condition on moments, and whether it is true.
SHIFTED: list[tuple[str, int]] = [
    ("M.S + INTERVAL '2' HOUR > TIMESTAMP '2020-02-29 00:59:59'", 1),
    ("M.S + INTERVAL '2' HOUR = TIMESTAMP '2020-02-29 01:00:00'", 1),
    ("M.S - INTERVAL '1-02' YEAR TO MONTH < TIMESTAMP '2018-12-28 23:00:00.5'", 1),
    ("M.D + INTERVAL '1' MONTH = DATE '2020-02-29'", 1),
    ("M.D - INTERVAL '31' DAY >= DATE '2020-01-01'", 0),
    ("M.T - INTERVAL '1' SECOND = TIME '23:59:58'", 1),
    ("M.T + INTERVAL '1' SECOND = TIME '00:00:00'", 1),
]


@pytest.mark.parametrize(("condition", "expected"), SHIFTED, ids=[row[0] for row in SHIFTED])
def test_moments(sources: Sources, condition: str, expected: int) -> None:
    """Intervals are added to moments of columns, and what comes of it is compared."""
    define(sources, *MOMENTS)
    text = f"SET OutputRoot.XMLNSC.r = CARDINALITY(SELECT M.ID FROM Database.M AS M WHERE {condition});"
    assert run(sources, text) == [f"out|<r>{expected}</r>"]


def test_moments_are_moved(sources: Sources) -> None:
    """UPDATE moves moments by intervals."""
    define(sources, *MOMENTS)
    run(sources, "UPDATE Database.M AS M SET S = M.S + INTERVAL '1:30' HOUR TO MINUTE, T = M.T - INTERVAL '1' HOUR;")
    text = "SET OutputRoot.XMLNSC.r = THE(SELECT M.S, M.T FROM Database.M AS M);"
    assert run(sources, text) == ["out|<r><S>2020-02-29T00:30:00</S><T>22:59:59</T></r>"]


# A program that fails, the SQLSTATE, and a part of what it says.
FAILURES: list[tuple[str, str, str]] = [
    ("INSERT INTO Database.CUSTOMER(ID) VALUES(1);", "D23505", "data source DB"),
    ("INSERT INTO Database.CUSTOMERS(ID) VALUES(1);", "D42S02", "there is no table CUSTOMERS; did you mean customer?"),
    ("INSERT INTO Database.CUSTOMER(IDD) VALUES(1);", "D42S22", "table customer has no column IDD; did you mean id?"),
    ("INSERT INTO Database.nowhere.CUSTOMER(ID) VALUES(1);", "D42S02", "there is no schema nowhere"),
    ("INSERT INTO Database.CUSTOMER VALUES(1);", "D21S01", "1 values are given for 4 columns"),
    ("PASSTHRU('SELECT FROM WHERE');", "D42", "syntax error"),
    ("INSERT INTO Database.CUSTOMER(ID) VALUES('x');", "D22P02", "data source DB"),
    ("INSERT INTO Database.CUSTOMER(ID) VALUES(9223372036854775808);", "D22003", "data source DB"),
    ("INSERT INTO Database.CUSTOMER(ID, AMOUNT) VALUES(9, 'abc');", "D22P02", "abc"),
    ("INSERT INTO Database.CUSTOMER(ID, AMOUNT) VALUES(9, DECIMAL '12345678901');", "D22003", "data source DB"),
    ("INSERT INTO Database.CUSTOMER(ID, AMOUNT) VALUES(9, DATE '2000-01-01');", "D42804", "data source DB"),
    ("DELETE FROM Database.CUSTOMER AS C WHERE C.ID = 'abc';", "D22P02", "abc"),
    ("UPDATE Database.CUSTOMER AS C SET AMOUNT = C.AMOUNT * 10000000000;", "D22", "data source DB"),
    (
        "PASSTHRU('CREATE TABLE L(ID INTEGER REFERENCES CUSTOMER(ID))'); PASSTHRU('INSERT INTO L VALUES(99)');",
        "D23503",
        "",
    ),
]


@pytest.mark.parametrize(("text", "state", "expected"), FAILURES, ids=[row[0] for row in FAILURES])
def test_failure(sources: Sources, text: str, state: str, expected: str) -> None:
    """A statement that fails says where and why, and takes all of its unit with it."""
    define(sources, CUSTOMER, *FILLED)
    with pytest.raises(BrokerError) as caught:
        run(sources, "DELETE FROM Database.CUSTOMER AS C WHERE C.ID = 2; " + text)
    assert str(getattr(caught.value, "sqlstate", "")).startswith(state)
    assert expected in str(caught.value)
    assert rows(sources, ALL) == [ADA, BOB, CY]

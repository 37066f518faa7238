"""Programs as flows of WMQI and its successors have them, on SQLite and PostgreSQL: what they send."""

from __future__ import annotations

import pytest

from engine.databases.sources import Sources
from tests.databases.programs import define, run

TABLES = (
    "CREATE TABLE customer (custid INTEGER PRIMARY KEY, name VARCHAR(40), status CHAR(1), balance DECIMAL(12,2),"
    " born DATE, changed TIMESTAMP)",
    "INSERT INTO customer VALUES (1, 'Smith', 'A', 100.50, '1980-02-29', '2026-01-01 10:00:00')",
    "INSERT INTO customer VALUES (2, 'Jones', 'B', NULL, NULL, NULL)",
    "INSERT INTO customer VALUES (3, 'Smythe', 'A', -5.25, '1999-12-31', '2026-02-01 00:00:00')",
    "CREATE TABLE orders (orderid INTEGER, custid INTEGER, sku VARCHAR(10), qty INTEGER, price DECIMAL(10,4),"
    " placed DATE)",
    "INSERT INTO orders VALUES (10, 1, 'AB', 2, 1.2500, '2026-01-02')",
    "INSERT INTO orders VALUES (11, 1, 'CD', 1, 99.9900, '2026-01-03')",
    "INSERT INTO orders VALUES (12, 3, 'AB', 5, 1.2500, '2026-02-01')",
    "CREATE TABLE audit (id INTEGER, msg VARCHAR(200), at TIMESTAMP)",
)
MESSAGE = b"""<Order><Id>77</Id><Cust>1</Cust><Date>2026-03-01</Date><Lines>
<Line no="1"><Sku>AB</Sku><Qty>3</Qty><Price>1.25</Price></Line>
<Line no="2"><Sku>EF</Sku><Qty>1</Qty><Price>10.00</Price></Line>
<Line no="3"><Sku>GH</Sku><Qty/><Price>0.5</Price></Line></Lines></Order>"""

# A program by what is in it, and what it sends.
PROGRAMS: dict[str, tuple[str, str]] = {
    "the row of a key in the message": (
        """SET OutputRoot.XMLNSC.r = THE(SELECT C.NAME AS Name, C.BALANCE AS Balance FROM Database.CUSTOMER AS C
           WHERE C.CUSTID = CAST(InputRoot.XMLNSC.Order.Cust AS INTEGER));""",
        "<Name>Smith</Name><Balance>100.50</Balance>",
    ),
    "all columns, kept in the Environment": (
        """SET Environment.Variables.C = THE(SELECT C.* FROM Database.CUSTOMER AS C
             WHERE C.CUSTID = InputRoot.XMLNSC.Order.Cust);
           SET OutputRoot.XMLNSC.r.n = Environment.Variables.C.NAME;
           SET OutputRoot.XMLNSC.r.b = Environment.Variables.C.BALANCE;""",
        "<n>Smith</n><b>100.50</b>",
    ),
    "a WHILE over rows": (
        """SET Environment.Variables.Rows[] = SELECT * FROM Database.CUSTOMER AS C WHERE C.STATUS = 'A';
           DECLARE i INTEGER 1;
           WHILE i <= CARDINALITY(Environment.Variables.Rows[]) DO
             SET OutputRoot.XMLNSC.r.n[i] = Environment.Variables.Rows[i].NAME; SET i = i + 1;
           END WHILE;""",
        "<n>Smith</n><n>Smythe</n>",
    ),
    "a PASSTHRU of a join with parameters": (
        """DECLARE rows ROW;
           SET rows.x[] = PASSTHRU('SELECT O.SKU AS SKU, SUM(O.QTY) AS TOTAL FROM ORDERS O JOIN CUSTOMER C
             ON C.CUSTID = O.CUSTID WHERE C.NAME LIKE ? AND O.QTY < ? GROUP BY O.SKU ORDER BY O.SKU'
             TO Database.DB VALUES ('Sm%', 9));
           FOR one AS rows.x[] DO CREATE LASTCHILD OF OutputRoot.XMLNSC.r NAME one.SKU VALUE one.TOTAL; END FOR;""",
        "<AB>7</AB><CD>1</CD>",
    ),
    "INSERT for each line of the message": (
        """DECLARE line REFERENCE TO InputRoot.XMLNSC.Order.Lines.Line;
           WHILE LASTMOVE(line) DO
             INSERT INTO Database.ORDERS (ORDERID, CUSTID, SKU, QTY, PRICE, PLACED)
               VALUES (InputRoot.XMLNSC.Order.Id, InputRoot.XMLNSC.Order.Cust, line.Sku,
                 CAST(COALESCE(NULLIF(TRIM(line.Qty), ''), '0') AS INTEGER), CAST(line.Price AS DECIMAL),
                 CAST(InputRoot.XMLNSC.Order.Date AS DATE FORMAT 'yyyy-MM-dd'));
             MOVE line NEXTSIBLING REPEAT TYPE NAME;
           END WHILE;
           SET OutputRoot.XMLNSC.r.o[] = (SELECT O.SKU, O.QTY, O.PRICE FROM Database.ORDERS AS O
             WHERE O.ORDERID = 77);""",
        "<o><SKU>AB</SKU><QTY>3</QTY><PRICE>1.2500</PRICE></o><o><SKU>EF</SKU><QTY>1</QTY><PRICE>10.0000</PRICE></o>"
        "<o><SKU>GH</SKU><QTY>0</QTY><PRICE>0.5000</PRICE></o>",
    ),
    "names of data source, schema, table and column that are computed": (
        """DECLARE dsn CHARACTER 'DB'; DECLARE tab CHARACTER 'CUSTOMER'; DECLARE col CHARACTER 'NAME';
           DECLARE sch CHARACTER 'main';
           BEGIN
             DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE 'D%' SET sch = 'public';
             SET Environment.probe[] = (SELECT C.NAME FROM Database.{dsn}.{sch}.{tab} AS C);
           END;
           UPDATE Database.{dsn}.{sch}.{tab} AS C SET STATUS = 'Z' WHERE C.CUSTID = 2;
           SET OutputRoot.XMLNSC.r.x[] = (SELECT ITEM C.{col} FROM Database.{dsn}.{sch}.{tab} AS C
             WHERE C.STATUS = 'Z');""",
        "<x>Jones</x>",
    ),
    "a handler that goes on behind a key that is there": (
        """DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE 'D23%' BEGIN
             SET OutputRoot.XMLNSC.r.code = SQLCODE; SET OutputRoot.XMLNSC.r.state = SQLSTATE; END;
           INSERT INTO Database.CUSTOMER (CUSTID, NAME) VALUES (1, 'again');
           SET OutputRoot.XMLNSC.r.name = THE(SELECT ITEM C.NAME FROM Database.CUSTOMER AS C WHERE C.CUSTID = 1);""",
        "<code>-1</code><state>D23505</state><name>Smith</name>",
    ),
    "UPDATE, and INSERT where SQLCODE is 100": (
        """UPDATE Database.CUSTOMER AS C SET BALANCE = C.BALANCE + 1 WHERE C.CUSTID = 99;
           IF SQLCODE = 100 THEN INSERT INTO Database.CUSTOMER(CUSTID, NAME, BALANCE) VALUES (99, 'New', 1.5); END IF;
           SET OutputRoot.XMLNSC.r = THE(SELECT ITEM C.BALANCE FROM Database.CUSTOMER AS C WHERE C.CUSTID = 99);""",
        "1.50",
    ),
    "CASE in a SELECT": (
        """SET OutputRoot.XMLNSC.r.x[] = (SELECT ITEM CASE WHEN C.BALANCE IS NULL THEN 'none' WHEN C.BALANCE < 0
             THEN 'debt' ELSE 'credit' END FROM Database.CUSTOMER AS C);""",
        "<x>credit</x><x>none</x><x>debt</x>",
    ),
    "LIKE, BETWEEN and IN": (
        """SET OutputRoot.XMLNSC.r.x[] = (SELECT ITEM C.NAME FROM Database.CUSTOMER AS C WHERE C.NAME LIKE 'Sm%'
             AND C.BALANCE BETWEEN -10 AND 50 AND C.STATUS IN ('A', 'C'));""",
        "<x>Smythe</x>",
    ),
    "aggregates, and COALESCE of none": (
        """SET OutputRoot.XMLNSC.r.max = SELECT MAX(C.BALANCE) FROM Database.CUSTOMER AS C;
           SET OutputRoot.XMLNSC.r.sum = SELECT SUM(O.QTY) FROM Database.ORDERS AS O WHERE O.CUSTID = 1;
           SET OutputRoot.XMLNSC.r.count = SELECT COUNT(*) FROM Database.ORDERS AS O;
           SET OutputRoot.XMLNSC.r.none = COALESCE((SELECT SUM(O.QTY) FROM Database.ORDERS AS O WHERE O.CUSTID = 5), 0);
           SET OutputRoot.XMLNSC.r.x[] = (SELECT ITEM COALESCE(C.BALANCE, 0) FROM Database.CUSTOMER AS C);""",
        "<max>100.50</max><sum>3</sum><count>3</count><none>0</none><x>100.50</x><x>0</x><x>-5.25</x>",
    ),
    "a join of tables": (
        """SET OutputRoot.XMLNSC.r.x[] = (SELECT C.NAME AS n, O.SKU AS s, O.QTY * O.PRICE AS a
             FROM Database.CUSTOMER AS C, Database.ORDERS AS O
             WHERE O.CUSTID = C.CUSTID AND O.PLACED >= DATE '2026-01-03');""",
        "<x><n>Smith</n><s>CD</s><a>99.9900</a></x><x><n>Smythe</n><s>AB</s><a>6.2500</a></x>",
    ),
    "a SELECT in the columns of another": (
        """SET OutputRoot.XMLNSC.r.c[] = (SELECT C.NAME AS Name, (SELECT ITEM O.SKU FROM Database.ORDERS AS O
             WHERE O.CUSTID = C.CUSTID) AS Orders.Sku[] FROM Database.CUSTOMER AS C WHERE C.STATUS = 'A');""",
        "<c><Name>Smith</Name><Orders><Sku>AB</Sku><Sku>CD</Sku></Orders></c>"
        "<c><Name>Smythe</Name><Orders><Sku>AB</Sku></Orders></c>",
    ),
    "ROW constructors over a row": (
        """DECLARE r ROW;
           SET r.x[] = (SELECT C.NAME, C.BALANCE FROM Database.CUSTOMER AS C WHERE C.CUSTID = 1);
           SET OutputRoot.XMLNSC.r = ROW(r.x[1].NAME AS n, r.x[1].BALANCE * 2 AS d, ROW('a' AS b) AS c);""",
        "<n>Smith</n><d>201.00</d><c><b>a</b></c>",
    ),
    "dates and timestamps": (
        """SET OutputRoot.XMLNSC.r.b = CAST(THE(SELECT ITEM C.BORN FROM Database.CUSTOMER AS C WHERE C.CUSTID = 1)
             AS CHARACTER FORMAT 'dd/MM/yyyy');
           UPDATE Database.CUSTOMER AS C SET CHANGED = TIMESTAMP '2026-05-05 05:05:05.123456',
             BORN = C.BORN + INTERVAL '1' DAY WHERE C.CUSTID = 1;
           SET OutputRoot.XMLNSC.r.x = THE(SELECT C.BORN, C.CHANGED FROM Database.CUSTOMER AS C WHERE C.CUSTID = 1);""",
        "<b>29/02/1980</b><x><BORN>1980-03-01</BORN><CHANGED>2026-05-05T05:05:05.123456</CHANGED></x>",
    ),
    "NULL both ways": (
        """INSERT INTO Database.CUSTOMER(CUSTID, NAME, BALANCE) VALUES (5, InputRoot.XMLNSC.Order.Nothing, NULL);
           SET Environment.x[] = (SELECT C.CUSTID, C.NAME FROM Database.CUSTOMER AS C WHERE C.NAME IS NULL);
           IF Environment.x.NAME IS NULL THEN SET OutputRoot.XMLNSC.r.id = Environment.x.CUSTID; END IF;
           UPDATE Database.CUSTOMER AS C SET NAME = NULL WHERE C.CUSTID = 1;
           SET OutputRoot.XMLNSC.r.n = SELECT COUNT(*) FROM Database.CUSTOMER AS C WHERE C.NAME IS NULL;""",
        "<id>5</id><n>2</n>",
    ),
    "rows and lines of the message": (
        """SET OutputRoot.XMLNSC.r.x[] = (SELECT L.Sku AS s, O.QTY AS was, L.Qty AS now
             FROM InputRoot.XMLNSC.Order.Lines.Line[] AS L, Database.ORDERS AS O
             WHERE O.SKU = L.Sku AND O.CUSTID = 1);""",
        "<x><s>AB</s><was>2</was><now>3</now></x>",
    ),
    "DELETE by another table and by the message": (
        """DELETE FROM Database.ORDERS AS O WHERE EXISTS(SELECT C.CUSTID FROM Database.CUSTOMER AS C
             WHERE C.CUSTID = O.CUSTID AND C.BALANCE > 0)
             AND O.SKU IN (SELECT ITEM L.Sku FROM InputRoot.XMLNSC.Order.Lines.Line[] AS L);
           SET OutputRoot.XMLNSC.r.x[] = (SELECT ITEM O.ORDERID FROM Database.ORDERS AS O);""",
        "<x>11</x><x>12</x>",
    ),
}


@pytest.mark.parametrize(("text", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_moved_program(sources: Sources, text: str, expected: str) -> None:
    """A program sends the same on every database."""
    define(sources, *TABLES)
    assert run(sources, text, body=MESSAGE) == [f"out|<r>{expected}</r>"]

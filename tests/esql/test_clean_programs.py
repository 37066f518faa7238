"""Programs as they stand in the field, in which nothing is wrong: every statement, and what looks odd but is right."""

from __future__ import annotations

import pytest

from esql import syntax
from esql.compile import compile_sources, compile_text
from esql.read import read_file, read_statements
from esql.scope import File, Library
from tests.esql.programs import check
from tests.esql.test_round_trip import nodes

COMPUTE = [
    "SET OutputRoot = InputRoot;",
    # the compute node of IBM's report on costs
    """DECLARE i INTEGER; SET i = 1;
    WHILE i <= CARDINALITY(InputRoot.XML.Parent.Child[]) DO
        SET OutputRoot.XML.Out.Total[i] = InputRoot.XML.Parent.Child[i].Price * 2;
        SET i = i + 1;
    END WHILE;""",
    # the headers, as the toolkit writes it
    """DECLARE I INTEGER 1; DECLARE J INTEGER CARDINALITY(InputRoot.*[]);
    WHILE I < J DO SET OutputRoot.*[I] = InputRoot.*[I]; SET I = I + 1; END WHILE;""",
    """DECLARE i INTEGER; SET I = 1; SET i = I + 1;""",
    """DECLARE r REFERENCE TO InputRoot.XMLNSC.Order.Item[1];
    WHILE LASTMOVE(r) = TRUE DO
        SET Environment.Variables.Total = COALESCE(Environment.Variables.Total, 0) + CAST(r.Price AS DECIMAL(10, 2));
        MOVE r NEXTSIBLING REPEAT TYPE NAME;
    END WHILE;""",
    """DECLARE in, out REFERENCE TO InputRoot.XML.a;
    MOVE in FIRSTCHILD NAME 'b'; MOVE in PARENT; MOVE out TO OutputRoot; MOVE in LASTCHILD TYPE Name NAMESPACE *;
    MOVE out NEXTSIBLING IDENTITY (XML.Element)c; MOVE out PREVIOUSSIBLING;
    IF LASTMOVE(in) AND SAMEFIELD(in, out) THEN RETURN TRUE; END IF;""",
    """DECLARE r REFERENCE TO OutputRoot;
    CREATE LASTCHILD OF OutputRoot AS r DOMAIN('XMLNSC') NAME 'XMLNSC';
    CREATE FIRSTCHILD OF r TYPE XMLNSC.XmlDeclaration NAME 'XmlDeclaration';
    CREATE NEXTSIBLING OF r AS r REPEAT; CREATE PREVIOUSSIBLING OF r NAME 'x' VALUE 'y';
    CREATE FIELD r.a.b IDENTITY (XMLNSC.Attribute)id VALUE 5;
    CREATE LASTCHILD OF r TYPE NameValue NAME 'n' VALUE CURRENT_TIMESTAMP;
    CREATE LASTCHILD OF r FROM InputBody.x;""",
    """CREATE LASTCHILD OF Environment.Variables DOMAIN('XMLNSC')
        PARSE(InputRoot.BLOB.BLOB OPTIONS BITOR(RootBitStream, ValidateNone)
            ENCODING InputProperties.Encoding CCSID 1208 TYPE 'Msg' FORMAT 'XML1');""",
    "CREATE LASTCHILD OF OutputRoot DOMAIN('MRM') PARSE(InputRoot.BLOB.BLOB, 546, 437, 'set', 'type', 'CWF');",
    """DECLARE bits BLOB ASBITSTREAM(InputRoot.XMLNSC OPTIONS FolderBitStream CCSID 1208);
    DECLARE text CHARACTER CAST(bits AS CHARACTER CCSID 1208 ENCODING 546);
    SET OutputRoot.BLOB.BLOB = CAST(text AS BLOB CCSID 437);""",
    "DELETE FIELD OutputRoot.MQRFH2; DELETE FIRSTCHILD OF OutputRoot; DELETE LASTCHILD OF Environment.Variables;",
    """DECLARE r REFERENCE TO Environment.Variables.x;
    DETACH r; ATTACH r TO Environment.Variables AS LASTCHILD; ATTACH r TO r AS NEXTSIBLING;""",
    "PROPAGATE; PROPAGATE TO TERMINAL 'out1' DELETE NONE FINALIZE NONE; PROPAGATE TO TERMINAL 2; RETURN FALSE;",
    "PROPAGATE TO LABEL 'next' || 'one' MESSAGE OutputRoot ENVIRONMENT OutputLocalEnvironment;",
    "DECLARE t CHARACTER 'out' || CAST(1 AS CHARACTER); PROPAGATE TO TERMINAL t; PROPAGATE TO TERMINAL -2;",
    """CASE InputBody.a.kind WHEN 'A' THEN SET OutputRoot.XML.k = 1; WHEN 'B' THEN SET OutputRoot.XML.k = 2;
    ELSE THROW USER EXCEPTION CATALOG 'cat' MESSAGE 2951 VALUES('kind', InputBody.a.kind); END CASE;""",
    "CASE WHEN InputBody.a IS NULL THEN RETURN FALSE; WHEN InputBody.a = 1 THEN RETURN; END CASE;",
    "FOR each AS InputRoot.XMLNSC.Order.Item[] DO SET Environment.x[] = each.y[]; MOVE each PARENT; END FOR;",
    """DECLARE i INTEGER 0;
    outer : LOOP
        SET i = i + 1;
        IF i > 5 THEN LEAVE outer; END IF;
        inner : REPEAT SET i = i * 2; IF i = 3 THEN ITERATE inner; ELSEIF i = 4 THEN ITERATE outer; END IF;
        UNTIL i > 3 END REPEAT inner;
    END LOOP outer;""",
    "X : BEGIN ATOMIC DECLARE a INTEGER 5; IF a = 5 THEN LEAVE X; END IF; SET Environment.a = a; END X;",
    "DECLARE a INTEGER 1; BEGIN DECLARE a CHARACTER 'x'; SET a = a || 'y'; END; SET a = a + 1;",
    "IF TRUE THEN DECLARE x INTEGER 1; SET x = 2; ELSE DECLARE x DATE CURRENT_DATE; SET x = CURRENT_DATE; END IF;",
    "DECLARE line ROW; SET line.a = 1; SET line.b[2] = 2; SET OutputRoot.XMLNSC.Top = line; SET line = ROW(1 AS x);",
    "SET OutputRoot.XMLNSC.a.b[] = LIST{1, 2, InputBody.x}; SET OutputRoot.XMLNSC.a.c[] = InputRoot.XMLNSC.d[];",
    "SET OutputRoot.XMLNSC.a VALUE = NULL; SET OutputRoot.XMLNSC.a TYPE = XMLNSC.Attribute;",
    "SET OutputRoot.XMLNSC.a NAME = 'b'; SET OutputRoot.XMLNS.a NAMESPACE = 'urn:x';",
    """SET OutputRoot.XMLNSC.Data.Output[] = (SELECT I.Title AS Name, I.Price * 2 AS (XMLNSC.Attribute)p, I.*
        FROM InputRoot.XMLNSC.Doc.Item[] AS I WHERE I.Price > 5 AND I.Title LIKE 'A%' ESCAPE '!');""",
    """SET OutputRoot.XMLNSC.Total = (SELECT SUM(CAST(I.Price AS DECIMAL)) FROM InputBody.Doc.Item[] AS I);
    SET OutputRoot.XMLNSC.N = (SELECT COUNT(*) FROM InputBody.Doc.Item[]);
    SET Environment.first = THE(SELECT ITEM I.Price FROM InputBody.Doc.Item[] AS I);""",
    """SET OutputRoot.XML.r[] = (SELECT P.name, T.price FROM InputBody.p[] AS P, P.parts[] AS Q,
        Database.dsn.shop.PRICES AS T WHERE P.id = T.id AND Q.x IN (1, 2));""",
    """SET OutputRoot.XML.r[] = (SELECT PRICES.price FROM Database.PRICES WHERE PRICES.id = 3);
    SET Environment.all[] = (SELECT * FROM Database.T);""",
    """IF FOR ALL InputBody.Doc.Item[] AS I (I.Quantity > 0) AND FOR ANY InputBody.x[] (I.a = 1) THEN
        RETURN TRUE; END IF;""",
    "IF EXISTS(InputBody.a[]) AND NOT SINGULAR(InputBody.b[]) OR CARDINALITY(InputBody.c[]) = 2 THEN RETURN; END IF;",
    """INSERT INTO Database.STOCK(ID, NAME) VALUES (1, InputBody.name);
    INSERT INTO Database.dsn.{'sch' || 'ema'}.STOCK VALUES (InputBody.a);
    UPDATE Database.STOCK AS S SET PRICE = S.PRICE * 2, NAME = 'x' WHERE S.ID = InputBody.id;
    UPDATE Database.STOCK SET PRICE = STOCK.PRICE + 1;
    DELETE FROM Database.STOCK AS S WHERE S.ID = 3;
    DELETE FROM Database.STOCK WHERE STOCK.ID = 3;
    COMMIT; COMMIT Database.dsn; ROLLBACK Database.dsn; ROLLBACK;""",
    "PASSTHRU('DELETE FROM T WHERE A = ?', InputBody.values[]); IF InputBody.a[] IS NULL THEN RETURN; END IF;",
    """PASSTHRU('DELETE FROM T WHERE A = ?', InputBody.a); PASSTHRU 'x' TO Database.dsn VALUES(1, 'b');
    SET Environment.rows[] = PASSTHRU('SELECT * FROM T' TO Database.dsn); SET Environment.r = PASSTHRU('x');""",
    """DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE 'S22%' ESCAPE '!' SET Environment.code = SQLCODE;
    DECLARE EXIT HANDLER FOR SQLSTATE VALUE 'U12345', SQLEXCEPTION, NOT FOUND
    BEGIN SET Environment.text = SQLERRORTEXT || SQLSTATE; LOG EVENT EXCEPTION VALUES(SQLNATIVEERROR); RESIGNAL; END;
    THROW USER EXCEPTION VALUES('U12345'); SET Environment.on = TRUE;""",
    "DECLARE x INTEGER; BEGIN DECLARE y INTEGER; DECLARE EXIT HANDLER FOR SQLWARNING SET x = y; SET x = 1; END;",
    "LOG USER TRACE FULL EXCEPTION SEVERITY 1 CATALOG 'c' MESSAGE 3001 VALUES(NodeName, MessageFlowLabel);",
    "EVAL('SET x = 1;'); SET Environment.v = EVAL('1 + ' || '2'); CALL SLEEP(10);",
    "DECLARE ns NAMESPACE 'urn:a'; SET OutputRoot.XMLNSC.ns:a.ns:b = InputRoot.XMLNSC.*:c.\"urn:x\":d.{ns}:{'e'};",
    "DECLARE alias NAME 'Joe'; SET OutputRoot.XMLNSC.alias = 1; SET OutputRoot.XMLNSC.{alias} = alias;",
    "DECLARE limit CONSTANT INTEGER 10; SET Environment.over = InputBody.n > limit;",
    "SET Environment.id = UUIDASCHAR; SET Environment.id = UUIDASCHAR(UUIDASBLOB); SET Environment.z = LOCAL_TIMEZONE;",
    """SET Environment.(XML.Attribute|XML.Element)a[<] = InputRoot.XML.(XML.attr)*[>2];
    SET Environment.(0x01000000)b = 1;""",
    "SET OutputRoot.JSON.Data.(JSON.Array)items.Item[1] = 'a'; CREATE FIELD OutputRoot.JSON.Data.o TYPE JSON.Object;",
    "SET OutputLocalEnvironment.Destination.RouterList.DestinationData[1].labelName = InputBody.to;",
    """SET OutputDestinationList.Destination.MQ.DestinationData.queueName = InputDestinationList.x;
    SET InputLocalEnvironment.a = 1;""",
    "SET OutputExceptionList = InputExceptionList; SET OutputRoot.Properties = InputProperties;",
    """DECLARE d DATE DATE '2002-10-05'; DECLARE days INTERVAL DAY; SET days = (CURRENT_DATE - d) DAY;
    SET d = d + INTERVAL '1' DAY - INTERVAL '2' MONTH; SET Environment.n = CAST(days AS INTEGER);
    SET Environment.w = EXTRACT(DAYOFWEEK FROM d) + EXTRACT(YEAR FROM CURRENT_TIMESTAMP);
    SET Environment.t = CAST(2002, 10, 5 AS DATE); SET Environment.t = CAST(d, CURRENT_TIME AS TIMESTAMP);
    SET Environment.i = INTERVAL '1' HOUR * 2 + 3 * INTERVAL '1' HOUR / 4;""",
    """DECLARE t TIME; SET t = CURRENT_TIMESTAMP; IF t < CURRENT_GMTTIME OR CURRENT_DATE < CURRENT_TIMESTAMP THEN
    RETURN TRUE; END IF; SET Environment.h = (CURRENT_TIME - t) HOUR TO SECOND;""",
    """DECLARE s CHARACTER CAST(CURRENT_TIMESTAMP AS CHARACTER FORMAT 'yyyyMMdd');
    SET s = SUBSTRING(s FROM 1 FOR 4) || SUBSTRING(s BEFORE '-') || LEFT(s, 2) || TRIM(LEADING '0' FROM s);
    SET s = OVERLAY(s PLACING 'x' FROM 2) || REPLACE(s, 'a') || UPPER(TRIM(s)) || TRANSLATE(s, 'ab', 'c') || SPACE(2);
    IF POSITION('x' IN s FROM 2 REPEAT 1) > 0 AND CONTAINS(s, 'y') AND LENGTH(s) > 1.5 THEN RETURN TRUE; END IF;""",
    "DECLARE d DECIMAL 1.5; SET d = ROUND(d, 2 MODE ROUND_HALF_UP) + MOD(5, 2) - ABS(-1) * 2.5E0 / CEIL(d);",
    "DECLARE b BOOLEAN; SET b = InputBody.a = 1 AND NOT InputBody.c OR b IS NOT TRUE; SET b = 'TRUE'; SET b = UNKNOWN;",
    "DECLARE c CHARACTER 5; DECLARE i INTEGER '5'; SET i = 2.5E0; SET c = CURRENT_DATE; IF c = i THEN RETURN; END IF;",
    "SET Environment.x = CASE InputBody.k WHEN 1 THEN 'a' WHEN '2' THEN 'b' ELSE NULL END || 'c';",
    "SET Environment.x = CAST(InputBody.a AS INTEGER DEFAULT -1) + COALESCE(InputBody.b, 0) + NULLIF(1, 2);",
    "IF InputBody.a BETWEEN SYMMETRIC 1 AND 5 AND 'b' IN (InputBody.c, 'd', InputBody.e[]) THEN RETURN TRUE; END IF;",
    "IF ROW(1 AS a) = ROW(2 AS a) AND LIST{1, 2} <> InputBody.a[] AND 1.5 IS NUM AND 1 < 2.5 THEN RETURN; END IF;",
    """SET Environment.n = FIELDNAME(InputBody.*[1]) || FIELDNAMESPACE(InputBody);
    IF FIELDTYPE(InputBody.a) = Name THEN RETURN; END IF;""",
    "SET Environment.x = BITAND(X'01', X'02'); SET Environment.x = X'01' || CAST(B'00000001' AS BLOB);",
    """CREATE PROCEDURE p(IN a INTEGER, OUT b CHARACTER) BEGIN SET b = a; END;
    DECLARE x CHARACTER; CALL p(1, x); CALL P(2, x);""",
    """DECLARE depth INTEGER 0; CREATE PROCEDURE deeper() BEGIN SET depth = depth + 1;
    CALL deeper(); END; CALL deeper();""",
    """DECLARE flow CHARACTER SQL.MessageFlowLabel; DECLARE NodeName CHARACTER SQL.NodeName; SET NodeName = flow;
    SET OutputRoot.MQMD.Format = MQFMT_RF_HEADER_2; SET OutputRoot.MQMD.Version = MQMD_CURRENT_VERSION;
    SET OutputRoot.MQMD.Report = MQRO_COA + MQRO_PASS_CORREL_ID; SET OutputRoot.MQMD.MsgId = MQMI_NONE;
    DECLARE head REFERENCE TO OutputRoot.MQMD; CREATE NEXTSIBLING OF head AS head DOMAIN('MQRFH2') NAME 'MQRFH2';
    SET head.(MQRFH2.Field)Version = 2; SET head.usr.flow = flow;""",
    """DECLARE abs NAMESPACE 'urn:abs'; SET OutputRoot.XMLNSC.abs:a.(XMLNSC.NamespaceDecl)xmlns:abs = abs;
    SET OutputRoot.XMLNSC.abs:a.(XMLNSC.Attribute)xml:lang = 'en';
    DECLARE n INTEGER CARDINALITY(OutputRoot.XMLNSC.(XMLNSC.Element)*[1].(XMLNSC.NamespaceDecl)*[]);""",
    "IF InputBody.a IS NULL THEN THROW USER EXCEPTION SEVERITY 3 MESSAGE 2372 VALUES('none'); RETURN FALSE; END IF;",
    """IF FIELDTYPE(InputLocalEnvironment.REST.Input.Parameters.max) IS NOT NULL THEN
        DECLARE EXIT HANDLER FOR SQLSTATE LIKE '%' BEGIN SET OutputRoot.JSON.Data.error = 'no number'; RETURN TRUE; END;
        SET Environment.max = CAST(InputLocalEnvironment.REST.Input.Parameters.max AS INTEGER); END IF;
    SET OutputRoot.JSON.Data TYPE = JSON.Array;""",
    """DECLARE slept BOOLEAN; SET slept = SLEEP(1000 * CAST(POWER(2, 3) AS INTEGER));
    DECLARE top REFERENCE TO InputExceptionList.*[1];
    WHILE top.Number IS NOT NULL DO SET Environment.text = Environment.text || COALESCE(top.Insert[1].Text, 'NULL');
    MOVE top LASTCHILD; END WHILE;""",
    """DECLARE cache ROW; CREATE FIRSTCHILD OF cache DOMAIN('XMLNSC') NAME 'XMLNSC';
    SET cache.XMLNSC = InputRoot.XMLNSC;
    DECLARE each REFERENCE TO cache.XMLNSC; MOVE each FIRSTCHILD TYPE XMLNSC.Folder NAMESPACE *;
    IF NOT LASTMOVE(each) THEN RETURN FALSE; END IF; DECLARE space, name CHARACTER;
    SET space = FIELDNAMESPACE(each); SET name = FieldName(each); SET OutputRoot.XMLNSC.{space}:{name} = each;
    DELETE PREVIOUSSIBLING OF each;""",
    """CREATE FUNCTION change(IN r REFERENCE, IN old CHARACTER) BEGIN
        IF (FIELDTYPE(r) = Name OR FIELDTYPE(r) = NameValue) AND FIELDNAMESPACE(r) IN (old) THEN
        SET r NAMESPACE = ''; MOVE r PARENT; CALL change(r, old); END IF; END;""",
    "WHILE TRUE DO IF InputBody.a = 1 THEN RETURN TRUE; END IF; END WHILE;",
    ";",
    "",
]
FILTER = [
    "Body.Order.Total > 100 AND Root.MQMD.Priority = 3",
    "RETURN Root.XML.a = 'x';",
    "IF Body.a IS NULL THEN RETURN UNKNOWN; ELSE SET Environment.seen = TRUE; RETURN LocalEnvironment.b; END IF;",
    "DECLARE n INTEGER; SET n = THE(SELECT ITEM T.N FROM Database.T AS T); RETURN n > 1;",
    "EXISTS(ExceptionList.*[]) OR Properties.Topic LIKE 'a/%'",
]
DATABASE = [
    "INSERT INTO Database.LOG(ID, BODY) VALUES (Root.MQMD.MsgId, Body.a); SET LocalEnvironment.x = 1; PROPAGATE;",
    "UPDATE Database.T SET A = 1 WHERE T.B = DestinationList.c; RETURN TRUE;",
]
FILES = [
    """BROKER SCHEMA com.acme PATH com.shared;
    DECLARE Cache SHARED ROW; DECLARE Files SHARED INTEGER 0; DECLARE limit EXTERNAL INTEGER 5;
    DECLARE ns CONSTANT NAMESPACE 'urn:a';
    CREATE COMPUTE MODULE Invalidate
        CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN SET Cache.valid VALUE = NULL; SET Files = Files + limit; END;
    END MODULE;""",
    """CREATE COMPUTE MODULE M
        DECLARE count INTEGER 0;
        CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
            CALL CopyMessageHeaders(); SET count = twice(IN_(count)); CALL twice(2) INTO count; CALL done();
            RETURN TRUE;
        END;
        CREATE PROCEDURE CopyMessageHeaders() BEGIN SET OutputRoot.MQMD = InputRoot.MQMD; END;
        CREATE FUNCTION IN_(IN n INTEGER) RETURNS INTEGER RETURN n;
        CREATE FUNCTION twice(n INTEGER) RETURNS INTEGER BEGIN
            IF n > 1 THEN RETURN n * 2; ELSE BEGIN RETURN twice(n + 1); END; END IF;
        END;
    END MODULE;
    CREATE PROCEDURE done() BEGIN SET Environment.done = TRUE; SET OutputRoot.x = Root.y; END;""",
    """CREATE FUNCTION parse(IN text CHARACTER) RETURNS CHARACTER LANGUAGE JAVA EXTERNAL NAME "a.B.parse";
    CREATE PROCEDURE stock(IN id INTEGER, OUT amount INTEGER) LANGUAGE DATABASE DYNAMIC RESULT SETS 1
        EXTERNAL NAME "S.P";
    CREATE PROCEDURE net(INOUT a CHARACTER) RETURNS BOOLEAN LANGUAGE .NET EXTERNAL NAME "A.B" ASSEMBLY "x";
    CREATE DATABASE MODULE D CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
        DECLARE n INTEGER; DECLARE c CHARACTER parse('x');
        CALL stock(1, n, Environment.rows[]) IN Database.dsn EXTERNAL SCHEMA 'me'; IF net(c) THEN PROPAGATE; END IF;
    END; END MODULE;""",
    """CREATE FILTER MODULE F CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
        IF Root.XMLNSC.a = 1 THEN RETURN TRUE; ELSE RETURN FALSE; END IF; END; END MODULE;
    CREATE DATABASEEVENT MODULE G CREATE PROCEDURE BuildMessage(IN event REFERENCE) BEGIN
    SET Root.XMLNSC.order[] = SELECT T.id FROM Database.T AS T WHERE T.id = event.Usr.id; RETURN; END; END MODULE;
    CREATE DATABASEEVENT MODULE E CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
        SET LocalEnvironment.x = Root.DataObject.y; RETURN TRUE; END; END MODULE;""",
    """CREATE PROCEDURE fill(IN source REFERENCE, INOUT target REFERENCE) BEGIN
        SET target.a = source.b; MOVE target LASTCHILD; DECLARE f REFERENCE TO source.c; MOVE f NEXTSIBLING; END;
    CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
        DECLARE out REFERENCE TO OutputRoot; DECLARE r ROW;
        CALL fill(InputRoot.XMLNSC.a, out); CALL fill(r, OutputRoot.x); CALL fill(InputRoot, InputRoot.y);
        RETURN TRUE; END; END MODULE;""",
    """CREATE PROCEDURE mark(IN target REFERENCE, IN space NAMESPACE, IN name NAME)
        BEGIN SET target.space:{name} = space; SET target.(SOAP.NamespaceDecl)xmlns:a = space; END;
    CREATE PROCEDURE both_() BEGIN DECLARE ns NAMESPACE 'urn:x'; CALL mark(OutputRoot.XMLNSC, ns, 'b'); END;""",
    """CREATE FUNCTION half(n INTEGER) RETURNS DECIMAL BEGIN
        DECLARE EXIT HANDLER FOR SQLSTATE LIKE 'S22%' BEGIN RETURN 0; END;
        CASE WHEN n = 0 THEN THROW USER EXCEPTION VALUES('none'); ELSE RETURN n / 2.0; END CASE; END;
    CREATE FUNCTION find(t REFERENCE) RETURNS CHARACTER BEGIN
        l: LOOP MOVE t NEXTSIBLING; IF LASTMOVE(t) THEN RETURN t.a; END IF; END LOOP; END;
    CREATE FUNCTION last() RETURNS INTEGER BEGIN
        DECLARE i INTEGER 1; REPEAT SET i = i + 1; RETURN i; UNTIL i > 3 END REPEAT; END;""",
]
CASES = [
    *(("COMPUTE", text) for text in COMPUTE),
    *(("FILTER", text) for text in FILTER),
    *(("DATABASE", text) for text in DATABASE),
    *((None, text) for text in FILES),
]


def read(kind: str | None, text: str) -> syntax.Program:
    return read_file(text, "case.esql") if kind is None else read_statements(text, "case.esql")


@pytest.mark.parametrize(("kind", "text"), CASES)
def test_nothing_is_wrong(kind: str | None, text: str) -> None:
    """A program that runs is not complained about."""
    program = read(kind, text)
    library = Library((File("case.esql", program, text, kind),))
    rendered = [problem.render() for problem in check(program, kind, library)]
    assert not rendered, "\n".join(rendered)


@pytest.mark.parametrize(("kind", "text"), CASES)
def test_it_is_compiled(kind: str | None, text: str) -> None:
    """What nothing is wrong with becomes Python, each part of it."""
    if kind is None:
        compile_sources([("case.esql", text)])
    else:
        compile_text(text, kind, "case.esql")


def test_every_statement_is_there() -> None:
    """The table has every kind of statement and of expression."""
    found = {type(node) for kind, text in CASES for node in nodes(read(kind, text))}
    kinds = {kind for kind in vars(syntax).values() if isinstance(kind, type) and issubclass(kind, syntax.Node)}
    assert not kinds - found - {syntax.Node, syntax.Comment}


def test_files_see_each_other() -> None:
    """Routines of the same schema, of a schema in PATH, or named with their schema are found across files."""
    texts = {
        "a.esql": """BROKER SCHEMA a PATH b; CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
            CALL beside(); CALL inPath(1); CALL c.d.far(Counter); SET Counter = Counter + 1; RETURN TRUE; END;
            END MODULE;""",
        "a2.esql": "BROKER SCHEMA a; DECLARE Counter SHARED INTEGER 0; CREATE PROCEDURE beside() BEGIN END;",
        "b.esql": "BROKER SCHEMA b; CREATE PROCEDURE inPath(IN a INTEGER) BEGIN END;",
        "c.esql": "BROKER SCHEMA c.d; CREATE PROCEDURE far(INOUT a INTEGER) BEGIN END;",
    }
    library = Library(tuple(File(name, read_file(text, name), text) for name, text in texts.items()))
    rendered = [problem.render() for file in library.files for problem in check(file.program, None, library)]
    assert not rendered, "\n".join(rendered)

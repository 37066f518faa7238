"""Every form of statement reads as the tree it means."""

import pytest

from esql import syntax as s
from esql.format import format_program
from esql.read import read_file, read_statements


def path(root, *names):
    return s.Path(root, tuple(s.Step(s.Name(name)) for name in names))


def steps(*names):
    return s.RelativePath(tuple(s.Step(s.Name(name)) for name in names))


A, B, C, D, R = (path(name) for name in "abcdr")
X = s.String("x")
ONE, TWO = s.Integer(1), s.Integer(2)
DB = path("Database", "t")
SET = s.SetStatement(A, ONE)

STATEMENTS = [
    (";", s.Empty()),
    ("ATTACH a TO b.c AS LASTCHILD;", s.Attach(A, path("b", "c"), "LASTCHILD")),
    ("BEGIN END;", s.Compound(())),
    ("BEGIN SET a = 1; END;", s.Compound((SET,))),
    ("l: BEGIN ATOMIC END l;", s.Compound((), atomic=True, label="l")),
    ("l : begin not atomic END;", s.Compound((), atomic=False, label="l")),
    ("CALL f();", s.CallStatement(("f",), ())),
    (
        "CALL s.f(a, 1) IN Database.t INTO b.c;",
        s.CallStatement(("s", "f"), (A, ONE), DB, target=path("b", "c")),
    ),
    ("CALL f() EXTERNAL SCHEMA 'x';", s.CallStatement(("f",), (), schema=X)),
    ("CASE a WHEN 1 THEN END CASE;", s.CaseStatement(A, (s.CaseStatementBranch(ONE, ()),))),
    (
        "CASE WHEN a THEN SET a = 1; ELSE SET a = 1; END CASE;",
        s.CaseStatement(None, (s.CaseStatementBranch(A, (SET,)),), (SET,)),
    ),
    ("COMMIT;", s.Commit()),
    ("COMMIT Database.t;", s.Commit(DB)),
    ("ROLLBACK Database.t;", s.Rollback(DB)),
    ("CREATE FIELD a.b;", s.CreateField(path("a", "b"))),
    ("CREATE FIELD a AS r DOMAIN 'x';", s.CreateField(A, alias="r", domain=X)),
    ("CREATE LASTCHILD OF a DOMAIN('x') NAME 'x';", s.CreateField(A, "LASTCHILD", domain=X, name=X)),
    (
        "CREATE FIRSTCHILD OF a VALUE 1 NAME 'x' NAMESPACE b TYPE c;",
        s.CreateField(A, "FIRSTCHILD", type=C, namespace=B, name=X, value=ONE),
    ),
    ("CREATE NEXTSIBLING OF r AS r REPEAT;", s.CreateField(R, "NEXTSIBLING", alias="r", repeat=True)),
    ("CREATE PREVIOUSSIBLING OF r REPEAT VALUE 1;", s.CreateField(R, "PREVIOUSSIBLING", repeat=True, value=ONE)),
    ("CREATE FIELD a NAMESPACE * NAME 'x';", s.CreateField(A, namespace=s.AnyName(), name=X)),
    ("CREATE FIELD a IDENTITY b.c VALUE 1;", s.CreateField(A, identity=steps("b", "c"), value=ONE)),
    ("CREATE LASTCHILD OF a FROM b.c;", s.CreateField(A, "LASTCHILD", source=path("b", "c"))),
    (
        "CREATE LASTCHILD OF a DOMAIN('x') PARSE(b, 1, 2,,,, c);",
        s.CreateField(
            A,
            "LASTCHILD",
            domain=X,
            parse=s.Parse(B, s.BitstreamClauses(options=C, encoding=ONE, ccsid=TWO)),
        ),
    ),
    (
        "CREATE LASTCHILD OF a PARSE(b OPTIONS c CCSID 2) NAME 'x';",
        s.CreateField(A, "LASTCHILD", name=X, parse=s.Parse(B, s.BitstreamClauses(options=C, ccsid=TWO))),
    ),
    ("DECLARE a INT;", s.Declare(("a",), s.DataType("INTEGER"))),
    ("DECLARE a, b CHAR 'x';", s.Declare(("a", "b"), s.DataType("CHARACTER"), X)),
    ("DECLARE a CONSTANT INTEGER 1;", s.Declare(("a",), s.DataType("INTEGER"), ONE, constant=True)),
    ("DECLARE a SHARED ROW;", s.Declare(("a",), s.DataType("ROW"), lifetime="SHARED")),
    (
        "DECLARE a EXTERNAL CONSTANT BOOLEAN TRUE;",
        s.Declare(("a",), s.DataType("BOOLEAN"), s.Truth(True), "EXTERNAL", constant=True),
    ),
    ("DECLARE r REFERENCE TO a.b;", s.Declare(("r",), s.DataType("REFERENCE"), path("a", "b"))),
    ("DECLARE a NAMESPACE 'x';", s.Declare(("a",), s.DataType("NAMESPACE"), X)),
    ("DECLARE a NAME 'x';", s.Declare(("a",), s.DataType("NAME"), X)),
    (
        "DECLARE a INTERVAL DAY TO HOUR;",
        s.Declare(("a",), s.DataType("INTERVAL", qualifier=s.Qualifier("DAY", "HOUR"))),
    ),
    ("DECLARE date DATE DATE 'x';", s.Declare(("date",), s.DataType("DATE"), s.TypedLiteral("DATE", "x"))),
    (
        "DECLARE EXIT HANDLER FOR SQLSTATE LIKE 'x' ESCAPE 'y', SQLSTATE VALUE 'z' SET a = 1;",
        s.DeclareHandler("EXIT", (s.HandlerCondition("LIKE", "x", "y"), s.HandlerCondition("SQLSTATE", "z")), SET),
    ),
    (
        "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION, SQLWARNING, NOT FOUND BEGIN RESIGNAL; END;",
        s.DeclareHandler(
            "CONTINUE",
            tuple(map(s.HandlerCondition, ("SQLEXCEPTION", "SQLWARNING", "FOUND"))),
            s.Compound((s.Resignal(),)),
        ),
    ),
    ("DECLARE exit INTEGER;", s.Declare(("exit",), s.DataType("INTEGER"))),
    ("DELETE FIELD a.b;", s.DeleteField(path("a", "b"))),
    ("DELETE LASTCHILD OF a;", s.DeleteField(A, "LASTCHILD")),
    ("DELETE FROM Database.t;", s.DeleteFrom(DB)),
    ("DELETE FROM Database.t AS b WHERE c;", s.DeleteFrom(DB, "b", C)),
    ("DETACH a;", s.Detach(A)),
    ("EVAL('x');", s.Eval(X)),
    ("FOR c AS a[] DO SET a = 1; END FOR;", s.For("c", s.Path("a", index=s.IndexAll()), (SET,))),
    ("l: FOR c AS a DO END FOR l;", s.For("c", A, (), "l")),
    ("IF a THEN END IF;", s.If((s.IfBranch(A, ()),))),
    (
        "IF a THEN SET a = 1; ELSEIF b THEN ELSE END IF;",
        s.If((s.IfBranch(A, (SET,)), s.IfBranch(B, ())), ()),
    ),
    ("INSERT INTO Database.t VALUES (1, 'x');", s.Insert(DB, (), (ONE, X))),
    ('INSERT INTO Database.t (a, "from") VALUES (1, 2);', s.Insert(DB, ("a", "from"), (ONE, TWO))),
    ("ITERATE l;", s.Iterate("l")),
    ("LEAVE l;", s.Leave("l")),
    ("LOG EVENT MESSAGE 1;", s.Log(False, message=ONE)),
    (
        "LOG USER TRACE EXCEPTION FULL VALUES(a) CATALOG 'x' SEVERITY 2 MESSAGE 1;",
        s.Log(True, True, True, TWO, X, ONE, (A,)),
    ),
    ("LOOP END LOOP;", s.Loop(())),
    ("l: LOOP LEAVE l; END LOOP l;", s.Loop((s.Leave("l"),), "l")),
    ("MOVE r TO a.b;", s.MoveTo(R, path("a", "b"))),
    ("MOVE r PARENT;", s.MoveBy(R, "PARENT")),
    ("MOVE r NEXTSIBLING;", s.MoveBy(R, "NEXTSIBLING")),
    (
        "MOVE r FIRSTCHILD NAME 'x' TYPE a NAMESPACE *;",
        s.MoveBy(R, "FIRSTCHILD", A, s.AnyName(), X),
    ),
    ("MOVE r LASTCHILD NAMESPACE b NAME 'x';", s.MoveBy(R, "LASTCHILD", namespace=B, name=X)),
    ("MOVE r LASTCHILD IDENTITY b;", s.MoveBy(R, "LASTCHILD", identity=steps("b"))),
    ("MOVE r NEXTSIBLING REPEAT TYPE NAME;", s.MoveRepeat(R, "NEXTSIBLING", True, True)),
    ("MOVE r PREVIOUSSIBLING REPEAT NAME;", s.MoveRepeat(R, "PREVIOUSSIBLING", same_name=True)),
    ("PASSTHRU('x', a, 1);", s.Passthru(X, (A, ONE))),
    ("PASSTHRU 'x';", s.Passthru(X)),
    ("PASSTHRU ('x') VALUES(a);", s.Passthru(X, (A,))),
    ("PASSTHRU 'x' TO Database.t VALUES(a);", s.Passthru(X, (A,), DB)),
    ("PASSTHRU a || 'x' TO Database.t;", s.Passthru(s.Operation("||", (A, X)), (), DB)),
    ("PROPAGATE;", s.Propagate()),
    ("PROPAGATE TO TERMINAL 'x';", s.Propagate(X)),
    ("PROPAGATE TO LABEL a || b DELETE NONE;", s.Propagate(label=s.Operation("||", (A, B)), delete="NONE")),
    (
        "PROPAGATE FINALIZE DEFAULT EXCEPTION a MESSAGE b ENVIRONMENT c TO TERMINAL 1 DELETE DEFAULT;",
        s.Propagate(ONE, None, C, B, A, "DEFAULT", "DEFAULT"),
    ),
    ("REPEAT SET a = 1; UNTIL b END REPEAT;", s.Repeat((SET,), B)),
    ("l: REPEAT UNTIL b END REPEAT l;", s.Repeat((), B, "l")),
    ("RESIGNAL;", s.Resignal()),
    ("RETURN;", s.Return()),
    ("RETURN a = 1;", s.Return(s.Comparison("=", A, ONE))),
    ("SET a = 1;", SET),
    ("SET a VALUE = 1;", s.SetStatement(A, ONE, "VALUE")),
    ("SET a TYPE = 1;", s.SetStatement(A, ONE, "TYPE")),
    ("SET a NAME = 'x';", s.SetStatement(A, X, "NAME")),
    ("SET a NAMESPACE = 'x';", s.SetStatement(A, X, "NAMESPACE")),
    (
        "SET a.(XML.XmlDecl) = 'x';",
        s.SetStatement(s.Path("a", (s.Step(types=(path("XML", "XmlDecl"),)),)), X),
    ),
    (
        "SET a.(XML.Attribute)value = 'x';",
        s.SetStatement(s.Path("a", (s.Step(s.Name("value"), types=(path("XML", "Attribute"),)),)), X),
    ),
    (
        "SET a[] = SELECT ITEM b FROM c[] AS d;",
        s.SetStatement(
            s.Path("a", index=s.IndexAll()), s.Select((), B, (s.FromItem(s.Path("c", index=s.IndexAll()), "d"),))
        ),
    ),
    ("THROW EXCEPTION;", s.Throw()),
    ("THROW USER EXCEPTION VALUES('x') MESSAGE 1;", s.Throw(message=ONE, values=(X,))),
    ("THROW USER EXCEPTION SEVERITY 1 CATALOG 'x' VALUES();", s.Throw(ONE, X, None, ())),
    (
        "UPDATE Database.t AS b SET a = 1, c = 'x' WHERE d;",
        s.Update(DB, (s.ColumnChange(A, ONE), s.ColumnChange(C, X)), "b", D),
    ),
    ("WHILE a DO SET a = 1; END WHILE;", s.While(A, (SET,))),
    ("l: WHILE a DO ITERATE l; END WHILE l;", s.While(A, (s.Iterate("l"),), "l")),
    ("/*!{ SET a = 1; }!*/", SET),
    ("/**/ SET /***/ a /* * / */ = /*! x */ 1; /*!*/", SET),
    ("/* a */ SET a = 1; /* /* */", SET),
    ("/* /* nested */ SET b = 2; /** so **/ */ SET a = 1;", SET),
    ("/* not /* even */ SET a = 1; -- and no more", SET),
    ("-- $MQSI x 0 1\nSET a = 1;", SET),
]


@pytest.mark.parametrize(("text", "tree"), STATEMENTS, ids=[text for text, _ in STATEMENTS])
def test_text_reads_as_statement(text, tree):
    """A text reads as the one statement beside it, in capitals and in small letters, and so does its print."""
    program = read_statements(text, "table")
    assert (tree,) == program.statements
    assert program == read_statements(format_program(program), "printed")


@pytest.mark.parametrize("text", [text for text, _ in STATEMENTS if "'" not in text and "$" not in text])
def test_keywords_are_of_any_case(text):
    """Keywords in small letters say the same; only names keep their case."""
    program = read_statements(text.lower(), "table")
    assert format_program(program).lower() == format_program(read_statements(text, "table")).lower()


def test_filter_text_may_be_a_condition():
    """The text of a Filter node may be one expression, with or without a semicolon: it is returned."""
    expected = (s.Return(s.Comparison("=", path("Body", "x"), ONE)),)
    assert expected == read_statements("Body.x = 1", "Filter").statements
    assert expected == read_statements("Body.x = 1;", "Filter").statements
    assert expected == read_statements("RETURN Body.x = 1;", "Filter").statements


def test_filter_condition_may_start_with_a_word_of_statements():
    """CASE, FOR and PASSTHRU start expressions too."""
    assert isinstance(read_statements("CASE WHEN a THEN TRUE END", "Filter").statements[0].result, s.Case)
    assert isinstance(read_statements("FOR ALL a[] (b)", "Filter").statements[0].result, s.Quantified)
    assert isinstance(read_statements("CASE WHEN a THEN END CASE;", "Filter").statements[0], s.CaseStatement)


def test_empty_text_has_no_statements():
    """Nothing, and a comment alone, are programs."""
    assert read_statements("", "Compute").statements == ()
    assert read_file("-- nothing", "x.esql").statements == ()


FUNCTION = s.Routine("FUNCTION", "f", (), s.Return(ONE))
FILES = [
    ("BROKER SCHEMA a.b", s.Program((), s.Prologue(("a", "b")))),
    ("BROKER SCHEMA a.b; PATH c.d, e;", s.Program((), s.Prologue(("a", "b"), (("c", "d"), ("e",))))),
    (
        "BROKER SCHEMA a PATH c DECLARE b INT;",
        s.Program((s.Declare(("b",), s.DataType("INTEGER")),), s.Prologue(("a",), (("c",),))),
    ),
    ("PATH c;", s.Program((), s.Prologue(None, (("c",),)))),
    ("CREATE FUNCTION f() RETURN 1;", s.Program((FUNCTION,))),
    (
        "CREATE FUNCTION f(a CHAR, IN b INT, OUT c REFERENCE TO, INOUT d CONSTANT ROW NOT NULL, IN CHAR NULLABLE) "
        "RETURNS DEC NOT NULL LANGUAGE ESQL BEGIN END;",
        s.Program(
            (
                s.Routine(
                    "FUNCTION",
                    "f",
                    (
                        s.Parameter("a", s.DataType("CHARACTER")),
                        s.Parameter("b", s.DataType("INTEGER"), "IN"),
                        s.Parameter("c", s.DataType("REFERENCE"), "OUT"),
                        s.Parameter("d", s.DataType("ROW"), "INOUT", True, False),
                        s.Parameter("IN", s.DataType("CHARACTER"), nullable=True),
                    ),
                    s.Compound(()),
                    s.Returns(s.DataType("DECIMAL"), False),
                    "ESQL",
                ),
            )
        ),
    ),
    (
        "CREATE PROCEDURE p(n NAMESPACE, m NAME) EXTERNAL NAME p1;",
        s.Program(
            (
                s.Routine(
                    "PROCEDURE",
                    "p",
                    (s.Parameter("n", s.DataType("NAMESPACE")), s.Parameter("m", s.DataType("NAME"))),
                    s.External("p1"),
                ),
            )
        ),
    ),
    (
        "CREATE PROCEDURE p() RETURNS CHAR LANGUAGE JAVA EXTERNAL NAME \"c.M.m\" CLASSLOADER 'l';",
        s.Program(
            (
                s.Routine(
                    "PROCEDURE",
                    "p",
                    (),
                    s.External("c.M.m", (("CLASSLOADER", "l"),)),
                    s.Returns(s.DataType("CHARACTER")),
                    "JAVA",
                ),
            )
        ),
    ),
    (
        "CREATE PROCEDURE p() LANGUAGE DATABASE DYNAMIC RESULT SETS 2 EXTERNAL NAME 's.p';",
        s.Program((s.Routine("PROCEDURE", "p", (), s.External("s.p"), None, "DATABASE", 2),)),
    ),
    (
        'CREATE FUNCTION p() LANGUAGE .NET EXTERNAL NAME "C.m" ASSEMBLY "a" VERSION "1" CULTURE "n" PUBLICKEYTOKEN "k" '
        'APPDOMAIN "d";',
        s.Program(
            (
                s.Routine(
                    "FUNCTION",
                    "p",
                    (),
                    s.External(
                        "C.m",
                        (
                            ("ASSEMBLY", "a"),
                            ("VERSION", "1"),
                            ("CULTURE", "n"),
                            ("PUBLICKEYTOKEN", "k"),
                            ("APPDOMAIN", "d"),
                        ),
                    ),
                    None,
                    ".NET",
                ),
            )
        ),
    ),
    *[
        (
            f"CREATE {kind} MODULE m CREATE FUNCTION f() RETURN 1; END MODULE;",
            s.Program((s.Module(kind, "m", (FUNCTION,)),)),
        )
        for kind in ("COMPUTE", "FILTER", "DATABASE", "DATABASEEVENT")
    ],
]


@pytest.mark.parametrize(("text", "tree"), FILES, ids=[text[:60] for text, _ in FILES])
def test_text_reads_as_file(text, tree):
    """A text reads as the file beside it, and so does its print."""
    assert tree == read_file(text, "table")
    assert tree == read_file(format_program(tree), "printed")


def test_every_kind_of_statement_is_in_the_table():
    """The tables have each kind of statement."""
    kinds = {type(tree) for _, tree in STATEMENTS} | {s.Routine, s.Module}
    assert set(s.Statement.__args__) == kinds

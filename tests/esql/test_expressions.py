"""Every form of expression reads as the tree it means."""

import pytest

from esql import syntax as s
from esql.format import format_expression
from esql.read import read_expression


def path(root, *names):
    return s.Path(root, tuple(s.Step(s.Name(name)) for name in names))


def number(value):
    return s.Integer(value)


A, B, C, D = (path(name) for name in "abcd")
DAY = s.Qualifier("DAY")

LITERALS = [
    ("42", s.Integer(42)),
    ("0x2A", s.Integer(42, hexadecimal=True)),
    ("0Xff", s.Integer(255, hexadecimal=True)),
    ("99999999999999999999", s.Integer(99999999999999999999)),
    ("1.50", s.Number("1.50")),
    (".5", s.Number(".5")),
    ("5.", s.Number("5.")),
    ("6.6e-34", s.Number("6.6E-34")),
    ("1E5", s.Number("1E5")),
    ("'O''Brien'", s.String("O'Brien")),
    ("''", s.String("")),
    ("'two\nlines'", s.String("two\nlines")),
    ("'-- no comment'", s.String("-- no comment")),
    ("X'0a0B'", s.HexString("0A0B")),
    ("x''", s.HexString("")),
    ("B'101'", s.BitString("101")),
    ("b'0'", s.BitString("0")),
    ("TRUE", s.Truth(True)),
    ("False", s.Truth(False)),
    ("unknown", s.Truth(None)),
    ("null", s.Null()),
    ("DATE '2000-02-29'", s.TypedLiteral("DATE", "2000-02-29")),
    ("TIME '12:40:00.5'", s.TypedLiteral("TIME", "12:40:00.5")),
    ("timestamp '2000-02-29 12:40:00'", s.TypedLiteral("TIMESTAMP", "2000-02-29 12:40:00")),
    ("GMTTIME '12:40:00'", s.TypedLiteral("GMTTIME", "12:40:00")),
    ("GMTTIMESTAMP '2000-02-29 12:40:00'", s.TypedLiteral("GMTTIMESTAMP", "2000-02-29 12:40:00")),
    ("DECIMAL '-INF'", s.TypedLiteral("DECIMAL", "-INF")),
    ("DEC '1.5'", s.TypedLiteral("DECIMAL", "1.5")),
    ("INTERVAL '30' DAY", s.IntervalLiteral("30", DAY)),
    ("INTERVAL '2-06' year to month", s.IntervalLiteral("2-06", s.Qualifier("YEAR", "MONTH"))),
    ("INTERVAL '1 02:30:15.333' DAY TO SECOND", s.IntervalLiteral("1 02:30:15.333", s.Qualifier("DAY", "SECOND"))),
]

OPERATORS = [
    ("a + b - c", s.Operation("-", (s.Operation("+", (A, B)), C))),
    ("a - b - c", s.Operation("-", (A, B, C))),
    ("(a - b) - c", s.Operation("-", (s.Operation("-", (A, B)), C))),
    ("a - (b - c)", s.Operation("-", (A, s.Operation("-", (B, C))))),
    ("a + b || c", s.Operation("+", (A, s.Operation("||", (B, C))))),
    ("a || b * c", s.Operation("||", (A, s.Operation("*", (B, C))))),
    ("a * b / c", s.Operation("/", (s.Operation("*", (A, B)), C))),
    ("-a * b", s.Operation("*", (s.Unary("-", A), B))),
    ("NOT a AND b", s.Operation("AND", (s.Unary("NOT", A), B))),
    ("NOT a = b", s.Unary("NOT", s.Comparison("=", A, B))),
    ("(NOT a) = b", s.Comparison("=", s.Unary("NOT", A), B)),
    ("NOT a + b = c", s.Unary("NOT", s.Comparison("=", s.Operation("+", (A, B)), C))),
    ("NOT NOT a IS NULL OR b", s.Operation("OR", (s.Unary("NOT", s.Unary("NOT", s.Is(A, "NULL"))), B))),
    ("a AND NOT b = c", s.Operation("AND", (A, s.Unary("NOT", s.Comparison("=", B, C))))),
    ("NOT TRUE IS NULL", s.Is(s.Unary("NOT", s.Truth(value=True)), "NULL")),
    ("NOT (a = b) IS NULL", s.Is(s.Unary("NOT", s.Comparison("=", A, B)), "NULL")),
    ("not (a = b)", s.Unary("NOT", s.Comparison("=", A, B))),
    ("a OR b AND c", s.Operation("OR", (A, s.Operation("AND", (B, C))))),
    ("a = b + 1 AND c", s.Operation("AND", (s.Comparison("=", A, s.Operation("+", (B, number(1)))), C))),
    ("a = b = c", s.Comparison("=", s.Comparison("=", A, B), C)),
    ("1--2", number(1)),
    ("1 - -2", s.Operation("-", (number(1), s.Unary("-", number(2))))),
    ("a /* x */ + b -- y", s.Operation("+", (A, B))),
    *[(f"a {sign} b", s.Comparison(sign, A, B)) for sign in ("=", "<>", "<", "<=", ">", ">=")],
    ("a IS NULL", s.Is(A, "NULL")),
    ("a is not true", s.Is(A, "TRUE", negated=True)),
    ("a IS FALSE", s.Is(A, "FALSE")),
    ("a IS UNKNOWN", s.Is(A, "UNKNOWN")),
    ("a IS INF", s.Is(A, "INF")),
    ("a IS +INFINITY", s.Is(A, "+INF")),
    ("a IS NOT -INF", s.Is(A, "-INF", negated=True)),
    ("a IS NAN", s.Is(A, "NAN")),
    ("a IS NUMBER", s.Is(A, "NUM")),
    ("a BETWEEN 1 AND 2 AND b", s.Operation("AND", (s.Between(A, number(1), number(2)), B))),
    ("a BETWEEN ASYMMETRIC b AND c", s.Between(A, B, C)),
    ("a NOT BETWEEN SYMMETRIC b AND c", s.Between(A, B, C, symmetric=True, negated=True)),
    ("a IN (b, 1)", s.In(A, (B, number(1)))),
    ("a NOT IN (b[])", s.In(A, (s.Path("b", index=s.IndexAll()),), negated=True)),
    ("a LIKE 'x%'", s.Like(A, s.String("x%"))),
    ("a NOT LIKE b ESCAPE '!'", s.Like(A, B, s.String("!"), negated=True)),
    ("a NOT LIKE('MQ%')", s.Like(A, s.String("MQ%"), negated=True)),
    ("(a - b) DAY", s.InUnits(s.Operation("-", (A, B)), DAY)),
    (
        "(a - b) hour TO second > c",
        s.Comparison(">", s.InUnits(s.Operation("-", (A, B)), s.Qualifier("HOUR", "SECOND")), C),
    ),
]

FUNCTIONS = [
    ("f()", s.Call(("f",), ())),
    ("com.x.f(a, b[], 1)", s.Call(("com", "x", "f"), (A, s.Path("b", index=s.IndexAll()), number(1)))),
    ("LENGTH(a)", s.Call(("LENGTH",), (A,))),
    ("LOG(a)", s.Call(("LOG",), (A,))),
    ("CURRENT_TIMESTAMP", path("CURRENT_TIMESTAMP")),
    ("CASE a WHEN 1 THEN b END", s.Case(A, (s.CaseBranch(number(1), B),))),
    ("CASE WHEN a THEN b WHEN c THEN d ELSE 1 END", s.Case(None, (s.CaseBranch(A, B), s.CaseBranch(C, D)), number(1))),
    ("CAST(a AS INT)", s.Cast((A,), s.DataType("INTEGER"))),
    ("CAST(a, b, c AS DATE)", s.Cast((A, B, C), s.DataType("DATE"))),
    ("CAST(a AS DEC(10, 2))", s.Cast((A,), s.DataType("DECIMAL", 10, 2))),
    ("CAST(a AS DECIMAL(10))", s.Cast((A,), s.DataType("DECIMAL", 10))),
    ("CAST(a AS INTERVAL DAY)", s.Cast((A,), s.DataType("INTERVAL", qualifier=DAY))),
    ("CAST(a AS CHAR CCSID 1208 ENCODING b)", s.Cast((A,), s.DataType("CHARACTER"), number(1208), B)),
    ("CAST(a AS CHAR DEFAULT c FORMAT b)", s.Cast((A,), s.DataType("CHARACTER"), format=B, default=C)),
    ("EXTRACT(dayofweek FROM a)", s.Extract("DAYOFWEEK", A)),
    ("POSITION(a IN b)", s.PositionCall(A, B)),
    ("POSITION(a IN (b) FROM 2 REPEAT -1)", s.PositionCall(A, B, number(2), s.Unary("-", number(1)))),
    ("SUBSTRING(a FROM 2 FOR 3)", s.Substring(A, "FROM", number(2), number(3))),
    ("SUBSTRING(a BEFORE ',')", s.Substring(A, "BEFORE", s.String(","))),
    ("substring(a after b for c)", s.Substring(A, "AFTER", B, C)),
    ("OVERLAY(a PLACING b FROM 1 FOR 2)", s.Overlay(A, B, number(1), number(2))),
    ("OVERLAY(a PLACING b FROM 1)", s.Overlay(A, B, number(1))),
    ("TRIM(a)", s.Trim(A)),
    ("TRIM(b FROM a)", s.Trim(A, None, B)),
    ("TRIM(LEADING FROM a)", s.Trim(A, "LEADING")),
    ("TRIM(TRAILING '0' FROM a)", s.Trim(A, "TRAILING", s.String("0"))),
    ("TRIM(BOTH FROM a)", s.Trim(A, "BOTH")),
    ("LTRIM(a)", s.Call(("LTRIM",), (A,))),
    ("ROUND(a, 2)", s.Round(A, number(2))),
    ("ROUND(a, 2 MODE ROUND_HALF_UP)", s.Round(A, number(2), "ROUND_HALF_UP")),
    ("ASBITSTREAM(a)", s.AsBitstream(A, s.BitstreamClauses())),
    (
        "ASBITSTREAM(a CCSID 1208 OPTIONS FolderBitStream)",
        s.AsBitstream(A, s.BitstreamClauses(options=path("FolderBitStream"), ccsid=number(1208))),
    ),
    (
        "ASBITSTREAM(a SET 's' TYPE 't' FORMAT 'f' ENCODING 546)",
        s.AsBitstream(A, s.BitstreamClauses(None, number(546), None, s.String("s"), s.String("t"), s.String("f"))),
    ),
    ("ASBITSTREAM(a, 546, 1208)", s.AsBitstream(A, s.BitstreamClauses(encoding=number(546), ccsid=number(1208)))),
    ("ASBITSTREAM(a,,1208,,,,b)", s.AsBitstream(A, s.BitstreamClauses(options=B, ccsid=number(1208)))),
    ("BITSTREAM(a)", s.Call(("BITSTREAM",), (A,))),
    ("PASSTHRU('x', a, b)", s.PassthruCall(s.String("x"), (A, B))),
    ("PASSTHRU('x')", s.PassthruCall(s.String("x"))),
    ("PASSTHRU('x' TO Database.d VALUES(a))", s.PassthruCall(s.String("x"), (A,), path("Database", "d"))),
    ("EVAL('1 + 2')", s.Call(("EVAL",), (s.String("1 + 2"),))),
    ("COALESCE(a, NULL)", s.Call(("COALESCE",), (A, s.Null()))),
    ("CARDINALITY(a.b[])", s.Call(("CARDINALITY",), (s.Path("a", (s.Step(s.Name("b"), index=s.IndexAll()),)),))),
    ("UUIDASCHAR", path("UUIDASCHAR")),
]

ROW_OF_A = s.FromItem(s.Path("a", index=s.IndexAll()), "T")
LISTS = [
    ("ROW(a, b AS c)", s.Row((s.Column(A), s.Column(B, s.RelativePath((s.Step(s.Name("c")),)))))),
    (
        "ROW(a AS x.(XML.Attribute)y)",
        s.Row(
            (
                s.Column(
                    A, s.RelativePath((s.Step(s.Name("x")), s.Step(s.Name("y"), types=(path("XML", "Attribute"),))))
                ),
            )
        ),
    ),
    ("LIST{a, 1}", s.ListOf((A, number(1)))),
    ("LIST{}", s.ListOf(())),
    ("SELECT * FROM a[] AS T", s.Select((s.AllColumns(),), None, (ROW_OF_A,))),
    ("SELECT T FROM a[] AS T WHERE b", s.Select((s.Column(path("T")),), None, (ROW_OF_A,), B)),
    ("(SELECT ITEM T.x FROM a[] AS T)", s.Select((), path("T", "x"), (ROW_OF_A,))),
    ("SELECT COUNT(*) FROM a[] AS T", s.Select((s.Column(s.Aggregate("COUNT", None)),), None, (ROW_OF_A,))),
    ("SELECT sum(T.x) FROM a[] AS T", s.Select((s.Column(s.Aggregate("SUM", path("T", "x"))),), None, (ROW_OF_A,))),
    (
        "SELECT T.x INSERT, b FROM a[] AS T",
        s.Select((s.Column(path("T", "x"), insert=True), s.Column(B)), None, (ROW_OF_A,)),
    ),
    ("SELECT max(b, c) FROM a[] AS T", s.Select((s.Column(s.Call(("max",), (B, C))),), None, (ROW_OF_A,))),
    (
        "SELECT b AS x[], c FROM Database.{d}.t, a[] AS T",
        s.Select(
            (s.Column(B, s.RelativePath((s.Step(s.Name("x"), index=s.IndexAll()),))), s.Column(C)),
            None,
            (
                s.FromItem(s.Path("Database", (s.Step(s.ComputedName(D)), s.Step(s.Name("t"))))),
                ROW_OF_A,
            ),
        ),
    ),
    ("THE(SELECT ITEM b FROM a[] AS T)", s.Call(("THE",), (s.Select((), B, (ROW_OF_A,)),))),
    ("EXISTS(SELECT * FROM a[] AS T)", s.Call(("EXISTS",), (s.Select((s.AllColumns(),), None, (ROW_OF_A,)),))),
    (
        "FOR ALL a[] AS x (x.y <= 50)",
        s.Quantified("ALL", ROW_OF_A.source, "x", s.Comparison("<=", path("x", "y"), number(50))),
    ),
    ("FOR SOME a[] (b)", s.Quantified("SOME", ROW_OF_A.source, None, B)),
    ("FOR any a[] (b)", s.Quantified("ANY", ROW_OF_A.source, None, B)),
]


def one(step):
    return s.Path("a", (step,))


NAME = s.Name("x")
PATHS = [
    ("a.x", one(s.Step(NAME))),
    ("a.ns:x", one(s.Step(NAME, s.Name("ns")))),
    ("a.*:x", one(s.Step(NAME, s.AnyName()))),
    ("a.*", one(s.Step(s.AnyName()))),
    ("a.ns:*", one(s.Step(s.AnyName(), s.Name("ns")))),
    ("a.{b || 'c'}", one(s.Step(s.ComputedName(s.Operation("||", (B, s.String("c"))))))),
    ("a.{b}:x", one(s.Step(NAME, s.ComputedName(B)))),
    ("a.ns:{b}", one(s.Step(s.ComputedName(B), s.Name("ns")))),
    ('a."x y""z"', one(s.Step(s.Name('x y"z')))),
    ("a.(XML.Attribute)x", one(s.Step(NAME, types=(path("XML", "Attribute"),)))),
    ("a.(XMLNSC.Attribute)ns:x", one(s.Step(NAME, s.Name("ns"), (path("XMLNSC", "Attribute"),)))),
    ("a.(XML.Attribute)*", one(s.Step(s.AnyName(), types=(path("XML", "Attribute"),)))),
    ("a.(XML.XmlDecl)", one(s.Step(types=(path("XML", "XmlDecl"),)))),
    ("a.(XML.tag|XML.attr)x", one(s.Step(NAME, types=(path("XML", "tag"), path("XML", "attr"))))),
    ("a.(0x03000000)x", one(s.Step(NAME, types=(s.Integer(0x03000000, hexadecimal=True),)))),
    ("a.(XML.Attribute)type", one(s.Step(s.Name("type"), types=(path("XML", "Attribute"),)))),
    ("a.:x", one(s.Step(NAME))),
    ("a.(XML.Element):x", one(s.Step(NAME, types=(path("XML", "Element"),)))),
    ("a.{}[<]", one(s.Step(s.AnyName(), index=s.IndexFromEnd()))),
    ("a.x[]", one(s.Step(NAME, index=s.IndexAll()))),
    ("a.x[2]", one(s.Step(NAME, index=s.IndexAt(number(2))))),
    ("a.x[b + 1]", one(s.Step(NAME, index=s.IndexAt(s.Operation("+", (B, number(1))))))),
    ("a.x[<]", one(s.Step(NAME, index=s.IndexFromEnd()))),
    ("a.x[LAST]", one(s.Step(NAME, index=s.IndexFromEnd()))),
    ("a.x[<2]", one(s.Step(NAME, index=s.IndexFromEnd(number(2))))),
    ("a.x[>]", one(s.Step(NAME, index=s.IndexFromStart()))),
    ("a.x[> b]", one(s.Step(NAME, index=s.IndexFromStart(B)))),
    ("a.[<]", one(s.Step(index=s.IndexFromEnd()))),
    ("a.*[<]", one(s.Step(s.AnyName(), index=s.IndexFromEnd()))),
    ("a[1].x", s.Path("a", (s.Step(NAME),), s.IndexAt(number(1)))),
    ("a[]", s.Path("a", (), s.IndexAll())),
    ('"a b".x', s.Path("a b", (s.Step(NAME),))),
    ("a . x", one(s.Step(NAME))),
    ('a.from.select."when"', path("a", "from", "select", "when")),
]

ALL = LITERALS + OPERATORS + FUNCTIONS + LISTS + PATHS


@pytest.mark.parametrize(("text", "tree"), ALL, ids=[text for text, _ in ALL])
def test_text_reads_as_tree(text, tree):
    """A text reads as the tree beside it, and what is printed of the tree reads as the same tree."""
    assert tree == read_expression(text, "table")
    assert tree == read_expression(format_expression(tree), "printed")


def test_positions_are_those_of_the_text():
    """Each node knows its first and its last character."""
    tree = read_expression("  aa +\n  f(b.c)", "table")
    call = tree.operands[1]
    assert s.Position(1, 3, 2, 9) == tree.position
    assert s.Position(2, 3, 2, 9) == call.position
    assert s.Position(2, 5, 2, 8) == call.arguments[0].position
    assert s.Position(2, 7, 2, 8) == call.arguments[0].steps[0].position


def test_positions_take_no_part_in_equality():
    """Two trees are equal when they say the same at different places."""
    assert read_expression("a+b", "x") == read_expression("  a  +  b", "y")

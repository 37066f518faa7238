"""What is wrong with a text is said in full: where, what, what to do, all of it at once."""

import pytest

from esql.read import read_expression, read_file, read_statements
from esql.syntax import Position
from esql.text import SyntaxProblems, problem_at


def problems_of(text, read=read_statements):
    """Give the place and the text of each problem."""
    with pytest.raises(SyntaxProblems) as caught:
        read(text, "x.esql")
    return [f"{at.line}:{at.column} {at.text}" for at in caught.value.problems]


LITERALS = [
    ("SET a = 'abc;\nSET b = 1;", ["1:9 unterminated string that starts here: its closing ' is missing"]),
    (
        "SET a = 'abc;\nSET b = 'x';\n\nSET c = ;",
        [
            "1:9 unterminated string that starts here: its closing ' is missing",
            "4:9 expected an expression after '=', found ';'",
        ],
    ),
    ("SET a = 'abc;\n'def', ' x';\nSET b = 1;", ["1:9 unterminated string that starts here: its closing ' is missing"]),
    ("SET a = b;\nSET c = '\n'x';\nSET b = 1;", ["2:9 unterminated string that starts here: its closing ' is missing"]),
    ('SET a."b = 1;', ['1:7 unterminated quoted name that starts here: its closing " is missing']),
    ("SET a = 1; /* on", ["1:12 unterminated comment that starts here: its closing */ is missing"]),
    ("SET a = X'123';", ["1:9 a BLOB literal has two digits for each byte: here one is missing"]),
    ("SET a = X'1G';", ["1:9 a BLOB literal has the digits 0 to 9 and A to F only"]),
    ("SET a = B'12';", ["1:9 a bit string has the digits 0 and 1 only"]),
    (
        "SET a = INTERVAL '1' DAY TO YEAR;",
        [
            "1:22 DAY TO YEAR is not an interval: it is YEAR TO MONTH, or from a larger to a smaller one of DAY, HOUR, "
            "MINUTE, SECOND"
        ],
    ),
    ("SET a = 5 % 2;", ["1:11 the character % is not part of ESQL: write MOD(a, b)"]),
    ("IF a != 1 THEN END IF;", ["1:6 the character ! is not part of ESQL: write <> for 'not equal'"]),
    ("SET a = \u201cx;", ['1:9 the character \u201c is not part of ESQL: write names in straight quotes (")']),
    ("SET a = 1; */", ["1:12 '*/' without '/*': the comment that it should end has ended before"]),
    ("/* a */ c */ SET x = 1;", ["1:12 '*/' without '/*': the comment that it should end has ended before"]),
]

EXPRESSIONS = [
    ("SET a = ;", ["1:9 expected an expression after '=', found ';'"]),
    ("SET a = 1 + ;", ["1:13 expected an expression after '+', found ';'"]),
    ("SET a = NOT;", ["1:12 expected an expression after 'NOT', found ';'"]),
    ("SET a = (1 + 2;", ["1:15 expected ')' after '2', found ';'"]),
    ("SET a = b[1;", ["1:12 expected ']' after '1', found ';'"]),
    ("SET a = b[ = 1;", ["1:12 expected an expression after '[', found '='"]),
    ("IF a == 1 THEN END IF;", ["1:7 '==' is not an operator of ESQL; write = to compare"]),
    ("SET a = SUBSTRING(b, 1, 2);", ["1:20 expected AFTER, BEFORE or FROM after 'b', found ','"]),
    ("SET a = SUBSTRING('b', 1);", ["1:22 expected AFTER, BEFORE or FROM after 'b', found ','"]),
    ("SET a = CASE WHEN b THEN 1;", ["1:27 END is missing for the CASE at line 1"]),
    ("SET a = CAST(b AS FOO);", ["1:19 expected a data type after 'AS', found 'FOO'"]),
    ("SET a = CAST(b AS INT CCSID 1 CCSID 2);", ["1:31 CCSID is said twice"]),
    ("SET a = f(*);", ["1:11 '*' is not an expression; only COUNT(*) has it"]),
    ("SET a = b.c[1](2);", ["1:9 what is called must be the name of a routine: words joined by '.', no more"]),
    ("SET a = TRIM(LEADING b);", ["1:9 TRIM with LEADING needs FROM before the string: TRIM(LEADING FROM text)"]),
    ("SET a = b c;", ["1:11 expected ';' after 'b', found 'c'"]),
    (
        "SET a = ASBITSTREAM(b,1,2,3,4,5,6,7);",
        ["1:22 too many arguments: at most encoding, ccsid, set, type, format, options"],
    ),
]

STATEMENTS = [
    ("SETT a = 1;", ["1:1 no statement starts with 'SETT'; did you mean SET?"]),
    (
        "a = 1; b = 2;",
        [
            "1:1 no statement starts with 'a'; an assignment is written SET a ... = ...;",
            "1:8 no statement starts with 'b'; an assignment is written SET b ... = ...;",
        ],
    ),
    ("SET x = 1; f(1);", ["1:12 no statement starts with 'f'; a routine is called by CALL f(...);"]),
    ("SET a := 1;", ["1:7 ':=' is not an operator of ESQL; write SET name = value;"]),
    ("SET FROM = 1;", ['1:5 FROM is a reserved word; to use it as a name write "FROM" in double quotes']),
    ("DECLARE when INT;", ['1:9 WHEN is a reserved word; to use it as a name write "when" in double quotes']),
    ("DECLARE a INTEGR;", ["1:11 expected a data type after 'a', found 'INTEGR'; did you mean INTEGER?"]),
    ("DECLARE a VARCHAR;", ["1:11 expected a data type after 'a', found 'VARCHAR'; ESQL calls it CHARACTER"]),
    (
        "CREATE PROCEDURE f(IN a CHAR(3)) BEGIN END;",
        ["1:29 CHAR has no length or precision here: CAST gives a DECIMAL(10, 2), and SUBSTRING cuts texts"],
    ),
    *(
        (
            text,
            [f"1:{at} {name} has no length or precision here: CAST gives a DECIMAL(10, 2), and SUBSTRING cuts texts"],
        )
        for text, at, name in (
            ("DECLARE a CHARACTER(10) 'x';", 25, "CHARACTER"),
            ("DECLARE a DECIMAL(10, 2);", 21, "DECIMAL"),
        )
    ),
    *(
        (text, [f"1:{column} what a variable starts with stands right behind its type, without {word}"])
        for text, column, word in (
            ("DECLARE a INTEGER = 5;", 19, "="),
            ("DECLARE a CONSTANT DATE = CURRENT_DATE;", 25, "="),
            ("DECLARE a INT DEFAULT 5;", 23, "DEFAULT"),
        )
    ),
    ("// a\nSET b = 1;", ["1:1 '//' is not part of ESQL; a comment begins with --"]),
    ("SET b = 1; // a\nSET b = 1;", ["1:12 '//' is not part of ESQL; a comment begins with --"]),
    ("IF a THEN SET b = 1; END IF; ENDIF;", ["1:30 no statement starts with 'ENDIF'; write END IF"]),
    ("SET n = 1; n++;", ["1:12 no statement starts with 'n'; an assignment is written SET n ... = ...;"]),
    (
        "SET OutputRoot.MRM.CUST-ID = 1;",
        ["1:24 a name does not go on with '-': write a name that has one in double quotes"],
    ),
    ("DECLARE a;", ["1:10 expected a data type after 'a', found ';'"]),
    ("DECLARE a REFERENCE b;", ["1:11 a reference must point to something: REFERENCE TO and a field"]),
    ("DECLARE a SHARED EXTERNAL INT;", ["1:1 SHARED EXTERNAL: one of SHARED and EXTERNAL, and CONSTANT, each once"]),
    ("CALL f;", ["1:7 expected '(' after 'f', found ';'"]),
    ("DELETE a;", ["1:8 expected FIELD, FIRSTCHILD OF, LASTCHILD OF or FROM after 'DELETE', found 'a'"]),
    ("MOVE r TOO a;", ["1:8 'TOO' does not belong here after 'r'; did you mean TO?"]),
    (
        "PROPAGATE TO TERMNAL 'x';",
        ["1:14 expected LABEL or TERMINAL after 'TO', found 'TERMNAL'; did you mean TERMINAL?"],
    ),
    ("PROPAGATE TO LABEL 'x' TO TERMINAL 'y';", ["1:24 TERMINAL is one destination too many, or said twice"]),
    ("CREATE FIELD a NAME 'x' NAME 'y';", ["1:25 NAME is said twice"]),
    ("CREATE FIELD a VALU 1;", ["1:16 expected ';' after 'a', found 'VALU'; did you mean VALUE?"]),
    ("THROW EXCEPTION VALUES(1) VALUES(2);", ["1:27 VALUES is said twice"]),
    ("INSERT INTO Database.t (a, b) VALUES (1);", ["1:38 INSERT names 2 columns and gives 1 values"]),
    ("INSERT INTO Database.t (*) VALUES (1);", ["1:25 a column of INSERT must be a plain name"]),
    ("l: SET a = 1;", ["1:1 a label stands only before BEGIN, FOR, LOOP, REPEAT and WHILE"]),
    ("l: BEGIN END m;", ["1:14 the label m does not belong here: this block has the label l"]),
    ("LOOP END LOOP m;", ["1:15 the label m does not belong here: this block has no label"]),
    (
        "BEGIN CREATE FUNCTION f() RETURN 1; END;",
        ["1:7 a routine cannot be declared inside a routine: move it before or after"],
    ),
]

BLOCKS = [
    ("SET a = 1\nSET b = 2;", ["1:10 expected ';' after '1'"]),
    ("SET a = b\nSET c = 2;", ["1:10 expected ';' after 'b'"]),
    ("DECLARE a INT\nSET a = ;", ["1:14 expected ';' after 'INT'", "2:9 expected an expression after '=', found ';'"]),
    ("BEGIN\nSET a = 1\nEND;", ["2:10 expected ';' after '1'"]),
    ("IF a\nSET b = 1;\nEND IF;", ["2:1 expected THEN after 'a', found 'SET'"]),
    ("IF THEN SET b = 1; END IF;", ["1:4 the condition before THEN is missing, or not complete"]),
    ("WHILE a SET b = 1; END WHILE;", ["1:9 expected DO after 'a', found 'SET'"]),
    ("WHILE a D0 SET b = 1; END WHILE;", ["1:9 expected DO after 'a', found 'D0'"]),
    ("IF a THEN\nSET b = 1;\n", ["3:1 END IF is missing for the IF at line 1"]),
    (
        "BEGIN\nIF a THEN\nSET b = 1;\nEND;\nSET c = ;",
        [
            "4:1 END IF is missing for the IF at line 2",
            "5:9 expected an expression after '=', found ';'",
        ],
    ),
    ("WHILE a DO\nIF b THEN\nEND WHILE;\n", ["3:1 END IF is missing for the IF at line 2"]),
    ("IF a THEN ELSE IF b THEN END IF;", ["1:33 END IF is missing for the IF at line 1"]),
    (
        "CASE a WHEN 1 THEN SET b = ; ELSE SET b = 1; END CASE; SET c = ;",
        [
            "1:28 expected an expression after '=', found ';'",
            "1:64 expected an expression after '=', found ';'",
        ],
    ),
    (
        "IF a = THEN SET b = 1; ELSE SET b = 2; END IF; SET c = ;",
        [
            "1:8 the condition before THEN is missing, or not complete",
            "1:56 expected an expression after '=', found ';'",
        ],
    ),
    ("FOR a IN b DO SET c = 1; END FOR;", ["1:7 expected AS after 'a', found 'IN'"]),
    ("LOOP SET a = 1; END;", ["1:17 END does not close this block: the LOOP at line 1 wants END LOOP"]),
    ("REPEAT SET a = 1; END REPEAT;", ["1:19 END REPEAT does not close this block: the REPEAT at line 1 wants UNTIL"]),
    ("END;", ["1:1 END closes nothing here"]),
    ("SET a = 1; END IF; SET b = 1;", ["1:12 END IF closes nothing here"]),
    ("ELSE SET a = 1;", ["1:1 ELSE does not belong to any IF or CASE here"]),
    ("WHILE a DO WHEN 1 THEN SET b = 1; END WHILE;", ["1:12 WHEN does not belong to any CASE here"]),
]

ALL = LITERALS + EXPRESSIONS + STATEMENTS + BLOCKS


@pytest.mark.parametrize(("text", "expected"), ALL, ids=[text for text, _ in ALL])
def test_problems_of_statements(text, expected):
    """Each problem is said once, at its place, and reading goes on behind it."""
    assert expected == problems_of(text)


FILES = [
    ("SET a = 1;", ["1:1 SET cannot stand outside a routine: put it in a routine"]),
    ("CREATE COMPUTE MODULE m CALL f(); END MODULE;", ["1:25 CALL cannot stand in a module: put it in a routine"]),
    (
        "CREATE COMPUTE MODULE m\nCREATE FILTER MODULE n\nEND MODULE;\nEND MODULE;",
        ["2:1 a module stands at the outermost level of a .esql file only"],
    ),
    (
        "CREATE FUNCTION f()\nBEGIN\nRETURN 1;\n\nCREATE FUNCTION g()\nBEGIN\nEND;",
        ["5:1 END is missing for the BEGIN at line 2"],
    ),
    (
        "CREATE COMPUTE MODULE m\nCREATE FUNCTION f() BEGIN\nIF a THEN\nRETURN 1;\nEND;\nEND MODULE;\nDECLARE b FOO;",
        ["5:1 END IF is missing for the IF at line 3", "7:11 expected a data type after 'b', found 'FOO'"],
    ),
    (
        "CREATE COMPUTE MODULE m\nCREATE FUNCTION f() RETURN 1;\n",
        ["3:1 END MODULE is missing for the MODULE at line 1"],
    ),
    (
        "CREATE PROCEDURE p(IN a)\nBEGIN SET b = ; END;\nCREATE PROCEDURE q() BEGIN SET c = ; END;",
        [
            "1:24 expected a data type after 'a', found ')'",
            "2:15 expected an expression after '=', found ';'",
            "3:36 expected an expression after '=', found ';'",
        ],
    ),
    (
        "CREATE FUNCTION f() LANGUAGE .NAT EXTERNAL NAME 'x';",
        ["1:21 no language is called .NAT: ESQL, DATABASE, JAVA, CLR or .NET"],
    ),
    ("CREATE FUNCTION f() RETURNS INT RETURNS INT RETURN 1;", ["1:33 RETURNS is said twice"]),
    ("CREATE FUNCTION f( RETURN 1;", ["1:27 expected a data type after 'RETURN', found '1'"]),
]


@pytest.mark.parametrize(("text", "expected"), FILES, ids=[text for text, _ in FILES])
def test_problems_of_files(text, expected):
    """Problems of modules and routines."""
    assert expected == problems_of(text, read_file)


CONDITIONS = [
    ("", ["1:1 expected an expression, found the end of the text"]),
    ("Body.a = ", ["1:10 expected an expression after '=', found the end of the text"]),
    ("Body.a = 1 AND", ["1:12 expected an expression after 'AND', found the end of the text"]),
    ("a b", ["1:3 expected the end of the text after 'a', found 'b'"]),
]


@pytest.mark.parametrize(("text", "expected"), CONDITIONS, ids=[text for text, _ in CONDITIONS])
def test_problems_of_expressions(text, expected):
    """Problems of a text that is one expression."""
    assert expected == problems_of(text, read_expression)


def test_a_problem_is_shown_with_its_line_and_carets():
    """The place and the text, the source line, and carets under the piece that is meant."""
    with pytest.raises(SyntaxProblems) as caught:
        read_file("DECLARE a INT;\n\tDECLARE b INTEGR 1;\n", "flows/total.esql")
    expected = """\
BIP2401 flows/total.esql:2:12: expected a data type after 'b', found 'INTEGR'; did you mean INTEGER?
    \tDECLARE b INTEGR 1;
    \t          ^^^^^^"""
    assert expected == str(caught.value)


def test_carets_stay_on_the_first_line_of_a_long_piece():
    """A piece over several lines is marked up to the end of its first line."""
    problem = problem_at(Position(1, 5, 3, 2), "bad", "f", "ab (cd")
    assert problem.render() == "BIP2401 f:1:5: bad\n    ab (cd\n        ^^"


def test_no_problem_speaks_of_the_parser():
    """No text is the parser generator's, and none lists dozens of tokens."""
    for text, _ in ALL:
        for problem in problems_of(text):
            assert "viable" not in problem
            assert "input" not in problem
            assert len(problem) < 200

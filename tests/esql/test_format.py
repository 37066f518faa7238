"""The printer's text is canonical, and comments and blank lines stay where they belong."""

from pathlib import Path

import pytest

from esql.format import format_expression, format_program
from esql.read import read_expression, read_file, read_statements

FILES = sorted(Path(__file__).with_name("read").glob("*.esql"))

EXPRESSIONS = [
    ("((a))+((b*c))", "a + b * c"),
    ("(a+b)*c", "(a + b) * c"),
    ("a+(b+c)", "a + (b + c)"),
    ("(a||b)||c", "(a || b) || c"),
    ("a||b||c", "a || b || c"),
    ("(a and b) or c", "a AND b OR c"),
    ("a and (b or c)", "a AND (b OR c)"),
    ("not(a)", "NOT a"),
    ("not (a = b)", "NOT (a = b)"),
    ("(not a) = b", "(NOT a) = b"),
    ("not a = b", "NOT (a = b)"),
    ("not not a", "NOT NOT a"),
    ("- (-a)", "- -a"),
    ("-(a + b)", "-(a + b)"),
    ("a between (b) and (c and d)", "a BETWEEN b AND (c AND d)"),
    ("(a is null) is true", "a IS NULL IS TRUE"),
    ("a = (b is null)", "a = b IS NULL"),
    ("f((select item x from y[] as z))", "f(SELECT ITEM x FROM y[] AS z)"),
    ("f((select item x from y[] as z), 1)", "f((SELECT ITEM x FROM y[] AS z), 1)"),
    ("a[LAST]", "a[<]"),
    ('"a"."b".{"c"}', "a.b.{c}"),
    ('"select"."when"', '"select".when'),
    ('a.(T)"when"', 'a.(T)"when"'),
    ('x["last"]', 'x["last"]'),
    ("day[last.x]", "day[last.x]"),
    ("asbitstream(a,,1208)", "ASBITSTREAM(a CCSID 1208)"),
    ("cast(a as int)", "CAST(a AS INTEGER)"),
    ("x'ab'", "X'AB'"),
    ("0xab", "0xAB"),
    ("1.5e3", "1.5E3"),
]


@pytest.mark.parametrize(("text", "printed"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_expressions_have_the_parentheses_they_need(text, printed):
    """Parentheses and quotes stand only where the tree would be another without."""
    assert printed == format_expression(read_expression(text, "x"))


PROGRAMS = [
    ("set a=1;set b=2;", "SET a = 1;\nSET b = 2;\n"),
    ("set a=1;\n\n\n\nset b=2;", "SET a = 1;\n\nSET b = 2;\n"),
    (
        "-- one\nset a=1; -- two\n-- three\nset b=2; /* four */ -- five",
        "-- one\nSET a = 1; -- two\n-- three\nSET b = 2; /* four */ -- five\n",
    ),
    ("-- one\n\nset a=1;\n\n-- two\n", "-- one\n\nSET a = 1;\n\n-- two\n"),
    ("set a = /* in */ 1; -- behind", "/* in */\nSET a = 1; -- behind\n"),
    ("set a = b -- first\n + c; -- last", "-- first\nSET a = b + c; -- last\n"),
    (
        "if a then -- why\nset b=1;\n-- end\nend if; -- so",
        "IF a THEN -- why\n    SET b = 1;\n    -- end\nEND IF; -- so\n",
    ),
    (
        "if a then\nset b=1;\n-- before\nelse -- at\n-- after\nset b=2;\nend if;",
        "IF a THEN\n    SET b = 1;\n-- before\nELSE -- at\n    -- after\n    SET b = 2;\nEND IF;\n",
    ),
    ("l:while a do\n\nset b=1;\n\nend while;", "l: WHILE a DO\n\n    SET b = 1;\nEND WHILE l;\n"),
    ("/* two\n   lines */ set a=1;", "/* two\n   lines */\nSET a = 1;\n"),
    ("/*!{ set a=1; }!*/", "/*!{\nSET a = 1; }!*/\n"),
    ("begin end;", "BEGIN\nEND;\n"),
    ("case a when 1 then set b=1; else end case;", "CASE a\nWHEN 1 THEN\n    SET b = 1;\nELSE\nEND CASE;\n"),
    ("repeat set a=1; until b end repeat;", "REPEAT\n    SET a = 1;\nUNTIL b END REPEAT;\n"),
    ("call f( ) ;", "CALL f();\n"),
    (";", ";\n"),
    ("", ""),
    ("-- only", "-- only\n"),
    ("a = 1", "RETURN a = 1;\n"),
]


@pytest.mark.parametrize(("text", "printed"), PROGRAMS, ids=[text[:40] for text, _ in PROGRAMS])
def test_statements_are_laid_out(text, printed):
    """One statement a line, comments at their statements, and a second print is the first."""
    assert printed == format_program(read_statements(text, "x"))
    assert printed == format_program(read_statements(printed, "y"))


def test_a_file_is_laid_out():
    """Comments before the schema stay there; a routine's body starts on its own line."""
    text = "-- head\nbroker schema a.b path c;\n\n-- f\n"
    text += "create function f(a char) returns char\n-- in\nbegin return a; end;\n"
    expected = """\
-- head
BROKER SCHEMA a.b
PATH c;

-- f
CREATE FUNCTION f(a CHARACTER) RETURNS CHARACTER
-- in
BEGIN
    RETURN a;
END;
"""
    assert expected == format_program(read_file(text, "x"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_keep_their_tree_and_their_comments(path):
    """A formatted file reads as the same tree with the same comments, and formats to itself."""
    program = read_file(path.read_bytes(), path.name)
    text = format_program(program)
    again = read_file(text, "printed")
    assert program == again
    assert sorted(comment.text for comment in program.comments) == sorted(comment.text for comment in again.comments)
    assert text == format_program(again)

"""How texts come in: encodings, line ends, limits, threads."""

import codecs
import subprocess
import sys
import threading
import time

import pytest

from esql import syntax
from esql.read import read_expression, read_file, read_statements
from esql.text import SyntaxProblems

TEXT = "DECLARE é CHARACTER 'ü€';\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        "\ufeff" + TEXT,
        TEXT.encode("utf-8"),
        codecs.BOM_UTF8 + TEXT.encode("utf-8"),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    ],
    ids=["text", "text with mark", "utf-8", "utf-8 with mark", "utf-16 little", "utf-16 big"],
)
def test_encodings(data):
    """A file is UTF-8, or what its byte order mark says, and positions do not count the mark."""
    statement = read_file(data, "x").statements[0]
    assert syntax.Declare(("é",), syntax.DataType("CHARACTER"), syntax.String("ü€")) == statement
    assert syntax.Position(1, 1, 1, 26) == statement.position


def test_bytes_that_are_no_text():
    """Bytes that are not UTF-8 are a problem with a place, not a crash."""
    with pytest.raises(SyntaxProblems) as caught:
        read_file("SET a = '\u00fc';".encode("latin-1"), "x")
    problem = caught.value.problems[0]
    assert (problem.line, problem.column) == (1, 10)
    assert "this is not a character in UTF-8" in problem.text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end):
    """Lines end as on any system, in statements, comments and problems."""
    text = end.join(("-- one", "SET a = 1; -- two", "/* three", "*/ SET b = 2;"))
    program = read_statements(text, "x")
    assert [statement.position.line for statement in program.statements] == [2, 4]
    assert [comment.position.column for comment in program.comments] == [1, 12, 1]
    with pytest.raises(SyntaxProblems) as caught:
        read_statements(end.join(("SET a = 1;", "SET b = ;")), "x")
    assert (
        caught.value.problems[0].line,
        caught.value.problems[0].column,
        caught.value.problems[0].source_line,
    ) == (2, 9, "SET b = ;")


DEEP = {
    "parentheses": "(" * 5000 + "1" + ")" * 5000,
    "open parentheses": "(" * 5000,
    "calls": "f(" * 5000 + "1" + ")" * 5000,
    "NOT": "NOT " * 5000 + "a",
    "signs": "- " * 5000 + "1",
    "indexes": "a[" * 5000 + "1" + "]" * 5000,
    "computed names": "a.{" * 5000 + "'x'" + "}" * 5000,
    "CASE": "CASE WHEN a THEN " * 5000 + "1" + " END" * 5000,
    "IS NULL": "a" + " IS NULL" * 5000,
    "mixed operators": "1" + " + 1 - 1" * 5000,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_too_deep_is_a_problem(text):
    """What is nested too deep is one clear problem."""
    with pytest.raises(SyntaxProblems) as caught:
        read_expression(text, "x")
    assert 1 == len(caught.value.problems)
    assert "more than 150" in caught.value.problems[0].text


@pytest.mark.parametrize("text", ["IF a THEN " * 5000, "BEGIN " * 5000 + "END;" * 5000, "l: " * 5000 + "BEGIN END;"])
def test_too_deep_blocks_are_a_problem(text):
    """So are blocks."""
    with pytest.raises(SyntaxProblems) as caught:
        read_statements(text, "x")
    assert "nested more than 150 deep" in caught.value.problems[0].text


@pytest.mark.parametrize("operator", ["||", "+", "AND"])
def test_a_long_chain_is_one_operation(operator):
    """Ten thousand terms joined by one operator are one node."""
    tree = read_expression(f" {operator} ".join(["a"] * 10_000), "x")
    assert 10_000 == len(tree.operands)


def test_nesting_that_people_write_works():
    """A hundred levels of ELSE IF, as V2.1 without ELSEIF had it, are equal to themselves and can be shown."""
    text = "IF a THEN SET b = 1; ELSE " * 100 + "END IF;" * 100
    program = read_statements(text, "x")
    assert program == read_statements(text, "y")
    assert repr(program)


def test_many_problems_take_little_time():
    """Thousands of problems are all found, in a time that grows with the text."""
    start = time.process_time()
    with pytest.raises(SyntaxProblems) as caught:
        read_statements("SET a = ;\n" * 2000, "x")
    assert 2000 == len(caught.value.problems)
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    "text",
    [
        "/* a /* b */ SET a = 1;\n" * 1000,
        "/* a /* b */ c */ SET a = 1;\n" * 1000,
        "/*" * 5000 + "*/" * 5000,
        "SET a = '/*'; /* '*/ SET b = '*/'; -- /*\n" * 1000,
    ],
    ids=["uneven", "nested", "deep", "in strings"],
)
def test_comments_take_little_time(text):
    """However comments nest, or fail to, the time grows with the text."""
    start = time.process_time()
    program = read_statements(text, "x")
    assert len(program.comments) == max(text.count("SET a"), 1) * (2 if "--" in text else 1)
    assert time.process_time() - start < 10


def test_threads_may_read_at_once():
    """The parser's tables are one for the process: readers take turns."""
    found = []

    def read():
        found.append(read_expression("(" * 100 + "a + 1" + ")" * 100, "x"))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [read_expression("a + 1", "x")] * 8 == found


MODULE = """\
CREATE COMPUTE MODULE Convert{number}
    CREATE FUNCTION Main() RETURNS BOOLEAN
    BEGIN
        DECLARE line REFERENCE TO InputRoot.XMLNSC.Order.Line[1];
        DECLARE total DECIMAL 0;
        -- each line of the order
        WHILE LASTMOVE(line) DO
            IF line.Quantity IS NOT NULL AND line.(XMLNSC.Attribute)status = 'OPEN' THEN
                SET total = total + CAST(line.Quantity AS INTEGER) * COALESCE(line.Price, 0);
            ELSEIF SUBSTRING(line.Code FROM 1 FOR 3) IN ('ABC', 'DEF') THEN
                SET OutputRoot.XMLNSC.Result.Text = TRIM(line.Name) || ', ' || UPPER(line.City) || ' ' || line.Zip;
            END IF;
            MOVE line NEXTSIBLING REPEAT TYPE NAME;
        END WHILE;
        SET OutputRoot.XMLNSC.Result.Row[] = (SELECT S.NAME AS name, S.QTY * 2 AS twice FROM Database.STOCK AS S
            WHERE S.ID = InputRoot.XMLNSC.Order.Id);
        CREATE LASTCHILD OF OutputRoot.XMLNSC.Result NAME 'total' VALUE total;
        RETURN TRUE;
    END;
END MODULE;
"""


@pytest.mark.slow
def test_a_file_of_a_thousand_lines_is_read_in_two_seconds(tmp_path):
    """A cold process reads a thousand lines, imports included, in two seconds of its processor."""
    text = "".join(MODULE.format(number=number) for number in range(1000 // MODULE.count("\n") + 1))
    path = tmp_path / "large.esql"
    path.write_text(text, encoding="utf-8")
    program = (
        "import sys, time; from esql.read import read_file; "
        "read_file(open(sys.argv[1], 'rb').read(), 'large'); print(time.process_time())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=120, check=True
    )
    assert float(done.stdout) < 2

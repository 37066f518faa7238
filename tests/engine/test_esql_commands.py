"""The commands penstock esql."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.cli import app
from engine.cli import esql as commands

assert commands

MODULES = """CREATE COMPUTE MODULE M
CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
  SET OutputRoot = InputRoot;
  PROPAGATE TO TERMINAL 'out1' DELETE NONE;
  SET OutputRoot.XMLNSC.a.z = 'q';
  RETURN TRUE;
END;
END MODULE;
CREATE FILTER MODULE F
CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN RETURN Root.XMLNSC.a.b = '1'; END;
END MODULE;
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Some files."""
    (tmp_path / "m.esql").write_text(MODULES)
    (tmp_path / "bad.esql").write_text("SET OutputRot.x = 1;\nSET OutputRoot.x = SUBSTRNG('a');\n")
    (tmp_path / "m.xml").write_text("<a><b>1</b></a>")
    return tmp_path


def run(*words: str, text: str | None = None) -> tuple[int, str]:
    """The exit code and what was printed."""
    result = CliRunner().invoke(app, ["esql", *words], input=text)
    return result.exit_code, result.stdout


def test_check(folder: Path) -> None:
    """Problems are shown with their lines, and as JSON; without any the exit code is 0."""
    assert run("check", str(folder / "m.esql")) == (0, "")
    code, shown = run("check", str(folder / "bad.esql"))
    assert code == 1
    assert "did you mean OutputRoot?" in shown
    code, shown = run("check", str(folder / "bad.esql"), "--json")
    found = json.loads(shown)
    assert [(one["line"], one["column"], one["kind"]) for one in found] == [(1, 5, "name"), (2, 20, "name")]


def test_check_reads_directories(folder: Path) -> None:
    """All files of a directory are looked at together."""
    code, shown = run("check", str(folder))
    assert code == 1
    assert shown.count("bad.esql") == 2


def project(folder: Path, refers_to: str, **files: str) -> None:
    """Make a project of a workspace, as toolkits keep it."""
    folder.mkdir(parents=True)
    (folder / ".project").write_text(
        f"<projectDescription><name>{folder.name}</name><projects><project>{refers_to}</project></projects>"
        "<natures><nature>x</nature></natures></projectDescription>"
    )
    for name, text in files.items():
        (folder / f"{name}.esql").write_text(text)


def test_check_takes_the_files_of_each_project_together(tmp_path: Path) -> None:
    """Projects may have modules of one name, and see what those that they refer to declare, and no others."""
    text = (
        "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN SET Environment.x = {}; END; END MODULE;"
    )
    project(tmp_path / "one", "base", a=text.format("f()"))
    project(tmp_path / "two", "", a=text.format("f()"))
    project(tmp_path / "three", "", a=text.format("1"))
    project(tmp_path / "base", "deeper", f="CREATE FUNCTION f() RETURNS INTEGER BEGIN RETURN g(); END;")
    project(tmp_path / "deeper", "base", g="CREATE FUNCTION g() RETURNS INTEGER BEGIN RETURN 1; END;")
    project(tmp_path / "old" / "deeper", "", g="CREATE FUNCTION h() RETURNS INTEGER BEGIN RETURN 1; END;")
    code, shown = run("check", str(tmp_path), "--json")
    assert code == 1
    assert [(Path(one["file"]).parent.name, one["text"]) for one in json.loads(shown)] == [
        ("two", "no function called f; declare it, or name its schema in PATH")
    ]


def test_check_finds_what_else_is_wrong_where_two_modules_have_one_name(tmp_path: Path) -> None:
    """A module twice is one problem of several."""
    text = "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN SET x = 1; END; END MODULE;"
    for name in ("a.esql", "b.esql"):
        (tmp_path / name).write_text(text)
    code, shown = run("check", str(tmp_path), "--json")
    assert code == 1
    assert [Path(one["file"]).name for one in json.loads(shown)] == ["a.esql", "b.esql", "b.esql"]


def test_check_looks_at_other_files_where_one_cannot_be_read(tmp_path: Path) -> None:
    """What the unreadable file would declare is not missed; all else is told."""
    (tmp_path / "a.esql").write_text("CREATE FUNCTION f() RETURNS INTEGER BEGIN RETURN 1 + ; END;")
    (tmp_path / "b.esql").write_text(
        "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n"
        "SET Environment.x = f();\nSET Environment.y = 1 + 'a';\nEND; END MODULE;"
    )
    code, shown = run("check", str(tmp_path), "--json")
    assert code == 1
    found = [(Path(one["file"]).name, one["line"], one["kind"]) for one in json.loads(shown)]
    assert found == [("a.esql", 1, "syntax"), ("b.esql", 3, "type")]


def test_show(folder: Path) -> None:
    """The emitted Python is printed, and what its constants are."""
    code, shown = run("show", str(folder / "m.esql"))
    assert code == 0
    assert "set_field(here.output_root, input_root, nodes)" in shown
    assert "# s0 = step('XMLNSC', '', ())" in shown


def test_run(folder: Path) -> None:
    """A line for each message that is sent; a Filter says which way."""
    words = ("--input", str(folder / "m.xml"), "--domain", "XMLNSC")
    assert run("run", str(folder / "m.esql"), "--module", "M", *words) == (
        0,
        "out1|<a><b>1</b></a>\nout|<a><b>1</b><z>q</z></a>\n",
    )
    assert run("run", str(folder / "m.esql"), "--module", "F", *words) == (0, "terminal:true\n")


def test_run_with_a_domain_that_is_none(folder: Path) -> None:
    """A misspelt domain is a mistake of the command, not of the program."""
    given = (str(folder / "m.esql"), "--module", "M", "--input", str(folder / "m.xml"), "--domain", "XMLNCS")
    result = CliRunner().invoke(app, ["esql", "run", *given])
    assert "no parser called XMLNCS; did you mean XMLNSC?" in str(result.exception)
    assert "m.esql" not in str(result.exception)


def test_eval(folder: Path) -> None:
    """The value is printed as a literal."""
    assert run("eval", "1 + 2 * 3") == (0, "7\n")
    words = ("--input", str(folder / "m.xml"), "--domain", "XMLNSC")
    assert run("eval", "InputRoot.XMLNSC.a.b || '!'", *words) == (0, "'1!'\n")
    assert run("eval", "ROW(1 AS a, LIST{2, 3} AS b[])")[1] == "ROW(1 AS a, 2 AS b, 3 AS b)\n"
    assert run("eval", "THE(SELECT A.b FROM InputRoot.XMLNSC.a AS A)", *words) == (0, "ROW('1' AS b)\n")
    assert run("eval", "THE(SELECT ITEM A.b FROM InputRoot.XMLNSC.a AS A) || '!'", *words) == (0, "'1!'\n")
    assert run("eval", "THE(SELECT ITEM A.b FROM InputRoot.XMLNSC.a AS A)", *words) == (0, "'1'\n")


def test_show_with_a_data_source(tmp_path: Path) -> None:
    """The SQL of statements has the names of the database; what it has not is told at its place."""
    options = ("--data-source", f"DB=sqlite:///{tmp_path}/a.db")
    file = tmp_path / "a.esql"
    file.write_text("PASSTHRU('CREATE TABLE customer (id INTEGER, name TEXT)');")
    assert run("run", str(file), *options)[0] == 0
    file.write_text("SET Environment.a[] = (SELECT C.NAME FROM Database.CUSTOMER AS C WHERE C.ID = 1);")
    assert "SELECT NAME FROM CUSTOMER WHERE ID = ?" in run("show", str(file))[1]
    code, shown = run("show", str(file), *options)
    assert (0, True) == (code, 'SELECT "name" FROM "customer" WHERE "id" = ?' in shown)
    file.write_text("DELETE FROM Database.CUSTOMERS;")
    assert run("show", str(file))[0] == 0
    refused = CliRunner().invoke(app, ["esql", "show", str(file), *options])
    assert (1, "") == (refused.exit_code, refused.stdout)
    assert f"{file}:1:22: data source DB: there is no table CUSTOMERS; did you mean customer?" in refused.stderr


def test_cases(tmp_path: Path) -> None:
    """Each case has a line with its id, and its value or its error, which fails the command."""
    file = tmp_path / "cases.jsonl"
    cases = [
        {"id": "a", "esql": "1 + 2"},
        {"id": "b", "esql": "1 / 0"},
        {"id": "c", "esql": "nothing + 1"},
        {"id": "d", "esql": "InputRoot.XMLNSC.a", "input": "<a>é</a>", "domain": "XMLNSC"},
        {"id": "e", "esql": "CAST('ABC' AS BLOB CCSID 500) || CAST('é' AS BLOB CCSID 1252)"},
        {"id": "f", "esql": "CAST(X'c1' AS CHARACTER CCSID 99999)"},
    ]
    file.write_text("\n".join(json.dumps(case) for case in cases))
    code, shown = run("eval", "--cases", str(file))
    lines = shown.splitlines()
    assert code == 1
    assert lines[0] == "a\t3"
    assert lines[1].startswith("b\tBIP2450 ")
    assert lines[2].startswith("c\tBIP2432 ")
    assert lines[3] == "d\t'é'"
    assert lines[4] == "e\tX'c1c2c3e9'"
    assert lines[5].startswith("f\tBIP")
    file.write_text(
        json.dumps({"id": "m", "esql": MODULES.partition("CREATE FILTER")[0], "input": "<a/>", "domain": "XMLNSC"})
    )
    assert run("run", "--cases", str(file)) == (0, 'm\t["out1|<a/>", "out|<a><z>q</z></a>"]\n')


def test_format(folder: Path) -> None:
    """A file is printed, checked or rewritten in the one form."""
    file = folder / "bad.esql"
    file.write_text("set  OutputRoot.x=1 ;")
    assert run("format", str(file), "--check") == (1, f"{file}\n")
    told = {"file": str(file), "changed": True, "text": "SET OutputRoot.x = 1;\n"}
    assert [[told], [told]] == [json.loads(run("format", str(file), "--json", *more)[1]) for more in ((), ("--check",))]
    assert run("format", str(file), "--write")[0] == 0
    assert file.read_text() == "SET OutputRoot.x = 1;\n"


def test_repl() -> None:
    """Trees stay between entries; a statement may go over several lines."""
    code, shown = run("repl", text="1 + 1\nSET Environment.x =\n 'v';\nEnvironment.x || '!'\nSET x;\n1 / 0\n")
    assert code == 0
    lines = shown.splitlines()
    assert lines[:2] == ["2", "'v!'"]
    assert lines[2].startswith("BIP2401 entry:1:")
    assert lines[-1] == "BIP2450 entry:1:1: 1 was divided by zero: test the divisor first"

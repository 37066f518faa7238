"""`penstock esql eval|run --cases`: a line for each case, whatever is in its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import penstock

LINES = [
    ('{"id": "sum", "esql": "1 + 1"}', "sum\t2"),
    ("no JSON", "2\t{file}:2: a case is a JSON object with id, esql, input and domain: Expecting value"),
    ('{"esql": "NULL"}', "3\tNULL"),
    ("[1]", "4\t{file}:4: a case is a JSON object with id, esql, input and domain: this is a list"),
    (
        '{"id": "number", "esql": 5}',
        "5\t{file}:5: a case is a JSON object with id, esql, input and domain: esql is a text",
    ),
    ('{"id": "none"}', "6\t{file}:6: a case is a JSON object with id, esql, input and domain: esql is missing"),
    ('{"id": "tree", "esql": "1", "input": {"a": 1}}', "7\t{file}:7: a case is a JSON object"),
    ('{"id": "half", "esql": "1", "input": "\\ud800"}', "8\t{file}:8: a case is a JSON object"),
    ('{"id": "half a character", "esql": "\'\\ud800\'"}', "half a character\t'\\ud800'"),
    ('{"id": "line separator", "esql": "\'a\u2028b\'"}', "line separator\t'a\u2028b'"),
    ('{"id": "wrong", "esql": "1 +"}', "wrong\tBIP2401 expression:1:4: expected an expression after"),
    ('{"id": "field", "esql": "InputRoot.XMLNSC.a", "input": "<a>5</a>", "domain": "XMLNSC"}', "field\t'5'"),
]


def test_lines_that_are_no_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that is no case is said to be none, the others are answered, and the command fails."""
    file = tmp_path / "cases.jsonl"
    file.write_text("\ufeff" + "\n".join(line for line, _ in LINES) + "\n\n", "utf-8")
    ended = penstock(capsys, "esql", "eval", "--cases", str(file))
    found = ended.out.split("\n")
    for (_, expected), line in zip(LINES, found, strict=False):
        assert line.startswith(expected.replace("{file}", str(file)))
    assert ([""], 1) == (found[len(LINES) :], ended.code)


def test_a_file_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of cases is UTF-8."""
    file = tmp_path / "cases.jsonl"
    file.write_bytes(b"\xff\xfe")
    ended = penstock(capsys, "esql", "run", "--cases", str(file))
    assert (1, "") == (ended.code, ended.out)
    assert f"{file} is not UTF-8" in ended.err


def test_modules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A Filter says which way a message goes; a text without anything to run says so, and fails the command."""
    module = "CREATE FILTER MODULE F CREATE FUNCTION Main() RETURNS BOOLEAN RETURN Root.XMLNSC.a = {}; END MODULE;"
    cases = [
        {"id": value, "esql": module.format(value), "input": "<a>7</a>", "domain": "XMLNSC"}
        for value in ("7", "8", "NULL")
    ]
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, [*cases, {"id": "nothing", "esql": ""}])), "utf-8")
    ended = penstock(capsys, "esql", "run", "--cases", str(file))
    expected = [f'{case}\t["terminal:{way}"]' for case, way in (("7", "true"), ("8", "false"), ("NULL", "unknown"))]
    expected.append("nothing\tBIP2432: name the module to run; the modules are: none")
    assert (1, expected) == (ended.code, ended.out.splitlines())

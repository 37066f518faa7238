"""Limits are set by the environment or at the desk, and what goes beyond them is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ConfigurationException
from esql.compile import problems_in
from esql.read import read_statements
from esql.runtime.limits import VARIABLE, Limits, limits_around, read_limits
from esql.text import SyntaxProblems
from tests.cli.command_line import penstock


def test_from_text() -> None:
    """A text names limits and their numbers; the others are as by default."""
    assert Limits(turns=1000, depth=5) == read_limits(" turns = 1_000, depth=5,", "x")
    assert Limits() == read_limits("", "x")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("turn=5", "x: there is no limit called turn; did you mean turns?"),
        ("quux=5", "x: there is no limit called quux; they are turns, depth, nodes, string, text, cpu, memory"),
        ("turns=no", "x: turns takes a number above 0, as in turns=1000, not 'no'"),
        ("turns=0", "x: turns takes a number above 0, as in turns=1000, not '0'"),
        ("turns", "x: turns takes a number above 0, as in turns=1000, not ''"),
    ],
)
def test_wrong(said: str, expected: str) -> None:
    """What is no limit, or no number, is said with where it stands."""
    with pytest.raises(ConfigurationException) as raised:
        read_limits(said, "x")
    assert expected == raised.value.text


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of the process asks for limits."""
    monkeypatch.setenv(VARIABLE, "nodes=7")
    assert Limits(nodes=7) == limits_around()


@pytest.mark.parametrize("data", ["SET a = 1;   ", b"SET a = 1;   ", b"\xef\xbb\xbfSET a = 1;   ", b"x" * 1000])
def test_long_program(monkeypatch: pytest.MonkeyPatch, data: bytes | str) -> None:
    """A program that is too long is one problem, whatever is in it."""
    monkeypatch.setenv(VARIABLE, "text=12")
    [problem] = problems_in([("long.esql", data)])
    assert "12 is the limit: split it into files" in problem.text
    assert ("long.esql", 1, 1, "syntax") == (problem.file, problem.line, problem.column, problem.kind)
    with pytest.raises(SyntaxProblems, match="is the limit"):
        read_statements(data, "long.esql")


def test_at_the_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The option of the command stands before the environment."""
    program = tmp_path / "loop.esql"
    program.write_text("DECLARE i INTEGER 0; WHILE i < 50 DO SET i = i + 1; END WHILE; SET OutputRoot.XMLNSC.i = i;")
    monkeypatch.setenv(VARIABLE, "turns=20")
    command = ("esql", "run", str(program))
    found = [penstock(capsys, *command, *more) for more in ((), ("--limits", "turns=50"))]
    assert [(1, ""), (0, "out|<i>50</i>\n")] == [(one.code, one.out) for one in found]


def test_text_at_the_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The limit on texts holds for programs that were compiled before, and for expressions."""
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    program = tmp_path / "long.esql"
    program.write_text("SET OutputRoot.XMLNSC.i = 1;   ")
    run, evaluate = ("esql", "run", str(program)), ("esql", "eval", "1 + 1 + 1")
    for command in (run, run, evaluate):
        assert 0 == penstock(capsys, *command).code
        found = penstock(capsys, *command, "--limits", "text=5")
        assert (1, True) == (found.code, "5 is the limit" in found.err)


def test_budget_at_the_desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Processor time may be a part of a second; a program that goes beyond it ends with one line."""
    program = tmp_path / "loop.esql"
    program.write_text("DECLARE i INTEGER 0; WHILE TRUE DO SET i = i + 1; END WHILE; SET OutputRoot.XMLNSC.i = i;")
    found = penstock(capsys, "esql", "run", str(program), "--limits", "cpu=0.2")
    assert (1, 1) == (found.code, len(found.err.splitlines()))
    assert "BIP2574" in found.err
    assert Limits(cpu=0.2, memory=5_000) == read_limits("cpu=0.2,memory=5_000", "x")

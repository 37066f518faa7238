"""Python's own tools see ESQL: coverage.py counts its lines, pdb stops at them, tracebacks show them."""

from __future__ import annotations

import io
import pdb
import traceback
from pathlib import Path

import coverage
import pytest

from engine.errors import BrokerError
from esql.cache import Cache
from esql.runtime.interactive_session import message_of, outcomes
from esql.runtime.program import Compiled

PROGRAM = """CREATE COMPUTE MODULE M
  DECLARE seen SHARED INTEGER 0;
  CREATE FUNCTION Main() RETURNS BOOLEAN
  BEGIN
    DECLARE i INTEGER 1; DECLARE n INTEGER InputRoot.XMLNSC.a.n;
    WHILE i <= 3 DO
      IF i = 2 THEN
        SET OutputRoot.XMLNSC.r.two =
          'é' || CAST(i AS CHARACTER);
      ELSEIF i > 5 THEN
        SET OutputRoot.XMLNSC.r.never = 1;
      END IF;
      SET i = i + 1;
    END WHILE;
    CALL note(i);
    SET OutputRoot.XMLNSC.r.x[] =
      (SELECT ITEM T
       FROM InputRoot.XMLNSC.a.b[] AS T
       WHERE T > 1);
    SET Environment.bad = 'é' || CAST(6 / (i - n) AS CHARACTER);
    RETURN TRUE;
  END;

  CREATE PROCEDURE note(IN n INTEGER)
  BEGIN
    SET seen = n;
    RETURN;
  END;

  CREATE PROCEDURE never()
  BEGIN
    SET seen = 0;
  END;
END MODULE;
"""
FAILING = 20
DEFINED = {1, 3, 24, 30}  # where functions begin, which coverage.py counts when they are defined
RUN = {2, 5, 6, 7, 8, 9, 10, 13, 15, 16, 17, 18, 19, 20, 21, 26, 27}


@pytest.fixture(params=["compiled", "from the cache"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Compiled, str]:
    """The program in a file of its own, compiled now or before."""
    file = tmp_path / "orders.esql"
    file.write_text(PROGRAM, "utf-8")
    cache = Cache(tmp_path / "cache" if request.param == "from the cache" else None)
    for _ in "12":
        found = cache.sources([(str(file), file.read_bytes())])
    return found, str(file)


def run(compiled: Compiled, number: int) -> list[str]:
    body = f"<a><b>1</b><b>2</b><n>{number}</n></a>"
    return list(outcomes(compiled, message_of(body.encode(), "XMLNSC")))


def test_coverage(program: tuple[Compiled, str], tmp_path: Path) -> None:
    """coverage.py counts the lines that have run, and not those of a branch or a routine that has not."""
    compiled, file = program
    measured = coverage.Coverage(data_file=None, include=[file], config_file=False)
    measured.start()
    try:
        run(compiled, 1)
    finally:
        measured.stop()
    assert set(measured.get_data().lines(file) or ()) - DEFINED == RUN


def test_pdb(program: tuple[Compiled, str]) -> None:
    """A breakpoint at a line of ESQL stops there, shows it, and steps to the next one."""
    compiled, file = program
    said = io.StringIO()
    commands = [f"tbreak {file}:13", "continue", "where", *["next"] * 3, "continue"]
    debugger = pdb.Pdb(stdin=io.StringIO("\n".join(commands) + "\n"), stdout=said, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    assert debugger.runcall(run, compiled, 1)
    shown = [line.removeprefix("(Pdb) ").strip() for line in said.getvalue().splitlines()]
    stops = [line.partition("orders.esql")[2].partition(")")[0] for line in shown if line.startswith("> ")]
    assert list(dict.fromkeys(stop for stop in stops if stop)) == ["(13", "(6", "(7"]
    assert "-> SET i = i + 1;" in shown
    assert "-> IF i = 2 THEN" in shown


def test_traceback(program: tuple[Compiled, str]) -> None:
    """A traceback shows the line of ESQL, with carets under the piece that failed."""
    compiled, file = program
    with pytest.raises(BrokerError, match=f":{FAILING}:39: ") as caught:
        run(compiled, 4)
    told = "".join(traceback.format_exception(caught.value)).splitlines()
    at = next(number for number, line in enumerate(told) if f'"{file}", line {FAILING}' in line)
    line, carets = told[at + 1], told[at + 2]
    assert line.strip() == PROGRAM.splitlines()[FAILING - 1].strip()
    assert [line[place] for place, mark in enumerate(carets) if mark in "~^"] == list("6 / (i - n)")

"""Flows with databases at a desk: units of work, nodes that commit at once, and what deploying finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.databases.sources import Sources
from tests.cli.command_line import penstock
from tests.databases.programs import define, rows

ITEMS = "CREATE TABLE items (id INTEGER PRIMARY KEY, name VARCHAR(40))"
INSERT = "SET OutputRoot = InputRoot; INSERT INTO Database.ITEMS(ID, NAME) VALUES({}, InputBody.m.name);"
FLOW = """
flow: Stock
nodes:
  In: {{type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}}
  First: {{type: Compute, computeExpression: "{first}", dataSource: DB, transaction: {transaction}}}
  Second: {{type: Compute, computeExpression: "{second}"}}
  Out: {{type: MQOutput, queueName: OUT}}
wires:
  - In.out -> First
  - First.out -> Second
  - Second.out -> Out
"""


def flow_in(folder: Path, first: str, second: str, transaction: str = "automatic") -> Path:
    """A flow of two Compute nodes, and a message beside it."""
    file = folder / "stock.yaml"
    file.write_text(FLOW.format(first=first, second=second, transaction=transaction), "utf-8")
    (folder / "1.xml").write_bytes(b"<m><id>1</id><name>O'Brien</name></m>")
    return file


def command(folder: Path, file: Path, url: str) -> tuple[str, ...]:
    return ("run", str(file), "--input", str(folder / "1.xml"), "--output", str(folder / "out"), "--data-source", url)


FAILING = "THROW USER EXCEPTION VALUES('no');"
CASES = [
    (INSERT.format(1), INSERT.format(2), "automatic", 0, [(1, "O'Brien"), (2, "O'Brien")]),
    (INSERT.format(1), FAILING, "automatic", 1, []),
    (INSERT.format(1), INSERT.format(1), "automatic", 1, []),
    (INSERT.format(1), FAILING, "commit", 1, [(1, "O'Brien")]),
    (INSERT.format(1) + " ROLLBACK;" + INSERT.format(3), FAILING, "commit", 1, [(3, "O'Brien")]),
    (INSERT.format(1) + " PROPAGATE; RETURN FALSE;", FAILING, "commit", 1, [(1, "O'Brien")]),
]


@pytest.mark.parametrize(("first", "second", "transaction", "code", "left"), CASES)
def test_unit_of_work(  # noqa: PLR0913, PLR0917 - a case has so many parts
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    sources: Sources,
    url: str,
    first: str,
    second: str,
    transaction: str,
    code: int,
    left: list[tuple[int, str]],
) -> None:
    """What nodes write is committed with the message, or not at all; transaction commit is not asked twice."""
    define(sources, ITEMS)
    file = flow_in(tmp_path, first, second, transaction)
    ended = penstock(capsys, *command(tmp_path, file, f"DB={url}"))
    assert ended.code == code, ended.err
    # a message that fails is tried again, as its queue has it, and the row of the node that commits at once stays
    assert rows(sources, "SELECT id, name FROM items ORDER BY id") == left


PROBLEMS = [
    (INSERT.replace("ITEMS", "ITEM").format(1), "data source DB: there is no table ITEM; did you mean items?"),
    (
        INSERT.replace("NAME)", "NAMES)").format(1),
        "data source DB: table items has no column NAMES; did you mean name?",
    ),
    ("DELETE FROM Database.DC.main.ITEMS;", "there is no data source DC"),
]


@pytest.mark.parametrize(("text", "expected"), PROBLEMS)
def test_deploy_looks_names_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sources: Sources, url: str, text: str, expected: str
) -> None:
    """A table, a column or a data source that is not there is found before a message is."""
    define(sources, ITEMS)
    file = flow_in(tmp_path, text, "SET OutputRoot = InputRoot;")
    ended = penstock(capsys, *command(tmp_path, file, f"DB={url}"))
    assert ended.code == 1
    assert expected in ended.err
    assert not list(tmp_path.glob("out/*/*"))


def test_wrong_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that is no name and URL, or a dialect that nobody has, is refused without saying what it holds."""
    file = flow_in(tmp_path, INSERT.format(1), INSERT.format(2))
    for option, expected in (
        ("DB", "--data-source is NAME=URL or NAME=@FILE: DB is neither"),
        ("DB=secret", "data source DB has no URL that begins with a dialect"),
        ("DB=nosuch://me:secret@host/db", "data source DB: there is no dialect nosuch"),
        ("DB=oracle+oracledb://me:secret@host/db", "data source DB: oracle+oracledb needs the Python package oracledb"),
        (f"DB=@{tmp_path}/none", "cannot be read: No such file or directory"),
    ):
        ended = penstock(capsys, *command(tmp_path, file, option))
        assert ended.code == 1
        assert expected in ended.err
        assert "secret" not in ended.err + ended.out

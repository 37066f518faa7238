"""Data sources of flows: drivers that lint misses, and coordinated flows over databases that cannot prepare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.databases.coordination import Coordinator
from engine.databases.definitions import Definition
from engine.databases.errors import DatabaseException
from engine.databases.session import Access, Session
from engine.databases.sources import Sources
from engine.databases.statements import Passthru
from engine.databases.work import DatabaseWork
from tests.cli.command_line import penstock
from tests.databases.programs import define, rows, run

INSERT = "INSERT INTO Database.items(id) VALUES(1);"
PASSTHRU = "PASSTHRU('INSERT INTO items VALUES(1)');"
ITEMS = "CREATE TABLE items (id INTEGER PRIMARY KEY)"
FLOW = """flow: Two
properties: {{coordinatedTransaction: {coordinated}}}
nodes:
  In: {{type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}}
  First: {{type: Database, dataSource: A, statement: "{first}"}}
  Second: {{type: Database, dataSource: B, transaction: {transaction}, statement: "{second}"}}
  Out: {{type: MQOutput, queueName: OUT}}
wires:
  - In.out -> First
  - First.out -> Second
  - Second.out -> Out
"""
SQLITE, POSTGRESQL = "sqlite:///{folder}/{name}.db", "postgresql+psycopg://nobody:secret@host/db"
NOTE = "note: data source {} (sqlite) cannot prepare a unit of work"
REFUSED = "data source B (sqlite) cannot prepare a unit of work, nor can A"
NO_DRIVER = "data source B: oracle+oracledb needs the Python package oracledb"
CASES: dict[str, tuple[dict[str, Any], str, list[str], list[str]]] = {
    "two of SQLite": ({}, SQLITE, [REFUSED], [NOTE.format("A"), NOTE.format("B")]),
    "one of SQLite": ({}, POSTGRESQL, [], [NOTE.format("A")]),
    "one commits at once": ({"transaction": "commit"}, SQLITE, [], [NOTE.format("A")]),
    "one is only read": ({"second": "SET Environment.a = 1;"}, SQLITE, [], [NOTE.format("A")]),
    "what PASSTHRU does is not known": ({"second": PASSTHRU}, SQLITE, [], [NOTE.format("A"), NOTE.format("B")]),
    "not coordinated": ({"coordinated": "false"}, SQLITE, [], []),
    "no driver": ({"coordinated": "false"}, "oracle+oracledb://me:secret@host/db", [NO_DRIVER], []),
    "no dialect": ({"coordinated": "false"}, "nosuch://me:secret@host/db", ["there is no dialect nosuch"], []),
}


def flow_in(folder: Path, **said: str) -> Path:
    """A flow whose unit of work is over two data sources."""
    file = folder / "two.yaml"
    made = {"coordinated": "true", "first": INSERT, "second": INSERT, "transaction": "automatic"} | said
    file.write_text(FLOW.format(**made), "utf-8")
    return file


def options(folder: Path, second: str) -> tuple[str, ...]:
    urls = {"A": SQLITE, "B": second}
    given = (f"{name}={url.format(folder=folder, name=name)}" for name, url in urls.items())
    return tuple(part for one in given for part in ("--data-source", one))


@pytest.mark.parametrize("name", CASES)
def test_lint(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """A missing driver and a second database that cannot prepare are problems, the window of one is a note."""
    said, second, problems, notes = CASES[name]
    ended = penstock(capsys, "flow", "lint", str(flow_in(tmp_path, **said)), *options(tmp_path, second))
    assert ended.code == bool(problems)
    assert [one in ended.out for one in problems] == [True] * len(problems)
    assert ended.out.count("BIP") == len(problems)
    assert [one in ended.err for one in notes] == [True] * len(notes)
    assert ended.err.count("note:") == len(notes)
    assert "secret" not in ended.out + ended.err
    assert not list(tmp_path.glob("*.db"))


BROKER = """broker: B
executionGroups: {default: {flows: [two.yaml]}}
dataSources:
  A: {url: "sqlite:///a.db"}
  B: {url: "sqlite:///b.db", password: {env: NOT_SET_ANYWHERE}}
  C: {url: "oracle+oracledb://host/db"}
"""


def test_lint_of_a_broker_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The flows of a broker file are linted with its data sources, but for those that the command names."""
    flow_in(tmp_path)
    (tmp_path / "broker.yaml").write_text(BROKER, "utf-8")
    ended = penstock(capsys, "flow", "lint", str(tmp_path / "broker.yaml"))
    assert (ended.code, ended.out.count("BIP"), ended.err.count("note:")) == (1, 2, 2)
    assert REFUSED in ended.out
    assert "data source C: oracle+oracledb needs the Python package oracledb" in ended.out
    given = ("--data-source", "B=postgresql://host/db", "--data-source", "C=sqlite://")
    ended = penstock(capsys, "flow", "lint", str(tmp_path / "broker.yaml"), *given)
    assert (ended.code, ended.out, ended.err.count("note:")) == (0, "", 1)


def test_deploy_refuses_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A coordinated flow that writes to two databases which cannot prepare is not deployed, and the reason is said."""
    file = flow_in(tmp_path)
    (tmp_path / "1.xml").write_bytes(b"<m/>")
    for name in "AB":
        sources = Sources([Definition("DB", SQLITE.format(folder=tmp_path, name=name))])
        define(sources, ITEMS)
        sources.close()
    at = ("--input", str(tmp_path / "1.xml"), "--output", str(tmp_path / "out"))
    ended = penstock(capsys, "run", str(file), *at, *options(tmp_path, SQLITE))
    assert ended.code == 1
    assert REFUSED in ended.err
    ended = penstock(capsys, "run", str(flow_in(tmp_path, transaction="commit")), *at, *options(tmp_path, SQLITE))
    assert ended.code == 0, ended.err


TEST = """flow: two.yaml
cases:
  - name: both
    input: {queue: IN, body: "<m/>"}
    tables: {A: {items: {columns: {id: INTEGER}, rows: []}}, B: {items: {columns: {id: INTEGER}, rows: []}}}
    expect: {tables: {A: {items: [{id: 1}]}, B: {items: [{id: 1}]}}}
"""


def test_databases_of_tests_stand_in_for_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Databases in memory that a test has made may both be in a coordinated unit of work."""
    flow_in(tmp_path)
    (tmp_path / "tests.yaml").write_text(TEST, "utf-8")
    ended = penstock(capsys, "test", str(tmp_path / "tests.yaml"))
    assert ended.code == 0, ended.out + ended.err


class Queues:
    """Queues that count what is asked of them."""

    name = "QM"
    get = put = attributes = new_id = None

    def __init__(self) -> None:
        self.asked: list[str] = []

    def commit(self, _: object = ()) -> None:
        self.asked.append("commit")

    def back_out(self) -> None:
        self.asked.append("back out")


def test_the_coordinator_refuses_two(tmp_path: Path) -> None:
    """What PASSTHRU has written to two databases that cannot prepare is not committed to any of them."""
    sources = Sources([Definition(name, SQLITE.format(folder=tmp_path, name=name)) for name in "AB"])
    queues: Any = Queues()
    work = DatabaseWork(queues, Session(sources, coordinated=True), Coordinator(queues))
    for name in "AB":
        define(sources, ITEMS, source=name)
        connection = Access(name).connection(work)
        assert connection is not None
        connection.execute(Passthru(), (), ("INSERT INTO items VALUES (1)",))
    with pytest.raises(DatabaseException, match="A and B cannot prepare a unit of work"):
        work.commit()
    work.back_out()
    assert queues.asked == ["back out"]
    assert [rows(sources, "SELECT id FROM items", name) for name in "AB"] == [[], []]
    sources.close()


def test_a_table_that_is_gone_behind_deploy(tmp_path: Path) -> None:
    """A table that is not there any more is an error of its statement, which SQLCODE and SQLSTATE tell of."""
    sources = Sources([Definition("DB", SQLITE.format(folder=tmp_path, name="A"))])
    define(sources, ITEMS)
    text = "INSERT INTO Database.items(id) VALUES(1); SET OutputRoot.XMLNSC.m.code = SQLCODE;"
    text += " SET OutputRoot.XMLNSC.m.state = SQLSTATE;"
    access = Access(throws=False)
    assert ["<m><code>0</code><state>00000</state></m>" in one for one in run(sources, text, access)] == [True]
    define(sources, "DROP TABLE items")
    assert ["<m><code>-1</code><state>D42S02</state></m>" in one for one in run(sources, text, access)] == [True]
    sources.close()


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [(None, 1, "there is no file"), (b"no database, but a text", 1, "not a database"), (b"", 0, "connected, sqlite")],
    ids=["missing", "text", "empty"],
)
def test_a_file_of_sqlite_is_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, code: int, said: str
) -> None:
    """The command reads the file, and makes none."""
    file = tmp_path / "a.db"
    if content is not None:
        file.write_bytes(content)
    ended = penstock(capsys, "data-source", "test", "A", "--data-source", f"A=sqlite:///{file}")
    assert (code, content is not None) == (ended.code, file.exists())
    assert said in ended.out + ended.err

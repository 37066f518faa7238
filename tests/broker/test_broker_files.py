"""broker.yaml: one definition for brokers and for Spark, read with the places of what is wrong, and written again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.broker.definition import Definition, FlowUse, Grant, Limits
from engine.broker.file_reader import definition_of
from engine.broker.file_writer import broker_text
from engine.errors import ConfigurationException
from spark_exec.deployment import deployment_of
from tests.broker.running import flow
from tests.cli.command_line import penstock

WHOLE = """\
broker: SHOP
queueManager: QM1
queues:
  IN: {BOTHRESH: 3, BOQNAME: BACK, MAXDEPTH: 10}
  BACK:
  OLD: {backoutThreshold: 2, defaultPersistence: 1, HARDENBO: false, DESCR: "false"}
dataSources:
  STOCK: {url: "sqlite:///stock.db"}
statisticsSeconds: 5
executionGroups:
  A:
    - f.yaml
    - {flow: g.yaml, additionalInstances: 2, copies: 3, properties: {Out.queueName: X}}
  B:
    limits: {memory: 64m, cpuSecondsPerMessage: 1.5, messagesPerSecond: 10}
    executors: {cores: 2, memory: 2g}
    flows: []
rights:
  - {user: ada, may: [read, deploy]}
  - {userGroup: ops, may: [operate], executionGroup: A}
"""


def read(folder: Path, text: str) -> Definition:
    file = folder / "broker.yaml"
    file.write_text(text, encoding="utf-8")
    found = definition_of(str(file))
    assert found is not None
    return found


def test_whole_file(tmp_path: Path) -> None:
    """Every part of a broker file is read, and written so that it reads the same."""
    found = read(tmp_path, WHOLE)
    assert found.queues == {
        "IN": {"BOTHRESH": 3, "BOQNAME": "BACK", "MAXDEPTH": 10},
        "BACK": {},
        "OLD": {"BOTHRESH": 2, "DEFPSIST": 1, "HARDENBO": False, "DESCR": "false"},
    }
    assert found.flows[1] == FlowUse(str(tmp_path / "g.yaml"), "A", 2, 3, {"Out.queueName": "X"})
    assert found.limits == {"B": Limits(64 << 20, 1.5, 10.0)}
    assert found.rights == (Grant("ada", ("read", "deploy")), Grant("ops", ("operate",), "A", is_group=True))
    assert ("A", "B") == found.groups
    assert f"sqlite:///{tmp_path}/stock.db" == found.data_sources["STOCK"]["url"]
    assert found == read(tmp_path, broker_text(found))


def test_files_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that a broker file names are those beside it, wherever later commands are called."""
    read(tmp_path, "broker: B\nusers: users\ntraces: spans\nrepository: sqlite:///known.sqlite\n")
    monkeypatch.chdir(tmp_path.parent)
    found = definition_of(f"{tmp_path.name}/broker.yaml")
    assert found is not None
    said = found.settings
    assert (str(tmp_path / "users"), str(tmp_path / "spans")) == (said.users, said.traces)
    assert f"sqlite:///{tmp_path}/known.sqlite" == said.repository


def test_spark_takes_the_same_file(tmp_path: Path) -> None:
    """Spark's deployment is of the same flows and queues."""
    read(tmp_path, WHOLE)
    found = deployment_of(str(tmp_path / "broker.yaml"))
    assert ["f.yaml", "g.yaml"] == [Path(use.file).name for use in found.uses]
    assert (3, "BACK") == (found.queues["IN"].backout_threshold, found.queues["IN"].backout_requeue_queue)


WRONG = [
    ("broker: B\nqueue: {}\n", ":2:1: a broker file has no queue; did you mean queues?"),
    ("broker: B\nqueues: {IN: {maxdepth: 1}}\n", ":2:15: a queue has no maxdepth"),
    ("broker: B\nqueues: {IN: {MAXDEPTH: deep}}\n", ":2:15: MAXDEPTH takes a whole number"),
    ("broker: B\nqueues: {IN: {MAXDEPHT: 5}}\n", ":2:15: QLOCAL has no attribute MAXDEPHT; did you mean MAXDEPTH?"),
    ("broker: B\nqueues: {IN: {TARGET: OUT, BOTHRESH: 5}}\n", ":2:28: QALIAS has no attribute BOTHRESH"),
    ("broker: B\nexecutionGroups: {G: {limits: {memory: much}}}\n", ":2:40: memory must be a size"),
    ("broker: B\nexecutionGroups: {G: [{flow: f.yaml, instances: 2}]}\n", "a deployed flow has no instances"),
    ("broker: B\nrights: [{user: ada, may: [write]}]\n", "there is no right write"),
    ("broker: B\nrights: {ada: [read]}\n", ":2:9: rights must be a list"),
    ("broker: B\ndataSources: {S: {url: 'postgresql://u:pw@h/d'}}\n", "a broker file holds no password"),
    ("broker: B\nlog: xml\n", "log is text or json"),
]


@pytest.mark.parametrize(("text", "why"), WRONG)
def test_what_is_wrong(tmp_path: Path, text: str, why: str) -> None:
    """A broker file that cannot be is refused with its place, and without any password that is in it."""
    with pytest.raises(ConfigurationException) as raised:
        read(tmp_path, text)
    said = "\n".join(problem.render() for problem in raised.value.problems)
    assert why in said
    assert "pw@" not in str(raised.value)


def test_init_with_a_data_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Programs that ask databases are compiled with the data sources of --data-source; without one it is named."""
    file = str(flow(tmp_path, "F", program="INSERT INTO Database.t (x) VALUES (1); SET OutputRoot = InputRoot;"))
    refused = penstock(capsys, "broker", "init", str(tmp_path / "shop"), file)
    assert (1, True) == (refused.code, "to broker init by --data-source" in refused.err)
    with closing(sqlite3.connect(tmp_path / "s.db")) as database:
        database.execute("CREATE TABLE t (x INTEGER)")
    source = f"S=sqlite:///{tmp_path / 's.db'}"
    said = penstock(capsys, "broker", "init", str(tmp_path / "shop"), file, "--data-source", source)
    assert (0, "") == (said.code, said.err)
    definition = definition_of(str(tmp_path / "shop" / "broker.yaml"))
    assert definition is not None
    assert ["S"] == list(definition.data_sources)


@pytest.mark.parametrize("target", ["/dev/zero", "nowhere"])
def test_a_broker_file_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str) -> None:
    """A broker.yaml that is there is not passed over: no broker without its flows is made."""
    (tmp_path / "broker.yaml").symlink_to(target)
    ended = penstock(capsys, "broker", "create", str(tmp_path))
    assert ended.code == 1
    assert "broker.yaml" in ended.err
    assert [tmp_path / "broker.yaml"] == list(tmp_path.iterdir())

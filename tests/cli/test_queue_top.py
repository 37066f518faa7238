"""penstock queue top: what it shows of queues, once or again and again, and records of statistics as JSON."""

from __future__ import annotations

import json

import pytest

from engine.cli.statistics import queue_lines as rows
from tests.cli.command_line import penstock
from tests.cli.queues import lines, made


@pytest.fixture
def folder(tmp_path, monkeypatch):
    found = made(tmp_path / "qm", "A", "B")
    monkeypatch.setenv("PENSTOCK_QUEUE_MANAGER", str(found))
    return found


def test_a_snapshot(folder, capsysbinary):
    """A snapshot has an object a queue, in the order of their names; as text it is a line a queue."""
    assert 0 == penstock(capsysbinary, "put", "A", "--text", "x").code
    shown = json.loads(penstock(capsysbinary, "queue", "top", "--json").out)
    assert [("A", 1), ("B", 0)] == [(one["queue"], one["depth"]) for one in shown if one["queue"] in {"A", "B"}]
    text = penstock(capsysbinary, "queue", "top").out.decode().splitlines()
    assert len(shown) + 1 == len(text)
    assert any(line.split()[:2] == ["A", "1"] for line in text)


def test_rates():
    """Rates are what was done since the look before, and the busiest queue is shown first."""
    one = {
        "queue": "A",
        "depth": 5,
        "uncommitted": 1,
        "puts": [10, 20],
        "gets": [5, 5],
        "readers": 2,
        "streamed": 7,
        "stream_failed": 1,
        "expired": 0,
    }
    before = one | {"puts": [4, 20], "gets": [5, 1]}
    busy = one | {"queue": "B", "puts": [100, 20]}
    _, first, second = rows([one, busy], [before, before | {"queue": "B"}], 2.0)
    assert ["B", "5", "1", "48", "2", "120", "10", "7", "1", "0", "2"] == first.split()
    assert ["A", "5", "1", "3", "2"] == second.split()[:5]


def test_records_are_read_as_json(folder, capsysbinary):
    """What was counted is written as the queue manager ends, and a command shows what a record has."""
    script = "ALTER QL(A) STATQ(ON)\nALTER QMGR STATIME(0.05)\n"
    (folder.parent / "on.mqsc").write_text(script)
    assert 0 == penstock(capsysbinary, "mqsc", str(folder.parent / "on.mqsc")).code
    assert 0 == penstock(capsysbinary, "put", "A", "--text", "x").code
    printed = penstock(capsysbinary, "get", "SYSTEM.ADMIN.STATISTICS.QUEUE", "--all", "--json").out.decode()
    counted = [one["puts"] for line in lines(printed) for one in line["pcf"]["queues"]]
    assert [1] == [sum(puts) for puts in counted if sum(puts)]

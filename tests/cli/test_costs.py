"""penstock costs: one scenario, tiny; what is written, compared and judged; and what is refused."""

from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.costs.report.earlier_results import read_results
from engine.costs.results import published
from tests.cli.command_line import penstock

TINY = ("--seconds", "0.002", "--runs", "2", "--drivers", "2")
ONE = ("costs", "nodes", "--scenario", "compute_simple", "--size", "1k", *TINY)


def test_one_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    """A table has our figures beside the report's, of persistent messages too."""
    ended = penstock(capsys, *ONE)
    assert 0 == ended.code
    assert "compute_simple" in ended.out
    assert "2 of 2 rows measured" in ended.out
    assert "" == ended.err


def test_results_are_written_and_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """JSON, CSV and the page are written; a later run is compared with the JSON."""
    place = tmp_path / "results"
    assert 0 == penstock(capsys, *ONE, "--output", str(place)).code
    results = read_results(place / "results.json")
    options = {"seconds": 0.002, "runs": 2, "drivers": 2, "brokers": True, "scenarios": ["compute_simple"]}
    assert options == dict(results.options)
    with (place / "rows.csv").open(encoding="utf-8", newline="") as stream:
        assert 2 == len(list(csv.DictReader(stream)))
    assert "compute_simple" in (place / "report.html").read_text("utf-8")
    ended = penstock(capsys, *ONE, "--compare", str(place / "results.json"))
    assert f"Compared with the run of {results.started}: 2 rows measured in both" in ended.out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON there is the same as in results.json, and nothing else."""
    data = json.loads(penstock(capsys, *ONE, "--json").out)
    assert ["compute_simple"] * 2 == [row["key"]["scenario"] for row in data["rows"]]
    assert [] == data["bounds"]


def test_check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code says whether what must be shown is: here that we are faster than the report's machine."""
    assert 0 == penstock(capsys, *ONE, "--check").code
    slow = {key: replace(row, cpu_ms=1e-9) for key, row in published().items()}
    monkeypatch.setattr("engine.costs.results.published", lambda: slow)
    assert 1 == penstock(capsys, *ONE, "--check").code


def test_the_order_of_costs_is_that_of_all_scenarios(capsys: pytest.CaptureFixture[str]) -> None:
    """A few scenarios that were chosen are not judged by an order that all of them have."""
    few = ("--scenario", "mq_*", "--scenario", "filter", "--size", "1k", "--size", "4k")
    ended = penstock(capsys, "costs", "nodes", *few, *TINY)
    assert "9 of 9 rows measured" in ended.out
    assert "less processor time than the report's machine: 9 of 9 rows" in ended.out
    assert "rank correlation" not in ended.out


def test_messages(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The message of every scenario and size is written, the same bytes each time, with an index."""
    for place in ("a", "b"):
        assert 0 == penstock(capsys, "costs", "messages", "--output", str(tmp_path / place)).code
    index = json.loads((tmp_path / "a" / "index.json").read_text("utf-8"))["messages"]
    assert {(key.scenario, key.message_bytes) for key in published()} == {
        (entry["scenario"], entry["message_bytes"]) for entry in index
    }
    for entry in index:
        body = (tmp_path / "a" / entry["file"]).read_bytes()
        assert entry["message_bytes"] == len(body)
        assert entry["sha256"] == hashlib.sha256(body).hexdigest()
        assert body == (tmp_path / "b" / entry["file"]).read_bytes()
        assert entry["file"].endswith(".xml") == body.startswith(b"<")
    assert (
        b"<Order><Id>1</Id><Status>NEW</Status><Line0000>" == (tmp_path / "a/compute_simple-1024.xml").read_bytes()[:47]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--scenario", "compute_simpel"), "did you mean compute_simple?"),
        (("--size", "2k"), "no scenario has messages of 2048 bytes"),
        (("--size", "big"), "--size big is no size"),
        (("--seconds", "0"), "--seconds 0.0 is no time"),
        (("--runs", "0"), "--runs 0"),
        (("--drivers", "0"), "--drivers 0"),
        (("--compare", "nowhere.json"), "nowhere.json: the results cannot be read"),
        (("kernle",), "no benchmarks called kernle; did you mean kernel?"),
        (("kernel", "--scenario", "filter"), "kernel takes no --scenario"),
        (("messages",), "--output names no directory"),
        (("messages", "--output", "x", "--check"), "messages takes no --check"),
        (("nodes", "--output", ""), "--output names no directory"),
        (("queues", "--seconds", "-1"), "--seconds -1.0 is no time"),
        (("queues", "--seconds", "nan"), "--seconds nan is no time"),
        (("plan", "orders.yaml", "--rate", "inf"), "--rate inf is more than can be planned for"),
        (("plan", "orders.yaml", "--rate", "1", "--backlog", "inf"), "--backlog inf is more than can be planned for"),
        (("plan", "orders.yaml", "--rate", "1", "--size", "0"), "--size 0 is no size"),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    """What cannot be is refused before anything is measured, with what to do."""
    ended = penstock(capsys, "costs", *arguments)
    assert (1, "") == (ended.code, ended.out)
    assert message in ended.err

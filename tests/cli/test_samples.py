"""The sample flows, and flows with ESQL, at the command line: what they show, and how they fail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.costs.limits import complex_path_by_hand
from tests.cli.command_line import ROOT, penstock


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run where the samples are."""
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("sample", ["orders", "content_filter", "complex_compute", "conversions"])
def test_the_readme_of_the_sample(sample: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The README beside a sample shows what the command prints."""
    text = (ROOT / "flows" / "samples" / sample / "README.md").read_text("utf-8")
    command, shown = re.findall(r"```console\n\$ penstock ([^\n]+)\n(.*?)```", text, re.DOTALL)[0]
    ended = penstock(capsys, *(str(tmp_path) if word == "out" else word for word in command.split()))
    assert shown == ended.out.replace(str(tmp_path), "out")


def test_the_complex_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The complex program writes what the same work by hand writes."""
    sample = ROOT / "flows" / "samples" / "complex_compute"
    given = sample / "messages" / "complex.xml"
    penstock(capsys, "run", str(sample / "complex_compute.yaml"), "--input", str(given), "--output", str(tmp_path))
    assert (tmp_path / "COMPLEX.OUT" / "complex.xml").read_bytes() == complex_path_by_hand(given.read_bytes())


def test_a_failure_in_esql(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What fails in a program says its file, line and column, and the node."""
    sample = ROOT / "flows" / "samples" / "content_filter"
    text = (sample / "content_filter.yaml").read_text("utf-8").replace("  - Is large.failure -> Broken\n", "")
    (tmp_path / "f.yaml").write_text(text.replace("  Broken:", "  # Broken:"), "utf-8")
    esql = tmp_path / "content_filter.esql"
    esql.write_bytes((sample / "content_filter.esql").read_bytes())
    broken = str(sample / "messages" / "5-broken.xml")
    ended = penstock(capsys, "run", str(tmp_path / "f.yaml"), "--input", broken, "--output", str(tmp_path / "out"))
    assert ended.code == 1
    assert f"{esql}:8:31: 'a lot' cannot be cast" in ended.err
    assert ended.err.endswith("(in samples.content_filter.Content filter.Is large)\n")


def test_lint_shows_esql(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Problems of programs are problems of the flow, and keep it from running."""
    flow = tmp_path / "f.yaml"
    node = 'C: {type: Compute, computeExpression: "SET OutputRoot.XMLNSC.m = x;"}'
    flow.write_text(f"flow: F\nnodes:\n  In: {{type: MQInput, queueName: IN}}\n  {node}\nwires: [In.out -> C]\n")
    ended = penstock(capsys, "flow", "lint", str(flow))
    assert (ended.code, ended.out.splitlines()[0]) == (
        1,
        f"BIP2432 {flow}:4:68: nothing called x is declared here; declare it first",
    )
    ran = penstock(capsys, "run", str(flow), "--input", str(flow), "--output", str(tmp_path / "out"))
    assert (ran.code, ran.err.splitlines()[0]) == (1, ended.out.splitlines()[0])

"""The sample flows, and flows with ESQL, at the command line: what they show, and how they fail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.costs.hand_written import complex_path_by_hand
from flows.files import read_file
from flows.label_names import label_names
from flows.svg import draw_svg
from tests.cli.command_line import ROOT, penstock


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run where the samples are."""
    monkeypatch.chdir(ROOT)


SAMPLES = sorted(file.parent for file in (ROOT / "flows" / "samples").glob("*/README.md"))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda folder: folder.name)
def test_the_readme_of_the_sample(sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The README beside a sample shows what its commands print."""
    text = (sample / "README.md").read_text("utf-8")
    blocks = re.findall(r"```console\n\$ penstock ([^\n]+)\n(.*?)```", text, re.DOTALL)
    assert blocks
    for number, (command, shown) in enumerate(blocks):
        out = str(tmp_path / str(number))
        ended = penstock(capsys, *(out if word == "out" else word for word in command.split()))
        assert shown == ended.out.replace(out, "out")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda folder: folder.name)
def test_the_cases_of_the_sample(sample: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each sample has cases, and they pass."""
    ended = penstock(capsys, "test", str(sample.relative_to(ROOT)))
    assert (ended.code, ended.err) == (0, "")
    assert " 0 failed" in ended.out


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda folder: folder.name)
def test_the_picture_of_the_sample(sample: Path, accept: bool) -> None:
    """The picture beside a sample is of its flow as it is now; `pytest --accept` draws it anew."""
    file = sample / f"{sample.name}.yaml"
    flow = read_file(str(file)).flow
    assert flow is not None
    picture = draw_svg(flow, labels=label_names(flow))
    if accept:
        file.with_suffix(".svg").write_text(picture, "utf-8")
    assert file.with_suffix(".svg").read_text("utf-8") == picture


def test_the_complex_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The complex program writes what the same work by hand writes."""
    sample = ROOT / "flows" / "samples" / "complex_compute"
    given = sample / "messages" / "complex.xml"
    penstock(capsys, "run", str(sample / "complex_compute.yaml"), "--input", str(given), "--output", str(tmp_path))
    assert (tmp_path / "COMPLEX.OUT" / "complex.xml").read_bytes() == complex_path_by_hand(given.read_bytes())


def test_the_message_set_of_the_copybook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message set beside a copybook is what importing the copybook makes."""
    sample = ROOT / "flows" / "samples" / "cobol_records"
    made = tmp_path / "orders.set.yaml"
    penstock(capsys, "messageset", "import", str(sample / "order.cpy"), "--out", str(made), "--name", "HOST_ORDERS")
    assert (sample / "orders.set.yaml").read_text("utf-8") == made.read_text("utf-8")


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

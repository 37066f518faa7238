"""The sample of error handling: its README, what is written, and that what fails twice is not caught."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT, penstock

SAMPLE = "flows/samples/error_handling"
FLOW = f"{SAMPLE}/error_handling.yaml"
TOLD = "refund-1.xml: BIP3011 samples.error_handling.ErrorHandling.No refunds: nobody makes refunds yet\n"


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run where the samples are."""
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(("number", "code", "err"), [(0, 0, ""), (1, 1, TOLD)])
def test_the_readme(number: int, code: int, err: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The README beside the sample shows what its commands print."""
    text = (ROOT / SAMPLE / "README.md").read_text("utf-8")
    blocks = re.findall(r"```console\n\$ penstock ([^\n]+)\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    command, shown = blocks[number]
    ended = penstock(capsys, *(str(tmp_path) if word == "out" else word for word in command.split()))
    assert shown == ended.out.replace(str(tmp_path), "out")
    assert ended.code == code
    assert [line for line in ended.err.splitlines(keepends=True) if "; the message went to" not in line] == [
        line for line in (err,) if line
    ]
    assert err.strip() in text


def test_what_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is rejected or given up keeps its bytes, and the trace says why."""
    arguments = ("--queue", "PAYMENTS.IN", "--input", f"{SAMPLE}/messages", "--output", str(tmp_path), "--trace")
    ended = penstock(capsys, "run", FLOW, *arguments)
    penstock(capsys, "run", FLOW, "--queue", "REFUNDS.IN", "--input", f"{SAMPLE}/refunds", "--output", str(tmp_path))
    assert "BIP3051I: rejected: 'this is no payment'" in ended.out + ended.err
    for queue, file in {
        "PAYMENTS.REJECTED": "messages/payment-2-broken.xml",
        "REFUNDS.BACKOUT": "refunds/refund-1.xml",
    }.items():
        given = ROOT / SAMPLE / file
        assert given.read_bytes() == (tmp_path / queue / given.name).read_bytes()


def test_what_fails_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A failure behind catch is not caught again: nothing is put, and the message is a dead letter."""
    text = (ROOT / FLOW).read_text("utf-8").replace("What happened.out -> Rejected", "What happened.out -> No refunds")
    flow = tmp_path / "flow.yaml"
    flow.write_text(re.sub(r"  Rejected: .*\n", "", text))
    out = tmp_path / "out"
    file = f"{SAMPLE}/messages/payment-2-broken.xml"
    ended = penstock(capsys, "run", str(flow), "--queue", "PAYMENTS.IN", "--input", file, "--output", str(out))
    assert ended.code == 1
    assert ["SYSTEM.DEAD.LETTER.QUEUE"] == [folder.name for folder in out.iterdir()]
    (letter,) = (out / "SYSTEM.DEAD.LETTER.QUEUE").iterdir()
    assert letter.read_bytes().endswith((ROOT / file).read_bytes())

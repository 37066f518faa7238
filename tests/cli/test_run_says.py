"""penstock run: what it says beside its report: the trace, why messages were put away, and files of other runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import ROOT, penstock
from tests.cli.conftest import FLOW
from tests.cli.test_run import messages


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run where the samples are."""
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(("arguments", "number"), [(("--trace", "--json"), 3904), (("--trace", "debug"), 3904)])
def test_levels_of_trace(
    arguments: tuple[str, ...], number: int, flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--trace alone means normal; debug shows which nodes run as well."""
    source = messages(tmp_path, b"<a><id>1</id></a>")
    ended = penstock(capsys, "run", flow, "--input", source, "--output", str(tmp_path / "out"), *arguments)
    assert ("BIP2632I" in ended.err, f"BIP{number}I" in ended.err) == (True, "debug" in arguments)


def test_a_level_that_there_is_not(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another level is refused."""
    source = messages(tmp_path, b"<a/>")
    ended = penstock(capsys, "run", flow, "--input", source, "--output", str(tmp_path / "out"), "--trace", "loud")
    assert (ended.code, "--trace loud is no level: it is one of none, normal, debug" in ended.err) == (1, True)


def test_why_a_message_was_put_away(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Why a message went to a failure terminal or was put away is on stderr, though the flow did not fail."""
    early = FLOW.replace("XMLNSC}", "XMLNSC, validateTiming: complete}")
    source = messages(tmp_path, b"<a", b"<a/>", b"")
    arguments = ("run", flow, "--input", source, "--output", str(tmp_path / "out"))
    Path(flow).write_text(early)
    put_away = penstock(capsys, *arguments)
    assert put_away.code == 0
    first, second = put_away.err.splitlines()
    assert first.startswith("1.xml: BIP5009 Pass.In: XML parsing errors have occurred: ")
    assert first.endswith("; the message was put away (BIP2645)")
    text = "the message has no XMLNSC body: it ends where that should begin; the message was put away (BIP2645)"
    assert second == f"3.xml: BIP5009 Pass.In: {text}"
    Path(flow).write_text(early + "  - In.failure -> Out\n")
    wired = penstock(capsys, *arguments)
    assert [line.split("; ")[-1] for line in wired.err.splitlines()][:2] == [
        "the message went to the failure terminal (BIP2644)"
    ] * 2


def test_files_of_another_run(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What another run has left in the output is not taken for this one's: stderr says that it is there."""
    out = str(tmp_path / "out")
    penstock(capsys, "run", flow, "--input", messages(tmp_path, b"<a/>", b"<b/>"), "--output", out)
    (tmp_path / "one").mkdir()
    ended = penstock(capsys, "run", flow, "--input", messages(tmp_path / "one", b"<a/>"), "--output", out)
    assert (ended.code, ended.err) == (0, f"{out} also holds 1 file of another run: empty it, or name another\n")

"""Files of user traces, and what IBM's programs make of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.broker.folder import Folder
from engine.broker.tracing import trace_file
from engine.cli import mqsi
from tests.broker.running import flow

SHOP = "broker: SHOP\nqueues: {IN: {}, OUT: {}}\nexecutionGroups: {eg: [F.yaml]}\n"


def test_a_log_is_not_written_over_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file of mqsireadlog -o is none of those that it reads."""
    home = tmp_path / "home" / "SHOP"
    flow(home, "F")
    (home / "broker.yaml").write_text(SHOP, encoding="utf-8")
    monkeypatch.setenv("PENSTOCK_HOME", str(home.parent))
    trace, log = trace_file(Folder(home), "eg", "F"), tmp_path / "log.xml"
    for words, code in (
        ("mqsicreatebroker SHOP -q QM2", 0),
        (f"mqsireadlog SHOP -u -e eg -o {trace}", 66),
        (f"mqsireadlog SHOP -u -e eg -o {log}", 0),
    ):
        monkeypatch.setattr(sys, "argv", words.split())
        with pytest.raises(SystemExit) as ended:
            mqsi.main()
        said = capsys.readouterr().err
        assert (code, code == 66) == (ended.value.code, "would be written over" in said), said
        trace.parent.mkdir(parents=True, exist_ok=True)
        trace.write_text("2026-01-02 03:04:05.000006  7  UserTrace  a\n", encoding="utf-8")
    assert "UserTrace  a" in log.read_text(encoding="utf-8")

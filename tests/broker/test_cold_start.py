"""The start of a broker: processes are forked with all that they need, and import nothing that they do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.broker.running import ROOT, broker, flow

NOT_NEEDED = {"typer", "rich", "opentelemetry", "prometheus_client", "networkx", "psycopg", "pyspark", "nodes"}
OF_COMPILING = {"antlr4", "esql.syntax", "esql.read", "esql.scope", "esql.check", "esql.emit", "esql.compile"}
MODULES = "import sys, engine.broker.supervisor, engine.broker.group; print(*sys.modules)"


def test_what_processes_import() -> None:
    """Neither supervisors nor groups import the command line, telemetry, drivers or compiler that nothing asks for."""
    done = subprocess.run(
        [sys.executable, "-c", MODULES], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert set() == (NOT_NEEDED | OF_COMPILING) & set(done.stdout.split())


def test_workers_import_nothing(tmp_path: Path) -> None:
    """A worker is ready after a few milliseconds of processor time, as it is forked with all that it runs on."""
    with broker(tmp_path, *(flow(tmp_path, f"F{number}", f"IN{number}") for number in range(8))) as made:
        taken = [_processor_time(pid) for pid in made.workers()]
        assert 8 == len(taken)
        assert sum(taken) / len(taken) < 0.04


def _processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

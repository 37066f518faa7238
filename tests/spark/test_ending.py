"""Runs on Spark that are broken off, and outputs and extras that are found missing before Spark starts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from pyarrow.parquet import read_metadata

from tests.broker.running import until
from tests.cli.command_line import PROGRAM, ROOT, penstock

ARCHIVE = ROOT / "flows/samples/archive/broker.yaml"
FLOW = ROOT / "flows/samples/orders/orders.yaml"
MESSAGES = ROOT / "flows/samples/orders/messages"


@pytest.mark.parametrize(
    ("missing", "text"),
    [("pyarrow", "pyarrow: not installed: pip install 'penstock[spark]'"), ("pyspark", "pyspark: ")],
)
@pytest.mark.parametrize("command", ["run", "demo"])
def test_without_the_extra(
    missing: str, text: str, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without what the extra brings, the command says how to install it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == missing else object())
    given = [str(FLOW), "--messages", str(MESSAGES), "--output", "out"] if command == "run" else []
    ended = penstock(capsys, "spark", command, *given)
    assert (1, True) == (ended.code, text in ended.err)


@pytest.mark.spark
def test_an_output_that_takes_nothing_is_found_before_spark_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An output that cannot be written is refused in one line, and no session is made for it."""

    def started(*_: object) -> None:
        raise AssertionError("Spark is started")

    monkeypatch.setattr("spark_exec.session.session", started)
    ended = penstock(capsys, "spark", "run", str(FLOW), "--messages", str(MESSAGES), "--output", "/proc/out")
    assert (1, True) == (ended.code, ended.err.startswith("penstock: BIP2066: /proc/out cannot be written: "))


SIFTED = """
import os, signal
from spark_exec.cancellation import Ending, ended_at_once

with ended_at_once(Ending("out")):
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.kill(os.getpid(), signal.SIGTERM)
"""


def test_the_end_is_told_while_java_starts(tmp_path: Path) -> None:
    """What a run that a signal ends leaves is said on standard error, also while that goes through a sieve."""
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = [sys.executable, "-c", SIFTED]
    ended = subprocess.run(program, cwd=tmp_path, env=around, capture_output=True, text=True, timeout=300, check=False)
    assert (143, "penstock: ended by SIGTERM: nothing has been written\n") == (ended.returncode, ended.stderr)


def family_of(number: int) -> list[psutil.Process]:
    """The processes that another has started, and those that they have."""
    found: list[psutil.Process] = psutil.Process(number).children(recursive=True)
    return found


@pytest.mark.spark
@pytest.mark.crash
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("when", ["Java starts", "a round runs"])
def test_a_signal_ends_a_run_at_once(number: signal.Signals, when: str, tmp_path: Path) -> None:
    """A run that is told to end does so in seconds with all its processes, and says what it leaves."""
    source, output = tmp_path / "sales.jsonl", tmp_path / "out"
    sale = {"body": "<Sale><Id>1</Id><Count>2</Count><Price>3.99</Price></Sale>", "format": "MQSTR"}
    source.write_text(f"{json.dumps(sale)}\n" * 400_000)
    command = [*PROGRAM, "spark", "run", str(ARCHIVE), "--messages", str(source), "--queue", "SALES.IN"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*command, "--output", str(output)], cwd=ROOT, stdout=pipe, stderr=pipe, text=True
    ) as running:
        for _ in range(1200):
            is_java = output.exists() and "java" in [child.name() for child in family_of(running.pid)]
            if is_java and (when == "Java starts" or (output / "round=0").exists()):
                break
            time.sleep(0.05)
        family = [child.pid for child in family_of(running.pid)]
        began = time.monotonic()
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert (128 + number, "") == (running.returncode, out)
    assert time.monotonic() - began < 10
    assert f"penstock: ended by {number.name}: " in err
    assert "Traceback" not in err
    assert [] == [child for child in family if is_running(child)]
    if when == "a round runs":
        said = json.loads((output / "_manifest.json").read_text())
        assert (False, number.name) == (said["complete"], said["broken_off"])
        assert ["_manifest.json"] == os.listdir(output)


@pytest.mark.spark
@pytest.mark.crash
@pytest.mark.slow
@pytest.mark.parametrize("written", [".", "round=0", "round=0/_SUCCESS", "round=1", "round=1/_SUCCESS"])
def test_a_kill_leaves_nothing_that_looks_complete(written: str, tmp_path: Path) -> None:
    """Wherever a run is killed, it leaves no manifest or the whole result; the next run into its folder is whole."""
    source, output = tmp_path / "sales.jsonl", tmp_path / "out"
    sale = {"body": "<Sale><Id>1</Id><Count>2</Count><Price>3.99</Price></Sale>", "format": "MQSTR"}
    source.write_text(f"{json.dumps(sale)}\n" * 20_000)
    command = [*PROGRAM, "spark", "run", str(ARCHIVE), "--messages", str(source), "--queue", "SALES.IN"]
    command += ["--output", str(output)]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=ROOT, stdout=nothing, stderr=nothing) as running:
        ends = time.monotonic() + 300
        while not (output / written).exists() and running.poll() is None and time.monotonic() < ends:
            time.sleep(0.01)
        family = [child.pid for child in family_of(running.pid)]
        running.kill()
    until(lambda: not any(map(is_running, family)), 60)
    manifest = output / "_manifest.json"
    assert not manifest.exists() or json.loads(manifest.read_text())["complete"]
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    if again.returncode:
        assert f"{output} " in again.stderr
    else:
        said = json.loads(manifest.read_text())
        assert (True, 40_000, 20_000) == (said["complete"], said["messages"], rows(output))


def rows(output: Path) -> int:
    """Returns the number of messages that a run has put."""
    return sum(read_metadata(file).num_rows for file in output.glob("round=*/kind=put/*/*.parquet"))


def is_running(number: int) -> bool:
    """Returns True for a process that has not ended."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

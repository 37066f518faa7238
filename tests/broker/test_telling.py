"""What commands tell of a broker: flows that could not start, everything as JSON, and names that shells complete."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.broker.folder import Folder
from engine.broker.logs import followed
from engine.cli import commands
from tests.broker.running import PROGRAM, Running, end, flow

NODES = """\
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ConfigurationException
from engine.node import node

if Path({gone!r}).exists():
    raise ConfigurationException("the table of rates is gone")


@node("Rated", inputs=("in",), outputs=("out",))
@dataclass(frozen=True, slots=True)
class Rated:
    \"\"\"Passes messages on.\"\"\"

    def evaluate(self, message, work):
        yield "out", message
"""
OWN = """\
flow: Own
nodes:
  In: {type: MQInput, queueName: IN2}
  Rated: {type: Rated}
  Out: {type: MQOutput, queueName: OUT}
wires: [In.out -> Rated, Rated.out -> Out]
"""


@pytest.fixture(scope="module")
def halved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A broker of a flow F that runs, and a flow Own that can be deployed but not started."""
    folder = tmp_path_factory.mktemp("halved")
    (folder / "own.py").write_text(NODES.format(gone=str(folder / "gone")), encoding="utf-8")
    (folder / "own.yaml").write_text(OWN, encoding="utf-8")
    made, own = Running(folder / "shop"), ("--nodes", str(folder / "own.py"))
    made.run("broker", "init", str(made.folder), str(flow(folder, "F")), str(folder / "own.yaml"), *own)
    made.run("broker", "create", str(made.folder), *own)
    (folder / "gone").touch()
    made.start()
    try:
        yield made
    finally:
        end(made)


def test_flow_that_cannot_start(halved: Running) -> None:
    """A flow that could not start is listed as stopped, with the reason; show and doctor say the same."""
    name = str(halved.folder)
    rows = {row["flow"]: row for row in halved.json("flow", "list", name)}
    assert ("running", "") == (rows["F"]["state"], rows["F"]["reason"])
    assert ("stopped", True) == (rows["Own"]["state"], "rates is gone" in rows["Own"]["reason"])
    assert re.search(r"default/Own: stopped, .*rates is gone", halved.run("flow", "list", name))
    assert re.search(r"  Own reads IN2: stopped, as .*rates is gone", halved.run("broker", "show", name))
    assert ["Own"] == [row["flow"] for row in halved.json("broker", "show", name)["notRunning"]]
    assert (
        "FAIL default/Own does not run"
        in subprocess.run(
            [*PROGRAM, "broker", "doctor", name], capture_output=True, text=True, timeout=60, check=False
        ).stdout
    )
    halved.put("IN", b"<a/>")
    assert [b"<a><by>1</by></a>"] == halved.get("OUT", 1)


def test_flow_starts_again(halved: Running) -> None:
    """Once what kept it from starting is mended, `flow stop` and `flow start` have it run."""
    name = str(halved.folder)
    (halved.folder.parent / "gone").unlink()
    halved.run("flow", "stop", name, "Own")
    halved.run("flow", "start", name, "Own")
    assert {"running"} == {row["state"] for row in halved.json("flow", "list", name)}
    assert [] == halved.json("broker", "show", name)["notRunning"]
    halved.put("IN2", b"<own/>")
    assert [b"<own/>"] == halved.get("OUT", 1)


def test_everything_as_json(halved: Running, tmp_path: Path) -> None:
    """Logs, traces, exports, units and levels of statistics are JSON where that is asked for."""
    (halved.folder.parent / "gone").unlink(missing_ok=True)
    name = str(halved.folder)
    lines = halved.json("broker", "logs", name)
    assert {"at", "level", "part", "process", "text"} == set(lines[0])
    assert any(line["part"] == "supervisor" and "is ready" in line["text"] for line in lines)
    assert {"flow": "F", "level": "normal"} == halved.json("trace", name, "F", "--level", "normal")
    halved.put("IN", b"<traced/>")
    halved.get("OUT", 1)
    (traced,) = halved.json("trace", name, "F")
    assert ("default", "F") == (traced["group"], traced["flow"])
    assert any("BIP2632I" in entry["text"] for entry in traced["entries"])
    assert [{"group": "default", "flow": "F", "level": "nodes"}] == halved.json("stats", name, "F", "--level", "nodes")
    assert "shop" == halved.json("broker", "export", name)["broker"]
    assert 2 == halved.json("broker", "export", name, str(tmp_path))["flows"]
    files = halved.json("broker", "units", name, "--output", str(tmp_path / "units"))["files"]
    assert all(Path(file).is_file() for file in files)


def test_start_as_json(tmp_path: Path) -> None:
    """A broker that starts says so as JSON too, detached or not."""
    made = Running(tmp_path / "shop")
    made.run("broker", "init", str(made.folder), str(flow(tmp_path, "F")))
    made.run("broker", "create", str(made.folder))
    try:
        said = made.json("broker", "start", str(made.folder), "--detach")
        assert (True, made.process("supervisor")) == (said["ready"], said["process"])
        made.run("broker", "stop", str(made.folder))
        with subprocess.Popen(
            [*PROGRAM, "broker", "start", str(made.folder), "--json"], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            assert (True, process.pid) == (said["ready"], said["process"])
            process.terminate()
    finally:
        end(made)


OF_BROKERS = {
    "broker",
    "deploy",
    "undeploy",
    "rollback",
    "change-properties",
    "report-properties",
    "trace",
    "stats",
} | {"top"}


def test_a_log_that_is_not_there_yet(tmp_path: Path) -> None:
    """Who follows the log of a broker that has never run sees it from its first line on."""
    folder = Folder(tmp_path)
    folder.log.mkdir()
    begins = threading.Timer(0.5, (folder.log / "broker.log").write_text, ["one\ntwo\n"])
    begins.start()
    lines = followed(folder)
    assert ["one", "two"] == [next(lines), next(lines)]
    lines.close()
    begins.join()


def test_all_commands_of_brokers_have_json() -> None:
    """Every command of brokers has --json."""
    lacking = [words for words, options in _commands() if words[0] in OF_BROKERS and "--json" not in options]
    assert [] == lacking


def _commands() -> Iterator[tuple[list[str], set[str]]]:
    def walked(command: Any, words: list[str]) -> Iterator[tuple[list[str], set[str]]]:
        if hasattr(command, "commands"):
            for name, own in command.commands.items():
                yield from walked(own, [*words, name])
        else:
            yield words, {option for parameter in command.params for option in parameter.opts}

    yield from walked(commands(), [])


COMPLETED = [
    ("penstock broker st", {"start", "stop"}),
    ("penstock depl", {"deploy"}),
    ("penstock broker show sh", {"shop"}),
    ("penstock trace shop ", {"F"}),
    ("penstock flow stop shop F", {"F"}),
]


@pytest.mark.parametrize(("typed", "completed"), COMPLETED)
def test_shells_complete(typed: str, completed: set[str], home: Path) -> None:
    """Shells complete commands, brokers by name, their groups and their flows."""
    words = typed.split(" ")
    env = {"_PENSTOCK_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        PROGRAM,
        env={**os.environ, **env, "PENSTOCK_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert completed == set(done.stdout.split())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a broker shop."""
    home = tmp_path_factory.mktemp("home")
    made = Running(home / "shop")
    made.run("broker", "init", str(made.folder), str(flow(home / "flows", "F")))
    made.run("broker", "create", str(made.folder))
    return home


def test_shell_script() -> None:
    """`--show-completion` prints what a shell is to be told."""
    done = subprocess.run(
        [sys.executable, "-c", "from engine.cli import main; main()", "--show-completion", "bash"],
        env=os.environ
        | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},  # else it is the shell that runs the tests
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (0, True) == (done.returncode, "_PENSTOCK_COMPLETE" in done.stdout), done.stderr

"""Deployments to a running broker that cannot be carried out: each is refused clearly, and what ran runs on."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from struct import pack

import pytest

from engine.broker.channel import connect
from engine.mq import QueueManager
from tests.broker.running import PROGRAM, ROOT, Running, broker, end, flow, until

LARGE = "SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.a.by = '{}';"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A running broker with a flow F that reads IN and puts to OUT."""
    folder = tmp_path_factory.mktemp("shop")
    with broker(folder, flow(folder, "F")) as made:
        reached = made.queues()
        for number in range(4):
            reached.define("QLOCAL", f"IN{number}", {})
        reached.close()
        yield made


def runs_as_before(made: Running) -> bool:
    """Returns True where a message is marked as the flow does that was there first."""
    made.put("IN", b"<a/>")
    return made.get("OUT", 1) == [b"<a><by>1</by></a>"]


def shown(made: Running) -> tuple[str, int]:
    """What is deployed, and of which generation it is."""
    said = made.json("broker", "show", str(made.folder))
    return said["digest"], said["generation"]


def test_full_disk(shop: Running, tmp_path: Path) -> None:
    """A deployment that the disk has no room for is refused, nothing of it stays, and the next one succeeds."""
    before = shown(shop)
    most = (shop.folder / "repository.sqlite").stat().st_size + 8192
    large = flow(tmp_path, "F", program=LARGE.format("2" * 400_000))
    done = subprocess.run(
        [*PROGRAM, "deploy", str(shop.folder), str(large)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    said = done.stderr.splitlines()
    assert (1, 1) == (done.returncode, len(said)), done
    assert "the repository" in said[0]
    assert "make room" in said[0]
    assert (before, True) == (shown(shop), runs_as_before(shop))
    shop.run("deploy", str(shop.folder), str(flow(tmp_path, "F", by="3")))
    shop.run("rollback", str(shop.folder))
    assert runs_as_before(shop)


def test_several_who_deploy(shop: Running, tmp_path: Path) -> None:
    """Of those who deploy at the same time some succeed and others are told who is at it; no deployment is lost."""
    names = [f"G{number}" for number in range(4)]
    files = [flow(tmp_path, name, f"IN{number}") for number, name in enumerate(names)]
    processes = [
        subprocess.Popen(
            [*PROGRAM, "deploy", str(shop.folder), str(file)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for file in files
    ]
    said = [process.communicate(timeout=90)[1] for process in processes]
    assert all("is changing" in text or not process.returncode for text, process in zip(said, processes, strict=True))
    done = {name for name, process in zip(names, processes, strict=True) if not process.returncode}
    assert done
    assert done | {"F"} == {row["flow"] for row in shop.json("flow", "list", str(shop.folder))}
    assert runs_as_before(shop)


def test_broken_repository(shop: Running, tmp_path: Path) -> None:
    """Where the repository is damaged nothing can be deployed, flows work on, and a copy that is restored counts."""
    repository = shop.folder / "repository.sqlite"
    good = repository.read_bytes()
    new = str(flow(tmp_path, "F", by="4"))
    try:
        repository.write_bytes(b"damaged" * 4096)
        refused = shop.run("deploy", str(shop.folder), new, fails=True)
        assert 1 == len(refused.splitlines())
        assert "restore it from a copy" in refused
        assert runs_as_before(shop)
        assert "FAIL the repository cannot be read" in _examined(shop)
    finally:
        repository.write_bytes(good)
    shop.run("deploy", str(shop.folder), new)
    shop.run("rollback", str(shop.folder))
    assert runs_as_before(shop)


NO_PLAN = b'{"do":"prepare","plan":{"x":1}}'
GARBAGE = {
    "no text": pack(">I", 3) + b"\xff\xff\xff",
    "no object": pack(">I", 2) + b"[]",
    "too deep": pack(">I", 500_000) + b"[" * 500_000,
    "too long": b"\xff\xff\xff\xff",
    "no plan": pack(">I", len(NO_PLAN)) + NO_PLAN,
}


@pytest.mark.parametrize("said", GARBAGE.values(), ids=GARBAGE)
def test_what_is_no_command(shop: Running, said: bytes) -> None:
    """Whoever says what no command says is not heard any longer, however often, and others are."""
    for _ in range(2):
        with closing(connect(shop.folder / "control")) as channel:
            channel.socket.sendall(said)
            assert "error" in (channel.receive(10) or {"error": "it is closed"})
            assert shop.workers()


def _examined(made: Running) -> str:
    command = [*PROGRAM, "broker", "doctor", str(made.folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False).stdout


def test_a_store_of_another_format_keeps_a_broker_from_starting(tmp_path: Path) -> None:
    """A store that this Penstock cannot read is said at once; the broker does not try again and again."""
    made = Running(tmp_path / "shop")
    made.run("broker", "create", str(made.folder))
    (made.folder / "queues" / "queue-manager.json").write_text("{}", encoding="utf-8")
    said = made.run("broker", "start", str(made.folder), "--detach", fails=True)
    assert "queue-manager.json" in said
    assert "does not run" in made.run("broker", "stop", str(made.folder), fails=True)


def test_a_queue_manager_that_never_becomes_ready(tmp_path: Path) -> None:
    """A start whose queue manager ends again and again, as another process has it, fails and says so."""
    made = Running(tmp_path / "shop")
    made.run("broker", "create", str(made.folder))
    program = "import sys; from engine.broker import supervisor as s; s._PATIENCE = 1.0; s.main(sys.argv[1])"
    command = [sys.executable, "-c", program, str(made.folder)]
    with QueueManager.open(made.folder / "queues"):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=40, check=False)
    assert 1 == done.returncode
    assert f"as each time before: see penstock broker logs {made.folder}" in done.stderr
    assert "is in use by process" in made.log()


@pytest.mark.parametrize("options", [(), ("--detach",)], ids=" ".join)
def test_a_folder_that_cannot_be_written(tmp_path: Path, options: tuple[str, ...]) -> None:
    """A file that a start cannot write is named in a line, in the foreground and detached."""
    made = Running(tmp_path / "shop")
    made.run("broker", "create", str(made.folder))
    (made.folder / "control").mkdir()  # where a socket is to be
    (made.folder / "control" / "in the way").touch()
    said = made.run("broker", "start", str(made.folder), *options, fails=True)
    assert [True] == [f"{made.folder}/control: Is a directory; name a file in it" in line for line in said.splitlines()]


LOUD = """\
import time
from dataclasses import dataclass
from engine.node import node

@node("Loud", outputs=("out",))
@dataclass(frozen=True, slots=True)
class Loud:
    \"\"\"Prints for a minute.\"\"\"

    def evaluate(self, message, work):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            print("x\\n" * 1000)
        yield "out", message
"""


def test_a_node_that_prints_without_end(tmp_path: Path) -> None:
    """A broker whose log is written to faster than it can be kept can be asked, and stopped."""
    (tmp_path / "loud.py").write_text(LOUD, encoding="utf-8")
    file = flow(tmp_path, "F")
    text = file.read_text("utf-8").replace('{type: Compute, computeExpression: "', '{type: Loud}\n  # {x: "')
    file.write_text(text, encoding="utf-8")
    made = Running(tmp_path / "shop")
    nodes = ("--nodes", str(tmp_path / "loud.py"))
    made.run("broker", "init", str(made.folder), str(file), *nodes)
    made.run("broker", "create", str(made.folder), *nodes)
    made.start()
    try:
        made.put("IN", b"<a/>")
        until(lambda: (made.folder / "log" / "broker.log").stat().st_size > 1_000_000)
        assert 1 == len(made.workers())
        made.run("broker", "stop", str(made.folder), "--at-once")
    finally:
        end(made)

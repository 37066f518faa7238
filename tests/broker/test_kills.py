"""Whatever of a broker is killed, nothing that was put to last is lost, and nothing is done twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.broker.child_processes import fork
from tests.broker.running import Running, broker, end, flow, until

pytestmark = pytest.mark.crash

COUNT = 200
SLOW = "SET OutputRoot = InputRoot; DECLARE i INTEGER 0; WHILE i < 1500 DO SET i = i + 1; END WHILE;"


def bodies(count: int = COUNT) -> list[bytes]:
    return [b"<a><n>%d</n></a>" % number for number in range(count)]


def kill_worker(made: Running) -> None:
    os.kill(made.working(), signal.SIGKILL)


def kill_group(made: Running) -> None:
    os.kill(made.process("default"), signal.SIGKILL)


def kill_queue_manager(made: Running) -> None:
    os.kill(made.process("queue manager"), signal.SIGKILL)


def kill_supervisor(made: Running) -> None:
    pid = made.process("supervisor")
    os.kill(pid, signal.SIGKILL)
    made.start()
    assert pid != made.process("supervisor")


@pytest.mark.parametrize("kill", [kill_worker, kill_group, kill_queue_manager, kill_supervisor])
def test_nothing_is_lost(tmp_path: Path, kill: Callable[[Running], None]) -> None:
    """Every message comes out once, though a process is killed several times with messages in hand."""
    with broker(tmp_path, flow(tmp_path, "F", program=SLOW)) as made:
        made.put("IN", *bodies())
        for _ in range(3):
            time.sleep(0.15)
            kill(made)
        assert sorted(bodies()) == sorted(made.get("OUT", COUNT))
        assert [] == made.get("OUT", 1, seconds=0.5)
        assert [] == made.get("SYSTEM.DEAD.LETTER.QUEUE", 1, seconds=0.1)


def test_a_child_is_told_to_end_as_it_begins() -> None:
    """A signal to a process that was forked just now ends it, and none is taken for one to its parent."""
    told: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    try:
        for _ in range(50):
            child = fork(lambda _: time.sleep(5))
            child.tell(signal.SIGTERM)
            child.channel.close()
            assert -signal.SIGTERM == os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not told


@pytest.mark.slow
def test_a_group_that_keeps_dying(tmp_path: Path) -> None:
    """A group whose process ends eight times in a row is stopped, which is told; it can be deployed to, and deleted."""
    with broker(tmp_path, flow(tmp_path, "F")) as made:
        name, killed = str(made.folder), set[int]()
        while len(killed) < 8:
            if (pid := made.process("default")) not in killed:
                killed.add(pid)
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        stopped = "its execution group is in this state: stopped, as it ended 8 times in a row"
        until(lambda: [stopped] == [row["reason"] for row in made.json("flow", "list", name)])
        begun = time.monotonic()
        made.named("mqsideleteexecutiongroup", name, "-e", "default")
        assert time.monotonic() - begun < 15
        made.run("deploy", name, str(flow(tmp_path, "F")))
        made.put("IN", b"<a/>")
        assert 1 == len(made.get("OUT", 1))


def test_children_end_with_their_supervisor(tmp_path: Path) -> None:
    """No process of a broker outlives its supervisor, however that ends, nor waits for the message in hand."""
    with broker(tmp_path, flow(tmp_path, "F", program="CALL SLEEP(60000); SET OutputRoot = InputRoot;")) as made:
        made.put("IN", b"<a/>")
        with closing(made.queues()) as queues:
            until(lambda: queues.depth("IN") == 0)
        status = made.status()
        processes = [one["process"] for one in status["processes"]] + made.workers()
        os.kill(status["process"], signal.SIGKILL)
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes), 15)


def test_deployments_under_load(tmp_path: Path) -> None:
    """Messages are neither lost nor done twice while their flow is replaced time and again."""
    with broker(tmp_path, flow(tmp_path, "F")) as made:
        putting = threading.Thread(target=lambda: [made.put("IN", body) for body in bodies()])
        putting.start()
        for number in range(3):
            made.run("deploy", str(made.folder), str(flow(tmp_path / str(number), "F", program=SLOW + " " * number)))
        putting.join()
        found = [body.replace(b"<by>1</by>", b"") for body in made.get("OUT", COUNT)]
        assert sorted(bodies()) == sorted(found)
        assert [] == made.get("OUT", 1, seconds=0.3)


def test_message_that_kills_its_worker(tmp_path: Path) -> None:
    """A message of which its worker dies time and again goes to the dead-letter queue, and others go on."""
    (tmp_path / "deadly.py").write_text(
        "import os\nfrom dataclasses import dataclass\nfrom engine.node import node\n\n\n"
        '@node("Deadly", outputs=("out",))\n@dataclass(frozen=True, slots=True)\nclass Deadly:\n'
        '    """Ends its process where a message says so."""\n\n    def evaluate(self, message, work):\n'
        '        if b"kill" in message.root.source.body:\n            os._exit(9)\n        yield "out", message\n',
        encoding="utf-8",
    )
    file = flow(tmp_path, "F")
    text = file.read_text("utf-8").replace('{type: Compute, computeExpression: "', '{type: Deadly}\n  # {x: "')
    file.write_text(text, encoding="utf-8")
    made = Running(tmp_path / "shop")
    nodes = ("--nodes", str(tmp_path / "deadly.py"))
    made.run("broker", "init", str(made.folder), str(file), *nodes)
    made.run("broker", "create", str(made.folder), *nodes)
    made.start()
    try:
        made.put("IN", b"<kill/>", b"<a/>")
        assert [b"<a/>"] == made.get("OUT", 1)
        assert 1 == len(made.get("SYSTEM.DEAD.LETTER.QUEUE", 1))
    finally:
        end(made)

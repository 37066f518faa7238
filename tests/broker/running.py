"""Brokers as tests run them: commands in processes of their own, queues reached over their sockets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.broker.channel import connect
from engine.descriptor import NON_PERSISTENT, PERSISTENT, Descriptor
from engine.errors import BrokerError
from engine.mq import QueueManager

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", "from engine.cli import main; main()")
NAMED = "import sys; sys.argv[0] = sys.argv.pop(1); from engine.cli.mqsi import main; main()"
FLOW = """\
flow: {name}
nodes:
  In: {{type: MQInput, queueName: {reads}, messageDomainProperty: XMLNSC}}
  Work: {{type: Compute, computeExpression: "{program}"}}
  Out: {{type: MQOutput, queueName: {writes}}}
wires: [In.out -> Work, Work.out -> Out]
"""
MARKED = "SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.a.by = '{by}';"


def flow(folder: Path, name: str, reads: str = "IN", writes: str = "OUT", program: str = "", by: str = "1") -> Path:
    """Write the file of a flow that marks messages."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.yaml"
    text = FLOW.format(name=name, reads=reads, writes=writes, program=program or MARKED.format(by=by))
    file.write_text(text, encoding="utf-8")
    return file


@dataclass(frozen=True)
class Running:
    """A broker's folder, and the commands for it."""

    folder: Path

    def run(self, *arguments: str, fails: bool = False, timeout: float = 60) -> str:
        """Run a command; returns what it printed, and on failure what it said."""
        done = subprocess.run(
            [*PROGRAM, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False
        )
        assert fails == (done.returncode != 0), f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stderr if fails else done.stdout

    def named(self, name: str, *arguments: str, code: int = 0) -> str:
        """Run a program under one of IBM's names; returns what it printed."""
        done = subprocess.run(
            [sys.executable, "-c", NAMED, name, *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert code == done.returncode, f"{name} {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    def start(self) -> None:
        """Start the broker, and wait until it is ready."""
        assert "ready" in self.run("broker", "start", str(self.folder), "--detach")

    def queues(self) -> Any:
        """The queue manager of the running broker, as soon as it answers."""
        until = time.monotonic() + 15
        while True:
            try:
                return QueueManager.connect(self.folder / "queues")
            except BrokerError:
                assert time.monotonic() < until, self.log()
                time.sleep(0.02)

    def put(self, queue: str, *bodies: bytes, persistent: bool = True) -> None:
        """Put messages, all in one unit of work."""
        reached = self.queues()
        work = reached.work()
        for body in bodies:
            work.put(queue, Descriptor(persistence=PERSISTENT if persistent else NON_PERSISTENT), body)
        work.commit()
        reached.close()

    def get(self, queue: str, count: int, seconds: float = 20) -> list[bytes]:
        """Get so many messages, or those that come in good time; also from a queue manager that ends meanwhile."""
        found: list[bytes] = []
        until = time.monotonic() + seconds
        while len(found) < count and time.monotonic() < until:
            reached = self.queues()
            work = reached.work()
            try:
                while len(found) < count and time.monotonic() < until:
                    arrival = work.get(queue, wait=0.5)
                    if arrival is not None:
                        work.commit()
                        found.append(arrival.body)
            except BrokerError:
                continue
            finally:
                reached.close()
        return found

    def status(self) -> dict[str, Any]:
        """What the supervisor says of its processes."""
        channel = connect(self.folder / "control")
        channel.send({"do": "status"})
        answer = channel.receive(10)
        channel.close()
        assert answer is not None
        return dict(answer["status"])

    def process(self, name: str) -> int:
        """The process of a group, or of the queue manager, or the supervisor's."""
        until = time.monotonic() + 60
        while True:
            assert time.monotonic() < until, f"{name} has no process\n{self.log()}"
            status = self.status()
            found = {one["name"]: one["process"] for one in status["processes"]} | {"supervisor": status["process"]}
            if found[name]:
                return int(found[name])
            time.sleep(0.05)

    def workers(self, group: str = "default") -> list[int]:
        """The processes of a group's workers."""
        group_of = next(one for one in self.status()["processes"] if one["name"] == group)
        return [worker["process"] for worker in group_of["workers"] if worker["ready"]]

    def working(self, group: str = "default") -> int:
        """A worker that is there."""
        until = time.monotonic() + 60
        while True:
            assert time.monotonic() < until, f"{group} has no worker\n{self.log()}"
            for pid in self.workers(group):
                if Path(f"/proc/{pid}").exists():
                    return pid
            time.sleep(0.02)

    def json(self, *arguments: str) -> Any:
        """What a command prints as JSON."""
        return json.loads(self.run(*arguments, "--json"))

    def log(self) -> str:
        """The broker's log."""
        return "\n".join(file.read_text("utf-8") for file in sorted((self.folder / "log").glob("*.log")))


def until(is_so: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it is not so in good time"
        time.sleep(0.05)


@contextmanager
def broker(folder: Path, *flows: Path, more: str = "") -> Iterator[Running]:
    """A broker of flows in a folder, running; it is ended in any case."""
    made = Running(folder / "shop")
    made.run("broker", "init", str(made.folder), *map(str, flows))
    if more:
        file = made.folder / "broker.yaml"
        file.write_text(file.read_text("utf-8") + more, encoding="utf-8")
    made.run("broker", "create", str(made.folder))
    made.start()
    try:
        yield made
    finally:
        end(made)


def end(made: Running) -> None:
    """End a broker, whatever state it is in; one that does not end in good time is killed."""
    try:
        pid = int((made.folder / "lock").read_text("ascii"))
        os.kill(pid, signal.SIGTERM)
        until(lambda: not Path(f"/proc/{pid}").exists(), 20)
    except (OSError, ValueError):
        return
    except AssertionError:
        os.kill(pid, signal.SIGKILL)
        raise

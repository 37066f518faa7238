"""A standalone cluster for tests: a master and two workers, executors that are killed, and what Spark tells of them."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark

HOME = Path(pyspark.__file__).parent
ROOT = Path(__file__).resolve().parent.parent.parent
ENVIRONMENT = os.environ | {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "PYTHONPATH": str(ROOT),
    "PYSPARK_PYTHON": sys.executable,
    "PYSPARK_DRIVER_PYTHON": sys.executable,
}
LONGEST = 600  # seconds that a program may take, on a machine with other things to do

# The first try of a task's first partition takes its time, and says which executor it has.
STRAGGLING = """
import os, time
from dataclasses import dataclass
from pathlib import Path
from pyspark import TaskContext
from engine.node import node

@node("Straggling", outputs=("out",))
@dataclass(frozen=True, slots=True)
class Straggling:
    \"\"\"Send messages on, slowly where nobody has tried before.\"\"\"

    place: str = ""

    def evaluate(self, message, work):
        task, parent = TaskContext.get(), Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1]
        is_cluster = b"CoarseGrainedExecutorBackend" in Path(f"/proc/{parent}/cmdline").read_bytes()
        if is_cluster and task.partitionId() == 0 and task.attemptNumber() == 0:
            (Path(self.place) / parent).touch()
            time.sleep(0.1)
        yield "out", message
"""
SPECULATION = (
    *("spark.speculation=true", "spark.speculation.multiplier=1.1", "spark.speculation.quantile=0.1"),
    *("spark.speculation.minTaskRuntime=1s", "spark.speculation.task.duration.threshold=2s"),
)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


@contextmanager
def cluster(folder: Path, cores: int = 1) -> Iterator[str]:
    """The URL of a cluster of a master and two workers, of so many cores each."""
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    spark = [str(HOME / "bin" / "spark-class")]
    serve = "org.apache.spark.deploy"
    commands = [("127.0.0.1", [f"{serve}.master.Master", "--port", str(port)])]
    for number in (1, 2):  # each on a host of its own, as no task is tried twice at a time on one
        work = ["--work-dir", str(folder / f"worker{number}"), "--cores", str(cores), "--memory", f"{cores}g"]
        commands.append((f"127.0.0.{number}", [f"{serve}.worker.Worker", "--port", "0", *work, url]))
    log = (folder / "cluster.log").open("wb")
    with log:
        processes = [
            subprocess.Popen(
                [*spark, command[0], "--host", host, "--webui-port", "0", *command[1:]],
                env=ENVIRONMENT | {"SPARK_LOCAL_IP": host},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            for host, command in commands
        ]
        try:
            wait_for(folder / "cluster.log", b"Registering worker", 2)
            yield url
        finally:
            for process in processes:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(60)


def wait_for(log: Path, text: bytes, count: int) -> None:
    """Wait until a log has said something so often: who asks a master that is not ready waits for longer."""
    ends = time.monotonic() + 120
    while log.read_bytes().count(text) < count:
        assert time.monotonic() < ends, log.read_text("utf-8")
        time.sleep(0.2)


def kill_an_executor(places: Path, stop: threading.Event, killed: list[int]) -> None:
    """Kill the first executor that has a message in hand."""
    while not stop.wait(0.1):
        for place in places.iterdir():
            killed.append(int(place.name))
            os.kill(killed[0], signal.SIGKILL)
            return


def program(*command: str, code: int = 0) -> str:
    """Run a program of Python's that must end with this exit code; what it has said."""
    try:
        ended = subprocess.run(
            [sys.executable, *command],
            env=ENVIRONMENT,
            cwd=ROOT,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"{error}: {error.output}") from error
    assert ended.returncode == code, ended.stdout
    return ended.stdout


def events_in(folder: Path) -> list[dict[str, Any]]:
    """What Spark has told of its executors and tasks."""
    logs = [file.read_text("utf-8") for file in folder.rglob("*") if file.is_file()]
    return [json.loads(line) for log in logs for line in log.splitlines() if line.startswith("{")]


def logged(folder: Path) -> tuple[str, ...]:
    """Settings with which Spark tells that."""
    folder.mkdir()
    return "spark.eventLog.enabled=true", "spark.eventLog.compress=false", f"spark.eventLog.dir={folder.as_uri()}"

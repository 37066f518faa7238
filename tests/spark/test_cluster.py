"""Message sets through flows on a standalone cluster: a master and two workers, executors killed, tasks speculated."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from tests.spark.flows import order, written
from tests.spark.test_run import message_files, puts

pytestmark = [pytest.mark.spark, pytest.mark.crash, pytest.mark.slow]

HOME = Path(pyspark.__file__).parent
ROOT = Path(__file__).resolve().parent.parent.parent
COUNT = 400


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The URL of a cluster of a master and two workers of one core each."""
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    environment = os.environ | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
    }
    spark = [str(HOME / "bin" / "spark-class")]
    serve = "org.apache.spark.deploy"
    ports = ["--host", "127.0.0.1", "--webui-port", "0"]
    commands = [[*spark, f"{serve}.master.Master", *ports, "--port", str(port)]]
    for number in (1, 2):
        work = ["--work-dir", str(tmp_path / f"worker{number}"), "--cores", "1", "--memory", "1g"]
        commands.append([*spark, f"{serve}.worker.Worker", *ports, "--port", "0", *work, url])
    log = (tmp_path / "cluster.log").open("wb")
    with log:
        processes = [
            subprocess.Popen(  # noqa: S603  # Spark's own script
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )
            for command in commands
        ]
        try:
            yield url
        finally:
            for process in processes:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def kill_an_executor(stop: threading.Event, killed: list[int]) -> None:
    """Kill the first executor that is seen at work, once it has had the time to begin."""
    while not stop.wait(0.5):
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = place.read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in command and b"spark://" in command:
                time.sleep(2)
                killed.append(int(place.parent.name))
                os.kill(killed[0], signal.SIGKILL)
                return


def spark_run(folder: Path, master: str, output: Path, *conf: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a person would."""
    settings = [word for setting in conf for word in ("--conf", setting)]
    code = "from engine.cli import main; main()"
    arguments = [
        *("spark", "run", str(folder / "broker.yaml"), "--messages", str(folder / "in"), "--kind", "files"),
        *("--queue", "IN", "--output", str(output), "--master", master, "--partitions", "8", *settings),
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(  # noqa: S603  # our own program
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=500
    )


def test_a_cluster_with_an_executor_killed(master: str, tmp_path: Path) -> None:
    """What comes out of a cluster that loses an executor, and runs tasks twice, is what comes out of one process."""
    written(tmp_path)
    message_files(tmp_path / "in", COUNT)
    alone = spark_run(tmp_path, "local[1]", tmp_path / "alone")
    stop, killed = threading.Event(), list[int]()
    killer = threading.Thread(target=kill_an_executor, args=(stop, killed))
    killer.start()
    speculation = ("spark.speculation=true", "spark.speculation.multiplier=1.1", "spark.speculation.quantile=0.1")
    try:
        spread = spark_run(tmp_path, master, tmp_path / "spread", "spark.executor.memory=512m", *speculation)
    finally:
        stop.set()
        killer.join()
    assert len(killed) == 1
    assert (alone.returncode, spread.returncode) == (1, 1), alone.stderr + spread.stderr  # one message has failed
    assert puts(tmp_path / "spread") == puts(tmp_path / "alone")
    assert len([row for row in puts(tmp_path / "spread") if row[1] == "LAST"]) == COUNT - 1
    assert order(13) in {row[3] for row in puts(tmp_path / "spread") if row[0] == "failure"}

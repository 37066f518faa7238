"""Message sets through flows on a standalone cluster: a master and two workers, executors killed, tasks speculated."""

import json
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
def master(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a cluster of a master and two workers, of one core each unless a test asks for more."""
    cores = str(getattr(request, "param", 1))
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
        work = ["--work-dir", str(tmp_path / f"worker{number}"), "--cores", cores, "--memory", f"{cores}g"]
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


def spark_run(
    folder: Path, master: str, output: Path, *conf: str, broker: str = "broker.yaml"
) -> subprocess.CompletedProcess[str]:
    """Run the command as a person would."""
    settings = [word for setting in conf for word in ("--conf", setting)]
    code = "from engine.cli import main; main()"
    arguments = [
        *("spark", "run", str(folder / broker), "--messages", str(folder / "in"), "--kind", "files"),
        *("--queue", "IN", "--output", str(output), "--master", master, "--partitions", "8", *settings),
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(  # noqa: S603  # our own program
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=900
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


@pytest.mark.parametrize("master", [4], indirect=True)
def test_groups_have_executors_of_their_own(master: str, tmp_path: Path) -> None:
    """A group that asks for executors has its tasks run on those of a resource profile, and the same comes out."""
    text = written(tmp_path).read_text(encoding="utf-8")
    own = "First:\n    executors: {cores: 2, memory: 600m}\n    flows:\n      - {flow: orders.yaml}\n  Last:"
    (tmp_path / "own.yaml").write_text(f"{text.partition('First:')[0]}{own}\n    - second.yaml\n", encoding="utf-8")
    message_files(tmp_path / "in", 40)
    alone = spark_run(tmp_path, "local[1]", tmp_path / "alone")
    (tmp_path / "events").mkdir()
    conf = (
        *("spark.dynamicAllocation.enabled=true", "spark.dynamicAllocation.maxExecutors=1"),
        *("spark.executor.cores=1", "spark.executor.memory=600m", "spark.eventLog.enabled=true"),
        *("spark.eventLog.compress=false", f"spark.eventLog.dir={(tmp_path / 'events').as_uri()}"),
    )
    spread = spark_run(tmp_path, master, tmp_path / "spread", *conf, broker="own.yaml")
    assert (alone.returncode, spread.returncode) == (1, 1), alone.stderr + spread.stderr  # one message has failed
    assert puts(tmp_path / "spread") == puts(tmp_path / "alone")
    logs = [file.read_text("utf-8") for file in (tmp_path / "events").rglob("*") if file.is_file()]
    events = [json.loads(line) for log in logs for line in log.splitlines() if line.startswith("{")]
    ran = [event for event in events if event["Event"] == "SparkListenerTaskEnd"]
    homes = {event["Executor ID"]: event["Executor Info"] for event in events if "ExecutorAdded" in event["Event"]}
    cores = {homes[task["Task Info"]["Executor ID"]]["Total Cores"] for task in ran}
    assert cores == {1, 2}  # the session's, and the group's own

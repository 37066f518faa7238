"""Message sets through flows on a standalone cluster: a master and two workers, executors killed, tasks speculated."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tests.spark.cluster import SPECULATION, STRAGGLING, cluster, events_in, kill_an_executor, logged, program
from tests.spark.cluster_runs import PARTITIONS
from tests.spark.flows import BROKER, ORDERS, order, written
from tests.spark.test_run import message_files

pytestmark = [pytest.mark.spark, pytest.mark.crash, pytest.mark.slow]

COUNT = 200
STRAGGLING_ORDERS = ORDERS.replace("  Out:", "  Slow: {type: Straggling, place: PLACE}\n  Out:").replace(
    "Work.out -> Out", "Work.out -> Slow\n  - Slow.out -> Out"
)


@pytest.fixture
def master(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a cluster of a master and two workers, of one core each unless a test asks for more."""
    with cluster(tmp_path, getattr(request, "param", 1)) as url:
        yield url


def rows(output: Path) -> list[dict[str, Any]]:
    """All that came out but what it has cost, in the order of the messages it came of."""
    table = parquet.read_table(output, partitioning="hive").to_pylist()
    kept = [row for row in table if row["kind"] != "statistics"]
    return sorted(kept, key=lambda row: (row["round"], row["kind"], row["queue"], row["lineage"]))


def test_a_cluster_with_an_executor_killed(master: str, tmp_path: Path) -> None:
    """Whatever the partitions, a cluster that loses an executor and tries tasks twice gives what one process gives."""
    written(tmp_path)
    (tmp_path / "places").mkdir()
    text = STRAGGLING_ORDERS.replace("PLACE", str(tmp_path / "places"))
    (tmp_path / "orders.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "straggling.py").write_text(STRAGGLING, encoding="utf-8")
    (tmp_path / "broker.yaml").write_text(BROKER, encoding="utf-8")
    message_files(tmp_path / "in", COUNT)
    runs = ("-m", "tests.spark.cluster_runs")
    settings = ("spark.executor.memory=512m", *SPECULATION, *logged(tmp_path / "events"))
    stop, killed = threading.Event(), list[int]()
    killer = threading.Thread(target=kill_an_executor, args=(tmp_path / "places", stop, killed))
    killer.start()
    try:
        program(*runs, master, str(tmp_path), str(tmp_path / "spread"), *settings)
    finally:
        stop.set()
        killer.join()
    program(*runs, "local[2]", str(tmp_path), str(tmp_path / "alone"))
    tasks = [event for event in events_in(tmp_path / "events") if event["Event"] == "SparkListenerTaskEnd"]
    assert len(killed) == 1
    assert {task["Task End Reason"]["Reason"] for task in tasks} >= {"Success", "ExecutorLostFailure"}
    assert any(task["Task Info"]["Speculative"] for task in tasks)
    found = {
        (where, count): rows(tmp_path / where / str(count)) for where in ("alone", "spread") for count in PARTITIONS
    }
    expected = found["alone", 1]
    assert [key for key, own in found.items() if own != expected] == []
    assert len([row for row in expected if row["queue"] == "LAST"]) == COUNT - 1
    assert order(13) in {row["body"] for row in expected if row["kind"] == "failure"}


GROUPS = """\
broker: ARCHIVE
queues:
  IN: {backoutRequeueQueue: IN.BACKOUT}
executionGroups:
  First:
    executors: {cores: 2, memory: 512m}
    flows: [orders.yaml]
  Last:
    executors: {cores: 1, memory: 600m}
    flows: [second.yaml]
  Third: [third.yaml]
"""


@pytest.mark.parametrize("master", [5], indirect=True)
def test_groups_have_executors_of_their_own(master: str, tmp_path: Path) -> None:
    """Each group's tasks run on the executors that it asks for, at the same time as those of others."""
    written(tmp_path)
    (tmp_path / "broker.yaml").write_text(GROUPS, encoding="utf-8")
    third = (
        "flow: Third\nnodes:\n  In: {type: MQInput, queueName: LAST}\n  Out: {type: MQOutput, queueName: VERY.LAST}\n"
    )
    (tmp_path / "third.yaml").write_text(f"{third}wires: [In.out -> Out]\n", encoding="utf-8")
    message_files(tmp_path / "in", 40)
    conf = ("spark.dynamicAllocation.enabled=true", "spark.dynamicAllocation.maxExecutors=1", "spark.executor.cores=1")
    settings = (*conf, "spark.executor.memory=700m", *logged(tmp_path / "events"))
    command = ("-c", "from engine.cli import main; main()", "spark", "run", str(tmp_path / "broker.yaml"))
    given = ("--messages", str(tmp_path / "in"), "--queue", "IN", "--output", str(tmp_path / "out"), "--master", master)
    settings = ("--partitions", "2", *(word for text in settings for word in ("--conf", text)))
    said = program(*command, *given, *settings, code=1)  # as one message has failed
    assert "1 failure" in said
    found = rows(tmp_path / "out")
    expected = [order(number).replace(b"NEW", b"DONE") for number in range(40) if number != 13]
    assert sorted(row["body"] for row in found if row["queue"] == "VERY.LAST") == sorted(expected)
    events = events_in(tmp_path / "events")
    homes = {event["Executor ID"]: event["Executor Info"] for event in events if "ExecutorAdded" in event["Event"]}
    profiles = {
        event["Stage Info"]["Stage ID"]: event["Stage Info"]["Resource Profile Id"]
        for event in events
        if event["Event"] == "SparkListenerStageSubmitted"
    }
    ran = [event for event in events if event["Event"] == "SparkListenerTaskEnd"]
    used = {
        (profiles[task["Stage ID"]], homes[task["Task Info"]["Executor ID"]]["Total Cores"], home(homes, task))
        for task in ran
    }
    assert {(cores, profile) for _, cores, profile in used} == {(1, 0), (2, 1), (1, 2)}
    assert all(asked == has for asked, _, has in used)


def home(homes: dict[str, Any], task: dict[str, Any]) -> int:
    """The resource profile of the executor that a task ran on."""
    profile: int = homes[task["Task Info"]["Executor ID"]]["Resource Profile Id"]
    return profile

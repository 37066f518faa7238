"""How messages are dealt out to partitions, and in which order they stand there."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import TaskContext

from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP
from spark_exec.deployment import deployment_of
from spark_exec.plan import FlowPlan, dealt, plan
from spark_exec.rows import completed

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")]

FLOW = """\
flow: F
properties: {{additionalInstances: 2}}
nodes:
  A: {{type: MQInput, queueName: A, {settings}}}
  B: {{type: MQInput, queueName: B, {settings}}}
"""


def flow_with(folder: Path, settings: str) -> FlowPlan:
    """A flow of three instances that reads the queues A and B."""
    file = folder / "f.yaml"
    file.write_text(FLOW.format(settings=settings), encoding="utf-8")
    return plan(deployment_of(str(file))).flows[0]


def numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What stands in a partition, and where."""
    context, place = TaskContext.get(), 0
    for batch in batches:
        for sequence in batch.column("sequence").to_pylist():
            yield pa.RecordBatch.from_pylist([{"part": context.partitionId(), "place": place, "sequence": sequence}])
            place += 1


def partitions(spark: Any, flow: FlowPlan, rows: list[dict[str, Any]]) -> dict[int, list[int]]:
    """The sequences in each partition, in order."""
    columns = {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}
    frame = completed(spark.createDataFrame(pa.table(columns)).repartition(3), otherwise="A")
    found = dealt(frame, flow).mapInArrow(numbered, "part long, place long, sequence long").collect()
    parts: dict[int, list[int]] = {}
    for row in sorted(found, key=lambda row: (row["part"], row["place"])):
        parts.setdefault(row["part"], []).append(row["sequence"])
    return parts


def message(sequence: int, **said: Any) -> dict[str, Any]:
    return {"sequence": sequence, "queue": "A", "body": b"x", "user_identifier": "", "group_id": None} | {
        "msg_seq_number": 1,
        "msg_flags": 0,
        **said,
    }


def member(sequence: int, group: bytes, number: int, *, last: bool = False, **said: Any) -> dict[str, Any]:
    flags = MSG_IN_GROUP | (LAST_MSG_IN_GROUP if last else 0)
    return message(sequence, group_id=group.ljust(24, b"\0"), msg_seq_number=number, msg_flags=flags, **said)


def test_one_user_weighs_on_no_partition(spark: Any, tmp_path: Path) -> None:
    """By default messages are spread evenly, even where all are of one user and one queue."""
    parts = partitions(spark, flow_with(tmp_path, ""), [message(n, user_identifier="ada") for n in range(600)])
    assert sorted(chain(*parts.values())) == list(range(600))
    assert len(parts) == 3
    assert all(150 < len(sequences) < 250 for sequences in parts.values())
    assert all(sequences == sorted(sequences) for sequences in parts.values())


def test_users_keep_their_order(spark: Any, tmp_path: Path) -> None:
    """With byUserID a user's messages are in one partition, in their order; several users are in several."""
    rows = [message(n, user_identifier=f"user{n % 20}") for n in range(200)]
    parts = partitions(spark, flow_with(tmp_path, "orderMode: byUserID"), rows)
    assert len(parts) == 3
    homes = {n % 20: {part for part, own in parts.items() if set(own) & set(range(n % 20, 200, 20))} for n in range(20)}
    assert all(len(home) == 1 for home in homes.values())
    assert all(sequences == sorted(sequences) for sequences in parts.values())


def test_each_queue_has_one_partition(spark: Any, tmp_path: Path) -> None:
    """With byQueueOrder each queue has a partition to itself, in its order, whatever the instances."""
    rows = [message(n, queue="AB"[n % 2]) for n in range(40)]
    flow = flow_with(tmp_path, "orderMode: byQueueOrder")
    parts = partitions(spark, flow, rows)
    assert (flow.partitions, parts) == (2, {0: list(range(0, 40, 2)), 1: list(range(1, 40, 2))})


GROUP = [
    member(3, b"g", 2), message(4), member(5, b"h", 1), member(6, b"g", 1), member(7, b"g", 3, last=True),
    member(8, b"h", 2, last=True), message(9),
]  # fmt: skip


def test_groups_stay_together(spark: Any, tmp_path: Path) -> None:
    """The messages of a group are in one partition, one behind the other, by their numbers."""
    parts = partitions(spark, flow_with(tmp_path, ""), [*GROUP, *(message(n) for n in range(100, 130))])
    for group in ([6, 3, 7], [5, 8]):
        home = next(own for own in parts.values() if group[0] in own)
        at = home.index(group[0])
        assert home[at : at + len(group)] == group


@pytest.mark.parametrize("mode", ["byUserID", "byQueueOrder"])
def test_groups_have_their_turn(spark: Any, tmp_path: Path, mode: str) -> None:
    """Where messages are in order, a group comes when its first message does."""
    parts = partitions(spark, flow_with(tmp_path, f"orderMode: {mode}"), GROUP)
    assert list(parts.values()) == [[4, 5, 8, 6, 3, 7, 9]]


def test_without_logical_order(spark: Any, tmp_path: Path) -> None:
    """Where no logical order is asked for, messages of a group come as they stand."""
    flow = flow_with(tmp_path, "orderMode: byQueueOrder, logicalOrder: false")
    assert list(partitions(spark, flow, GROUP).values()) == [[3, 4, 5, 6, 7, 8, 9]]


def test_what_one_message_fed_stays_in_order(spark: Any, tmp_path: Path) -> None:
    """What came of one message comes as it was put, also the tenth and the eleventh."""
    rows = [message(1, lineage=f"1.{n}") | {"sequence": 1, "msg_seq_number": n} for n in (10, 2, 9, 0, 11)]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    frame = completed(spark.createDataFrame(pa.table(columns)))
    found = dealt(frame, flow_with(tmp_path, "orderMode: byQueueOrder, logicalOrder: false")).collect()
    assert [row["lineage"] for row in found] == ["1.0", "1.2", "1.9", "1.10", "1.11"]

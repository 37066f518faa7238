"""Groups of messages on executors, without Spark: units of work over a group, and groups that are not whole."""

from pathlib import Path
from typing import Any

import pytest

from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP
from spark_exec.deployment import deployment_of
from spark_exec.plan import Plan, plan
from tests.spark.flows import ORDERS, ORDERS_ESQL, batch, results

BROKER = """\
broker: B
queues: {IN: {backoutThreshold: 1, backoutRequeueQueue: IN.BACKOUT}}
executionGroups: {G: [orders.yaml]}
"""


def planned_with(folder: Path, settings: str) -> Plan:
    """The flow of orders, its MQInput with more settings."""
    text = ORDERS.replace("queueName: IN,", f"queueName: IN, {settings},")
    for name, content in (("orders.yaml", text), ("Orders.esql", ORDERS_ESQL), ("broker.yaml", BROKER)):
        (folder / name).write_text(content, encoding="utf-8")
    return plan(deployment_of(str(folder / "broker.yaml")))


def members(*numbers: int, last: bool = True) -> list[Any]:
    """A group whose messages have these ids, numbered from 1; each in a batch of its own."""
    made = []
    for place, number in enumerate(numbers, 1):
        flags = MSG_IN_GROUP | (LAST_MSG_IN_GROUP if last and place == len(numbers) else 0)
        columns = {"group_id": b"g".ljust(24, b"\0"), "msg_seq_number": place, "msg_flags": flags}
        made.append(batch([number], **columns))
    return made


def told(planned: Plan, *batches: Any) -> list[tuple[Any, ...]]:
    rows = [row for row in results(planned, *batches) if row["kind"] != "statistics"]
    return [(row["kind"], row["queue"], row["sequence"]) for row in rows]


PUT = [("put", "OUT", 1), ("put", "OUT", 2)]
CASES = [
    ("each message by itself", "logicalOrder: true", members(12, 13, 14),
     [("put", "OUT", 12), ("put", "IN.BACKOUT", 13), ("failure", "IN", 13), ("put", "OUT", 14)]),
    ("a unit that fails is tried again", "commitByMessageGroup: true", members(12, 13, 14),
     [("put", "IN.BACKOUT", 12), ("put", "IN.BACKOUT", 13), ("put", "OUT", 14), ("failure", "IN", 13)]),
    ("a unit that fails takes no other with it", "commitByMessageGroup: true", [*members(1, 13), batch([2])],
     [("put", "IN.BACKOUT", 1), ("put", "IN.BACKOUT", 13), ("failure", "IN", 13), ("put", "OUT", 2)]),
    ("a unit that is never whole waits", "commitByMessageGroup: true", [*members(1, 2, last=False), batch([3])],
     [("waiting", "IN", 1), ("waiting", "IN", 2), ("put", "OUT", 3)]),
    ("all messages available", "allMsgsAvailable: true", members(1, 2), PUT),
    ("not all messages available", "allMsgsAvailable: true", members(1, 2, 3)[:2],
     [("waiting", "IN", 1), ("waiting", "IN", 2)]),
    ("a message is missing", "logicalOrder: true", [members(1, 2, 3)[0], members(1, 2, 3)[2], batch([4])],
     [("put", "OUT", 1), ("waiting", "IN", 3), ("put", "OUT", 4)]),
    ("a message is missing and nobody minds", "logicalOrder: false", [members(1, 2, 3)[0], members(1, 2, 3)[2]],
     [("put", "OUT", 1), ("put", "OUT", 3)]),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "batches", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_groups(tmp_path: Path, settings: str, batches: list[Any], expected: list[tuple[Any, ...]]) -> None:
    """A group is carried in its order, as one unit of work where that is asked for; what cannot come yet waits."""
    assert told(planned_with(tmp_path, settings), *batches) == expected


def test_browsing_ends(tmp_path: Path) -> None:
    """A message that is only looked at, and fails, is not looked at for ever."""
    planned = planned_with(tmp_path, "browse: true")
    assert told(planned, batch([13, 14])) == [("failure", "IN", 13), ("put", "OUT", 14)]

"""Puts of flows on executors that a queue manager would refuse."""

from pathlib import Path

import pytest

from spark_exec.deployment import deployment_of
from spark_exec.plan import plan
from tests.spark.flows import batch, order, planned_in, results, written


@pytest.mark.parametrize(
    ("reason", "fields"),
    [
        (2027, {"msg_type": 1}),
        (2027, {"report": 0x100}),
        (2061, {"report": 0x8000}),
        (2029, {"msg_type": 0}),
        (2249, {"msg_flags": 0x20}),
        (2013, {"expiry": 0}),
        (2050, {"priority": -2}),
        (2047, {"persistence": 3}),
    ],
)
def test_what_mq_refuses_a_flow_is_refused_and_put_away(tmp_path: Path, reason: int, fields: dict[str, int]) -> None:
    """A flow cannot put what MQPUT refuses; the message that it was made of ends on the backout queue as it was."""
    rows = list(results(planned_in(tmp_path), batch([1], **fields)))
    put, failure = (row for row in rows if row["kind"] != "statistics")
    assert ("put", "IN.BACKOUT", order(1)) == (put["kind"], put["queue"], put["body"])
    by_default = {"priority": 0, "persistence": 0}
    assert fields | {name: 0 for name in by_default if name in fields} == {name: put[name] for name in fields}
    assert failure["kind"] == "failure"
    assert f'"Number": {reason}}}' in failure["exceptions"]


def test_a_put_is_filled_in_as_a_queue_manager_does_it(tmp_path: Path) -> None:
    """A last message is in its group, has an id for it that is the same each time, and the queue manager's CCSID."""
    (put, again) = (
        next(results(planned_in(tmp_path), batch([1], msg_flags=16, coded_char_set_id=0))) for _ in range(2)
    )
    assert ("fed", 24, 1208) == (put["kind"], put["msg_flags"], put["coded_char_set_id"])
    assert bytes(24) != put["group_id"] == again["group_id"]


@pytest.mark.parametrize(
    ("queues", "expected"),
    [
        ("ALIAS: {TARGET: OUT}", ("fed", "OUT", 0)),
        ("ALIAS: {TARGET: KEPT}", ("put", "KEPT", 0)),
        ("ALIAS: {TARGET: OUT, TARGTYPE: TOPIC}", ("put", "ALIAS", 0)),
        ("ALIAS: {DEFPSIST: true}", ("put", "ALIAS", 1)),
    ],
)
def test_a_queue_is_what_the_broker_file_says(tmp_path: Path, queues: str, expected: tuple[str, str, int]) -> None:
    """What is put to an alias is on the queue behind it; a persistence that the queue decides is a number."""
    broker, orders = written(tmp_path), tmp_path / "orders.yaml"
    broker.write_text(broker.read_text("utf-8").replace("queues:\n", f"queues:\n  {queues}\n"), encoding="utf-8")
    orders.write_text(orders.read_text("utf-8").replace("queueName: OUT", "queueName: ALIAS"), encoding="utf-8")
    row = next(results(plan(deployment_of(str(broker))), batch([1], persistence=2)))
    assert expected == (row["kind"], row["queue"], row["persistence"])

"""Flows and messages for the tests of Spark, and what carries them without it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from spark_exec.deployment import deployment_of
from spark_exec.plan import Plan, plan
from spark_exec.rows import MESSAGE
from spark_exec.worker import Assignment

ORDERS = """\
flow: Orders
nodes:
  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}
  Work:
    type: Compute
    computeExpression: Orders
  Out: {type: MQOutput, queueName: OUT}
wires:
  - In.out -> Work
  - Work.out -> Out
"""
ORDERS_ESQL = """\
CREATE COMPUTE MODULE Orders
  CREATE FUNCTION Main() RETURNS BOOLEAN
  BEGIN
    SET OutputRoot = InputRoot;
    IF InputRoot.XMLNSC.Order.Id = 13 THEN
      THROW USER EXCEPTION MESSAGE 2951 VALUES('unlucky');
    END IF;
    SET OutputRoot.XMLNSC.Order.Status = 'DONE';
    RETURN TRUE;
  END;
END MODULE;
"""
SECOND = """\
flow: Second
nodes:
  In: {type: MQInput, queueName: OUT}
  Out: {type: MQOutput, queueName: LAST}
wires:
  - In.out -> Out
"""
BROKER = """\
broker: ARCHIVE
deadLetterQueue: DEAD
queues:
  IN: {backoutThreshold: 2, backoutRequeueQueue: IN.BACKOUT}
executionGroups:
  First:
    - {flow: orders.yaml, additionalInstances: 2}
  Last:
    - second.yaml
"""


def written(folder: Path) -> Path:
    """The broker file of both flows."""
    for name, text in (
        ("orders.yaml", ORDERS),
        ("Orders.esql", ORDERS_ESQL),
        ("second.yaml", SECOND),
        ("broker.yaml", BROKER),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "broker.yaml"


def order(number: int) -> bytes:
    return b"<Order><Id>%d</Id><Status>NEW</Status></Order>" % number


def batch(numbers: Sequence[int], **columns: Any) -> pa.RecordBatch:
    """Orders as a batch of a message set."""
    rows = [{"queue": "IN", "sequence": n, "body": order(n)} | columns for n in numbers]
    return pa.RecordBatch.from_pylist(rows, schema=MESSAGE)


def assignment(planned: Plan, number: int = 0) -> Assignment:
    flow, own = planned.flows[number], planned.deployment
    return Assignment(
        flow.group, flow.shipped, frozenset(planned.reads), own.queues, own.queue_manager, own.dead_letter_queue,
        ("20260102", "03040506"), own.aliases,
    )  # fmt: skip


def planned_in(folder: Path) -> Plan:
    return plan(deployment_of(str(written(folder))))


def results(planned: Plan, *batches: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows that the first flow makes of batches."""
    for found in assignment(planned).carry(iter(batches)):
        yield from found.to_pylist()

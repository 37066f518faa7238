"""Messages that fail end on the same queues, with the same bytes, on an executor as where a queue manager has them."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.mq.definitions import QueueDefinition
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.files import load_flow
from flows.programs import binder
from spark_exec.deployment import deployment_of
from spark_exec.plan import plan
from tests.spark.flows import batch, results

NODES = """\
flow: F
nodes:
  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC, SETTINGS}
  Other: {type: MQInput, queueName: OTHER}
  Work:
    type: Compute
    computeExpression: |
      IF InputRoot.XMLNSC.Order.Id = 13 THEN
        PROPAGATE TO TERMINAL 'out1' DELETE NONE;
        THROW USER EXCEPTION MESSAGE 2951 VALUES('unlucky');
      END IF;
      SET OutputRoot = InputRoot;
      SET OutputRoot.XMLNSC.Order.Status = 'DONE';
  Caught:
    type: Compute
    computeExpression: |
      SET OutputRoot.XMLNSC.Failed.Number = InputExceptionList.*[<].Number;
      SET OutputRoot.XMLNSC.Failed.Times = InputRoot.MQMD.BackoutCount;
  Broken: {type: Throw}
  Out: {type: MQOutput, queueName: OUT}
  Aside: {type: MQOutput, queueName: ASIDE, transactionMode: no}
  Failed: {type: MQOutput, queueName: FAILED}
wires:
  - In.out -> Work
  - Work.out -> Out
  - Work.out1 -> Aside
  - Caught.out -> Failed
  - Other.out -> Caught
  - Other.out -> Broken
"""
BODIES = [b"<Order><Id>%d</Id></Order>" % number for number in (12, 13, 14)] + [b"<Order", b""]
WIRES = ("", "  - In.catch -> Caught", "  - In.failure -> Caught", "  - In.catch -> Broken\n  - In.failure -> Caught",
         "  - In.failure -> Broken")  # fmt: skip
SETTINGS = ("transactionMode: yes", "transactionMode: no", "transactionMode: automatic", "validateTiming: complete")
QUEUES = ("{}", "{backoutThreshold: 3}", "{backoutThreshold: 2, backoutRequeueQueue: AGAIN}")
LETTERS = ("DEAD", "''")


def planned(folder: Path, wires: str, settings: str, queue: str, letters: str) -> Any:
    (folder / "f.yaml").write_text(NODES.replace("SETTINGS", settings) + wires, encoding="utf-8")
    text = f"broker: B\nqueueManager: QM\ndeadLetterQueue: {letters}\nqueues: {{IN: {queue}}}\n"
    (folder / "b.yaml").write_text(f"{text}executionGroups: {{G: [f.yaml]}}\n", encoding="utf-8")
    return plan(deployment_of(str(folder / "b.yaml")))


def in_a_broker(own: Any, flow: str) -> tuple[list[tuple[str, bytes, str]], set[int]]:
    """What is on the queues in the end, and which messages have failed."""
    deployment, found = own.deployment, load_flow(flow)
    defined = [QueueDefinition(name, attributes) for name, attributes in deployment.queues.items()]
    queues = MemoryQueues(*defined, name="QM", dead_letter_queue=deployment.dead_letter_queue, open_=True)
    deployed, failed, stuck = deploy(found, bind=binder(found)), set(), list[tuple[str, bytes, str]]()
    for number, body in enumerate(BODIES):
        queues.work().put("IN", Descriptor(), body, syncpoint=False)
        for _ in range(20):
            outcome = deployed.process(deployed.entrances[0], queues.work())
            if outcome is None:
                break
            if outcome.error is not None:
                failed.add(number)
        if (left := queues.work().get("IN", syncpoint=False)) is not None:
            stuck.append(("IN", left.body, left.descriptor.format))
    names = [name for name in queues.names() if name != "IN"]
    return stuck + [(n, a.body, a.descriptor.format) for n in names for a in queues.browse(n)], failed


def without_moment(rows: list[tuple[str, bytes, str]]) -> list[tuple[str, bytes, str]]:
    """The same in order, with the date and time of an MQDLH left out."""
    return sorted((queue, body[:156] + body[172:] if form == "MQDEAD" else body, form) for queue, body, form in rows)


@pytest.mark.parametrize(("wires", "settings"), list(product(WIRES, SETTINGS)))
def test_as_in_a_broker(tmp_path: Path, wires: str, settings: str) -> None:
    """Backout, thresholds, dead letters, and the catch and failure terminals do the same to messages that fail."""
    for queue, letters in product(QUEUES, LETTERS):
        own = planned(tmp_path, wires, settings, queue, letters)
        rows = list(results(own, *(batch([number], body=body) for number, body in enumerate(BODIES))))
        found = [(r["queue"], r["body"], r["format"]) for r in rows if r["kind"] in {"put", "waiting"}]
        expected, failed = in_a_broker(own, str(tmp_path / "f.yaml"))
        assert without_moment(found) == without_moment(expected), (queue, letters)
        assert {row["sequence"] for row in rows if row["kind"] == "failure"} >= failed

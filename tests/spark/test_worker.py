"""What executors do with batches of messages, without Spark."""

import json
import pickle
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from engine.descriptor import Descriptor
from engine.errors import ConfigurationException
from flows.files import own_nodes
from spark_exec.deployment import built, deployment_of
from spark_exec.partition_work import PartitionWork
from spark_exec.plan import Plan, plan
from spark_exec.rows import MESSAGE, Failed, Row, Rows, as_received, rows_of
from tests.spark.flows import assignment, batch, order, planned_in, results, written

CHANGED = order(1).replace(b"NEW", b"DONE")


def test_puts_are_rows(tmp_path: Path) -> None:
    """A message that is put is a row with its queue, body, descriptor and where it came from."""
    planned = planned_in(tmp_path)
    put = next(results(planned, batch([1])))
    expected = ("fed", "Orders", "First", "OUT", 1, "1.0", CHANGED, "20260102")
    found = tuple(put[name] for name in ("kind", "flow", "group", "queue", "sequence", "lineage", "body", "put_date"))
    assert found == expected


def test_publications_are_rows(tmp_path: Path) -> None:
    """A message that is published is a row with its topic as an address; a topic too long to file rows by fails."""
    topic = "nodes:\n  In: {type: MQInput, queueName: IN, topicProperty: TOPIC}\n  P: {type: Publication}\n"
    for name, expected in (("n/x", [("publication", "topic://n/x")]), ("n/" + "x" * 80, [("failure", "IN")])):
        text = f"flow: F\n{topic.replace('TOPIC', name)}wires: [In.out -> P]\n"
        (tmp_path / "f.yaml").write_text(text, encoding="utf-8")
        rows = list(results(plan(deployment_of(str(tmp_path / "f.yaml"))), batch([1])))
        found = [(row["kind"], row["queue"]) for row in rows if row["kind"] not in {"statistics", "waiting", "put"}]
        assert expected == found


def test_publications_that_go_on(tmp_path: Path) -> None:
    """Behind a Publication node a message goes on by out, as nobody knows who takes the row."""
    nodes = "nodes:\n  In: {type: MQInput, queueName: IN, topicProperty: n/x}\n  P: {type: Publication}\n"
    others = "".join(f"  {name}: {{type: MQOutput, queueName: {name}}}\n" for name in ("OUT", "NOBODY"))
    text = f"flow: F\n{nodes}{others}wires: [In.out -> P, P.out -> OUT, P.noMatch -> NOBODY]\n"
    (tmp_path / "f.yaml").write_text(text, encoding="utf-8")
    rows = list(results(plan(deployment_of(str(tmp_path / "f.yaml"))), batch([1])))
    found = [(row["kind"], row["queue"]) for row in rows if row["kind"] not in {"statistics", "waiting"}]
    assert [("publication", "topic://n/x"), ("put", "OUT")] == found


def test_poison_is_put_away_and_told(tmp_path: Path) -> None:
    """A message that always fails ends on the backout queue with its bytes, and its failure is a row."""
    rows = list(results(planned_in(tmp_path), batch([12, 13, 14])))
    told = [(row["kind"], row["sequence"], row["queue"]) for row in rows if row["kind"] != "statistics"]
    assert told == [("fed", 12, "OUT"), ("put", 13, "IN.BACKOUT"), ("failure", 13, "IN"), ("fed", 14, "OUT")]
    backed_out, failure = rows[1], rows[2]
    assert (backed_out["body"], failure["body"]) == (order(13), order(13))
    exceptions = json.loads(failure["exceptions"])
    inner = exceptions["RecoverableException"]
    while below := [value for value in inner.values() if isinstance(value, dict)]:
        inner = below[0]
    assert (inner["Number"], inner["Insert"][0]["Text"]) == (2951, "unlucky")


def test_ids_follow_from_messages(tmp_path: Path) -> None:
    """The same message has the same ids whatever stands before it, so that a task that runs again does the same."""
    planned = planned_in(tmp_path)
    alone = next(results(planned, batch([7])))
    later = [row for row in results(planned, batch([5, 6]), batch([7])) if row["sequence"] == 7]
    assert later[0] == alone
    assert alone["msg_id"] != next(results(planned, batch([8])))["msg_id"]


def test_costs_are_rows(tmp_path: Path) -> None:
    """Every node's messages and processor time are told once for each partition."""
    rows = [row for row in results(planned_in(tmp_path), batch([1, 2]), batch([3])) if row["kind"] == "statistics"]
    assert {row["node"]: row["messages"] for row in rows} == {None: 3, "In": 3, "Work": 3, "Out": 3}
    assert all(row["cpu_ns"] > 0 for row in rows)


def test_flows_are_built_once_from_data(tmp_path: Path) -> None:
    """A flow that was shipped needs none of its files, and is built once for what it says."""
    planned = planned_in(tmp_path)
    shipped = planned.flows[0].shipped
    for file in tmp_path.iterdir():
        file.unlink()
    assert built(shipped) is built(shipped)
    assert next(results(planned, batch([1])))["body"] == CHANGED


def test_properties_stand_in_front(tmp_path: Path) -> None:
    """Properties of a message stand in an MQRFH2 in front of its body, whose format is as before."""
    row = next(rows_of(batch([1], format="MQSTR", properties=[("colour", "red")])))
    descriptor, body = as_received(row)
    assert (descriptor.format, body.startswith(b"RFH "), body.endswith(order(1))) == ("MQHRF2", True, True)
    assert as_received(Row(1, "1", "IN", Descriptor(), {}, b"x")) == (Descriptor(), b"x")


def test_a_unit_of_work_backs_out() -> None:
    """What was put is forgotten and the message is on its queue again, its backout count one higher."""
    work = PartitionWork({}, ("QM", "DEAD"), ("20260102", "03040506"))
    work.offer(b"1", "IN", [(Descriptor(), b"x")])
    assert work.get("OTHER") is None
    arrival = work.get("IN")
    assert arrival is not None
    work.put("OUT", Descriptor(), b"y")
    work.put("LOG", Descriptor(), b"z", syncpoint=False)
    work.back_out()
    again = work.get("IN")
    assert again is not None
    assert (again.descriptor.backout_count, [put.queue for put in work.done]) == (1, ["LOG"])
    work.commit()
    assert not work.is_waiting


def test_messages_that_are_not_asked_for(tmp_path: Path) -> None:
    """A message that a flow does not take, as it asks for another id, is a row of its own and not lost."""
    text = "flow: F\nnodes:\n  In: {type: MQInput, queueName: IN, matchMessageId: '01'}\n"
    (tmp_path / "match.yaml").write_text(text, encoding="utf-8")
    planned = plan(deployment_of(str(tmp_path / "match.yaml")))
    wanted = b"\1".ljust(24, b"\0")
    rows = list(results(planned, batch([1]), batch([2], msg_id=wanted)))
    assert [(row["kind"], row["sequence"], row["body"]) for row in rows if row["sequence"]] == [
        ("waiting", 1, order(1))
    ]


def test_broken_esql_is_refused_before_anything_starts(tmp_path: Path) -> None:
    """A flow whose program is wrong is refused when it is planned."""
    written(tmp_path)
    (tmp_path / "Orders.esql").write_text("CREATE COMPUTE MODULE Orders\n", encoding="utf-8")
    with pytest.raises(ConfigurationException, match="cannot be deployed"):
        plan(deployment_of(str(tmp_path / "orders.yaml")))


BAD_BROKERS = [
    ("broker: B\nexecutionGroups: {G: [orders.yaml]}\nqueue: {}\n",
     ":3:1: a broker file has no queue; did you mean queues?"),
    ("broker: B\nexecutionGroups: {G: orders.yaml}\n", ":2:22: execution group G must be a list of flows"),
    ("broker: B\n", "the broker has no flows"),
    ("broker: B\nqueues: {IN: {backoutThreshold: x}}\nexecutionGroups: {G: [orders.yaml]}\n",
     "backoutThreshold must be a number"),
    ("broker: B\nqueues: {A B: {}}\nexecutionGroups: {G: [orders.yaml]}\n", ":2:10: 'A B' is not the name of a "),
    ("broker: B\nqueues: {A: {backoutRequeueQueue: '*'}}\nexecutionGroups: {G: [orders.yaml]}\n",
     ":2:36: '*' is not the name of a queue: "),
    ("broker: B\nqueueManager: Q M\nexecutionGroups: {G: [orders.yaml]}\n", ":2:15: 'Q M' is not the name of a queue "),
    ("broker: B\ndeadLetterQueue: D Q\nexecutionGroups: {G: [orders.yaml]}\n", ":2:18: 'D Q' is not the name"),
    ("broker: B\nexecutionGroups: {G: [{flow: orders.yaml, instances: 2}]}\n", "a deployed flow has no instances"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "why"), BAD_BROKERS)
def test_broken_broker_files(tmp_path: Path, text: str, why: str) -> None:
    """A broker file that cannot be deployed is refused, with the place and the reason."""
    written(tmp_path)
    file = tmp_path / "broken.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationException) as raised:
        deployment_of(str(file))
    assert why in "\n".join(str(problem) for problem in raised.value.problems)


def test_plans(tmp_path: Path) -> None:
    """A plan says groups, queues, partitions and orders."""
    assert list(planned_in(tmp_path).lines()) == [
        "execution group First: 3 partitions",
        "  Orders reads IN: 3 partitions, order default (as additionalInstances says)",
        "execution group Last: 1 partition",
        "  Second reads OUT: 1 partition, order default",
    ]


REFUSED = [
    ("Get: {type: MQGet, queueName: X}", "Get is a MQGet node, which does not run on Spark: it gets messages"),
    ("Ask: {type: Compute, computeExpression: 'SET OutputRoot.XMLNSC.A[] = (SELECT T.X FROM Database.T AS T);'}",
     "the program of Ask asks a database, and none is named: give --data-source NAME=URL"),
    ("Ask: {type: Filter, filterExpression: 'EXISTS(SELECT T.X FROM Database.T AS T)'}", "the program of Ask asks"),
    ("Log: {type: Trace, destination: file, filePath: /tmp/trace.txt}", "Log is a Trace node that writes a file"),
]  # fmt: skip


@pytest.mark.parametrize(("node", "why"), REFUSED, ids=lambda case: case[:12])
def test_what_executors_cannot_do(tmp_path: Path, node: str, why: str) -> None:
    """A node that needs what executors do not have is refused before anything runs, with the reason and its place."""
    label = node.partition(":")[0]
    text = f"flow: G\nnodes:\n  In: {{type: MQInput, queueName: IN}}\n  {node}\nwires: [In.out -> {label}]\n"
    (tmp_path / "get.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationException, match=why) as raised:
        plan(deployment_of(str(tmp_path / "get.yaml")))
    assert str(raised.value).split(": ")[0].endswith("get.yaml:4:3")


def test_flows_that_cannot_be_deployed(tmp_path: Path) -> None:
    """Two readers of one queue are refused, and so is a flow that reads none."""
    written(tmp_path)
    with pytest.raises(ConfigurationException, match="both read IN"):
        plan(deployment_of(*[str(tmp_path / "orders.yaml")] * 2))
    (tmp_path / "none.yaml").write_text("flow: N\nnodes:\n  Out: {type: MQOutput, queueName: Q}\n", encoding="utf-8")
    with pytest.raises(ConfigurationException, match="flow N has no input node"):
        plan(deployment_of(str(tmp_path / "none.yaml")))


OWN_NODE = """\
from dataclasses import dataclass
from engine.node import node

@node("SparkTwice", outputs=("out",))
@dataclass(frozen=True, slots=True)
class SparkTwice:
    \"\"\"Send every message twice.\"\"\"

    def evaluate(self, message, work):
        yield "out", message
        yield "out", message
"""


def test_own_nodes_are_shipped(tmp_path: Path) -> None:
    """A node of one's own goes to executors with the flow, and is part of what the flow's hash says."""
    (tmp_path / "own.py").write_text(OWN_NODE, encoding="utf-8")
    text = "flow: O\nnodes:\n  In: {type: MQInput, queueName: IN}\n  Own: {type: SparkTwice}\n"
    text += "  Out: {type: MQOutput, queueName: OUT}\nwires: [In.out -> Own, Own.out -> Out]\n"
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    own = own_nodes([str(tmp_path / "own.py")])
    planned = plan(deployment_of(str(tmp_path / "own.yaml")), own)
    code = "import pickle, sys; from spark_exec.deployment import built; "
    code += "print(*built(pickle.load(sys.stdin.buffer)).flow.stations)"
    shipped, command = pickle.dumps(planned.flows[0].shipped), [sys.executable, "-c", code]
    found = subprocess.run(command, input=shipped, capture_output=True, timeout=300, check=True)
    assert found.stdout.split() == [b"In", b"Own", b"Out"]
    assert [row["lineage"] for row in results(planned, batch([1])) if row["kind"] == "put"] == ["1.0", "1.1"]


def test_programs_know_their_broker(tmp_path: Path) -> None:
    """BrokerName, ExecutionGroupLabel and QueueManagerName are what the broker file says."""
    program = "SET OutputRoot.XMLNSC.A = BrokerName || ' ' || ExecutionGroupLabel || ' ' || QueueManagerName;"
    text = "flow: F\nnodes:\n  In: {type: MQInput, queueName: IN}\n"
    text += f'  C: {{type: Compute, computeExpression: "{program}"}}\n  Out: {{type: MQOutput, queueName: OUT}}\n'
    (tmp_path / "f.yaml").write_text(text + "wires: [In.out -> C, C.out -> Out]\n", encoding="utf-8")
    (tmp_path / "broker.yaml").write_text("broker: B\nqueueManager: M\nexecutionGroups: {G: [f.yaml]}\n", "utf-8")
    planned = plan(deployment_of(str(tmp_path / "broker.yaml")))
    assert next(results(planned, batch([1])))["body"] == b"<A>B G M</A>"


def test_what_nobody_reads_waits(tmp_path: Path) -> None:
    """A message of a queue that no flow reads, and what was no message, are rows as well."""
    rows = list(results(planned_in(tmp_path), batch([1], queue="OTHER"), batch([2], problem="no message")))
    told = [(row["kind"], row["queue"], row["body"], row["error"]) for row in rows if row["kind"] != "statistics"]
    assert told == [("waiting", "OTHER", order(1), None), ("failure", "IN", order(2), "no message")]


def test_batches_are_bounded_by_bytes(tmp_path: Path) -> None:
    """What comes out is in batches of a few MiB, however large messages are; a larger one is alone in its batch."""
    text = "flow: F\nnodes:\n  In: {type: MQInput, queueName: IN}\n  Out: {type: MQOutput, queueName: OUT}\n"
    (tmp_path / "f.yaml").write_text(text + "wires: [In.out -> Out]\n", encoding="utf-8")
    given = assignment(plan(deployment_of(str(tmp_path / "f.yaml"))))
    for size, most in ((1 << 16, 32), (10 << 20, 1), (100, 2048)):
        rows = [{"queue": "IN", "sequence": n, "body": bytes(size)} for n in range(3 * most)]
        found = list(given.carry(iter([pa.RecordBatch.from_pylist(rows, schema=MESSAGE)])))
        assert [made.num_rows for made in found[:-1]] == [most] * 3


def flow_in(
    folder: Path, settings: str, broker: str = "queueManager: QM", program: str = "SET OutputRoot = InputRoot;"
) -> Plan:
    """A flow with one Compute node, in a broker whose deadLetterQueue and queues are given."""
    text = f"flow: F\nnodes:\n  In: {{type: MQInput, queueName: IN, {settings}}}\n"
    text += f'  C: {{type: Compute, computeExpression: "{program}"}}\n  Out: {{type: MQOutput, queueName: OUT}}\n'
    (folder / "f.yaml").write_text(text + "wires: [In.out -> C, C.out -> Out]\n", encoding="utf-8")
    (folder / "b.yaml").write_text(f"broker: B\n{broker}\nexecutionGroups: {{G: [f.yaml]}}\n", encoding="utf-8")
    return plan(deployment_of(str(folder / "b.yaml")))


def told(rows: Iterable[dict[str, Any]]) -> list[tuple[str, str, int]]:
    return [(row["kind"], row["queue"], row["sequence"]) for row in rows if row["kind"] != "statistics"]


def test_a_dead_letter_has_the_moment_of_the_run(tmp_path: Path) -> None:
    """The date and time in an MQDLH are the run's, so that a task that runs again writes the same bytes."""
    planned = flow_in(tmp_path, "messageDomainProperty: XMLNSC", program="THROW USER EXCEPTION;")
    put, failure = [row for row in results(planned, batch([1])) if row["kind"] != "statistics"]
    assert (put["queue"], failure["kind"]) == ("SYSTEM.DEAD.LETTER.QUEUE", "failure")
    assert put["body"].removesuffix(order(1)).endswith(b"2026010203040506")


def test_what_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    """A message that its flow never sees, as it is put away at once, is a row of kind failure as well, with why."""
    planned = flow_in(tmp_path, "messageDomainProperty: XMLNSC, validateTiming: complete", "deadLetterQueue: DEAD")
    rows = list(results(planned, batch([1], body=b"<x"), batch([2])))
    assert told(rows) == [("put", "DEAD", 1), ("failure", "IN", 1), ("put", "OUT", 2)]
    assert "XML" in rows[1]["error"]
    assert json.loads(rows[1]["exceptions"])


def test_a_message_that_nobody_takes_waits(tmp_path: Path) -> None:
    """What fails and can be put away nowhere stays on its queue, after few tries, and is told."""
    planned = flow_in(tmp_path, "transactionMode: yes", "deadLetterQueue: ''", "THROW USER EXCEPTION;")
    rows = list(results(planned, batch([1, 2])))
    assert told(rows) == [("waiting", "IN", 1), ("failure", "IN", 1), ("waiting", "IN", 2), ("failure", "IN", 2)]
    assert {row["messages"] for row in rows if row["node"] == "C"} == {2}


def test_a_high_threshold_is_met(tmp_path: Path) -> None:
    """A message is tried as often as the threshold of its queue says, whatever that is."""
    queues = "queues: {IN: {backoutThreshold: 12000, backoutRequeueQueue: AGAIN}}"
    rows = list(results(flow_in(tmp_path, "transactionMode: yes", queues, "THROW USER EXCEPTION;"), batch([1])))
    assert told(rows) == [("put", "AGAIN", 1), ("failure", "IN", 1)]
    assert {row["messages"] for row in rows if row["node"] == "C"} == {12000}


def test_properties_that_no_header_can_say(tmp_path: Path) -> None:
    """A message whose properties cannot stand in an MQRFH2 is a failure, and the job goes on."""
    planned = flow_in(tmp_path, "transactionMode: yes")
    rows = list(results(planned, batch([1], properties=[("no name", "x")]), batch([2], properties=[("a", "\0")])))
    assert told(rows) == [("failure", "IN", 1), ("failure", "IN", 2)]
    assert told(results(planned, batch([3], properties=[("a", None)]))) == [("put", "OUT", 3)]


def test_ids_follow_from_what_messages_say(tmp_path: Path) -> None:
    """Messages of two archives that stand in the same place have ids of their own."""
    planned = flow_in(tmp_path, "transactionMode: yes")
    assert len({next(results(planned, batch([1], body=body)))["msg_id"] for body in (b"one", b"two")}) == 2
    assert len({next(results(planned, batch([1], body=b"one")))["msg_id"] for _ in range(2)}) == 1


def test_a_queue_that_cannot_be(tmp_path: Path) -> None:
    """A name that no queue has, as messages may say one, is the message's failure, and not the job's."""
    program = "SET OutputRoot = InputRoot; "
    program += "SET OutputLocalEnvironment.Destination.MQ.DestinationData[1].queueName = InputRoot.XMLNSC.Order.To;"
    text = "flow: F\nnodes:\n  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}\n"
    text += f'  C: {{type: Compute, computeMode: destinationAndMessage, computeExpression: "{program}"}}\n'
    text += "  Out: {type: MQOutput, destinationMode: list}\nwires: [In.out -> C, C.out -> Out]\n"
    (tmp_path / "f.yaml").write_text(text, encoding="utf-8")
    bodies = (b"<Order><To>%s</To></Order>" % to for to in (b"Q" * 49, b"A/B_C%", b""))
    rows = list(results(plan(deployment_of(str(tmp_path / "f.yaml"))), *(batch([1], body=body) for body in bodies)))
    dead = "SYSTEM.DEAD.LETTER.QUEUE"
    assert [(kind, queue) for kind, queue, _ in told(rows)] == [
        ("put", dead), ("failure", "IN"), ("put", "A/B_C%"), ("put", dead), ("failure", "IN"),
    ]  # fmt: skip
    assert "is the name of a queue: up to 48 ASCII characters" in rows[1]["exceptions"]


def test_halves_of_characters() -> None:
    """Text that no UTF-8 can say is told by its numbers."""
    rows = Rows("F", "G")
    for number in (1, 2):
        rows.add("failure", f"Q{number}\ud800", (number, str(number)), (Descriptor(), b""), Failed("no \ud800"))
    found = rows.batch().to_pylist()
    assert [(row["queue"], row["error"]) for row in found] == [(f"Q{n}\\ud800", "no \\ud800") for n in (1, 2)]


def test_every_message_is_counted_at_every_node(tmp_path: Path) -> None:
    """Statistics say exactly how many messages each node was given, however they come in batches."""
    planned = flow_in(tmp_path, "messageDomainProperty: XMLNSC")
    rows = results(planned, *(batch(list(range(100 * n, 100 * n + 77))) for n in range(5)))
    given = {row["node"]: row["messages"] for row in rows if row["part"] == "node"}
    assert {"In": 385, "C": 385, "Out": 385} == given


CORES = [
    ("convert: false", "default", 4, "one for each of 4 cores"),
    ("orderMode: byQueueOrder", "byQueueOrder", 1, "takes one message after the other"),
    ("orderMode: byUserID", "byUserID", 1, "keeps an order"),
]


@pytest.mark.parametrize(("setting", "order", "partitions", "why"), CORES)
def test_all_cores(tmp_path: Path, setting: str, order: str, partitions: int, why: str) -> None:
    """A flow that asks for no order has a partition for each core; the plan says why another has not."""
    (flow,) = flow_in(tmp_path, setting).spread(4).flows
    assert (order, partitions) == (flow.order, flow.partitions)
    assert why in flow.why


def test_shared_variables_stay_together(tmp_path: Path) -> None:
    """A flow that declares SHARED variables keeps its messages in one partition, where they see the same values."""
    (tmp_path / "c.esql").write_text(
        "CREATE COMPUTE MODULE C DECLARE n SHARED INTEGER 0; CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN"
        " SET n = n + 1; SET OutputRoot.XMLNSC.n = n; RETURN TRUE; END; END MODULE;",
        encoding="utf-8",
    )
    (flow,) = flow_in(tmp_path, "convert: false", program="C").spread(4).flows
    assert (1, True) == (flow.partitions, "SHARED" in flow.why)


def test_instances_are_said(tmp_path: Path) -> None:
    """--instances and a broker file's additionalInstances say how many partitions there are, whatever the cores."""
    plain = flow_in(tmp_path, "convert: false")
    assert [3] == [flow.partitions for flow in plain.scaled(3).spread(8).flows]
    (tmp_path / "b.yaml").write_text(
        "broker: B\nexecutionGroups: {G: [{flow: f.yaml, additionalInstances: 0}]}\n", encoding="utf-8"
    )
    assert [1] == [flow.partitions for flow in plan(deployment_of(str(tmp_path / "b.yaml"))).spread(8).flows]

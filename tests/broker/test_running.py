"""A broker at work: deployed to, changed, looked at and stopped by its commands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker.running import Running, broker, end, flow, until

LIMIT = 60


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A broker with a flow F that reads IN and puts to OUT."""
    folder = tmp_path_factory.mktemp("shop")
    with broker(folder, flow(folder, "F")) as made:
        reached = made.queues()
        reached.define("QLOCAL", "IN2", {})
        reached.close()
        yield made


def test_messages_go_through(shop: Running) -> None:
    """A deployed flow takes messages from its queue."""
    shop.put("IN", b"<a/>", b"<a>2</a>")
    assert {b"<a><by>1</by></a>", b"<a>2<by>1</by></a>"} == set(shop.get("OUT", 2))


def test_deployment_replaces(shop: Running, tmp_path: Path) -> None:
    """A flow of the same name is replaced, a rollback brings back what was there, and both are in the history."""
    name = str(shop.folder)
    new = flow(tmp_path, "F", by="2")
    assert "~ default/F" in shop.run("deploy", name, str(new), "--dry-run")
    shop.put("IN", b"<a/>")
    assert [b"<a><by>1</by></a>"] == shop.get("OUT", 1)
    shop.run("deploy", name, str(new))
    shop.put("IN", b"<a/>")
    assert [b"<a><by>2</by></a>"] == shop.get("OUT", 1)
    shop.run("rollback", name, "-e", "default")
    shop.put("IN", b"<a/>")
    assert [b"<a><by>1</by></a>"] == shop.get("OUT", 1)
    history = shop.json("broker", "history", name)
    assert ["create", "deploy", "rollback"] == [entry["action"] for entry in history[-3:]][:3]
    assert all(len(entry["digest"]) == 64 and entry["at"][:2] == "20" and entry["user"] for entry in history)


def test_queues_that_are_missing(shop: Running, tmp_path: Path) -> None:
    """A flow whose queue is not there changes nothing, wherever else it would have been deployed to."""
    before = shop.json("broker", "show", str(shop.folder))["digest"]
    files = [str(flow(tmp_path, "G", "IN2")), str(flow(tmp_path, "H", "NONE"))]
    assert "needs the queue NONE" in shop.run("deploy", str(shop.folder), *files, fails=True)
    assert before == shop.json("broker", "show", str(shop.folder))["digest"]


def test_start_and_stop_of_a_flow(shop: Running) -> None:
    """A flow that is stopped leaves its messages where they are, until it is started."""
    name = str(shop.folder)
    shop.run("flow", "stop", name, "F")
    assert ["stopped"] == [row["state"] for row in shop.json("flow", "list", name, "F")]
    shop.put("IN", b"<a/>")
    assert [] == shop.get("OUT", 1, seconds=0.6)
    shop.run("flow", "start", name, "F")
    assert [b"<a><by>1</by></a>"] == shop.get("OUT", 1)
    assert ["running"] == [row["state"] for row in shop.json("flow", "list", name)]


def test_properties(shop: Running) -> None:
    """Properties of a flow and of its nodes are laid over its file's; more instances are more processes."""
    name = str(shop.folder)
    assert "has no property" in shop.run("change-properties", name, "F", "nothing=1", fails=True)
    shop.run("change-properties", name, "F", "additionalInstances=2", "In.queueName=IN2")
    said = shop.json("report-properties", name, "F")
    assert (3, "3 processes", "IN2") == (said["instanceCount"], said["instances"], said["properties"]["In.queueName"])
    assert 3 == len(set(shop.workers()))
    shop.put("IN2", b"<a/>")
    assert [b"<a><by>1</by></a>"] == shop.get("OUT", 1)
    shop.run("rollback", name)


def test_statistics(shop: Running) -> None:
    """Statistics are IBM's record: since they were switched on, and of each node where they are asked for."""
    name = str(shop.folder)
    shop.run("stats", name, "F", "--level", "nodes")
    shop.put("IN", *[b"<a/>"] * 20)
    shop.get("OUT", 20)
    until(lambda: _archive(shop)["MessageFlow"]["TotalInputMessages"] == 20)
    said = _archive(shop)
    flow_of = said["MessageFlow"]
    assert ("F", "default", "shop", 80) == (
        flow_of["MessageFlowName"],
        flow_of["ExecutionGroupName"],
        flow_of["BrokerLabel"],
        flow_of["TotalSizeOfInputMessages"],
    )
    assert flow_of["MinimumElapsedTime"] <= flow_of["MaximumElapsedTime"] <= flow_of["TotalElapsedTime"]
    assert {"In": 20, "Work": 20, "Out": 20} == {node["Label"]: node["CountOfInvocations"] for node in said["Nodes"]}
    outs = [t for n in said["Nodes"] if n["Label"] == "In" for t in n["TerminalStatistics"] if t["Label"] == "out"]
    assert [20] == [terminal["CountOfInvocations"] for terminal in outs]
    assert 'penstock_flow_input_messages_total{broker="shop",execution_group="default",flow="F"} 20.0' in shop.run(
        "stats", name, "--prometheus"
    )
    shop.run("stats", name, "F", "--level", "none")
    assert [] == shop.json("stats", name)
    shop.run("stats", name, "F", "--level", "basic")


def _archive(shop: Running) -> dict[str, dict[str, object]]:
    records = [record["WMQIStatisticsAccounting"] for record in shop.json("stats", str(shop.folder), "F")]
    found: dict[str, dict[str, object]] = next(one for one in records if one["RecordType"] == "Archive")
    return found


def test_trace(shop: Running) -> None:
    """The user trace of a flow is switched on, written, printed, and switched off."""
    name = str(shop.folder)
    shop.run("trace", name, "F", "--level", "debug")
    shop.put("IN", b"<a/>")
    shop.get("OUT", 1)
    until(lambda: "BIP2632I: Message received and propagated to 'out'" in shop.run("trace", name, "F"))
    shop.run("trace", name, "F", "--level", "none")


def test_export_is_a_broker_file(shop: Running, tmp_path: Path) -> None:
    """What runs is exported as a broker file, which another broker and Spark take."""
    shop.run("broker", "export", str(shop.folder), str(tmp_path / "out"))
    other = Running(tmp_path / "out")
    other.run("broker", "create", str(other.folder))
    same = [made.json("broker", "show", str(made.folder))["groups"] for made in (shop, other)]
    assert same[0] == same[1]


def test_what_is_told(shop: Running) -> None:
    """show, top and doctor say which processes there are and that all is well; a second start is refused."""
    name = str(shop.folder)
    assert "running" in shop.run("broker", "show", name)
    now = shop.json("top", name)
    assert {"supervisor", "queue manager", "default"} <= {one["name"] for one in now["processes"]}
    assert all(row["ok"] for row in shop.json("broker", "doctor", name))
    assert "the broker is ready" in shop.run("broker", "logs", name)
    assert "runs already" in shop.run("broker", "start", name, "--detach", fails=True)
    assert "runs: stop it" in shop.run("broker", "delete", name, fails=True)


def test_queues_by_broker(shop: Running) -> None:
    """Commands of queues reach those of a broker by --broker, by its folder or its name."""
    at = ("--broker", str(shop.folder))
    shop.run("put", "IN", "--text", "<a/>", "--persistent", *at)
    assert "<a><by>1</by></a>" in shop.run("get", "OUT", "--wait", "10", *at)
    assert "2085" in shop.run("put", "NONE", "--text", "x", *at, fails=True)


def test_statistics_are_published(tmp_path: Path) -> None:
    """Snapshots are publications on IBM's topics, and spans of messages are written where they are asked for."""
    with broker(tmp_path, flow(tmp_path, "F"), more="statisticsSeconds: 1\ntraces: spans.jsonl\n") as made:
        made.put("IN", b"<a/>")
        made.get("OUT", 1)
        topic = "$SYS/Broker/shop/StatisticsAccounting/SnapShot/default/F"
        found = made.run("subscribe", topic, "--count", "1", "--wait", "10", "--broker", str(made.folder))
        assert '<WMQIStatisticsAccounting RecordType="SnapShot"' in found
        until(lambda: '"name": "Work"' in (made.folder / "spans.jsonl").read_text("utf-8"))
        assert ["SnapShot"] == [
            one["WMQIStatisticsAccounting"]["RecordType"] for one in made.json("stats", str(made.folder))
        ][1:]


LIMITS = """\
broker: LIM
queues: {{IN: {{}}, OUT: {{}}, PRICES.Q: {{}}}}
topics: {{PRICES: {{TOPICSTR: prices}}}}
subscriptions: {{ALL.PRICES: {{TOPICSTR: 'prices/#', DEST: PRICES.Q}}}}
executionGroups:
  G:
    limits: {{memory: 300m, cpuSecondsPerMessage: 0.5, messagesPerSecond: 50}}
    flows: [{0}]
"""
GREEDY = (
    "SET OutputRoot = InputRoot; DECLARE i INTEGER 0;"
    " IF InputRoot.XMLNSC.loop IS NOT NULL THEN WHILE i < 1000000000 DO SET i = i + 1; END WHILE; END IF;"
    " IF InputRoot.XMLNSC.big IS NOT NULL THEN SET OutputRoot.XMLNSC.big = REPLICATE('xxxxxxxx', 80000000); END IF;"
)


def test_limits_of_a_group(tmp_path: Path) -> None:
    """A message that takes more time or memory than it may fails alone, and rates are kept; topics are defined."""
    made = Running(tmp_path / "lim")
    made.folder.mkdir()
    file = flow(tmp_path, "F", program=GREEDY)
    (made.folder / "broker.yaml").write_text(LIMITS.format(file), encoding="utf-8")
    made.run("broker", "create", str(made.folder))
    made.start()
    try:
        made.put("IN", b"<loop/>", b"<a/>", b"<big/>", b"<b/>")
        assert {b"<a/>", b"<b/>"} == set(made.get("OUT", 2, seconds=30))
        assert 2 == len(made.get("SYSTEM.DEAD.LETTER.QUEUE", 2))
        began = time.monotonic()
        made.put("IN", *[b"<c/>"] * 50)
        assert 50 == len(made.get("OUT", 50))
        assert 0.8 < time.monotonic() - began
        made.run("publish", "prices/x", "--text", "1", "--broker", str(made.folder))
        assert [b"1"] == made.get("PRICES.Q", 1)
    finally:
        end(made)

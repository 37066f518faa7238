"""Message sets through flows on a real Spark."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from engine.cli import app
from engine.cli.spark import spark as _commands  # noqa: F401  # registers itself
from engine.errors import ConfigurationException
from spark_exec.data_frames import through_flows
from spark_exec.deployment import deployment_of
from spark_exec.plan import plan
from spark_exec.readers import Kind, Origin, messages
from spark_exec.run import Limits, carried, run
from spark_exec.summary import counts
from tests.spark.flows import order, planned_in, written

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")]


def message_files(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:04}.xml").write_bytes(order(number))
    return folder


def puts(output: Path) -> list[tuple[Any, ...]]:
    """What was put, in the order of the messages it came of."""
    table = parquet.read_table(output, partitioning="hive").to_pylist()
    kept = [row for row in table if row["kind"] != "statistics"]
    return sorted((row["kind"], row["queue"], row["lineage"], row["body"], row["msg_id"]) for row in kept)


def test_any_number_of_partitions(spark: Any, tmp_path: Path) -> None:
    """The same bytes and ids come out of one, two and seven partitions; fed flows run in a round of their own."""
    planned = planned_in(tmp_path)
    frame = messages(spark, Origin(str(message_files(tmp_path / "in", 30)), "files", "IN"))
    found, summaries = [], []
    for partitions in (1, 2, 7):
        output = tmp_path / f"out{partitions}"
        summaries.append(run(spark, planned.scaled(partitions), frame, str(output)))
        found.append(puts(output))
    assert found[0] == found[1] == found[2]
    done = [body for kind, queue, _, body, _ in found[0] if (kind, queue) == ("put", "LAST")]
    assert sorted(done) == sorted(order(n).replace(b"NEW", b"DONE") for n in range(30) if n != 13)
    assert [(s.messages, s.rounds, s.failures, s.queues) for s in summaries] == [
        (59, 2, 1, {"IN.BACKOUT": 1, "LAST": 29})
    ] * 3


ORIGINS: list[tuple[Kind, str, bytes, int, list[bytes]]] = [
    ("text", "a.txt", b"one\r\ntwo\nthree", 0, [b"one", b"two", b"three"]),
    ("json", "a.jsonl", b'{"body": "one", "priority": 3}\n\n{"body64": "dHdv"}\n', 0, [b"one", b"two"]),
    ("fixed", "a.bin", b"onetwo", 3, [b"one", b"two"]),
    ("rdw", "a.bin", b"\x00\x07\x00\x00one\x00\x08\x00\x00four", 0, [b"one", b"four"]),
]


@pytest.mark.parametrize("given", ORIGINS, ids=lambda given: given[0])
def test_readers(spark: Any, tmp_path: Path, given: tuple[Kind, str, bytes, int, list[bytes]]) -> None:
    """Text, JSON lines and records become messages, in the order in which they stand."""
    kind, name, data, length, bodies = given
    (tmp_path / name).write_bytes(data)
    rows = messages(spark, Origin(str(tmp_path / name), kind, "IN", record_length=length)).orderBy("sequence").collect()
    assert [bytes(row["body"]) for row in rows] == bodies
    assert len({row["sequence"] for row in rows}) == len(rows)


def test_a_message_set_of_ones_own(spark: Any, tmp_path: Path) -> None:
    """What was written as a message set is read as one, and a DataFrame goes in and comes out."""
    planned = planned_in(tmp_path)
    frame = messages(spark, Origin(str(message_files(tmp_path / "in", 3)), "files", "IN"))
    frame.write.parquet(str(tmp_path / "set.parquet"))
    again = messages(spark, Origin(str(tmp_path / "set.parquet"), "parquet"))
    assert [row["kind"] for row in carried(again, planned).orderBy("sequence").collect() if row["sequence"]].count(
        "fed"
    ) == 2
    spark.createDataFrame([(1,)], "x int").write.parquet(str(tmp_path / "other.parquet"))
    with pytest.raises(ConfigurationException, match="is no message set"):
        messages(spark, Origin(str(tmp_path / "other.parquet"), "parquet"))


def test_a_function_of_frames(spark: Any, tmp_path: Path) -> None:
    """A DataFrame goes in and one comes out, with the rows of all rounds; options are those of the command."""
    broker = str(written(tmp_path))
    frame = spark.createDataFrame(pa.table({"sequence": range(20), "body": [order(n).decode() for n in range(20)]}))
    found = through_flows(frame, broker, queue="IN", partitions=3)
    assert {(row["round"], row["kind"], row["queue"]): row["count"] for row in counted(found)} == {
        (0, "failure", "IN"): 1, (0, "fed", "OUT"): 19, (0, "put", "IN.BACKOUT"): 1, (1, "put", "LAST"): 19,
    }  # fmt: skip
    some = through_flows(frame, broker, queue="IN", limit=5, rounds=1)
    assert {(row["round"], row["kind"], row["queue"]): row["count"] for row in counted(some)} == {(0, "fed", "OUT"): 5}


def counted(frame: Any) -> Any:
    return frame.where("kind != 'statistics'").groupBy("round", "kind", "queue").count().collect()


def test_reasons_are_counted(spark: Any, tmp_path: Path) -> None:
    """The summary counts what failed and what was caught by number and node, with the text of the first."""
    (tmp_path / "f.yaml").write_text(CAUGHT, encoding="utf-8")
    planned = plan(deployment_of(str(tmp_path / "f.yaml")))
    frame = spark.createDataFrame(pa.table({"sequence": range(5), "body": [b"x"] * 5}))
    summary = run(spark, planned, frame, str(tmp_path / "out"))
    caught = {"kind": "caught", "number": 3010, "node": "F.Bad", "count": 5, "text": "BIP3010 F.Bad: no such order"}
    by_reason = summary.as_data()["by_reason"]
    assert caught in by_reason
    failed = [one for one in by_reason if one["kind"] == "failed"]
    assert [(3020, "F.Worse", 5)] == [(one["number"], one["node"], one["count"]) for one in failed]
    assert (5, 5) == (summary.failures, summary.caught)
    for one in by_reason:
        assert any(line.split() == ["5", f"{one['kind']}:", *one["text"].split()] for line in summary.lines())


def test_a_limit_of_rounds(spark: Any, tmp_path: Path) -> None:
    """A flow that feeds itself ends with the last round; what it has fed stays in the output, and is counted."""
    (tmp_path / "loop.yaml").write_text(LOOP, encoding="utf-8")
    planned = plan(deployment_of(str(tmp_path / "loop.yaml")))
    frame = spark.createDataFrame(pa.table({"sequence": range(3), "body": [b"x"] * 3}))
    summary = run(spark, planned, frame, str(tmp_path / "out"), limits=Limits(rounds=2))
    assert (summary.rounds, summary.messages, summary.fed, summary.queues) == (2, 6, 3, {})
    assert [len(puts(tmp_path / "out" / f"round={number}")) for number in range(2)] == [3, 3]


CAUGHT = """flow: F
nodes:
  In: {type: MQInput, queueName: IN}
  Try: {type: TryCatch}
  Bad: {type: Throw, messageNumber: 3010, messageText: no such order}
  Worse: {type: Throw, messageNumber: 3020, messageText: nor is there anything else}
wires: [In.out -> Try, Try.try -> Bad, Try.catch -> Worse]
"""
LOOP = """\
flow: Loop
nodes:
  In: {type: MQInput, queueName: LOOP}
  Out: {type: MQOutput, queueName: LOOP}
wires: [In.out -> Out]
"""


def test_output_by_a_uri(spark: Any, tmp_path: Path) -> None:
    """Output goes where Hadoop's file systems reach, manifest and all."""
    frame = spark.createDataFrame(pa.table({"sequence": [1], "body": [order(1)]}))
    place = (tmp_path / "out").as_uri()
    run(spark, planned_in(tmp_path), frame.selectExpr("*", "'IN' AS queue"), place)
    assert json.loads((tmp_path / "out" / "_manifest.json").read_text())["queues"] == {"LAST": 1}
    with pytest.raises(ConfigurationException, match="is not empty"):
        run(spark, planned_in(tmp_path), frame, place)


def test_large_messages(spark: Any, tmp_path: Path) -> None:
    """Messages of 10 MB go through in batches of a few MiB, so that a worker holds one or two of them at a time."""
    frame = spark.range(1, 13).selectExpr("id AS sequence", "'OUT' AS queue", "repeat('x', 10000000) AS body")
    summary = run(spark, planned_in(tmp_path), frame.repartition(1), str(tmp_path / "out"))
    assert summary.queues == {"LAST": 12}
    assert summary.memory < 450 << 20


def test_progress_by_messages(spark: Any, tmp_path: Path) -> None:
    """How many messages were read and how many came out of flows is told by Spark while it runs, for progress."""
    before = counts(spark)
    frame = messages(spark, Origin(str(message_files(tmp_path / "in", 10)), "files", "IN"))
    run(spark, planned_in(tmp_path), frame, str(tmp_path / "out"))
    after = counts(spark)
    assert after["read"] - before.get("read", 0) == 10
    assert after["out"] - before.get("out", 0) >= 20  # and rows of statistics


def test_what_is_there_stays(spark: Any, tmp_path: Path) -> None:
    """Output is never mixed with what another run has left."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").touch()
    with pytest.raises(ConfigurationException, match="is not empty"):
        run(spark, planned_in(tmp_path), spark.range(1), str(tmp_path / "out"))


def test_the_plan_is_printed(tmp_path: Path) -> None:
    """--dry-run prints the plan and starts nothing."""
    planned_in(tmp_path)
    asked = [str(tmp_path / "broker.yaml"), "--messages", "none", "--output", "none", "--dry-run"]
    told = CliRunner().invoke(app, ["spark", "run", *asked])
    assert (told.exit_code, told.stdout.splitlines()[0]) == (0, "execution group First: 3 partitions")


def test_the_manifest(spark: Any, tmp_path: Path) -> None:
    """A run leaves a manifest with what ran, on what, and how much of it."""
    frame = messages(spark, Origin(str(message_files(tmp_path / "in", 2)), "files", "IN"))
    run(spark, planned_in(tmp_path), frame, str(tmp_path / "out"), {"path": "in"})
    said = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    assert (said["messages"], said["queues"], said["inputs"]) == (4, {"LAST": 2}, {"path": "in"})
    assert [len(flow["hash"]) for flow in said["flows"]] == [64, 64]

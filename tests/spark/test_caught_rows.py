"""Rows of errors that nodes catch on executors, without Spark."""

from pathlib import Path

from spark_exec.deployment import deployment_of
from spark_exec.plan import plan
from tests.spark.flows import batch, order, results

CAUGHT = """flow: F
nodes:
  In: {type: MQInput, queueName: IN}
  Try: {type: TryCatch}
  Bad: {type: Throw, messageNumber: 3010, messageText: no such order}
  Out: {type: MQOutput, queueName: OUT}
wires: [In.out -> Try, Try.try -> Bad, Try.catch -> Out]
"""


def test_what_is_caught_is_a_row(tmp_path: Path) -> None:
    """An error that a node catches is a row with its reason and the message, which goes its way and is no failure."""
    (tmp_path / "f.yaml").write_text(CAUGHT, encoding="utf-8")
    rows = list(results(plan(deployment_of(str(tmp_path / "f.yaml"))), batch([1, 2])))
    told = [row for row in rows if row["kind"] != "statistics"]
    assert [("put", 1), ("put", 2), ("caught", 1), ("caught", 2)] == sorted(
        ((row["kind"], row["sequence"]) for row in told), key=lambda one: (one[0] == "caught", one[1])
    )
    reasons = {(row["queue"], row["number"], row["node"], row["error"]) for row in told if row["kind"] == "caught"}
    assert {("IN", 3010, "F.Bad", "BIP3010 F.Bad: no such order")} == reasons
    assert len(told) == len({(row["sequence"], row["lineage"]) for row in told})
    assert [order(1), order(2)] == [row["body"] for row in told if row["kind"] == "caught"]

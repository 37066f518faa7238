"""DataFrames that others have made become message sets: what fits, what does not, and messages of one sequence."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from engine.errors import ConfigurationException
from spark_exec.data_frames import through_flows
from spark_exec.rows import completed, told_apart
from tests.spark.flows import order, written

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")]

ID = b"\1".ljust(24, b"\0")
FITTING = [
    ("sequence", pa.int32(), 7, 7),
    ("sequence", pa.string(), "7", 7),
    ("sequence", pa.float64(), 7.0, 7),
    ("body", pa.string(), "x", b"x"),
    ("priority", pa.int64(), 3, 3),
    ("priority", pa.float64(), 3.0, 3),
    ("priority", pa.string(), "3", 3),
    ("put_date", pa.int64(), 20260102, "20260102"),
    ("msg_id", pa.binary(), b"\1", ID),
    ("properties", pa.map_(pa.string(), pa.int32()), [("a", 1)], {"a": "1"}),
    ("correl_id", pa.null(), None, None),
]


def frame_of(spark: Any, **columns: Any) -> Any:
    return spark.createDataFrame(pa.table({"sequence": pa.array([1]), "body": pa.array([b"x"])} | columns))


@pytest.mark.parametrize(("name", "kind", "value", "expected"), FITTING, ids=str)
def test_what_fits(spark: Any, name: str, kind: pa.DataType, value: object, expected: object) -> None:
    """A column of another type is taken where its values can be told."""
    (row,) = completed(frame_of(spark, **{name: pa.array([value], kind)})).collect()
    assert (row[name], row["problem"]) == (expected, None)


PROBLEMS = [
    ("sequence", pa.int64(), None, "the message has no sequence"),
    ("sequence", pa.string(), "first", "the message has no sequence"),
    ("priority", pa.int64(), 1 << 40, "priority is no whole number of 32 bits: 1099511627776"),
    ("priority", pa.float64(), 1.5, "priority is no whole number of 32 bits: 1.5"),
    ("priority", pa.string(), "high", "priority is no whole number of 32 bits: high"),
    ("queue", pa.string(), "Q" * 300, "there is no queue called QQQ"),
    ("msg_id", pa.binary(), b"x" * 25, "msg_id has at most 24 bytes"),
]


@pytest.mark.parametrize(("name", "kind", "value", "why"), PROBLEMS, ids=lambda case: str(case)[:20])
def test_values_that_do_not_fit(
    spark: Any, tmp_path: Path, name: str, kind: pa.DataType, value: object, why: str
) -> None:
    """A value that cannot be is a failure of its message alone, which says what was the matter."""
    frame = frame_of(spark, body=pa.array([order(1)]), **{name: pa.array([value], kind)})
    found = through_flows(frame, str(written(tmp_path)), queue="IN").where("kind != 'statistics'").collect()
    asked = "Q" * 48 if name == "queue" else "IN"
    assert [(row["kind"], row["queue"], row["body"]) for row in found] == [("failure", asked, order(1))]
    assert why in found[0]["error"]


REFUSED = [
    ("body", pa.int64(), 1, "its column body is bigint, and not binary or string"),
    ("msg_id", pa.string(), "00", "its column msg_id is string, and not binary"),
    ("properties", pa.string(), "{}", "its column properties is string, and not map<string,string>"),
    ("put_date", pa.date32(), 1, "its column put_date is date, and not string, tinyint, smallint, int or bigint"),
    ("priority", pa.bool_(), True, "its column priority is boolean"),
]


@pytest.mark.parametrize(("name", "kind", "value", "why"), REFUSED, ids=lambda case: str(case)[:20])
def test_columns_that_cannot_be(spark: Any, name: str, kind: pa.DataType, value: object, why: str) -> None:
    """A column whose values can be none of a message set's is refused before anything runs."""
    with pytest.raises(ConfigurationException, match=why):
        completed(frame_of(spark, **{name: pa.array([value], kind)}))


def test_missing_columns(spark: Any) -> None:
    """What lacks a body or a sequence is no message set; the error says what it has."""
    with pytest.raises(ConfigurationException, match="it has no column body and no column sequence, but id"):
        completed(spark.range(1))


def test_messages_of_one_sequence(spark: Any, tmp_path: Path) -> None:
    """Messages of one sequence have ids of their own, the same however they are dealt out."""
    rows = [(1, f"<Order><Id>{number % 4}</Id></Order>") for number in range(6)] + [(2, "<Order/>"), (3, "<Order/>")]
    broker, found = str(written(tmp_path)), []
    for partitions in (1, 2, 7):
        frame = spark.createDataFrame(rows[::-1] if partitions == 2 else rows, "sequence int, body string")
        results = through_flows(frame.repartition(partitions), broker, queue="IN", partitions=partitions, rounds=1)
        puts = results.where("kind = 'fed'").select("lineage", "msg_id", "body").collect()
        found.append(sorted((row["lineage"], bytes(row["msg_id"]), bytes(row["body"])) for row in puts))
    assert found[0] == found[1] == found[2]
    assert [lineage for lineage, _, _ in found[0]] == [*(f"1#{number}.0" for number in range(6)), "2.0", "3.0"]
    assert len({own for _, own, _ in found[0]}) == 8


def test_what_says_its_lineage(spark: Any) -> None:
    """Messages that came of one another are told apart by their lineage already, and keep it."""
    frame = spark.createDataFrame([(1, "1.0", "x"), (1, "1.1", "x")], "sequence int, lineage string, body string")
    assert {row["lineage"] for row in told_apart(completed(frame)).collect()} == {"1.0", "1.1"}


def test_a_limit_does_not_depend_on_partitions(spark: Any, tmp_path: Path) -> None:
    """The first messages of a set are the same ones, also where several have one sequence."""
    rows = [(number // 10, f"<Order><Id>{number}</Id></Order>") for number in range(40)]
    taken = []
    for ordered in (rows, rows[::-1]):
        frame = spark.createDataFrame(ordered, "sequence int, body string").repartition(3)
        results = through_flows(frame, str(written(tmp_path)), queue="IN", limit=15, rounds=1)
        taken.append(sorted(bytes(row["body"]) for row in results.where("kind = 'fed'").collect()))
    assert taken[0] == taken[1]
    assert len(taken[0]) == 14  # one of the fifteen is unlucky

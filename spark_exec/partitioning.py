"""Dealing: which partition each message of a flow goes to, and in which order messages stand there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.descriptor import NO_ID

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from spark_exec.plan import FlowPlan


def dealt(frame: DataFrame, flow: FlowPlan) -> DataFrame:
    """The messages of a flow, spread and sorted as its order wants.

    What is kept together has a key: a user, a queue, a group. All else is spread by what tells messages apart, so that
    a user or a queue with many messages weighs on no partition more than on others.
    """
    from pyspark.sql import functions as f

    columns, count = frame.columns, f.lit(flow.partitions)
    if flow.order == "default":
        key = f.xxhash64("sequence", "lineage")
        if flow.groups:
            key = f.when(_grouped(), f.xxhash64("queue", "group_id")).otherwise(key)
        spread = frame.repartitionById(flow.partitions, f.pmod(key, count).cast("int"))
        return spread.sortWithinPartitions(*(_in_group() if flow.groups else ()), *_in_turn())
    anchored = _anchored(frame) if flow.groups else frame
    turn = [f.coalesce(f"first_{name}", name) for name in ("sequence", "turn")] if flow.groups else []
    if flow.order == "byQueueOrder":
        partition = f.coalesce(f.array_position(f.lit(list(flow.reads)), f.col("queue")) - 1, f.lit(0))
        partition = f.greatest(partition, f.lit(0))
    else:
        user = f.coalesce(*(["first_user"] if flow.groups else []), "user_identifier", f.lit(""))
        partition = f.pmod(f.xxhash64(user), count)
    spread = anchored.repartitionById(flow.partitions, partition.cast("int"))
    return spread.sortWithinPartitions(*turn, *(_in_group() if flow.groups else ()), *_in_turn()).select(*columns)


def first(frame: DataFrame, limit: int) -> DataFrame:
    """So many messages, those that stand first."""
    return frame.orderBy(*_in_turn()).limit(limit)


def _grouped() -> Column:
    """Returns whether a message is of a group."""
    from pyspark.sql import functions as f

    return f.col("group_id").isNotNull() & (f.col("group_id") != f.lit(NO_ID))


def _in_group() -> tuple[Column, ...]:
    """Returns what puts the messages of a group one behind the other, by their numbers."""
    from pyspark.sql import functions as f

    return f.when(_grouped(), f.col("group_id")), f.when(_grouped(), f.col("msg_seq_number"))


def _in_turn() -> tuple[Column, ...]:
    """The order of messages: by their places in the set, and what came of one as it was put."""
    from pyspark.sql import functions as f

    return f.col("sequence"), _turn(), f.col("lineage")


def _turn() -> Column:
    from pyspark.sql import functions as f

    return f.expr("try_cast(split(lineage, '[.#]') AS array<bigint>)")


def _anchored(frame: DataFrame) -> DataFrame:
    """Messages with the place and the user of the first of their group: where the group has its turn."""
    from pyspark.sql import functions as f

    later = f.when(f.col("msg_seq_number") == 1, 0).otherwise(1)
    first = f.struct(later.alias("later"), "sequence", _turn().alias("turn"), "user_identifier")
    firsts = frame.where(_grouped()).groupBy("queue", "group_id").agg(f.min(first).alias("first"))
    named = firsts.select(
        f.col("queue").alias("group_queue"),
        f.col("group_id").alias("group_of"),
        f.col("first.sequence").alias("first_sequence"),
        f.col("first.turn").alias("first_turn"),
        f.col("first.user_identifier").alias("first_user"),
    )
    own = frame.withColumn("turn", _turn())
    same = (own["queue"] == named["group_queue"]) & (own["group_id"] == named["group_of"])
    return own.join(f.broadcast(named), same, "left")

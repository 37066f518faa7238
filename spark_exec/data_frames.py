"""Frames: a message set through a deployment as a function of a DataFrame, which gives a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from flows.files import own_nodes
from spark_exec.deployment import deployment_of
from spark_exec.plan import first, plan
from spark_exec.rows import completed, told_apart
from spark_exec.run import MOST_ROUNDS, carried, fed_by, moment_of, now
from spark_exec.session import cores_in, profiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def through_flows(  # noqa: PLR0913  # the options of the command, all by name
    frame: DataFrame,
    *files: str,
    queue: str = "",
    partitions: int = 0,
    limit: int = 0,
    rounds: int = MOST_ROUNDS,
    nodes: Iterable[str] = (),
    moment: str = "",
) -> DataFrame:
    """Returns what comes of a message set: the rows that `penstock spark run` writes, with the number of the `round`.

    `frame` needs the columns `sequence` and `body`; `files` are a broker file, or flow files, and the options are those
    of the command. Messages that name no queue are on `queue`, or on the only one that is read. Each round is kept on
    the executors' disks until the session ends, as the next begins with what it has fed.

        from spark_exec.data_frames import through_flows
        from spark_exec.session import session

        spark = session("local[2]")
        archive = spark.read.parquet("archive.parquet")
        results = through_flows(archive, "broker.yaml", limit=1000)
        results.where("kind = 'put'").groupBy("queue").count().show()
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions

    planned = plan(deployment_of(*files), own_nodes(nodes))
    planned = planned.scaled(partitions) if partitions else planned.spread(cores_in(frame.sparkSession))
    fed = told_apart(completed(frame, otherwise=planned.entry(queue)))
    if limit:
        fed = first(fed, limit)
    at, executors = moment_of(moment) or now(), profiles(frame.sparkSession, planned)
    results: DataFrame | None = None
    for number in range(rounds):
        found = carried(fed, planned, at, executors).withColumn("round", functions.lit(number))
        found = found.persist(StorageLevel.DISK_ONLY)
        results = found if results is None else results.unionByName(found)
        fed = fed_by(found)
        if fed.isEmpty():
            break
    assert results is not None
    return results

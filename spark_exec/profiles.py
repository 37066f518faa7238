"""Resource profiles: executors of their own for execution groups, where the master can give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.resource import ResourceProfile
    from pyspark.sql import SparkSession

    from engine.broker.definition import Executors
    from spark_exec.plan import Plan

_MASTERS = ("spark://", "yarn", "k8s://")
_DYNAMIC = "spark.dynamicAllocation.enabled"


def without_profiles(master: str, conf: Mapping[str, str]) -> str:
    """Why groups have no executors of their own there; empty where they have.

    >>> without_profiles("local[2]", {})
    'local[2] runs all groups in one process'
    >>> without_profiles("yarn", {"spark.dynamicAllocation.enabled": "true"})
    ''
    """
    if not master.startswith(_MASTERS):
        return f"{master} runs all groups in one process"
    if conf.get(_DYNAMIC, "").lower() != "true":
        return f"{master} gives a job executors of one kind: --conf {_DYNAMIC}=true lets groups have their own"
    return ""


def executor_lines(planned: Plan, master: str, conf: Mapping[str, str]) -> Iterable[str]:
    """Yields which executors each group has, a line each; nothing where no group asks for any."""
    asked = planned.deployment.executors
    why = without_profiles(master, conf) if asked else ""
    for group in dict.fromkeys(flow.group for flow in planned.flows):
        if not asked:
            return
        if group not in asked:
            yield f"execution group {group}: the executors of the session"
        elif why:
            yield f"execution group {group}: the executors of the session, not {asked[group]}, as {why}"
        else:
            yield f"execution group {group}: a resource profile of its own, {asked[group]}"


def profiles(spark: SparkSession, planned: Plan) -> dict[str, ResourceProfile]:
    """The resource profile of each group that asks for executors, where the master can give them."""
    asked = planned.deployment.executors
    own = spark.sparkContext
    if not asked or without_profiles(own.master, dict(own.getConf().getAll())):
        return {}
    return {group: _profile(executors) for group, executors in asked.items()}


def _profile(executors: Executors) -> ResourceProfile:
    from pyspark.resource import ExecutorResourceRequests, ResourceProfileBuilder, TaskResourceRequests

    each = ExecutorResourceRequests().cores(executors.cores).memory(executors.memory)
    task = TaskResourceRequests().cpus(executors.task_cpus)
    return ResourceProfileBuilder().require(each).require(task).build

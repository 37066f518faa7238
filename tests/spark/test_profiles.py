"""Executors of their own for execution groups: what a broker file asks for, and where there are any."""

from pathlib import Path

import pytest

from engine.errors import ConfigurationException
from spark_exec.deployment import Executors, deployment_of
from spark_exec.plan import plan
from spark_exec.session import executor_lines
from tests.spark.flows import written

BROKER = """\
broker: B
executionGroups:
  First:
    executors: {cores: 2, memory: 4g, taskCpus: 2}
    flows: [orders.yaml]
  Last: [second.yaml]
"""
DYNAMIC = {"spark.dynamicAllocation.enabled": "true"}
OWN = "execution group First: a resource profile of its own, executors of 2 cores and 4g, 2 a task"
WITHOUT = "execution group First: the executors of the session, not executors of 2 cores and 4g, 2 a task, as "


def broker(folder: Path, text: str = BROKER) -> str:
    written(folder)
    (folder / "groups.yaml").write_text(text, encoding="utf-8")
    return str(folder / "groups.yaml")


CASES = [
    ("local[2]", DYNAMIC, WITHOUT + "local[2] runs all groups in one process"),
    ("spark://host:7077", {}, WITHOUT + "spark://host:7077 gives a job executors of one kind: "
     "--conf spark.dynamicAllocation.enabled=true lets groups have their own"),
    ("spark://host:7077", DYNAMIC, OWN),
    ("yarn", DYNAMIC, OWN),
    ("k8s://https://host", DYNAMIC, OWN),
]  # fmt: skip


@pytest.mark.parametrize(("master", "conf", "first"), CASES, ids=[f"{case[0]} {len(case[1])}" for case in CASES])
def test_who_has_executors(tmp_path: Path, master: str, conf: dict[str, str], first: str) -> None:
    """The plan says which executors a group has, and why it has none of its own where it asks for some."""
    planned = plan(deployment_of(broker(tmp_path)))
    assert list(executor_lines(planned, master, conf)) == [first, "execution group Last: the executors of the session"]


def test_nobody_asks(tmp_path: Path) -> None:
    """Nothing is said of executors where no group asks for any."""
    assert list(executor_lines(plan(deployment_of(str(written(tmp_path)))), "yarn", DYNAMIC)) == []


def test_defaults(tmp_path: Path) -> None:
    """What a group does not say of its executors is what Spark has."""
    asked = deployment_of(broker(tmp_path, BROKER.replace("{cores: 2, memory: 4g, taskCpus: 2}", "{cores: 3}")))
    assert asked.executors == {"First": Executors(3, "1g", 1)}


BAD = [
    ("{cores: 2, memory: 4}", "memory must be a size with its unit"),
    ("{cores: 0}", "an executor needs a core or more"),
    ("{cores: 1, taskCpus: 2}", "at least those that a task takes"),
    ("{core: 1}", "a group's executors has no core; did you mean cores?"),
    ("2", "executors must be a table"),
]


@pytest.mark.parametrize(("executors", "why"), BAD)
def test_what_cannot_be_asked(tmp_path: Path, executors: str, why: str) -> None:
    """Executors that cannot be are refused, with the place."""
    with pytest.raises(ConfigurationException) as raised:
        deployment_of(broker(tmp_path, BROKER.replace("{cores: 2, memory: 4g, taskCpus: 2}", executors)))
    assert why in "\n".join(str(problem) for problem in raised.value.problems)
    assert ":4:" in str(raised.value.problems[0])

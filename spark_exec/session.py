"""Sessions: Spark, started with what flows need, where Java is found or named as missing, and executors for groups."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.errors import BrokerError, ConfigurationException

if TYPE_CHECKING:
    from pyspark.resource import ResourceProfile
    from pyspark.sql import SparkSession

    from engine.broker.definition import Executors
    from spark_exec.plan import Plan


OLDEST_JAVA: Final = 17
JOB_FAILED: Final = 2230
_MASTERS = ("spark://", "yarn", "k8s://")
_DYNAMIC = "spark.dynamicAllocation.enabled"
_VERSION: Final = re.compile(r'version "(?:1\.)?(\d+)')
_ADVICE: Final = "as root: apt-get install openjdk-17-jre-headless"
_LEAST_HEAP: Final = 1024
_MOST_HEAP: Final = 4096
_LOGGING: Final = Path(__file__).with_name("log4j2.properties").as_uri()
_OWN: Final = {
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING}",
    "spark.executor.heartbeatInterval": "2s",  # with which executors tell how far they are
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2048",
    "spark.sql.execution.arrow.maxBytesPerBatch": "2m",  # whichever comes first; a larger message is alone in its batch
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",  # the plan of a deployment says how many partitions there are
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
# What Java and Spark say whenever they start, whatever they are asked to log.
_NOISE: Final = (
    *(b"WARNING: Using incubator modules", b"Using Spark's default log4j profile", b"Setting default log level"),
    *(b"To adjust logging level", b"Picked up JAVA_TOOL_OPTIONS", b"Picked up _JAVA_OPTIONS"),
)
_MORE: Final = "If it needs more memory: --conf spark.driver.memory=8g, or on a cluster spark.executor.memory=8g"
_CAUSE: Final = re.compile(r"^(Caused by: |: )?(?:[\w.]+\.)?(\w+(?:Error|Exception)): (.+)$", re.MULTILINE)


def java() -> str:
    """The Java that Spark will use; raises where there is none, or an old one."""
    home = os.environ.get("JAVA_HOME", "")
    command = str(Path(home) / "bin" / "java") if home else shutil.which("java") or ""
    if not command or not Path(command).exists():
        where = f" in JAVA_HOME, {home}" if home else ""
        raise ConfigurationException(f"Spark needs Java {OLDEST_JAVA} or later, and there is none{where}; {_ADVICE}")
    found = _VERSION.search(what_java_says(command))
    if found is None or int(found[1]) < OLDEST_JAVA:
        what = "of no version that can be told" if found is None else f"Java {found[1]}"
        raise ConfigurationException(f"Spark needs Java {OLDEST_JAVA} or later, and {command} is {what}; {_ADVICE}")
    return command


def what_java_says(command: str) -> str:
    """Returns what a Java tells of its version; the first line names it."""
    try:
        told = subprocess.run([command, "-version"], capture_output=True, text=True, check=False)  # noqa: S603  # no shell
    except OSError as error:  # it is there, but is no program
        return str(error.strerror)
    return told.stderr or told.stdout


def session(master: str = "", conf: Iterable[tuple[str, str]] = (), name: str = "penstock") -> SparkSession:
    """A session; its workers run this Python."""
    java()
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ConfigurationException("PySpark is not installed: pip install 'penstock[spark]'") from error
    given = dict(conf)
    if (master or given.get("spark.master", "local")).startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        given.setdefault("spark.driver.memory", f"{_heap()}m")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    if master:
        builder = builder.master(master)
    elif "spark.master" not in given:
        builder = builder.master("local[*]")
    for key, value in (_OWN | given).items():
        builder = builder.config(key, value)
    with _without_noise(), failures_told(f"Spark does not start on {master or 'this machine'}"):
        return builder.getOrCreate()


def _heap() -> int:
    """MiB for Java where it does all the work: a message is there several times on its way, and may have 100 MB."""
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return _LEAST_HEAP
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return max(_LEAST_HEAP, min(_MOST_HEAP, physical // 2))


@contextmanager
def failures_told(what: str = "the job failed") -> Iterator[None]:
    """Turn what Spark raises into an error that says what was the matter, without pages of Java."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise BrokerError(JOB_FAILED, f"{what}: {_cause(_said(error))}") from error


def stop(own: SparkSession) -> None:
    """End a session, also one whose Java has ended before."""
    from py4j.protocol import Py4JError

    with suppress(Py4JError, ConnectionError):
        own.stop()


def _said(error: Exception) -> str:
    """Returns what an error says; those of Java's ask Java for it."""
    from py4j.protocol import Py4JError, Py4JNetworkError

    text = ""
    if not isinstance(error, ConnectionError | Py4JNetworkError):
        with suppress(Py4JError, ConnectionError):
            text = str(error).strip()
    if not text or (text.startswith("An error occurred while calling") and "\n" not in text):
        return f"Java has ended. {_MORE}"
    return text


def _cause(text: str) -> str:
    """The innermost exception of Python's or Java's that a text speaks of."""
    if "java.lang.OutOfMemoryError" in text:
        return f"Java had too little memory. {_MORE}"
    if "SparkContext was shut down" in text:
        return f"Java has ended. {_MORE}"
    causes = [cause for cause in _CAUSE.findall(text) if not cause[1].endswith("SparkException")]
    python = [cause for cause in causes if not cause[0]]
    if not causes:
        causes = _CAUSE.findall(text)
    if not causes:
        return text.strip().splitlines()[0] if text.strip() else "no reason given"
    _, name, told = python[0] if python else causes[-1]
    return f"{name}: {told}"


@contextmanager
def _without_noise() -> Iterator[None]:
    """Start Java with a stderr that leaves out what it says every time."""
    own = os.dup(2)
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.close(writing)
    threading.Thread(target=_sift, args=(reading, own), daemon=True).start()
    try:
        yield
    finally:
        os.dup2(own, 2)


def _sift(reading: int, writing: int) -> None:
    """Hand lines on, until nobody writes any more."""
    with os.fdopen(reading, "rb") as lines, os.fdopen(writing, "wb", buffering=0) as onward:
        for line in lines:
            if not line.startswith(_NOISE):
                onward.write(line)


def cores_of(master: str, conf: Mapping[str, str]) -> int:
    """Returns how many tasks a local master runs at a time, or 0 for a cluster, which says so once there is a session.

    >>> cores_of("local[3]", {}), cores_of("local", {}), cores_of("", {"spark.master": "yarn"})
    (3, 1, 0)
    """
    named = master or conf.get("spark.master", "local[*]")
    found = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", named)
    if found is None:
        return 0
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return here if found[1] == "*" else int(found[1] or 1)


def cores_in(session: SparkSession) -> int:
    """Returns how many tasks a session runs at a time."""
    return max(1, int(session.sparkContext.defaultParallelism))


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
    if not asked:
        return
    why = without_profiles(master, conf)
    for group in dict.fromkeys(flow.group for flow in planned.flows):
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

"""Sessions: Spark, started with what flows need; Java is found, or named as missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA: Final = 17
_VERSION: Final = re.compile(r'version "(\d+)')
_ADVICE: Final = "as root: apt-get install openjdk-17-jre-headless"
_LOGGING: Final = Path(__file__).with_name("log4j2.properties").as_uri()
_OWN: Final = {
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING}",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",  # the plan of a deployment says how many partitions there are
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}


def java() -> str:
    """The Java that Spark will use; raises where there is none, or an old one."""
    home = os.environ.get("JAVA_HOME", "")
    command = str(Path(home) / "bin" / "java") if home else shutil.which("java") or ""
    if not command or not Path(command).exists():
        raise ConfigurationException(f"Spark needs Java {OLDEST_JAVA} or later, and there is none; {_ADVICE}")
    told = subprocess.run([command, "-version"], capture_output=True, text=True, check=False)  # noqa: S603  # no shell
    found = _VERSION.search(told.stderr + told.stdout)
    if found is None or int(found[1]) < OLDEST_JAVA:
        what = "an unknown version" if found is None else f"Java {found[1]}"
        raise ConfigurationException(f"Spark needs Java {OLDEST_JAVA} or later, and {command} is {what}; {_ADVICE}")
    return command


def session(master: str = "", conf: Iterable[tuple[str, str]] = (), name: str = "penstock") -> SparkSession:
    """A session; its workers run this Python."""
    java()
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ConfigurationException("PySpark is not installed: pip install 'penstock[spark]'") from error
    if master.startswith("local") or not master:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    if master:
        builder = builder.master(master)
    elif "spark.master" not in dict(conf):
        builder = builder.master("local[*]")
    for key, value in (_OWN | dict(conf)).items():
        builder = builder.config(key, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made

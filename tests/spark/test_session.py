"""What is said when Spark fails, without pages of Java."""

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

from engine.errors import BrokerError
from spark_exec.session import failures_told

MORE = "If it needs more memory: --conf spark.driver.memory=8g, or on a cluster spark.executor.memory=8g"
CASES = [
    (Py4JError("An error occurred\n: org.apache.spark.SparkException: x\nCaused by: java.io.IOException: no disk\n"),
     "the job failed: IOException: no disk"),
    (Py4JError("x\n: org.apache.spark.SparkException: y\n  File 1\nValueError: bad\n\nCaused by: java.lang.Error: z\n"),
     "the job failed: ValueError: bad"),
    (Py4JError("x\n: org.apache.spark.SparkException: lost"), "the job failed: SparkException: lost"),
    (Py4JError("An error occurred\nCaused by: java.lang.OutOfMemoryError: Java heap space\n\tat"),
     f"the job failed: Java had too little memory. {MORE}"),
    (Py4JError("An error occurred while calling o10.parquet."), f"the job failed: Java has ended. {MORE}"),
    (Py4JNetworkError("Error while sending or receiving"), f"the job failed: Java has ended. {MORE}"),
    (Py4JError("x\n: org.apache.spark.SparkException: Job 0 cancelled because SparkContext was shut down"),
     f"the job failed: Java has ended. {MORE}"),
    (ConnectionRefusedError(), f"the job failed: Java has ended. {MORE}"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "told"), CASES, ids=range(len(CASES)))
def test_why_a_job_failed(error: Exception, told: str) -> None:
    """The innermost reason is told in a line; where Java is gone, or had too little memory, so is what to do."""
    with pytest.raises(BrokerError) as raised, failures_told():
        raise error
    assert raised.value.text == told

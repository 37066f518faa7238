"""One Spark session for the tests that need one."""

from collections.abc import Iterator

import pytest

from spark_exec.session import session


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """Spark on two cores of this machine."""
    own = session("local[2]", [("spark.default.parallelism", "2")])
    yield own
    own.stop()

"""Options of the whole test suite."""

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("tests", deadline=None)  # a busy machine is no failure
settings.load_profile("tests")
os.environ["PENSTOCK_CACHE"] = "off"  # a test that wants a cache has its own; none touches the user's
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in a shell's background; the commands that tests start heed it
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite expected output with what is found, for review")


def pytest_collection_finish() -> None:
    """Leave what all tests have imported out of searches for garbage, each of which would take a third of a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """Give signals back that a command took for itself, which a test has carried out in this process."""
    taken = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    before = [signal.getsignal(number) for number in taken]
    yield
    for number, handler in zip(taken, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """Whether expected output is to be rewritten rather than compared."""
    return bool(request.config.getoption("--accept"))

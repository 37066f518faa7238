"""Options of the whole test suite."""

import os

import pytest
from hypothesis import settings

settings.register_profile("tests", deadline=None)  # a busy machine is no failure
settings.load_profile("tests")
os.environ["PENSTOCK_CACHE"] = "off"  # a test that wants a cache has its own; none touches the user's


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite expected output with what is found, for review")


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """Whether expected output is to be rewritten rather than compared."""
    return bool(request.config.getoption("--accept"))

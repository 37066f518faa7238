"""Databases that tests work with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.databases.definitions import Definition
from engine.databases.sources import Sources
from tests.databases.server import Server, running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server that all tests of the session share."""
    with running() as started:
        yield started


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    """Numbers for the names of databases."""
    return itertools.count(1)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.database)])
def url(request: pytest.FixtureRequest, tmp_path: Path, numbers: Iterator[int]) -> str:
    """The URL of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/test.db"
    server: Server = request.getfixturevalue("server")
    name = f"test{next(numbers)}"
    server.execute(f"CREATE DATABASE {name}")
    return server.url(name)


@pytest.fixture
def sources(url: str) -> Iterator[Sources]:
    """One data source DB."""
    made = Sources([Definition("DB", url)])
    yield made
    made.close()

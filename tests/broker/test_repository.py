"""The repository in a PostgreSQL server, which several brokers share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker.running import Running, broker, end, flow
from tests.databases.server import Server, running

pytestmark = pytest.mark.database


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A PostgreSQL server."""
    with running() as started:
        yield started


def test_repository_by_url(server: Server, tmp_path: Path) -> None:
    """Brokers of one repository run, are deployed to and taken back each for itself; what is deleted is gone."""
    server.execute("CREATE DATABASE repository")
    more = f"repository: {server.url('repository')}\n"
    with broker(tmp_path / "one", flow(tmp_path, "F"), more=more) as made:
        other = Running(tmp_path / "two" / "other")
        other.run("broker", "init", str(other.folder), str(flow(tmp_path, "F")))
        file = other.folder / "broker.yaml"
        file.write_text(file.read_text("utf-8") + more, encoding="utf-8")
        other.run("broker", "create", str(other.folder))
        name = str(made.folder)
        made.run("deploy", name, str(flow(tmp_path, "F", by="2")))
        made.put("IN", b"<a/>")
        assert [b"<a><by>2</by></a>"] == made.get("OUT", 1)
        made.run("rollback", name, "-e", "default")
        assert ["create", "deploy", "rollback"] == sorted(one["action"] for one in made.json("broker", "history", name))
        assert ["create"] == [one["action"] for one in other.json("broker", "history", str(other.folder))]
        assert not (made.folder / "repository.sqlite").exists()
        assert [("other",), ("shop",)] == server.execute("SELECT name FROM brokers ORDER BY name", "repository")
        other.run("broker", "delete", str(other.folder))
        assert [("shop",)] == server.execute("SELECT name FROM brokers", "repository")


def test_server_that_is_away(server: Server, tmp_path: Path) -> None:
    """While the server is away deployments are refused in a line, flows work on, and nothing is half done after it."""
    server.execute("CREATE DATABASE away")
    with broker(tmp_path, flow(tmp_path, "F"), more=f"repository: {server.url('away')}\n") as made:
        name, new = str(made.folder), str(flow(tmp_path, "F", by="2"))
        server.stop()
        try:
            refused = made.run("deploy", name, new, fails=True)
            assert 1 == len(refused.splitlines())
            assert "the repository postgresql" in refused
            made.put("IN", b"<a/>")
            assert [b"<a><by>1</by></a>"] == made.get("OUT", 1)
        finally:
            server.start()
        made.run("deploy", name, new)
        made.put("IN", b"<a/>")
        assert [b"<a><by>2</by></a>"] == made.get("OUT", 1)
        end(made)
        made.start()
        made.put("IN", b"<a/>")
        assert [b"<a><by>2</by></a>"] == made.get("OUT", 1)

"""A PostgreSQL server for tests, with a user who is asked for a password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine.costs import databases
from engine.costs.databases import Server

PASSWORD = "s3cret/p@ss w%rd"

__all__ = ["PASSWORD", "Server", "running"]


@contextmanager
def running(**settings: str) -> Iterator[Server]:
    """A server with these settings, which asks nobody for a password but the user `secretive`."""
    with databases.running(**settings) as server:
        server.execute(f"CREATE ROLE secretive LOGIN PASSWORD '{PASSWORD}'")
        rules = server.folder / "data" / "pg_hba.conf"
        rules.write_text("local all secretive scram-sha-256\nlocal all all trust\n", "utf-8")
        server.execute("SELECT pg_reload_conf()")
        yield server

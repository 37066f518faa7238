"""A PostgreSQL server for tests, with a user who is asked for a password."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from engine.costs import databases

PASSWORD = "s3cret/p@ss w%rd"


class Server(databases.Server):
    """A server that can be killed, and executes statements."""

    def kill(self) -> None:
        """End all of its processes by SIGKILL, as what runs out of memory is ended."""
        if self.process is not None:
            own = self.process.pid
            os.kill(own, signal.SIGSTOP)  # it would start anew what is killed
            for child in Path(f"/proc/{own}/task/{own}/children").read_text("ascii").split():
                os.kill(int(child), signal.SIGKILL)
            self.process.kill()
            self.stop()

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Execute a statement by a connection of its own."""
        with psycopg.connect(f"host={self.folder} user=postgres dbname={database}", autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []


@contextmanager
def running(**settings: str) -> Iterator[Server]:
    """A server with these settings, which asks nobody for a password but the user `secretive`."""
    with Server.running(**settings) as server:
        server.execute(f"CREATE ROLE secretive LOGIN PASSWORD '{PASSWORD}'")
        rules = server.folder / "data" / "pg_hba.conf"
        rules.write_text("local all secretive scram-sha-256\nlocal all all trust\n", "utf-8")
        server.execute("SELECT pg_reload_conf()")
        yield server

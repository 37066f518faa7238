"""A PostgreSQL server for tests, with a user who is asked for a password."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import psycopg

from engine.costs import databases

PASSWORD = "s3cret/p@ss w%rd"


class Server(databases.Server):
    """A server that can be killed, and executes statements."""

    def kill(self) -> None:
        """End all of its processes by SIGKILL, as what runs out of memory is ended."""
        if self.process is not None:
            own = psutil.Process(self.process.pid)
            own.suspend()  # it would start anew what is killed
            children = own.children()
            for process in (*children, own):
                process.kill()
            self.stop()
            while not all(map(_has_ended, children)):  # else it may still have the memory that the next one takes
                time.sleep(0.01)

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Execute a statement by a connection of its own."""
        with psycopg.connect(f"host={self.folder} user=postgres dbname={database}", autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []


def _has_ended(process: psutil.Process) -> bool:
    """Returns True for a process that has gone, or waits only for somebody to ask how."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


@contextmanager
def running(**settings: str) -> Iterator[Server]:
    """A server with these settings, which asks nobody for a password but the user `secretive`."""
    with Server.running(**settings) as server:
        server.execute(f"CREATE ROLE secretive LOGIN PASSWORD '{PASSWORD}'")
        rules = server.folder / "data" / "pg_hba.conf"
        rules.write_text("local all secretive scram-sha-256\nlocal all all trust\n", "utf-8")
        server.execute("SELECT pg_reload_conf()")
        yield server

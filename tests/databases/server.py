"""A PostgreSQL server of its own: started in a temporary folder, reached by a Unix socket, gone at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psycopg

PASSWORD = "s3cret/p@ss w%rd"
_SETTINGS = {
    "fsync": "off",
    "listen_addresses": "",
    "max_prepared_transactions": "64",
    "max_connections": "100",
    "shared_buffers": "16MB",
    "log_min_messages": "fatal",
    "timezone": "Europe/Berlin",
}


def binaries() -> Path | None:
    """The folder of the newest PostgreSQL, as Debian installs it; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    return found[-1] if found else None


@dataclass
class Server:
    """A server that runs, or is started again."""

    bin: Path
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """The URL of a database; without a password nobody is asked for one, but for the user `secretive`."""
        return f"postgresql+psycopg://{user}@/{database}?host={quote(str(self.folder), safe='/')}"

    def initialize(self) -> None:
        """Make the files of an empty server."""
        data = str(self.folder / "data")
        options = ("--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8", "--username=postgres")
        subprocess.run([*_as_another(), self.bin / "initdb", "-D", data, *options], check=True, capture_output=True)
        rules = self.folder / "data" / "pg_hba.conf"
        rules.write_text("local all secretive scram-sha-256\nlocal all all trust\n", "utf-8")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        given = {**_SETTINGS, **self.settings, "unix_socket_directories": str(self.folder)}
        options = [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
        log = (self.folder / "log").open("ab")
        command = [*_as_another(), self.bin / "postgres", "-D", self.folder / "data", *options]
        self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        log.close()
        ends = time.monotonic() + 30
        while subprocess.run([self.bin / "pg_isready", "-q", "-h", self.folder], check=False).returncode:
            assert time.monotonic() < ends, (self.folder / "log").read_text()
            assert self.process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End it: at once, as if the machine had lost its power."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(30)
            self.process = None

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Execute a statement by a connection of its own."""
        with psycopg.connect(f"host={self.folder} user=postgres dbname={database}", autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []


def _as_another() -> list[str]:
    """The beginning of a command that runs as a user other than root, which PostgreSQL asks for."""
    return (
        [] if os.geteuid() else ["setpriv", f"--reuid={_user().pw_uid}", f"--regid={_user().pw_gid}", "--clear-groups"]
    )


def _user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


@contextmanager
def running(**settings: str) -> Iterator[Server]:
    """A server with these settings, while something is tested."""
    found = binaries()
    assert found is not None, "PostgreSQL is not installed: apt-get install postgresql"
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if not os.geteuid():
        os.chown(folder, _user().pw_uid, _user().pw_gid)
    folder.chmod(0o755)
    server = Server(found, folder, settings)
    try:
        server.initialize()
        server.start()
        server.execute(f"CREATE ROLE secretive LOGIN PASSWORD '{PASSWORD}'")
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)

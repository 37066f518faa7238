"""A PostgreSQL server for measurements and tests: in a temporary folder, reached by a Unix socket, gone at the end."""

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
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from engine.errors import ConfigurationException

_SETTINGS: Final = MappingProxyType(
    {
        "fsync": "off",
        "listen_addresses": "",
        "max_prepared_transactions": "64",
        "max_connections": "100",
        "shared_buffers": "16MB",
        "log_min_messages": "fatal",
        "timezone": "Europe/Berlin",
    }
)


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
        """The URL of a database, for which nobody is asked for a password."""
        return f"postgresql+psycopg://{user}@/{database}?host={quote(str(self.folder), safe='/')}"

    def initialize(self) -> None:
        """Make the files of an empty server."""
        data = str(self.folder / "data")
        options = ("--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8", "--username=postgres")
        subprocess.run([*_as_another(), self.bin / "initdb", "-D", data, *options], check=True, capture_output=True)  # noqa: S603 - as installed

    def start(self) -> None:
        """Start it, and wait until it answers."""
        given = {**_SETTINGS, **self.settings, "unix_socket_directories": str(self.folder)}
        options = [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
        log = (self.folder / "log").open("ab")
        command = [*_as_another(), str(self.bin / "postgres"), "-D", str(self.folder / "data"), *options]
        self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)  # noqa: S603 - as installed
        log.close()
        ends = time.monotonic() + 30
        asking = [str(self.bin / "pg_isready"), "-q", "-h", str(self.folder)]
        while subprocess.run(asking, check=False).returncode:  # noqa: S603 - as installed
            if time.monotonic() > ends or self.process.poll() is not None:
                raise ConfigurationException(f"PostgreSQL does not start: {(self.folder / 'log').read_text()}")
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End it: at once, as if the machine had lost its power."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(30)
            self.process = None

    def kill(self) -> None:
        """End all of its processes by SIGKILL, as what runs out of memory is ended."""
        if self.process is not None:
            own = self.process.pid
            os.kill(own, signal.SIGSTOP)  # it would start anew what is killed
            for child in Path(f"/proc/{own}/task/{own}/children").read_text("ascii").split():
                os.kill(int(child), signal.SIGKILL)
            self.stop(signal.SIGKILL)

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Execute a statement by a connection of its own."""
        import psycopg  # noqa: PLC0415 - most benchmarks do without

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
    """A server with these settings, as long as it is needed; none of its data lasts."""
    found = binaries()
    if found is None:
        raise ConfigurationException("PostgreSQL is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if not os.geteuid():
        os.chown(folder, _user().pw_uid, _user().pw_gid)
    folder.chmod(0o755)
    server = Server(found, folder, settings)
    try:
        server.initialize()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)

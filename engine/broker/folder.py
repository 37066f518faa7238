"""A broker's folder: where its files are, who holds it, and how a broker is found by folder or by name."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from engine.errors import ConfigurationException, reason
from engine.files.output_files import write_file

UNKNOWN: Final = 8013
EXISTS: Final = 8087
_REPOSITORY: Final = "repository.sqlite"
INVALID_NAME: Final = 8083
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.%-]{0,99}")


def home() -> Path:
    """Returns the folder of brokers that are known by name: PENSTOCK_HOME, or penstock below XDG_DATA_HOME."""
    own = os.environ.get("PENSTOCK_HOME")
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(own) if own else Path(data) / "penstock"


def place_of(broker: str, *, is_new: bool = False) -> Path:
    """Returns the folder that a broker's name or folder stands for.

    A text with a slash in it is a folder, and so is the name of a broker's folder that is here, or of one that is to
    be made a broker's (`is_new`); else it is a name below PENSTOCK_HOME.
    """
    if not broker:
        raise ConfigurationException("no broker is named: give a folder, or a name below PENSTOCK_HOME", number=8010)
    here = Path(os.path.abspath(broker))
    if os.sep in broker or broker in {".", ".."} or is_new or Folder(here).is_created:
        return here
    if not _NAME.fullmatch(broker):
        text = f"{broker!r:.60} is no name of a broker: it has letters, digits and . _ % -"
        raise ConfigurationException(text, number=INVALID_NAME)
    return home() / broker


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of a broker that has been created."""

    path: Path

    @property
    def identity(self) -> Path:
        return self.path / "identity.json"

    @property
    def creating(self) -> Path:
        """The file that is there while a broker is created: what was in the folder before."""
        return self.path / "creating.json"

    @property
    def queues(self) -> Path:
        return self.path / "queues"

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def statistics(self) -> Path:
        return self.path / "statistics"

    @property
    def traces(self) -> Path:
        return self.path / "trace"

    @property
    def control(self) -> Path:
        return self.path / "control"

    @property
    def file(self) -> Path:
        return self.path / "broker.yaml"

    @property
    def is_created(self) -> bool:
        """Returns True where a broker has been created in the folder."""
        return self.identity.is_file()

    @property
    def own_repository(self) -> str:
        """The URL of the repository that is in the folder, where it is nowhere else."""
        return f"sqlite:///{self.path / _REPOSITORY}"

    def read(self) -> dict[str, Any]:
        """Returns the name of the broker and the URL of its repository, which moves and is copied with the folder."""
        try:
            found: dict[str, Any] = json.loads(self.identity.read_text(encoding="utf-8"))
            url = str(found["repository"])
            is_own = url.endswith(f"/{_REPOSITORY}") and (self.path / _REPOSITORY).is_file()  # as it was written before
            return {"name": str(found["name"]), "repository": self.own_repository if is_own or not url else url}
        except (OSError, ValueError, KeyError, TypeError) as error:
            text = f"{self.identity} cannot be read: {error}; restore it, or create the broker anew"
            raise ConfigurationException(text) from error

    def write(self, name: str, repository: str) -> None:
        """Say which broker this is, created from here on; without a URL its repository is in the folder."""
        write_synced(self.identity, json.dumps({"name": name, "repository": repository}) + "\n")

    @property
    def holder(self) -> int:
        """The process of the supervisor that has the folder, or 0."""
        try:
            with _seen(self.path / "lock") as file:
                if _taken(file):
                    return 0
                return int(file.read().strip() or 0) or -1
        except (FileNotFoundError, ValueError):
            return 0

    def hold(self) -> IO[str]:
        """Take the folder for this process as long as the file that is returned is open; raises where it is held."""
        file = _lock_file(self.path / "lock")
        until = time.monotonic() + 2
        while not _taken(file):  # someone may only have looked who holds it
            if time.monotonic() > until:
                file.seek(0)
                pid = file.read().strip()
                file.close()
                text = f"{self.path} is in use by process {pid}: the broker runs already"
                raise ConfigurationException(text)
            time.sleep(0.02)
        _write_over(file, f"{os.getpid()}\n")
        return file

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep others from changing what is deployed; who comes second is refused."""
        with _lock_file(self.path / "deploying") as file:
            if not _taken(file):
                file.seek(0)
                text = f"{file.read().strip() or 'someone else'} is changing {self.path}: try again when that is done"
                raise ConfigurationException(text)
            from engine.broker.user_rights import system_user  # noqa: PLC0415  # only who changes something is told

            _write_over(file, f"{system_user()} (process {os.getpid()})\n")
            yield


def found(broker: str) -> Folder:
    """Returns the folder of a broker that exists; raises where there is none."""
    folder = Folder(place_of(broker))
    if not folder.is_created:
        other = f", nor is {here}" if (here := Path(broker).absolute()).is_dir() and here != folder.path else ""
        text = f"there is no broker {broker}: {folder.path} is none{other}"
        raise ConfigurationException(f"{text}; make one with penstock broker create {broker}", number=UNKNOWN)
    return folder


def known() -> Iterator[Folder]:
    """Yields the brokers below PENSTOCK_HOME, by name."""
    place = home()
    for path in sorted(place.iterdir()) if place.is_dir() else ():
        if (folder := Folder(path)).is_created:
            yield folder


def write_synced(path: Path, text: str) -> None:
    """Write a file whole or not at all, so that it lasts."""
    try:
        write_file(path, text)
    except OSError as error:
        raise ConfigurationException(f"{path} cannot be written: {reason(error)}") from error


def _lock_file(path: Path) -> IO[str]:
    """Opens a lock file, which whoever may write in its folder can take, whoever has made it."""
    is_new = not path.exists()
    file = path.open("a+", encoding="utf-8")
    if is_new:
        with suppress(OSError):
            os.fchmod(file.fileno(), path.parent.stat().st_mode & 0o666)
    return file


def _write_over(file: IO[str], text: str) -> None:
    """Write who has a lock file; it is had also where the disk has no room for that."""
    with suppress(OSError):
        os.ftruncate(file.fileno(), 0)
        os.write(file.fileno(), text.encode())


def _seen(path: Path) -> IO[str]:
    """Opens a lock file to look who has it, which needs no right to write but on network file systems."""
    try:
        return path.open("r+", encoding="utf-8")
    except PermissionError:
        return path.open("r", encoding="utf-8")


def _taken(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

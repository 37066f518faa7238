"""Allowed files: the folders in which flows may write, as the person who runs them says, and what is written there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from engine.errors import BrokerError, ConfigurationException, reason

VARIABLE: Final = "PENSTOCK_ALLOW_FILES"
LONGEST_NAME: Final = 255  # bytes, in the file systems that there are
UNSUITABLE: Final = 2211
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# a pipe that nobody reads is refused at once, where it would else be waited for without end
_APPENDED: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PERMISSIONS: Final = 0o666
SAID: Final[ContextVar[tuple[Path, ...]]] = ContextVar("allowed files", default=())  # by --allow-files


@dataclass(frozen=True, slots=True)
class AllowedFiles:
    """The folders whose files a flow may write; without one it writes none."""

    roots: tuple[Path, ...] = ()

    def check(self, name: str) -> None:
        """Refuses a file that lies in none of the folders; a name with .. counts for where it leads."""
        self._place_of(name)

    def append(self, name: str, text: str) -> None:
        """Adds text to the end of a file; no link below the folder is followed, and only a plain file is written."""
        root, parts = self._place_of(name)
        try:
            with ExitStack() as stack:
                at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                stack.callback(os.close, at)
                for part in parts[:-1]:
                    at = os.open(part, _FOLDER, dir_fd=at)
                    stack.callback(os.close, at)
                descriptor = os.open(parts[-1], _APPENDED, _PERMISSIONS, dir_fd=at)
                with open(descriptor, "wb") as out:
                    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                        raise BrokerError(UNSUITABLE, f"{name} is a pipe or a device: name a plain file", name)
                    out.write(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            text = f"{name} cannot be written: {reason(error, 'make its folder, or name another')}"
            raise BrokerError(UNSUITABLE, text, name) from error

    def _place_of(self, name: str) -> tuple[Path, tuple[str, ...]]:
        """Returns the folder that a file lies in, and its way from there."""
        if "\0" in name or max(map(len, os.fsencode(name).split(b"/"))) > LONGEST_NAME:
            text = f"{name!r:.80} is no name of a file: it is too long, or holds a zero byte"
            raise BrokerError(UNSUITABLE, text, name)
        wanted = Path(os.path.normpath(Path(name).absolute()))
        for root in self.roots:
            for folder in (Path(os.path.normpath(root.absolute())), root.resolve()):
                if wanted != folder and wanted.is_relative_to(folder):
                    return folder, wanted.relative_to(folder).parts
        said = f"only in {', '.join(map(str, self.roots))}" if self.roots else "in no folder"
        text = f"{name} may not be written: files may be written {said}; allow its folder with --allow-files DIR"
        raise BrokerError(UNSUITABLE, text, name)


NO_FILES: Final = AllowedFiles()


def allowed_files(folders: Iterable[str | Path]) -> AllowedFiles:
    """Returns the folders as those that are allowed; refuses one that is not there."""
    roots = tuple(map(Path, folders))
    for root in roots:
        if not root.is_dir():
            raise ConfigurationException(f"--allow-files {root} is no folder: name one that exists")
    return AllowedFiles(roots)


def allowed_around() -> AllowedFiles:
    """Returns the folders that the command was given, or that PENSTOCK_ALLOW_FILES names as brokers are started."""
    named = tuple(Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name)
    return AllowedFiles((*SAID.get(), *named))


def check_link(path: str | Path, base: str | Path) -> None:
    """Refuses a file that a name leads to by links, and that lies outside of where the name says it is.

    A file found for one that is in the folder `base` may be in any folder that its own name leads to from there.
    """
    around = os.path.commonpath((os.path.abspath(path), os.path.abspath(base)))
    if not is_within(Path(path), (Path(around), *allowed_around().roots)):
        text = f"{path} leads to a file outside of {around}: allow its folder with --allow-files, or copy it here"
        raise ConfigurationException(text)


def is_within(path: Path, roots: Iterable[Path]) -> bool:
    """Returns True for a file that lies in one of the folders once all links on its way are followed."""
    found = path.resolve()
    return any(found.is_relative_to(root.resolve()) for root in roots)


@runtime_checkable
class WritesFiles(Protocol):
    """A node that writes files."""

    def allow(self, files: AllowedFiles) -> None:
        """Takes the files that it may write; refuses where its own is none of them."""
        ...

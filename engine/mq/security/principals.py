"""Principals: the groups of a user, from a file of the queue manager and from the system."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from engine.errors import ConfigurationException

_MOST: Final = 100_000  # users whose groups are remembered
GROUPS: Final = "groups"  # the file, in the folder of the queue manager, with the form of /etc/group


class Principals:
    """The groups that users belong to: those that a file lists, and those that the system has for its own users.

    A line of the file is `name:password:number:user,user`, where the two in the middle are not looked at, or
    `name:user,user`.
    """

    __slots__ = ("_known", "_listed", "_path")

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._listed: dict[str, list[str]] = {}
        self._known: dict[str, list[str]] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read the file again."""
        listed: dict[str, list[str]] = {}
        for number, line in enumerate(self._lines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            name, colon, rest = line.partition(":")
            if not colon:
                raise ConfigurationException(f"{self._path}:{number}: no group: write it as name:user,user")
            for user in rest.rpartition(":")[2].split(","):
                if user.strip():
                    listed.setdefault(user.strip(), []).append(name.strip())
        self._listed, self._known = listed, {}

    def _lines(self) -> list[str]:
        if self._path is None or not self._path.is_file():
            return []
        try:
            return self._path.read_text("utf-8").splitlines()
        except (UnicodeDecodeError, OSError) as error:
            raise ConfigurationException(f"{self._path} cannot be read ({error}): write it in UTF-8") from error

    def groups(self, user: str) -> list[str]:
        """Returns the names of the groups that a user belongs to, which are remembered until they are read again."""
        found = self._known.get(user)
        if found is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            found = self._known[user] = sorted({*self._listed.get(user, ()), *_of_the_system(user)})
        return found


def _of_the_system(user: str) -> list[str]:
    import grp  # noqa: PLC0415 - not on Windows, where importing this module is no error
    import pwd  # noqa: PLC0415

    try:
        numbers = os.getgrouplist(user, pwd.getpwnam(user).pw_gid)
    except (KeyError, OSError):
        return []
    names: list[str] = []
    for number in numbers:
        try:
            names.append(grp.getgrgid(number).gr_name)
        except KeyError:
            continue
    return names

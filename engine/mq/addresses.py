"""Addresses of queue managers' sockets, and the processes at their ends, for deep folders too, on Linux and macOS."""

from __future__ import annotations

import os
import socket
import struct
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from engine.errors import MessageException

SOCKET: Final = "socket"
Q_MGR_NOT_AVAILABLE: Final = 2059
CONNECTION_BROKEN: Final = 2009
_LONGEST: Final = 100  # bytes of a path that every system takes as the address of a socket
_DESCRIPTORS: Final = Path("/proc/self/fd")
_UCRED: Final = struct.Struct("3i")
_XUCRED: Final = struct.Struct("=Iihh16I")  # version, user, number of groups, groups
_LOCAL_PEERCRED: Final = 1
_QUEUED: Final = 1024  # connections that wait to be accepted


class Peer(NamedTuple):
    """The user at the other end of a connection, as the kernel says it, and its process where the kernel knows it."""

    user: int
    group: int
    process: int


@contextmanager
def short_path(folder: Path) -> Iterator[str]:
    """Gives a path of the socket in a folder that fits into an address, for as long as it is needed."""
    plain = folder / SOCKET
    if len(os.fsencode(plain)) <= _LONGEST:
        yield str(plain)
    elif _DESCRIPTORS.is_dir():
        number = os.open(folder, os.O_PATH | os.O_DIRECTORY)  # who may only pass through has no right to read it
        try:
            yield str(_DESCRIPTORS / str(number) / SOCKET)
        finally:
            os.close(number)
    else:
        with tempfile.TemporaryDirectory(prefix="penstock-", dir="/tmp") as near:
            link = Path(near, "to")
            link.symlink_to(folder.absolute())
            yield str(link / SOCKET)


def listening(folder: Path, group: str = "") -> socket.socket:
    """Returns a socket that listens in a folder, whose lock the caller has; only its user, or a group, may connect.

    A socket that an ended process left is replaced.
    """
    number = _group_number(group) if group else -1
    made = socket.socket(socket.AF_UNIX)
    try:
        (folder / SOCKET).unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            with short_path(folder) as path:
                made.bind(path)
        finally:
            os.umask(before)
        if group:
            for place, mode in ((folder / SOCKET, 0o660), (folder, 0o710)):  # to connect, and to pass through to it
                os.chown(place, -1, number)
                place.chmod(mode)
        made.listen(_QUEUED)
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def connected(folder: Path) -> socket.socket:
    """Returns a connection to the process that serves a folder; an error with reason 2059 where there is none."""
    made = socket.socket(socket.AF_UNIX)
    try:
        with short_path(folder) as path:
            made.connect(path)
    except OSError as error:
        made.close()
        text = f"no queue manager can be reached in {folder} ({error.strerror}): start it, or name another folder"
        if isinstance(error, PermissionError):
            text = f"the queue manager in {folder} is another user's: have it started with --socket-group"
        reason = 2035 if isinstance(error, PermissionError) else Q_MGR_NOT_AVAILABLE
        raise MessageException(reason, text, reason=reason) from error
    return made


def peer(connection: socket.socket) -> Peer:
    """Returns who is at the other end, which nobody but the kernel says."""
    if sys.platform == "linux":
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        process, user, group = _UCRED.unpack(data)
        return Peer(user, group, process)
    data = connection.getsockopt(0, _LOCAL_PEERCRED, _XUCRED.size)
    _, user, _, _, group, *_ = _XUCRED.unpack(data)
    return Peer(user, group, 0)


def name_of(user: int) -> str:
    """Returns a user's name, or the number of one that has none."""
    import pwd  # noqa: PLC0415 - not on Windows, where importing this module is no error yet

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def owner_name() -> str:
    """Returns the name of the user whose process this is."""
    return name_of(os.geteuid())


def _group_number(group: str) -> int:
    import grp  # noqa: PLC0415 - not on Windows

    try:
        return int(group) if group.isdecimal() else grp.getgrnam(group).gr_gid
    except KeyError as error:
        raise MessageException(2035, f"there is no group called {group}: name one", reason=2035) from error

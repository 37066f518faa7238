"""Channels between the processes of a broker: messages of JSON, each behind its length, over Unix sockets."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from engine.errors import ConfigurationException

_LENGTH: Final = struct.Struct(">I")
_LARGEST: Final = 1 << 30
_PIECE: Final = 1 << 18
_NUMBERED: Final = re.compile(r"BIP([0-9]{4,5}):? (.*)", re.DOTALL)
_LONGEST_PATH: Final = 100  # bytes that every system's sockets may have as their path


class Channel:
    """One end of a connection; it is used by one thread."""

    __slots__ = ("_buffer", "_unsent", "await_room", "is_open", "socket")

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self._buffer = bytearray()
        self._unsent = bytearray()
        self.await_room: Callable[[], None] | None = None  # has `send_rest` called later; None: a send waits for room
        self.is_open = True

    @classmethod
    def pair(cls) -> tuple[Self, Self]:
        """Returns two ends that are connected with each other."""
        one, other = socket.socketpair()
        return cls(one), cls(other)

    def fileno(self) -> int:
        return self.socket.fileno()

    def send(self, message: dict[str, Any]) -> None:
        """Send a message, or leave what has no room now to `send_rest`; one to an end that is closed is lost."""
        data = json.dumps(message, separators=(",", ":")).encode()
        framed = _LENGTH.pack(len(data)) + data
        if self.await_room is None:
            try:
                self.socket.sendall(framed)
            except OSError:
                self.is_open = False
            return
        is_first = not self._unsent
        self._unsent += framed
        if is_first and not self.send_rest():
            self.await_room()

    def send_rest(self) -> bool:
        """Send as much as there is room for; False: some is left."""
        try:
            while self._unsent:
                del self._unsent[: self.socket.send(self._unsent, socket.MSG_DONTWAIT)]
        except BlockingIOError:
            return False
        except OSError:
            self.is_open = False
            self._unsent.clear()
        return True

    def receive(self, timeout: float | None = None) -> dict[str, Any] | None:
        """Returns the next message, or None where the other end is closed or nothing has come in time."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            if (message := self._taken()) is not None:
                return message
            left = None if until is None else until - time.monotonic()
            if not self.is_open or (left is not None and left <= 0):
                return None
            self.socket.settimeout(left)
            try:
                self._fill()
            except TimeoutError:
                return None
            finally:
                with suppress(OSError):
                    self.socket.settimeout(None)

    def arrived(self) -> list[dict[str, Any]]:
        """Returns the messages that are there, once the socket is readable; `is_open` says whether more can come.

        Raises ValueError or TypeError where what has come is no message.
        """
        self._fill()
        messages = []
        while (message := self._taken()) is not None:
            messages.append(message)
        return messages

    def close(self) -> None:
        self.is_open = False
        self.socket.close()

    def _fill(self) -> None:
        try:
            data = self.socket.recv(_PIECE)
        except (ConnectionError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            data = b""
        if data:
            self._buffer += data
        else:
            self.is_open = False

    def _taken(self) -> dict[str, Any] | None:
        if len(self._buffer) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._buffer)
        if length > _LARGEST:
            self.is_open = False
            return None
        end = _LENGTH.size + length
        if len(self._buffer) < end:
            return None
        message = json.loads(bytes(self._buffer[_LENGTH.size : end]))
        if not isinstance(message, dict):
            raise TypeError("what is said is no object of JSON")
        del self._buffer[:end]
        return message


def failure(text: str) -> ConfigurationException:
    """Returns the error that another process has told of as text, with its number.

    >>> str(failure("BIP2035: you may not")), str(failure("no")).partition(":")[2]
    ('BIP2035: you may not', ' no')
    """
    if (numbered := _NUMBERED.fullmatch(text)) is None:
        return ConfigurationException(text)
    return ConfigurationException(numbered[2], number=int(numbered[1]))


def listen(path: Path) -> socket.socket:
    """Returns a socket that listens at a path, for its owner alone; what was left there is taken away."""
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        with _Reached(path) as near:
            listening.bind(near)
    finally:
        os.umask(before)
    listening.listen(64)
    return listening


def connect(path: Path) -> Channel:
    """Returns a channel to who listens at a path; raises OSError where nobody does."""
    connected = socket.socket(socket.AF_UNIX)
    try:
        with _Reached(path) as near:
            connected.connect(near)
    except OSError:
        connected.close()
        raise
    return Channel(connected)


class _Reached:
    """A path that is short enough for a socket: by way of its open folder where the path itself is too long."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = -1

    def __enter__(self) -> str:
        if len(os.fsencode(self._path)) <= _LONGEST_PATH:
            return str(self._path)
        self._folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        near = f"/proc/self/fd/{self._folder}/{self._path.name}"
        if not Path(near).parent.is_dir():
            os.close(self._folder)
            raise ConfigurationException(f"{self._path} is too long for a socket: choose a shorter folder")
        return near

    def __exit__(self, *_: object) -> None:
        if self._folder >= 0:
            os.close(self._folder)

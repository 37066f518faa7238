"""A client's connection as the server has it: bytes become frames, and answers leave as fast as they are read."""

from __future__ import annotations

import socket
from collections import deque
from contextlib import suppress
from typing import Final

from engine.mq.frames import HEAD, LONGEST

_AT_ONCE: Final = 65_536  # bytes that are read, or sent, in one turn
_LARGE: Final = 32_768  # bytes of a frame, or of a piece, that is not copied into another
_HEAD: Final = HEAD.size


class BadFrameError(Exception):
    """Bytes that are no frame of this protocol."""


class Channel:
    """The bytes of one connection; `unsent` counts those that the client has not taken yet.

    `answers` are the pieces that are sent together next; `more` says that bytes have come that are in no frame taken.
    """

    __slots__ = ("_at", "_filled", "_frame", "_out", "_rest", "_socket", "answers", "more", "unsent")

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._rest: bytes = b""
        self._at = 0  # where the next frame begins in it
        self._frame: bytearray | None = None  # a large frame that has begun to come
        self._filled = 0
        self.answers: list[bytes] = []
        self._out: deque[memoryview] = deque()
        self.more = False
        self.unsent = 0

    def fileno(self) -> int:
        """Returns the number of the socket."""
        return self._socket.fileno()

    @property
    def received(self) -> int:
        """The bytes that are held of frames that have not been taken."""
        return len(self._rest) - self._at if self._frame is None else len(self._frame)

    def read(self) -> bool:
        """Reads what has come, as much as one turn allows; False where the other side has gone."""
        try:
            if self._frame is not None:
                room = memoryview(self._frame)[self._filled : self._filled + _AT_ONCE]
                count = self._socket.recv_into(room)
                self._filled += count
                return count > 0
            data = self._socket.recv(_AT_ONCE)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._rest = self._rest[self._at :] + data if self.more else data
        self._at = 0
        self.more = bool(self._rest)
        return bool(data)

    def read_on(self) -> bool:
        """Reads what else has come; False where there is nothing more."""
        before = self.received + self._filled
        return self.read() and self.received + self._filled > before

    def end_reading(self) -> None:
        """Reads all that has come, behind which a client cannot send: it knows then that nothing was done."""
        with suppress(OSError):  # it has gone
            self._socket.shutdown(socket.SHUT_RD)
        while self.read_on():
            continue

    def next_frame(self) -> tuple[int, int, bytes | memoryview] | None:
        """Returns the kind, the flags and the data of the next frame, or None where it has not come whole."""
        if self._frame is not None:
            return self._large()
        rest, at = self._rest, self._at
        begin = at + _HEAD
        if len(rest) < begin:
            return None
        length, kind, flags, _ = HEAD.unpack_from(rest, at)
        end = begin + length
        if end <= len(rest):
            self._at = end
            self.more = end < len(rest)
            return kind, flags, rest[begin:end]
        if length > LONGEST:
            raise BadFrameError
        if length > _LARGE:
            self._frame = bytearray(_HEAD + length)
            self._filled = len(rest) - at
            self._frame[: self._filled] = rest[at:]
            self._rest, self._at = b"", 0
        return None

    def _large(self) -> tuple[int, int, memoryview] | None:
        assert self._frame is not None
        if self._filled < len(self._frame):
            return None
        whole, self._frame = self._frame, None
        self.more = False
        _, kind, flags, _ = HEAD.unpack_from(whole)
        return kind, flags, memoryview(whole)[_HEAD:]

    def send(self) -> bool:
        """Sends what can be sent without waiting, as much as one turn allows; False where the other side has gone."""
        pieces = self.answers
        if pieces:
            self.answers = []
            if self._out or max(map(len, pieces)) > _LARGE:
                self._queue(pieces)
            else:
                return self._send_at_once(b"".join(pieces))
        allowed = _AT_ONCE
        while self._out and allowed > 0:
            piece = self._out[0]
            sent = self._send_some(piece[:allowed])
            if sent < 0:
                return False
            if not sent:
                break
            allowed -= sent
            self.unsent -= sent
            if sent == len(piece):
                self._out.popleft()
            else:
                self._out[0] = piece[sent:]
        return True

    def _send_at_once(self, data: bytes) -> bool:
        """Sends small answers where nothing else is on its way."""
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            return False
        if sent < len(data):
            self._queue([data[sent:]])
        return True

    def _queue(self, pieces: list[bytes]) -> None:
        self._out.extend(memoryview(piece) for piece in pieces if piece)
        self.unsent += sum(map(len, pieces))

    def _send_some(self, data: bytes | memoryview) -> int:
        """Returns how many bytes the system took, or -1 where the other side has gone."""
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            return -1

    def close(self) -> None:
        """Ends the connection."""
        self.answers, self._out = [], deque()
        self._socket.close()

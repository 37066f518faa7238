"""A spare descriptor: where a process can have no more, the next client is told so by it, in place of being left."""

from __future__ import annotations

import errno
import os
import socket
import time
from contextlib import suppress
from typing import Final

from engine.mq.frames import refusal_frame
from engine.mq.refusals import MAX_CONNS_LIMIT_REACHED, refusal

_NO_MORE: Final = (errno.EMFILE, errno.ENFILE)
_NAP: Final = 0.01
_HELLO: Final = 65_536  # bytes of what a client says first, at most


class SpareDescriptor:
    """A descriptor that stands for nothing until it is needed."""

    __slots__ = ("_number",)

    def __init__(self) -> None:
        self._number = -1
        self._take()

    def _take(self) -> None:
        with suppress(OSError):
            self._number = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def turn_away(self, listening: socket.socket, error: OSError) -> None:
        """Refuse the next connection where the error says that there are no descriptors."""
        if error.errno not in _NO_MORE:
            return
        if self._number < 0:  # others have taken the last one, and the client has to wait
            time.sleep(_NAP)
            self._take()
            return
        os.close(self._number)
        self._number = -1
        with suppress(OSError):  # the client has gone, or another thread has taken the descriptor
            connection, _ = listening.accept()
            with connection:
                connection.setblocking(False)
                with suppress(BlockingIOError):
                    connection.recv(_HELLO)  # or the end of the connection would reach the client before the answer
                text = f"process {os.getpid()} can have no more connections: end some, or raise its ulimit -n"
                connection.send(refusal_frame(refusal(MAX_CONNS_LIMIT_REACHED, text), 0, 0))
        self._take()

    def close(self) -> None:
        """Let go of the descriptor."""
        if self._number >= 0:
            os.close(self._number)
            self._number = -1

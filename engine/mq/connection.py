"""A client's connection to a queue manager's process: frames sent, answers read."""

from __future__ import annotations

import json
import select
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.errors import MessageException
from engine.mq import frames
from engine.mq.addresses import CONNECTION_BROKEN, connected, peer
from engine.mq.frames import HEAD
from engine.mq.refusals import Q_MGR_NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

_AT_ONCE: Final = 65536  # bytes read, or joined to be sent, at once
_FEW: Final = 8  # pieces that are joined without a look at how long they are together
_SMALL: Final = 8192  # bytes of each of them


class Answer(NamedTuple):
    """An answer of the server."""

    kind: int
    flags: int
    data: bytes


class Greeting(NamedTuple):
    """The facts about a queue manager that a client is told first."""

    name: str
    dead_letter_queue: str
    user: str
    lasting: bool  # the process goes on until it is told to stop


class UnsentError(MessageException):
    """The connection broke before all was sent: the last of it, such as a commit, has not been done."""


class Connection:
    """One connection, which one thread reads; `changes` says how often definitions had changed at the last answer."""

    __slots__ = ("_arrives", "_rest", "_sending", "_socket", "application", "changes", "folder", "greeting")

    def __init__(
        self, folder: Path, application: str = "", *, user: str = "", blamed: bool = True, wait: float | None = None
    ) -> None:
        """`user` is one for whom this process acts; `blamed`: messages in hand count as backed out where it dies.

        `wait` is how many seconds the server has to answer first.
        """
        self.folder = folder
        self.application = application
        self.changes = -1
        self._rest = b""
        self._sending = threading.Lock()
        self._socket = connected(folder)
        waiting = select.poll()
        waiting.register(self._socket.fileno(), select.POLLIN)
        self._arrives = waiting.poll
        try:
            hello = {"protocol": frames.PROTOCOL, "application": application, "user": user, "blamed": blamed}
            with suppress(MessageException):  # one that is turned away has been told why
                self.send([frames.frame(frames.HELLO, json.dumps(hello).encode())])
            self._wait(wait)
            self.greeting = Greeting(**json.loads(self.answer(frames.DATA).data))
        except BaseException:
            self.close()
            raise

    def send(self, pieces: Sequence[bytes]) -> None:
        """Sends the pieces of one or more frames; small ones go as one."""
        if len(pieces) <= _FEW and max(map(len, pieces)) <= _SMALL:
            try:
                with self._sending:
                    self._socket.sendall(b"".join(pieces))
            except OSError as error:
                raise self._broken(UnsentError) from error
            except BaseException:  # a signal's, or for want of memory: a part of the frame may have been sent
                self.close()
                raise
            return
        gathered: list[bytes] = []
        length = 0
        try:
            with self._sending:
                for piece in pieces:
                    if len(piece) > _AT_ONCE:
                        self._socket.sendall(b"".join(gathered))
                        self._socket.sendall(piece)
                        gathered, length = [], 0
                        continue
                    gathered.append(piece)
                    length += len(piece)
                    if length > _AT_ONCE:
                        self._socket.sendall(b"".join(gathered))
                        gathered, length = [], 0
                if gathered:
                    self._socket.sendall(b"".join(gathered))
        except OSError as error:
            raise self._broken(UnsentError) from error
        except BaseException:
            self.close()
            raise

    def answer(self, *kinds: int) -> Answer:
        """Returns the next answer, which is of one of the kinds; a refusal is raised as the error that it says."""
        try:
            data = self._rest
            while len(data) < HEAD.size:
                data += self._received()
            length, kind, flags, self.changes = HEAD.unpack_from(data)
            end = HEAD.size + length
            if len(data) < end:
                data = self._filled(data, end)
            self._rest = data[end:]
            answer = Answer(kind, flags, data[HEAD.size : end])
        except BaseException:  # what has come of the answer may be lost
            self.close()
            raise
        if kind == frames.REFUSED and frames.REFUSED not in kinds:
            raise frames.read_refusal(answer.data)
        if kind not in kinds:
            self.close()
            raise self._broken()
        return answer

    def close(self) -> None:
        """Ends the connection; the server backs out what it holds of a unit of work."""
        self._socket.close()

    def __del__(self) -> None:
        """Ends the connection of a unit of work that nobody has any more."""
        if hasattr(self, "_socket"):
            self._socket.close()

    def _received(self) -> bytes:
        try:
            self._arrives()  # or each answer would wake this thread twice: also when the server has read the request
            data = self._socket.recv(_AT_ONCE)
        except OSError as error:
            raise self._broken() from error
        if not data:
            raise self._broken()
        return data

    def _filled(self, begun: bytes, length: int) -> bytes:
        """Returns the first `length` bytes of the stream, or some more, of which the first have come."""
        buffer = bytearray(length)
        buffer[: len(begun)] = begun
        view, at = memoryview(buffer), len(begun)
        while at < length:
            try:
                count = self._socket.recv_into(view[at:])
            except OSError as error:
                raise self._broken() from error
            if not count:
                raise self._broken()
            at += count
        return bytes(buffer)

    def _broken(self, kind: type[MessageException] = MessageException) -> MessageException:
        text = f"the connection to the queue manager in {self.folder} is broken: its process has ended"
        return kind(CONNECTION_BROKEN, text, reason=CONNECTION_BROKEN)

    def _wait(self, seconds: float | None) -> None:
        """Refuses a server that does not answer in so many seconds, as one that has been stopped by a signal."""
        if seconds is None or self._arrives(seconds * 1000):
            return
        process = peer(self._socket).process or "unknown"
        text = (
            f"process {process} serves the queue manager in {self.folder} and does not answer: let it go on, or end it"
        )
        raise MessageException(Q_MGR_NOT_AVAILABLE, text, reason=Q_MGR_NOT_AVAILABLE)

    def ask(self, kind: int, said: object, *kinds: int) -> Answer:
        """Sends a request that is said as data, and returns the answer, which is of one of the kinds."""
        self.send([frames.frame(kind, json.dumps(said).encode())])
        return self.answer(*kinds)

    def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Returns the result of a function of the queue manager."""
        said = {"call": name, "arguments": arguments, "options": options}
        return json.loads(self.ask(frames.CALL, said, frames.DATA).data)

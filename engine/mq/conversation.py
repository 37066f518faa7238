"""A conversation with one client: its frames are taken in turn, and answered."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Final

from engine.mq import frames
from engine.mq.channel import BadFrameError, Channel

if TYPE_CHECKING:
    from engine.errors import BrokerError
    from engine.mq.frames import Get
    from engine.mq.server import Server

_FRAMES_A_TURN: Final = 64
_LARGE: Final = 65_536  # bytes of a message behind which a turn ends

Frame = tuple[int, int, bytes | memoryview]
# What comes of frames that no client of ours sends, or that the process has no memory or no thread for.
UNFOUNDED: Final = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, struct.error),
    *(RuntimeError, MemoryError),
)


class Conversation:
    """Frames are taken one after the other, and none is while an answer is owed or not read yet."""

    __slots__ = ("channel", "ended", "get", "owes", "server", "watched")

    def __init__(self, server: Server, channel: Channel) -> None:
        self.server = server
        self.channel = channel
        self.watched = 0  # what the server's poll watches for
        self.ended = False
        self.get: Get | None = None  # one that waits for its message
        self.owes = False  # an answer that comes later, and no frame is taken until then

    def take(self, frame: Frame) -> None:
        """Does what a frame asks."""
        raise NotImplementedError

    def end(self) -> None:
        """Ends what the client has begun, who has gone."""
        raise NotImplementedError

    def turn(self) -> bool:
        """Takes the frames that have come, a number of them; True where more may be there."""
        channel = self.channel
        left = _FRAMES_A_TURN
        while channel.more and not (self.owes or channel.unsent or self.ended):
            try:
                frame = channel.next_frame()
            except BadFrameError:
                self.server.drop(self)
                return False
            if frame is None:
                break
            if self.get is not None and frame[0] != frames.CANCEL:
                self.server.drop(self)  # a client waits for what it asked first
                return False
            self.take(frame)
            left -= 1
            if not left or len(frame[2]) > _LARGE:
                self.server.again(self)
                break
        if (channel.answers or channel.unsent) and not channel.send():
            self.server.leave(self)
            return False
        return True

    def finish(self) -> None:
        """Takes all frames that have come from a client that is about to go: a commit may be among them."""
        while not (self.owes or self.ended) and (frame := self._next()) is not None:
            self.take(frame)

    def _next(self) -> Frame | None:
        try:
            return self.channel.next_frame()
        except BadFrameError:
            return None

    @property
    def is_full(self) -> bool:
        """Returns True where more need not be read: what has come waits for an answer that is owed."""
        return self.channel.received > _LARGE and (self.owes or self.get is not None)

    def answer(self, kind: int, data: bytes = b"", flags: int = 0) -> None:
        """Answers, with the next bytes that are sent."""
        self.owes = False
        self.channel.answers.append(frames.frame(kind, data, flags, self.server.changes))

    def answer_json(self, value: object) -> None:
        """Answers with data."""
        self.answer(frames.DATA, json.dumps(value).encode())

    def refuse(self, error: BrokerError, flags: int = 0) -> None:
        """Answers with an error."""
        self.owes = False
        self.channel.answers.append(frames.refusal_frame(error, flags, self.server.changes))

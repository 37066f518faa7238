"""The error of a command that cannot be carried out as it stands."""

from __future__ import annotations

from engine.errors import MessageException


class WrongCommandError(MessageException):
    """A command that cannot be understood, or asks for what cannot be; `reason` is 0 for a syntax error."""

    def __init__(self, problem: str, *, reason: int = 0) -> None:
        super().__init__(reason, f"{problem} ({reason})" if reason else problem, reason=reason)

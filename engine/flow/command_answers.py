"""Answers to commands of publish/subscribe: reasons, and the pscr folder that tells them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

RFH_COMMAND_ERROR: Final = 2336
RFH_PARM_ERROR: Final = 2337
RFH_DUPLICATE_PARM: Final = 2338
RFH_PARM_MISSING: Final = 2339
COMMAND_FAILED: Final = 3008
TOPIC_ERROR: Final = 3072
NOT_REGISTERED: Final = 3073
Q_MGR_NAME_ERROR: Final = 3074
Q_NAME_ERROR: Final = 3076
NO_RETAINED_MSG: Final = 3077
CORREL_ID_ERROR: Final = 3080
NOT_AUTHORIZED: Final = 3081
REG_OPTIONS_ERROR: Final = 3083
PUB_OPTIONS_ERROR: Final = 3084
DEL_OPTIONS_ERROR: Final = 3087
FILTER_ERROR: Final = 3150
WRONG_USER: Final = 3151
DUPLICATE_SUBSCRIPTION: Final = 3152
SUB_NAME_ERROR: Final = 3153
SUB_IDENTITY_ERROR: Final = 3154
SUBSCRIPTION_IN_USE: Final = 3155
SUBSCRIPTION_LOCKED: Final = 3156
ALREADY_JOINED: Final = 3157

_OF_CALLS: Final = {  # what calls of the queue manager are refused with, as commands are answered
    2035: NOT_AUTHORIZED,
    2085: Q_NAME_ERROR,
    2152: Q_NAME_ERROR,
    2425: TOPIC_ERROR,
    2440: SUB_NAME_ERROR,
    2459: FILTER_ERROR,
    2510: DUPLICATE_SUBSCRIPTION,
    2551: FILTER_ERROR,
    2533: DUPLICATE_SUBSCRIPTION,
}


class RefusedError(Exception):
    """A command that is not carried out, or not for one of its topics; the reason stands in its answer.

    One that `warns` is carried out all the same.
    """

    def __init__(self, reason: int, *, warns: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.warns = warns


def answered_reason(reason: int) -> int:
    """Returns the reason in the answer to a command for the reason of a call."""
    return _OF_CALLS.get(reason, reason or COMMAND_FAILED)


@dataclass(frozen=True, slots=True)
class Answered:
    """The outcome of a command: the reason of each topic that failed, with an empty topic where all of it did."""

    reasons: tuple[tuple[int, str], ...] = ()
    warns: bool = False
    said: tuple[tuple[str, str], ...] = ()  # what a full response tells

    @property
    def completion(self) -> str:
        """The word for it."""
        return "ok" if not self.reasons else "warning" if self.warns else "error"

    def folders(self, asked: Iterable[tuple[str, str]]) -> list[str]:
        """Returns the pscr folder of the answer, and behind it, unless all went well, the psc folder of the command."""
        groups = [
            f"<Response><Reason>{reason}</Reason>{_element('Topic', topic) if topic else ''}</Response>"
            for reason, topic in self.reasons
        ]
        told = "".join(_element(name, value) for name, value in self.said)
        answer = f"<pscr><Completion>{self.completion}</Completion>{''.join(groups)}{told}</pscr>"
        if not self.reasons:
            return [answer]
        return [answer, f"<psc>{''.join(_element(name, value) for name, value in asked)}</psc>"]


def _element(name: str, text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<{name}>{escaped}</{name}>"

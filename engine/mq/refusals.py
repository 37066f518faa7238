"""The refusals of a queue manager, each by MQ's reason code."""

from __future__ import annotations

from typing import Final

from engine.errors import MessageException

Q_DAMAGED: Final = 2101  # MQRC_OBJECT_DAMAGED
ALIAS_BASE_Q_TYPE_ERROR: Final = 2001
BACKED_OUT: Final = 2003
GET_INHIBITED: Final = 2016
SYNCPOINT_LIMIT_REACHED: Final = 2024
MAX_CONNS_LIMIT_REACHED: Final = 2025
MSG_TOO_BIG_FOR_Q: Final = 2030
MSG_TOO_BIG_FOR_Q_MGR: Final = 2031
OBJECT_IN_USE: Final = 2042
OPTION_NOT_VALID_FOR_TYPE: Final = 2045
PUT_INHIBITED: Final = 2051
Q_FULL: Final = 2053
Q_NOT_EMPTY: Final = 2055
Q_MGR_NOT_AVAILABLE: Final = 2059
UNKNOWN_ALIAS_BASE_Q: Final = 2082
UNKNOWN_OBJECT_NAME: Final = 2085
OBJECT_ALREADY_EXISTS: Final = 2100
Q_MGR_STOPPING: Final = 2162
STORAGE_MEDIUM_FULL: Final = 2192
UNEXPECTED_ERROR: Final = 2195
INCONSISTENT_UOW: Final = 2245


def refusal(reason: int, text: str, *names: str) -> MessageException:
    """Returns the error for what a queue manager does not do, with the reason's number as its own.

    >>> refusal(2085, "there is no queue called 'A': define it", "A").reason
    2085
    """
    return MessageException(reason, text, *names, reason=reason)


def unknown(queue: str) -> MessageException:
    """Returns the error for a queue that is not there."""
    return refusal(UNKNOWN_OBJECT_NAME, f"there is no queue called {queue!r}: define it", queue)


def no_local_queue(alias: str) -> MessageException:
    """Returns the error for what can be done to local queues alone."""
    return refusal(UNKNOWN_OBJECT_NAME, f"{alias} is an alias, and no local queue: name the one behind it", alias)


def of_topic(alias: str, topic: str) -> MessageException:
    """Returns the error for a get from an alias of a topic."""
    text = f"alias {alias} stands for topic {topic}, from which nothing can be got: subscribe to it"
    return refusal(OPTION_NOT_VALID_FOR_TYPE, text, alias)


def full(queue: str, most: int) -> MessageException:
    """Returns the error for a queue that has no room for another message."""
    return refusal(Q_FULL, f"queue {queue} is full: it may hold {most}", queue)


def too_long(queue: str, length: int, most: int) -> MessageException:
    """Returns the error for a message that is longer than its queue allows."""
    text = f"a message of {length} bytes is longer than queue {queue} allows ({most})"
    return refusal(MSG_TOO_BIG_FOR_Q, text, queue)


def too_many(most: int) -> MessageException:
    """Returns the error for a unit of work that holds as many messages as may be uncommitted."""
    text = f"a unit of work has {most} uncommitted messages, which is MAXUMSGS: commit more often"
    return refusal(SYNCPOINT_LIMIT_REACHED, text)


def inconsistent(queue: str, *, was_in_unit: bool) -> MessageException:
    """Returns the error for a get of a group's next message that is in a unit of work where others were not."""
    was, is_now = ("in", "outside") if was_in_unit else ("outside", "in")
    text = f"a group that was begun {was} a unit of work cannot go on {is_now} one: get all its messages alike"
    return refusal(INCONSISTENT_UOW, text, queue)

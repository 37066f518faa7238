"""The rules of STREAMQ, checked at DEFINE and ALTER: no chain, no loop, no queue of the system or a subscription."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from engine.mq.refusals import refusal

if TYPE_CHECKING:
    from engine.errors import MessageException
    from engine.mq.attribute_values import Value
    from engine.mq.directory import Directory

TARGET_NOT_SUPPORTED: Final = 3384  # MQRCCF_STREAMQ_DEST_NOT_SUPP
TARGET_STREAMS: Final = 3385  # MQRCCF_STREAMQ_DEST_CONFLICT
SOURCE_NOT_SUPPORTED: Final = 3386  # MQRCCF_STREAMQ_NOT_SUPPORTED
SOURCE_IS_TARGET: Final = 3387  # MQRCCF_STREAMQ_CONFLICT

_SYSTEM: Final = "SYSTEM."
_MAY_STREAM: Final = re.compile(
    r"SYSTEM\.(DEFAULT\.LOCAL\.QUEUE|ADMIN\.(STATISTICS|ACCOUNTING)\.QUEUE|ADMIN\..*\.EVENT)"
)
_MAY_BE_STREAMED_TO: Final = ("SYSTEM.DEFAULT.LOCAL.QUEUE",)


def check(directory: Directory, kind: str, name: str, values: Mapping[str, Value]) -> None:
    """Refuse a definition of a queue or an alias by which a message would be copied from or to where none may be."""
    stream = str(values.get("STREAMQ", ""))
    if kind == "QLOCAL" and not stream:
        return
    aliases = _aliases(directory)
    if kind == "QALIAS":
        aliases[name] = "" if values["TARGTYPE"] == "TOPIC" else str(values["TARGET"])
    else:
        aliases.pop(name, None)
        _check_source(name)
    streams = ({name: stream} if stream else {}) | {base: to for base, to in _streams(directory) if base != name}
    ends = {base: _end(target, aliases) for base, target in streams.items()}
    if kind == "QALIAS":
        ends = {base: end for base, end in ends.items() if _is_on_path(name, streams[base], aliases)}
    for base, end in ends.items():
        if kind == "QALIAS" or name in {base, end}:
            _check_pair(base, streams[base], end, name, streams)
    _check_subscriptions(directory, aliases, streams)


def check_destination(directory: Directory, queue: str) -> None:
    """Refuse a subscription's queue that has a STREAMQ."""
    end = _end(queue, _aliases(directory))
    if end in directory.queues and directory.queues[end].stream is not None:
        raise _of_subscription(end)


def _check_source(name: str) -> None:
    if name.startswith(_SYSTEM) and not _MAY_STREAM.fullmatch(name):
        raise refusal(
            SOURCE_NOT_SUPPORTED, f"{name} is a queue of the system, which has no STREAMQ: leave it out", name
        )


def _check_pair(base: str, named: str, end: str, name: str, streams: Mapping[str, str]) -> None:
    """Refuse a base and the queue that its copies go to, by their own names or by aliases."""
    for system in (named, end):
        if system.startswith(_SYSTEM) and system not in _MAY_BE_STREAMED_TO:
            text = f"{base} cannot stream to {system}, which is a queue of the system: name one of your own"
            raise refusal(TARGET_NOT_SUPPORTED, text, base)
    if end == base:
        raise refusal(TARGET_STREAMS, f"{base} would stream to itself: let STREAMQ name another queue", base)
    if end in streams:
        back = end == name and base != name
        text = f"{base} streams to {end}, and {end} to {streams[end]}: copies are not copied again, so leave one out"
        raise refusal(SOURCE_IS_TARGET if back else TARGET_STREAMS, text, base)


def _check_subscriptions(directory: Directory, aliases: Mapping[str, str], streams: Mapping[str, str]) -> None:
    for subscription in list(directory.topics.subscriptions.values()):
        end = _end(subscription.queue, aliases)
        if end in streams:
            raise _of_subscription(end)


def _of_subscription(queue: str) -> MessageException:
    text = f"{queue} cannot be a subscription's queue and have a STREAMQ: let another queue be one of the two"
    return refusal(SOURCE_NOT_SUPPORTED, text, queue)


def _aliases(directory: Directory) -> dict[str, str]:
    """Returns what each alias stands for; nothing for a topic."""
    return {name: "" if alias.is_of_topic else alias.target for name, alias in directory.aliases.items()}


def _streams(directory: Directory) -> Iterator[tuple[str, str]]:
    return ((name, queue.stream.name) for name, queue in directory.queues.items() if queue.stream is not None)


def _end(name: str, aliases: Mapping[str, str]) -> str:
    """Returns the queue that a name leads to, in the end; nothing for a topic."""
    for _ in aliases:
        if name not in aliases:
            break
        name = aliases[name]
    return name


def _is_on_path(name: str, start: str, aliases: Mapping[str, str]) -> bool:
    """Returns True where one name leads to another, or over it."""
    for _ in range(len(aliases) + 1):
        if start == name:
            return True
        if start not in aliases:
            return False
        start = aliases[start]
    return False

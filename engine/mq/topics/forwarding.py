"""Forwarding: publications for other queue managers, as messages on a queue where they wait to be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from struct import Struct
from struct import error as error_of_struct
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from engine.descriptor import NO_ID, Descriptor
from engine.errors import MessageException
from engine.mq.topics.copies import Publication

TRANSMIT: Final = "SYSTEM.COLLECTIVE.TRANSMIT.QUEUE"  # publications are forwarded where it is there and takes puts
FORMAT: Final = "PSTKPUB"
NOT_FORWARDED: Final = 2110  # MQRC_FORMAT_ERROR
_LENGTH: Final = Struct(">I")
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Forwarded(NamedTuple):
    """A message between queue managers: a publication, or what `what` names; `more` is said by who sends it on."""

    topic: str
    point: str
    retains: bool
    at: int
    descriptor: Descriptor
    body: bytes
    what: str = "publish"
    more: Mapping[str, str] = _NOTHING


def packed(forwarded: Forwarded) -> tuple[Descriptor, bytes]:
    """Returns a message between queue managers as it stands on a queue.

    >>> unpacked(*packed(Forwarded("a/b", "", True, 5, Descriptor(format="MQSTR"), b"x"))).body
    b'x'
    """
    said = {
        "do": forwarded.what,
        "topic": forwarded.topic,
        "point": forwarded.point,
        "retain": forwarded.retains,
        "at": forwarded.at,
        "format": forwarded.descriptor.format,
        **forwarded.more,
    }
    head = json.dumps(said, ensure_ascii=True, separators=(",", ":")).encode()
    descriptor = forwarded.descriptor._replace(format=FORMAT, msg_id=NO_ID, backout_count=0)
    return descriptor, b"".join((_LENGTH.pack(len(head)), head, forwarded.body))


def unpacked(descriptor: Descriptor, body: bytes) -> Forwarded:
    """Returns what a message between queue managers says; one that is none is refused."""
    if descriptor.format != FORMAT:
        problem = f"a message in the format {descriptor.format!r} is no publication of another queue manager"
        raise MessageException(NOT_FORWARDED, problem, reason=NOT_FORWARDED)
    try:
        (length,) = _LENGTH.unpack_from(body)
        start = _LENGTH.size + length
        said: dict[str, Any] = json.loads(body[_LENGTH.size : start])
        known = (str(said.pop("topic")), str(said.pop("point")), bool(said.pop("retain")), int(said.pop("at")))
        own = descriptor._replace(format=str(said.pop("format")), msg_id=NO_ID)
        what = str(said.pop("do"))
        return Forwarded(*known, own, body[start:], what, {str(name): str(value) for name, value in said.items()})
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, error_of_struct) as error:
        problem = f"a message is no publication of another queue manager: {error!s:.200}"
        raise MessageException(NOT_FORWARDED, problem, reason=NOT_FORWARDED) from error


def of_publication(publication: Publication, *, retains: bool) -> tuple[Descriptor, bytes]:
    """Returns a publication as it is forwarded."""
    topic, point, descriptor, body, *_ = publication
    return packed(Forwarded(topic, point, retains, publication.at, descriptor, body))

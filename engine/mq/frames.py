"""Frames of the socket: a length, a kind and flags, then data that is read by offset; clients ask, the server answers.

A put is answered only if its frame asks for it, so that puts travel with the commit behind them. Each get has one
answer, an arrival or nothing. Numbers are little endian.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from engine.descriptor import Descriptor
from engine.errors import BrokerError, ConfigurationException, MessageException
from engine.mq.packed import pack, received, unpack
from engine.mq.served import Facts
from engine.work import NO_ORDER, Arrival, Order, QueueAttributes, Selection

PROTOCOL: Final = 1
HEAD: Final = struct.Struct(
    "<IBBH"
)  # how many bytes follow, the kind, its flags; answers: how often definitions changed
LONGEST: Final = 128 * 1024 * 1024  # bytes of a frame: a body of 100 MB and what belongs to it

HELLO, PUT, GET, COMMIT, BACK_OUT, CANCEL, CALL, OPEN_CURSOR, NEXT_PAGE, CLOSE_CURSOR = range(1, 11)
DONE, ARRIVAL, NOTHING, REFUSED, DATA, ACCEPTED, PAGE = range(64, 71)

IN_SYNCPOINT: Final = 1  # flag of a put
WANTS_ANSWER: Final = 2  # flag of a put or a commit; without it, the get behind a commit answers for both
CARRIES_GET: Final = 4  # flag of a commit behind which a get stands, which is left out if the commit fails
CARRIED: Final = 8  # flag of that get
RETURNS: Final = 16  # flag of a cancel: what the get gave goes back to its queue, as it was
OF_COMMIT: Final = 8  # flag of a refusal: the commit failed, not the get behind it
UNIT_ENDED: Final = 32  # flag of a refusal: the unit was backed out
LAST_PAGE: Final = 64  # flag of a page

_PUT: Final = struct.Struct("<HI")  # lengths of the queue's name and of the descriptor
_ARRIVAL: Final = struct.Struct("<I")  # length of the descriptor
_PIECE: Final = struct.Struct("<II")  # lengths of the descriptor and of the body
_GET: Final = struct.Struct("<BBBxddHI")  # syncpoint, what is asked, order; wait, rewind; lengths of queue and selector
_SYNCPOINTS: Final = (False, True, None)
_MODES: Final = ("default", "byUserID", "byQueueOrder")
_BY_MSG_ID, _BY_CORREL_ID, _BY_GROUP_ID, _LOGICAL, _WHOLE_GROUPS, _BROWSE, _ORDER_OF_GROUPS = (1 << n for n in range(7))
_SELECTS: Final = 128
_MORE_THAN_IDS: Final = _LOGICAL | _WHOLE_GROUPS | _BROWSE | _ORDER_OF_GROUPS
_ID: Final = 24


class Get(NamedTuple):
    """A get as its frame says it; `wait` in seconds, negative without end."""

    queue: str
    selection: Selection | None
    syncpoint: bool | None
    wait: float


def frame(kind: int, data: bytes = b"", flags: int = 0, number: int = 0) -> bytes:
    """Returns a whole frame."""
    return HEAD.pack(len(data), kind, flags, number) + data


def put_frame(queue: str, descriptor: Descriptor, body: bytes, flags: int) -> list[bytes]:
    """Returns a put as the pieces of its frame; a body is not copied."""
    name, packed = queue.encode(), pack(descriptor)
    length = _PUT.size + len(name) + len(packed) + len(body)
    return [HEAD.pack(length, PUT, flags, 0) + _PUT.pack(len(name), len(packed)) + name + packed, body]


def read_put(data: bytes | memoryview) -> tuple[str, Descriptor, bytes]:
    """Returns the queue, the descriptor and the body of a put."""
    names, length = _PUT.unpack_from(data)
    at = _PUT.size + names
    return (
        str(data[_PUT.size : at], "utf-8"),
        received(data, at, at + length),
        bytes(data[at + length :]),
    )


def arrival_frame(arrival: Arrival, number: int) -> list[bytes]:
    """Returns a message that was got as the pieces of its frame."""
    packed = pack(arrival.descriptor)
    head = HEAD.pack(_ARRIVAL.size + len(packed) + len(arrival.body), ARRIVAL, 0, number)
    return [head + _ARRIVAL.pack(len(packed)) + packed, arrival.body]


def read_arrival(data: bytes | memoryview) -> Arrival:
    """Returns the message of an arrival's frame."""
    end = _ARRIVAL.size + _ARRIVAL.unpack_from(data)[0]
    return Arrival(unpack(data, _ARRIVAL.size, end), bytes(data[end:]))


def accepted_data(descriptor: Descriptor, facts: Facts) -> bytes:
    """Returns what the answer to a put says: the descriptor as the queue has it, and the queue's facts."""
    packed = pack(descriptor)
    said = {"attributes": asdict(facts.attributes), "longest": facts.longest, "room": facts.room}
    return _ARRIVAL.pack(len(packed)) + packed + json.dumps(said).encode()


def read_accepted(data: bytes) -> tuple[Descriptor, Facts]:
    """Returns what the answer to a put says."""
    end = _ARRIVAL.size + _ARRIVAL.unpack_from(data)[0]
    said = json.loads(data[end:])
    facts = Facts(QueueAttributes(**said["attributes"]), said["longest"], said["room"])
    return unpack(data, _ARRIVAL.size, end), facts


def page_data(arrivals: list[Arrival]) -> bytes:
    """Returns messages one behind the other, as a page of a cursor holds them."""
    pieces = []
    for arrival in arrivals:
        packed = pack(arrival.descriptor)
        pieces += [_PIECE.pack(len(packed), len(arrival.body)), packed, arrival.body]
    return b"".join(pieces)


def read_page(data: bytes) -> list[Arrival]:
    """Returns the messages of a page."""
    arrivals, at = [], 0
    while at < len(data):
        packed, body = _PIECE.unpack_from(data, at)
        at += _PIECE.size
        arrivals.append(Arrival(unpack(data, at, at + packed), data[at + packed : at + packed + body]))
        at += packed + body
    return arrivals


def get_data(wanted: Get) -> bytes:
    """Returns what the frame of a get says."""
    queue, selection, syncpoint, wait = wanted
    name = queue.encode()
    inside = _SYNCPOINTS.index(syncpoint)
    if selection is None:
        return _GET.pack(inside, 0, 0, wait, -1.0, len(name), 0) + name
    ids = ((_BY_MSG_ID, selection.msg_id), (_BY_CORREL_ID, selection.correl_id), (_BY_GROUP_ID, selection.group_id))
    asked = (
        sum(bit for bit, value in ids if value)
        | selection.logical * _LOGICAL
        | selection.whole_groups * _WHOLE_GROUPS
        | selection.browse * _BROWSE
        | selection.order.groups * _ORDER_OF_GROUPS
        | _SELECTS
    )
    selector = selection.selector.encode()
    head = _GET.pack(
        *(inside, asked, _MODES.index(selection.order.mode), wait, selection.rewind, len(name), len(selector)),
    )
    return b"".join((head, *(value.ljust(_ID, b"\0") for _, value in ids if value), name, selector))


def read_get(data: bytes | memoryview) -> Get:
    """Returns a get as its frame says it."""
    inside, asked, mode, wait, rewind, names, selectors = _GET.unpack_from(data)
    at = _GET.size
    if not asked:
        return Get(str(data[at : at + names], "utf-8"), None, _SYNCPOINTS[inside], wait)
    ids: list[bytes] = []
    for bit in (_BY_MSG_ID, _BY_CORREL_ID, _BY_GROUP_ID):
        ids.append(bytes(data[at : at + _ID]) if asked & bit else b"")
        at += _ID if asked & bit else 0
    queue, syncpoint = str(data[at : at + names], "utf-8"), _SYNCPOINTS[inside]
    if rewind == -1.0 and not (asked & _MORE_THAN_IDS or mode or selectors):
        return Get(queue, Selection(ids[0], ids[1], ids[2]), syncpoint, wait)
    by_groups = bool(asked & _ORDER_OF_GROUPS)
    selection = Selection(
        ids[0],
        ids[1],
        ids[2],
        logical=bool(asked & _LOGICAL),
        whole_groups=bool(asked & _WHOLE_GROUPS),
        order=Order(_MODES[mode], by_groups) if mode or by_groups else NO_ORDER,
        browse=bool(asked & _BROWSE),
        rewind=rewind,
        selector=str(data[at + names : at + names + selectors], "utf-8"),
    )
    return Get(queue, selection, syncpoint, wait)


def refusal_frame(error: BrokerError, flags: int, number: int) -> bytes:
    """Returns an error as an answer."""
    said = {
        "kind": type(error).__name__,
        "number": error.number,
        "text": error.text,
        "inserts": [insert.text for insert in error.inserts],
        "reason": getattr(error, "reason", 0),
    }
    return frame(REFUSED, json.dumps(said).encode(), flags, number)


def read_refusal(data: bytes) -> BrokerError:
    """Returns the error that an answer says."""
    said: dict[str, Any] = json.loads(data)
    if said["kind"] == "ConfigurationException":
        return ConfigurationException(said["text"], number=said["number"])
    if said["kind"] == "MessageException" or said["reason"]:
        return MessageException(said["number"], said["text"], *said["inserts"], reason=said["reason"])
    return BrokerError(said["number"], said["text"], *said["inserts"])

"""Frames of the socket: a length, a kind and flags, then data that is read by offset; clients ask, the server answers.

A put is answered only if its frame asks for it, so that puts travel with the commit behind them. Each get has one
answer, an arrival or nothing. An exchange is the last put of a unit, its commit, and perhaps the get behind it, in one
frame. Numbers are little endian.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from engine.descriptor import Descriptor
from engine.errors import BrokerError, ConfigurationException, MessageException
from engine.mq.packed_descriptor import pack, received, unpack
from engine.mq.served_manager import Facts
from engine.work import NO_ORDER, Arrival, Order, QueueAttributes, Selection

PROTOCOL: Final = 3
HEAD: Final = struct.Struct(
    "<IBBH"
)  # how many bytes follow, the kind, its flags; answers: how often definitions changed
LONGEST: Final = 128 * 1024 * 1024  # bytes of a frame: a body of 100 MB and what belongs to it

HELLO, PUT, GET, COMMIT, BACK_OUT, CANCEL, CALL, OPEN_CURSOR, NEXT_PAGE, CLOSE_CURSOR, EXCHANGE = range(1, 12)
DONE, ARRIVAL, NOTHING, REFUSED, DATA, ACCEPTED, PAGE = range(64, 71)

IN_SYNCPOINT: Final = 1  # flag of a put
WANTS_ANSWER: Final = 2  # flag of a put or a commit; without it, the get behind a commit answers for both
BRIEFLY: Final = 4  # flag of a put outside the unit: its descriptor is complete, and the answer says no more than done
CARRIES_GET: Final = 4  # flag of a commit behind which a get stands, which is left out if the commit fails
CARRIED: Final = 8  # flag of that get
RETURNS: Final = 16  # flag of a cancel: what the get gave goes back to its queue, as it was
OF_COMMIT: Final = 8  # flag of a refusal: the commit failed, not the get behind it
UNIT_ENDED: Final = 32  # flag of a refusal: the unit was backed out
LAST_PAGE: Final = 64  # flag of a page

_PUT: Final = struct.Struct("<HI")  # lengths of the queue's name and of the descriptor
_EXCHANGE: Final = struct.Struct("<IHI")  # length of what a get says, or 0; and those of a put
_HEAD_OF_EXCHANGE: Final = struct.Struct("<IBBHIHI")
_HEAD_OF_ARRIVAL: Final = struct.Struct("<IBBHI")
_ARRIVAL: Final = struct.Struct("<I")  # length of the descriptor
_PIECE: Final = struct.Struct("<II")  # lengths of the descriptor and of the body
_BRANCH: Final = struct.Struct("<I")  # length of its name
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

    @property
    def is_found_at_once(self) -> bool:
        """Returns True for a get that looks at one message, or at the next of a group."""
        selection = self.selection
        return selection is None or selection.plain or selection.next_in_turn


def frame(kind: int, data: bytes = b"", flags: int = 0, number: int = 0) -> bytes:
    """Returns a whole frame."""
    return HEAD.pack(len(data), kind, flags, number) + data


def put_frame(queue: bytes, packed: bytes, body: bytes, flags: int) -> list[bytes]:
    """Returns a put of a packed descriptor as the pieces of its frame; a body is not copied."""
    length = _PUT.size + len(queue) + len(packed) + len(body)
    return [HEAD.pack(length, PUT, flags, 0) + _PUT.pack(len(queue), len(packed)), queue, packed, body]


def read_put(data: bytes | memoryview) -> tuple[str, Descriptor, bytes]:
    """Returns the queue, the descriptor and the body of a put."""
    names, length = _PUT.unpack_from(data)
    begin = _PUT.size + names
    end = begin + length
    return text_of(data[_PUT.size : begin]), received(data, begin, end), bytes(data[end:])


def exchange_frame(put: tuple[bytes, bytes, bytes], get: bytes, flags: int) -> list[bytes]:
    """Returns a put as `put_frame` takes it, its commit, and what a get says that follows, as the pieces of a frame."""
    queue, packed, body = put
    names, length, gets = len(queue), len(packed), len(get)
    whole = _EXCHANGE.size + gets + names + length + len(body)
    return [_HEAD_OF_EXCHANGE.pack(whole, EXCHANGE, flags, 0, gets, names, length), get, queue, packed, body]


def read_exchange(data: bytes | memoryview) -> tuple[str, Descriptor, bytes, bytes | memoryview]:
    """Returns what `read_put` does of an exchange, and what its get says, which is nothing where there is none."""
    gets, names, length = _EXCHANGE.unpack_from(data)
    at = _EXCHANGE.size + gets
    begin = at + names
    end = begin + length
    return text_of(data[at:begin]), received(data, begin, end), bytes(data[end:]), data[_EXCHANGE.size : at]


def arrival_frame(arrival: Arrival, number: int) -> list[bytes]:
    """Returns a message that was got as the pieces of its frame."""
    descriptor, body = arrival
    packed = pack(descriptor)
    length = len(packed)
    return [_HEAD_OF_ARRIVAL.pack(4 + length + len(body), ARRIVAL, 0, number, length), packed, body]


def read_arrival(data: bytes | memoryview) -> Arrival:
    """Returns the message of an arrival's frame."""
    end = _ARRIVAL.size + _ARRIVAL.unpack_from(data)[0]
    return tuple.__new__(Arrival, (unpack(data, _ARRIVAL.size, end), bytes(data[end:])))


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


def decision_data(branches: tuple[bytes, ...]) -> bytes:
    """Returns the data of a commit: the branches that commit with it.

    >>> read_decision(decision_data((b"one", b"two")))
    (b'one', b'two')
    """
    return b"".join(_BRANCH.pack(len(branch)) + branch for branch in branches)


def read_decision(data: bytes) -> tuple[bytes, ...]:
    """Returns the branches that a commit names."""
    branches, at = list[bytes](), 0
    while at < len(data):
        begin = at + _BRANCH.size
        at = begin + _BRANCH.unpack_from(data, at)[0]
        branches.append(data[begin:at])
    return tuple(branches)


def named(text: str) -> bytes:
    """Returns a name as frames hold it: any text, as a command line may have it, so that the queue manager refuses it.

    >>> named("ORDERS")
    b'ORDERS'
    """
    return text.encode("utf-8", "surrogatepass")


def text_of(data: bytes | memoryview) -> str:
    """Returns the name that `named` wrote."""
    return str(data, "utf-8", "surrogatepass")


def get_data(wanted: Get) -> bytes:
    """Returns what the frame of a get says."""
    queue, selection, syncpoint, wait = wanted
    name = named(queue)
    inside = _SYNCPOINTS.index(syncpoint)
    if selection is None:
        return _GET.pack(inside, 0, 0, wait, -1.0, len(name), 0) + name
    asked, ids = _SELECTS, b""
    if selection.msg_id:
        asked, ids = _SELECTS | _BY_MSG_ID, selection.msg_id.ljust(_ID, b"\0")
    if selection.correl_id:
        asked, ids = asked | _BY_CORREL_ID, ids + selection.correl_id.ljust(_ID, b"\0")
    if selection.group_id:
        asked, ids = asked | _BY_GROUP_ID, ids + selection.group_id.ljust(_ID, b"\0")
    if selection.plain and selection.order is NO_ORDER:
        return _GET.pack(inside, asked, 0, wait, selection.rewind, len(name), 0) + ids + name
    asked |= (
        selection.logical * _LOGICAL
        | selection.whole_groups * _WHOLE_GROUPS
        | selection.browse * _BROWSE
        | selection.order.groups * _ORDER_OF_GROUPS
    )
    mode, selector = _MODES.index(selection.order.mode), named(selection.selector)
    head = _GET.pack(inside, asked, mode, wait, selection.rewind, len(name), len(selector))
    return b"".join((head, ids, name, selector))


def read_get(data: bytes | memoryview) -> Get:
    """Returns a get as its frame says it."""
    inside, asked, mode, wait, rewind, names, selectors = _GET.unpack_from(data)
    at = _GET.size
    if not asked:
        return tuple.__new__(Get, (text_of(data[at : at + names]), None, _SYNCPOINTS[inside], wait))
    msg_id = correl_id = group_id = b""
    if asked & _BY_MSG_ID:
        msg_id = bytes(data[at : at + _ID])
        at += _ID
    if asked & _BY_CORREL_ID:
        correl_id = bytes(data[at : at + _ID])
        at += _ID
    if asked & _BY_GROUP_ID:
        group_id = bytes(data[at : at + _ID])
        at += _ID
    queue, syncpoint = text_of(data[at : at + names]), _SYNCPOINTS[inside]
    if not (asked & _MORE_THAN_IDS or mode or selectors) and rewind == -1.0:
        return tuple.__new__(Get, (queue, Selection(msg_id, correl_id, group_id), syncpoint, wait))
    by_groups = bool(asked & _ORDER_OF_GROUPS)
    selection = Selection(
        *(msg_id, correl_id, group_id),
        logical=bool(asked & _LOGICAL),
        whole_groups=bool(asked & _WHOLE_GROUPS),
        order=Order(_MODES[mode], by_groups) if mode or by_groups else NO_ORDER,
        browse=bool(asked & _BROWSE),
        rewind=rewind,
        selector=text_of(data[at + names : at + names + selectors]),
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

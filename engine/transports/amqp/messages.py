"""Messages of AMQP 1.0 as descriptor and body, and back.

AMQP's own sections hold what they have a place for; the other fields of the descriptor are application properties
under the names that MQ's JMS classes give them (JMS_IBM_MQMD_Format ...). Application properties of other names are
the message's properties, which flows see in the usr folder of an MQRFH2.
"""

from __future__ import annotations

import json
import math
import time
from base64 import b64encode
from collections import OrderedDict
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from proton import Message, byte, float32, int32, short, symbol

from engine.descriptor import FIELDS, LENGTHS, NO_ID, PERSISTENT, UNLIMITED, Descriptor
from engine.errors import MessageException
from engine.mq.properties import join, split
from engine.mq.property_types import I1, I2, I8, R4, Property

PREFIX: Final = "JMS_IBM_MQMD_"
MESSAGE_ID: Final = f"{PREFIX}MsgId"  # as hex digits, for selectors: they know a binary message id by no other name
USER: Final = "JMSXUserID"
_BYTES_OF_ID: Final = 24
_REMEMBERED: Final = 10_000
_TENTH: Final = 100  # milliseconds
_MARGIN: Final = 0.01  # tenths of a second that a float may be too large by
_HOMES: Final = frozenset(  # fields for which AMQP has a place of its own
    (
        *("msg_id", "correl_id", "group_id", "expiry", "priority", "persistence", "backout_count", "reply_to_q"),
        "user_identifier",
    )
)
_CARRIED: Final = {PREFIX + name: field for name, field in FIELDS.items() if field not in _HOMES}
_DEFAULTS: Final = Descriptor()
_INTEGERS: Final = range(-(2**31), 2**31)
_LONGS: Final = range(-(2**63), 2**63)
_SENT: Final[dict[type, type]] = {I1: byte, I2: short, int: int32, R4: float32}  # numbers by their types in a header
_CAME: Final[dict[type, type]] = {byte: I1, short: I2, int32: int, int: I8, float32: R4}  # and in an AMQP message


class Identifiers:
    """The AMQP ids that were seen last, each under the 24 bytes that flows know it by.

    A reply's correlation id is its request's message id: it goes back in the very form in which it came.
    """

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: OrderedDict[bytes, object] = OrderedDict()

    def known(self, given: Any) -> bytes:
        """Returns the 24 bytes for an AMQP id.

        >>> ids = Identifiers()
        >>> len(ids.known("order-1")), ids.sent(ids.known("order-1"))
        (24, 'order-1')
        """
        if given is None:
            return NO_ID
        if isinstance(given, (bytes, memoryview)) and len(given) == _BYTES_OF_ID:
            return bytes(given)
        known = _shortened(given)
        self._seen[known] = bytes(given) if isinstance(given, memoryview) else given
        self._seen.move_to_end(known)
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return known

    def sent(self, known: bytes) -> Any:
        """Returns the AMQP id for 24 bytes."""
        return None if known == NO_ID else self._seen.get(known, known)


def _shortened(given: object) -> bytes:
    """The 24 bytes of an id that has another length or type: its own where they fit, else a digest of them."""
    if isinstance(given, str) and given.startswith("ID:") and len(given) == 3 + 2 * _BYTES_OF_ID:
        try:
            return bytes.fromhex(given[3:])
        except ValueError:
            pass
    if isinstance(given, UUID):
        own = given.bytes
    elif isinstance(given, int):
        own = int(given).to_bytes(8, signed=given < 0)
    else:
        own = bytes(given) if isinstance(given, (bytes, memoryview)) else str(given).encode()
    return own.ljust(_BYTES_OF_ID, b"\0") if len(own) <= _BYTES_OF_ID else sha256(own).digest()[:_BYTES_OF_ID]


def read_message(message: Message, ids: Identifiers) -> tuple[Descriptor, bytes]:
    """Returns the descriptor and the body of a message that an AMQP broker delivered."""
    body, format_ = _body(message.body)
    own, properties = _carried(message.properties or {})
    properties.pop(MESSAGE_ID, None)
    fields: dict[str, Any] = {
        "format": format_,
        "msg_id": ids.known(message.id),
        "correl_id": ids.known(message.correlation_id),
        "group_id": _group(message.group_id, ids),
        "persistence": PERSISTENT if message.durable else 0,
        "priority": min(message.priority, 9),
        "expiry": _left(message),
        "backout_count": message.delivery_count,
        "reply_to_q": _queue_of(message.reply_to)[: LENGTHS["reply_to_q"]],
        "user_identifier": str(properties.pop(USER, "") or _text(message.user_id))[: LENGTHS["user_identifier"]],
        **put_moment(message.creation_time),
        **own,
    }
    descriptor = _DEFAULTS._replace(**fields)
    if not properties:
        return descriptor, body
    try:
        return join(properties, descriptor, body)
    except MessageException:
        return join(_writable(properties), descriptor, body)


def write_message(descriptor: Descriptor, body: bytes, ids: Identifiers) -> Message:
    """Returns a message for an AMQP broker."""
    properties, inner, content = split(descriptor, body)
    carried: dict[str, Any] = {name: _wire(value) for name, value in properties.items()}
    for name, field in _CARRIED.items():
        value = getattr(inner, field)
        if value != getattr(_DEFAULTS, field):
            carried[name] = int32(value) if isinstance(value, int) else value
    if inner.msg_id != NO_ID:
        carried[MESSAGE_ID] = inner.msg_id.hex().upper()
    if inner.user_identifier:
        carried[USER] = inner.user_identifier
    message = Message(content, inferred=True, properties=carried or None)
    message.id, message.correlation_id = ids.sent(inner.msg_id), ids.sent(inner.correl_id)
    message.durable, message.priority = inner.persistence == PERSISTENT, max(0, inner.priority)
    if inner.expiry >= 0:
        message.ttl = (max(1, inner.expiry * _TENTH) + 0.5) / 1000  # what is behind the milliseconds is cut off
        message.expiry_time = time.time() + message.ttl
    if inner.group_id != NO_ID:
        message.group_id, message.group_sequence = inner.group_id.hex().upper(), inner.msg_seq_number
    if inner.reply_to_q:
        message.reply_to = inner.reply_to_q
    message.content_type = symbol("text/plain" if inner.format == "MQSTR" else "application/octet-stream")
    message.creation_time = time.time()
    return message


def expires_at(message: Message) -> float:
    """Returns the moment at which a message expires, in seconds since 1970, or 0 where it says none."""
    if message.expiry_time:
        return float(message.expiry_time)
    return float(message.creation_time + message.ttl) if message.ttl and message.creation_time else 0.0


def _left(message: Message) -> int:
    """The tenths of a second that a message has left."""
    at = expires_at(message)
    seconds = message.ttl or math.inf
    if at:
        seconds = min(seconds, at - time.time())
    return UNLIMITED if seconds == math.inf else min(max(0, math.ceil(seconds * 10 - _MARGIN)), _INTEGERS.stop - 1)


def _group(given: str | None, ids: Identifiers) -> bytes:
    """The group's id: 24 bytes as hex digits, or what another program calls it."""
    try:
        known = bytes.fromhex(given or "")
    except ValueError:
        known = b""
    return known if len(known) == _BYTES_OF_ID else ids.known(given or None)


def _wire(value: object) -> Any:
    """A property as AMQP has it: numbers of the types that they have in a header, whole ones that fit them."""
    kind = _SENT.get(type(value))
    if kind is None:
        return int(value) if isinstance(value, I8) else value
    return value if kind is int32 and value not in _INTEGERS else kind(value)


def _property(value: Any) -> Property:
    """A property as headers have it: other types of AMQP become those that are nearest, or text."""
    if value is None or isinstance(value, (bool, bytes)) or type(value) in {str, float}:
        return value  # type: ignore[no-any-return]  # proton has no types
    if isinstance(value, memoryview):
        return bytes(value)
    kind = _CAME.get(type(value))
    if kind is not None:
        return kind(value)  # type: ignore[no-any-return]  # one of those above
    if isinstance(value, int) and int(value) in _LONGS:
        return I8(value) if int(value) not in _INTEGERS else int(value)
    return str(int(value)) if isinstance(value, int) else str(value)


def _writable(properties: dict[str, Property]) -> dict[str, Property]:
    """Returns the properties that a header can hold; names that it cannot, and those below another, stay out."""
    known: dict[tuple[str, ...], str] = {}
    for name, value in properties.items():
        try:
            join({name: value}, _DEFAULTS, b"")
        except MessageException:
            continue
        parts = tuple(name.split("."))
        known.setdefault(parts if len(parts) > 1 else ("usr", name), name)
    below = {path for path in known if any(path[:length] in known for length in range(1, len(path)))}
    return {name: properties[name] for path, name in known.items() if path not in below}


def _body(body: Any) -> tuple[bytes, str]:
    """The bytes of a body and the format that they have: text and structures of AMQP are MQSTR."""
    if body is None:
        return b"", ""
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body), ""
    text = body if isinstance(body, str) else json.dumps(_plain(body), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass"), "MQSTR"


def _plain(value: Any) -> Any:
    """A value of AMQP's types as JSON has it."""
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, (bytes, memoryview)):
        return b64encode(bytes(value)).decode()
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _carried(given: dict[Any, Any]) -> tuple[dict[str, Any], dict[str, Property]]:
    """The descriptor's fields among application properties, and the others; what does not fit a field stays out."""
    fields: dict[str, Any] = {}
    others: dict[str, Property] = {}
    for name, value in given.items():
        field = _CARRIED.get(str(name))
        if field is None:
            others[str(name)] = _property(value)
        elif (fitting := _fitting(field, value)) is not None:
            fields[field] = fitting
    return fields, others


def _fitting(field: str, value: Any) -> object:
    """The value as a field of the descriptor holds it, or None where it cannot."""
    default = getattr(_DEFAULTS, field)
    if isinstance(default, int):
        return int(value) if isinstance(value, int) and int(value) in _INTEGERS else None  # a range looks at all else
    if isinstance(default, bytes):
        whole = bytes(value) if isinstance(value, (bytes, memoryview)) else None
        return whole if whole is not None and len(whole) == len(default) else None
    return str(value) if isinstance(value, str) and len(value.encode()) <= LENGTHS[field] else None


def put_moment(created: float | None) -> dict[str, str]:
    """Returns the fields of a descriptor for a moment in seconds since 1970; none where it is none that they hold."""
    if not created or not 0 < created < 253402300800:
        return {}
    stamped = time.strftime("%Y%m%d%H%M%S", time.gmtime(created))
    return {"put_date": stamped[:8], "put_time": f"{stamped[8:]}{int(created * 100) % 100:02d}"}


def _queue_of(address: str | None) -> str:
    """The queue that an AMQP address names; RabbitMQ's addresses begin with /queue/ or /amq/queue/."""
    for prefix in ("/amq/queue/", "/queue/"):
        if address and address.startswith(prefix):
            return address[len(prefix) :]
    return address or ""


def _text(given: Any) -> str:
    return bytes(given).decode("utf-8", "replace") if isinstance(given, (bytes, memoryview)) and given else ""

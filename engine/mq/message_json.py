"""A message as a JSON object and back, the form that commands print and read, a line a message; and such lines."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, BinaryIO, Final

from engine.catalog import did_you_mean
from engine.descriptor import LENGTHS, NO_ID, NO_TOKEN, SEGMENTATION_ALLOWED, Descriptor
from engine.errors import ConfigurationException, MessageException
from engine.files.input_files import MOST
from engine.mq import pcf
from engine.mq.properties import join, split
from engine.mq.property_names import check_names, problem_of
from engine.mq.property_types import Property
from engine.mq.refusals import MSG_TOO_BIG_FOR_Q, refusal

_NAMES: Final = (
    *(
        "msg_id",
        "correl_id",
        "group_id",
        "priority",
        "persistence",
        "expiry",
        "format",
        "coded_char_set_id",
        "encoding",
    ),
    *("msg_type", "feedback", "report", "backout_count", "reply_to_q", "reply_to_q_mgr", "user_identifier"),
    *("put_appl_name", "put_date", "put_time", "msg_seq_number", "msg_flags", "offset"),
)
_SELDOM: Final = ("put_appl_type", "appl_identity_data", "appl_origin_data", "accounting_token", "original_length")
_DEFAULTS: Final[Mapping[str, object]] = Descriptor._field_defaults
_AS_THE_QUEUE_HAS_IT: Final = Descriptor(priority=-1, persistence=2)
_TOP: Final = frozenset({*Descriptor._fields, "properties", "body", "body64", "pcf", "queue"})
_BYTES: Final = "hex"  # a property that is bytes is an object with this one name
_SHORTEST: Final = -(1 << 31)


def to_object(descriptor: Descriptor, body: bytes) -> dict[str, object]:
    """Returns a message as an object for JSON; its properties are a flat object of their own and no part of the body.

    >>> found = to_object(Descriptor(priority=3), b"hello")
    >>> found["priority"], found["properties"], found["body"]
    (3, {}, 'hello')
    """
    properties, plain, behind = split(descriptor, body)
    if any(map(problem_of, properties)):  # of a header that others wrote: it stays, as nobody could put those again
        properties = {}
    else:
        descriptor, body = plain, behind
    said = descriptor._asdict()
    names = (*_NAMES, *(name for name in _SELDOM if said[name] != _DEFAULTS[name]))
    found: dict[str, object] = {name: _shown(said[name]) for name in names}
    found["properties"] = {name: _property(value) for name, value in properties.items()}
    try:
        found["body"] = body.decode()
    except UnicodeDecodeError:
        found["body64"] = base64.b64encode(body).decode()
        record = pcf.read(body) if descriptor.format == pcf.FORMAT else None
        if record is not None:  # what the body says; who puts such a line puts the body
            found["pcf"] = record
    return found


def to_line(descriptor: Descriptor, body: bytes) -> str:
    """Returns a message as one line of JSON, without the line's end."""
    return json.dumps(to_object(descriptor, body), ensure_ascii=False, allow_nan=False)


def _shown(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _property(value: Property) -> object:
    """Returns a property as JSON holds it; floats that JSON lacks are texts."""
    if isinstance(value, bytes):
        return {_BYTES: value.hex()}
    if isinstance(value, float) and value - value != 0:
        return repr(float(value))
    return value


def from_line(line: str | bytes) -> tuple[Descriptor, bytes]:
    """Returns the message that a line of JSON holds; what is wrong with it is said by the name of the field."""
    try:
        found = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise _wrong(f"the line is no JSON: {error}; write an object with body or body64") from error
    if not isinstance(found, dict):
        raise _wrong("the line holds no object; write one with body or body64")
    return from_object(found)


def from_object(given: Mapping[str, object]) -> tuple[Descriptor, bytes]:
    """Returns the message that an object holds; what it does not set is left to the queue.

    >>> descriptor, body = from_object({"body": "hello", "priority": 3, "properties": {"n": 5}})
    >>> descriptor.priority, descriptor.persistence, descriptor.format, body[-5:]
    (3, 2, 'MQHRF2', b'hello')
    """
    for name in given:
        if name not in _TOP:
            raise _wrong(f"there is no field {name}{did_you_mean(name, tuple(sorted(_TOP)))}; take it out")
    said: dict[str, Any] = {
        name: _field(name, value) for name, value in given.items() if name in _DEFAULTS and value is not None
    }
    said.pop("backout_count", None)  # it counts on the queue where the message was
    descriptor = _AS_THE_QUEUE_HAS_IT._replace(**said)
    return join(_properties(given.get("properties")), descriptor, _body(given))


def _wrong(problem: str) -> ConfigurationException:
    return ConfigurationException(problem)


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no number of JSON")


def _field(name: str, value: object) -> object:
    default = _DEFAULTS[name]
    if isinstance(default, int):
        if isinstance(value, bool) or not isinstance(value, int) or not _SHORTEST <= value < -_SHORTEST:
            raise _wrong(f"{name} must be a whole number of 32 bits, not {value!r:.60}")
        return value
    if not isinstance(value, str):
        raise _wrong(f"{name} must be a text, not {value!r:.60}")
    if isinstance(default, bytes):
        return _as_bytes(name, value)
    if len(value.rstrip(" ").encode("utf-8", "replace")) > LENGTHS[name]:
        raise _wrong(f"{name} has at most {LENGTHS[name]} characters, not {len(value)}")
    return value.rstrip(" ")


def _as_bytes(name: str, value: str) -> bytes:
    length = len(NO_TOKEN if name == "accounting_token" else NO_ID)
    if len(value) % 2 or re.fullmatch("[0-9a-fA-F]*", value) is None:
        raise _wrong(f"{name} must be hexadecimal digits, two for each byte, not {value!r:.60}")
    if len(value) > 2 * length:
        raise _wrong(f"{name} has at most {2 * length} digits, not {len(value)}")
    return bytes.fromhex(value).ljust(length, b"\0")


def _properties(given: object) -> dict[str, Property]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise _wrong(f"properties must be an object of names and values, not {given!r:.60}")
    check_names(given)
    return {name: _given(name, value) for name, value in given.items()}


def _given(name: str, value: object) -> Property:
    if isinstance(value, float) and not isfinite(value):
        raise _wrong(f"properties.{name} is a number that 64 bits cannot hold; write it as a text")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict) and list(value) == [_BYTES] and isinstance(value[_BYTES], str):
        try:
            return bytes.fromhex(value[_BYTES])
        except ValueError:
            raise _wrong(f"properties.{name} must be hexadecimal digits, two for each byte") from None
    raise _wrong(f'properties.{name} must be a text, a number, true or false, or {{"hex": ...}} for bytes')


def _body(given: Mapping[str, object]) -> bytes:
    if ("body" in given) == ("body64" in given):
        raise _wrong("a message has body, a text, or body64, and not both; write one of them")
    name = "body" if "body" in given else "body64"
    text = given[name]
    if not isinstance(text, str):
        raise _wrong(f"{name} must be a text, not {text!r:.60}")
    try:
        return text.encode() if name == "body" else base64.b64decode(text, validate=True)
    except UnicodeEncodeError:
        raise _wrong("body has half of a pair of surrogates; write it as body64") from None
    except binascii.Error as error:
        raise _wrong(f"body64 is no base64: {error}; correct it") from error


_OF_JSON: Final = 8  # how much longer than its body and its properties a message is as JSON, at most
_OF_DESCRIPTOR: Final = 1 << 16  # bytes that the other fields take at most
_FLAGS: Final = re.compile(rb'"msg_flags"\s*:\s*([0-9]{1,10})')


def numbered_lines(stream: BinaryIO, manager: Any, queue: str) -> Iterator[tuple[int, bytes]]:
    """Yields the lines of a stream that are not blank with their numbers; one that is too long is not read on.

    The line of a message that may be put in segments is as long as the queue manager allows.
    """
    longest, of_manager = longest_messages(manager, queue)
    number = 0
    while line := stream.readline(_most(longest) + 1):
        number, allowed = number + 1, longest
        if len(line) > _most(allowed) and _is_segmented(line):
            allowed = of_manager
            line += stream.readline(_most(allowed) + 1 - len(line))
        if len(line) > _most(allowed):
            text = f"line {number} has more than {_most(allowed):,} bytes, and a message on {queue} {allowed:,} at most"
            raise refusal(MSG_TOO_BIG_FOR_Q, f"{text}: shorten it, or ALTER MAXMSGL")
        if line.strip():
            yield number, line


def _most(longest: int) -> int:
    """Returns how many bytes the line of a message has at most."""
    return _OF_JSON * longest + _OF_DESCRIPTOR


def _is_segmented(line: bytes) -> bool:
    """Returns True where a line says that its message may be put in segments, as far as it has been read."""
    found = _FLAGS.search(line)
    return found is not None and bool(int(found[1]) & SEGMENTATION_ALLOWED)


def longest_messages(manager: Any, queue: str) -> tuple[int, int]:
    """Returns how many bytes a message on a queue, and on any queue, has at most, as far as the user may know that.

    >>> from engine.mq import QueueManager
    >>> manager = QueueManager("Q")
    >>> manager.alter("QLOCAL", "Q", {"MAXMSGL": 1000})
    >>> longest_messages(manager, "Q")
    (1000, 104857600)
    """
    try:
        of_manager = int(manager.display("QMGR")[0]["MAXMSGL"])
        aliases = manager.display("QALIAS", queue)
        queues = manager.display("QLOCAL", str(aliases[0]["TARGET"]) if aliases else queue)
    except MessageException:  # who may put need not be allowed to see definitions
        return MOST, MOST
    return min([of_manager, *(int(one["MAXMSGL"]) for one in queues)]), of_manager

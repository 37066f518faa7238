"""The message descriptor (MQMD): what a queue manager knows of a message beside its bytes, and how trees give it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Final, NamedTuple

from engine.catalog import did_you_mean
from engine.errors import ParserException

NO_ID: Final = bytes(24)
NO_TOKEN: Final = bytes(32)

BIG_ENDIAN: Final = 273  # integers, packed decimals and IEEE floats all with the most significant byte first
LITTLE_ENDIAN: Final = 546
UTF_8: Final = 1208

NON_PERSISTENT: Final = 0
PERSISTENT: Final = 1
DATAGRAM: Final = 8
UNLIMITED: Final = -1

# What an Encoding is made of: how integers, packed decimals and floats are; 0 says that there are none.
_INTEGERS: Final = frozenset({0, 0x1, 0x2})
_DECIMALS: Final = frozenset({0, 0x10, 0x20})
_FLOATS: Final = frozenset({0, 0x100, 0x200, 0x300, 0x400})

SEGMENTATION_ALLOWED: Final = 1  # message flags
SEGMENT: Final = 2
LAST_SEGMENT: Final = 4
MSG_IN_GROUP: Final = 8
LAST_MSG_IN_GROUP: Final = 16


class Descriptor(NamedTuple):
    """An MQMD (version 2); character fields are kept without their trailing blanks, times as MQ writes them."""

    report: int = 0
    msg_type: int = DATAGRAM
    expiry: int = UNLIMITED
    feedback: int = 0
    encoding: int = LITTLE_ENDIAN
    coded_char_set_id: int = UTF_8
    format: str = ""
    priority: int = 0
    persistence: int = NON_PERSISTENT
    msg_id: bytes = NO_ID
    correl_id: bytes = NO_ID
    backout_count: int = 0
    reply_to_q: str = ""
    reply_to_q_mgr: str = ""
    user_identifier: str = ""
    accounting_token: bytes = NO_TOKEN
    appl_identity_data: str = ""
    put_appl_type: int = 0
    put_appl_name: str = ""
    put_date: str = ""
    put_time: str = ""
    appl_origin_data: str = ""
    group_id: bytes = NO_ID
    msg_seq_number: int = 1
    offset: int = 0
    msg_flags: int = 0
    original_length: int = -1


def is_encoding(number: int) -> bool:
    """Returns True if MQ has such an Encoding: each of its three digits is one of the MQENC constants, none beside.

    >>> is_encoding(LITTLE_ENDIAN), is_encoding(785), is_encoding(99)
    (True, True, False)
    """
    known = number & 0xF in _INTEGERS and number & 0xF0 in _DECIMALS and number & 0xF00 in _FLOATS
    return known and 0 <= number <= 0xFFF


# The fields of an MQMD in a tree, in order, by IBM's name, each with the descriptor's.
FIELDS: Final = {
    "".join(word.capitalize() for word in field.split("_")): field
    for field in ("encoding", "coded_char_set_id", "format", *Descriptor._fields)
}
LENGTHS: Final = {
    "format": 8,
    "msg_id": 24,
    "correl_id": 24,
    "reply_to_q": 48,
    "reply_to_q_mgr": 48,
    "user_identifier": 12,
    "accounting_token": 32,
    "appl_identity_data": 32,
    "put_appl_name": 28,
    "put_date": 8,
    "put_time": 8,
    "appl_origin_data": 4,
    "group_id": 24,
}


_SMALLEST, _LARGEST = -(1 << 31), (1 << 31) - 1  # what an MQLONG holds
_NAMES: Final = {held: name for name, held in FIELDS.items()}
_INTEGER: Final = re.compile(r"\s*[+-]?[0-9]{1,20}\s*")
_TENTH: Final = timedelta(milliseconds=100)

# What a tree may have under an MQMD that no descriptor keeps: a broker's own, and what is the same in every MQMD.
_BESIDE: Final = frozenset({"SourceQueue", "Transactional", "StrucId", "Version"})
_VERSIONS: Final = (1, 2)


def held_as(name: str, value: object) -> str | None:
    """The field of a descriptor that holds an MQMD's field, None for one that need not be kept.

    >>> held_as("ReplyToQMgr", "QM"), held_as("SourceQueue", "Q")
    ('reply_to_q_mgr', None)
    """
    held = FIELDS.get(name)
    if name == "Version" and value is not None and integer(value, "MQMD.Version") not in _VERSIONS:
        raise ParserException(5010, f"MQMD.Version is {value}, and only 1 or 2 can be written", "MQMD.Version")
    if held is None and name not in _BESIDE:
        close = did_you_mean(name, [*FIELDS, *_BESIDE]) or ": leave it out, or correct its name"
        raise ParserException(5010, f"the MQMD has no field called {name}{close}", f"MQMD.{name}")
    return held


def described(held: str, value: object) -> bytes | int | str:
    """A value of a tree as a descriptor holds it in one of its fields; NULL is what it holds where nothing is said.

    >>> described("put_date", date(2024, 2, 29)), described("reply_to_q", "REPLY   ")
    ('20240229', 'REPLY')
    """
    default: bytes | int | str = Descriptor._field_defaults[held]
    if value is None:
        return default
    if isinstance(default, bytes):
        return _bytes(held, value)
    if held == "expiry":
        return _expiry(value)
    if isinstance(default, int):
        return integer(value, f"MQMD.{_NAMES[held]}")
    return _characters(held, value)


def integer(value: object, what: str = "a header field") -> int:
    """A value as an MQLONG.

    >>> integer("546"), integer(Decimal("7.0"))
    (546, 7)
    """
    number: int | None = None
    if isinstance(value, int):
        number = int(value)
    elif isinstance(value, float | Decimal):
        number = int(value) if isfinite(value) and value == int(value) else None
    elif isinstance(value, str) and _INTEGER.fullmatch(value) and value.isascii():
        number = int(value)
    if number is None:
        raise ParserException(5010, f"{what} takes an integer, not {value!r:.60}", what)
    if not _SMALLEST <= number <= _LARGEST:
        raise ParserException(5010, f"{what} takes an integer of 4 bytes, which {number!r:.60} does not fit into", what)
    return number


def _bytes(held: str, value: object) -> bytes:
    what, length = f"MQMD.{_NAMES[held]}", LENGTHS[held]
    if not isinstance(value, bytes):
        raise ParserException(5010, f"{what} takes a BLOB of {length} bytes, not {value!r:.60}", what)
    if len(value) > length:
        text = f"{what} has room for {length} bytes, not for the {len(value)} of this BLOB: shorten it"
        raise ParserException(5010, text, what)
    return value.ljust(length, b"\0")


def _expiry(value: object) -> int:
    """A time to live in tenths of a second; a timestamp says when it ends, and what is over has the shortest one."""
    if isinstance(value, datetime):
        left = (value.astimezone(UTC) - datetime.now(UTC)) / _TENTH
        return max(1, min(round(left), _LARGEST))
    tenths = integer(value, "MQMD.Expiry")
    return tenths if tenths == UNLIMITED else max(1, tenths)


def _characters(held: str, value: object) -> str:
    what, length = f"MQMD.{_NAMES[held]}", LENGTHS[held]
    if isinstance(value, datetime):
        value = value.timetz() if held == "put_time" else value.date()
    if isinstance(value, date):
        value = f"{value:%Y%m%d}"
    elif isinstance(value, time):
        value = f"{value:%H%M%S}{value.microsecond // 10000:02d}"
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise ParserException(5010, f"{what} takes characters, not {value!r:.60}", what)
    text = str(value).rstrip()
    taken = len(text.encode("utf-8", "surrogatepass"))
    if taken > length:
        shown = f"{text[:60]!r}{'...' * (len(text) > 60)}"
        raise ParserException(5010, f"{what} has room for {length} bytes, and {shown} takes {taken}: shorten it", what)
    return text

"""The message descriptor (MQMD): what a queue manager knows of a message beside its bytes."""

from __future__ import annotations

from typing import Final, NamedTuple

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

"""A message descriptor as bytes, as the store and the socket keep it: a fixed part that is read by offset, then texts.

The fixed part begins with the version of the form. Numbers are 32 bits and signed, ids stand in whole. The texts follow
in UTF-8 with a NUL between them; a descriptor in which a text has a NUL itself has the texts' lengths in front.
"""

from __future__ import annotations

import struct
from itertools import accumulate
from operator import itemgetter
from typing import Final

from engine.descriptor import LENGTHS, Descriptor
from engine.errors import MessageException

VERSION: Final = 1
MD_ERROR: Final = 2026
_FIXED: Final = struct.Struct("<BB2x14i24s24s24s32s")
_PLAIN: Final = 0
_MEASURED: Final = 1  # lengths of the texts are in front of them
_LENGTHS: Final = struct.Struct("<9I")
_NUMBER: Final = struct.Struct("<i")
_SEPARATORS: Final = 8  # between nine texts
_ALL_IDS: Final = 104  # bytes
_LONGEST: Final = 0xFFFF  # bytes of a descriptor, as the store counts them

# The fields of a descriptor by kind, in the order in which the form has them, and the way back.
_NUMBERS: Final = tuple(name for name, kind in Descriptor._field_defaults.items() if isinstance(kind, int))
_TEXTS: Final = tuple(name for name, kind in Descriptor._field_defaults.items() if isinstance(kind, str))
_IDS: Final = ("msg_id", "correl_id", "group_id", "accounting_token")
_FORM: Final = ("version", "kind", *_NUMBERS, *_IDS, *_TEXTS)
_IN_ORDER: Final = itemgetter(*(_FORM.index(name) for name in Descriptor._fields))

FIXED_SIZE: Final = _FIXED.size
BACKOUT_COUNT_AT: Final = 36


def pack(descriptor: Descriptor) -> bytes:
    """Returns a descriptor as bytes; ids that are short are filled with zeros, as MQ fills them.

    >>> unpack(pack(Descriptor(format="MQSTR", priority=4))) == Descriptor(format="MQSTR", priority=4)
    True
    """
    if type(descriptor) is Received and descriptor.packed:
        return descriptor.packed
    # fmt: off
    (report, kind, expiry, feedback, encoding, ccsid, form, priority, persistence, msg_id, correl_id, backouts, queue,
     queue_manager, user, token, identity, program_kind, program, date, time, origin, group_id, number, offset, flags,
     length) = descriptor
    parts = form, queue, queue_manager, user, identity, program, date, time, origin
    texts = "\0".join(parts)
    plain = texts.count("\0") == _SEPARATORS
    if len(msg_id) + len(correl_id) + len(group_id) + len(token) != _ALL_IDS:
        _check_lengths(descriptor)
    try:
        fixed = _FIXED.pack(
            VERSION, _PLAIN if plain else _MEASURED, report, kind, expiry, feedback, encoding, ccsid, priority,
            persistence, backouts, program_kind, number, offset, flags, length, msg_id, correl_id, group_id, token,
        )
    # fmt: on
    except struct.error as error:
        text = "a number of the descriptor has more than 32 bits: MQ's have 32"
        raise MessageException(MD_ERROR, text, reason=MD_ERROR) from error
    if plain:
        packed = fixed + texts.encode("utf-8", "surrogatepass")
    else:
        packed = fixed + _LENGTHS.pack(*map(len, parts)) + "".join(parts).encode("utf-8", "surrogatepass")
    if len(packed) > _LONGEST:
        raise _too_long(len(packed))
    return packed


def unpack(data: bytes | memoryview, at: int = 0, end: int | None = None) -> Descriptor:
    """Returns the descriptor that stands in `data` from `at` to `end`."""
    return tuple.__new__(Descriptor, _values(data, at, end))


def _values(data: bytes | memoryview, at: int, end: int | None) -> tuple[object, ...]:
    """Returns the fields of a descriptor in their order."""
    fixed = _FIXED.unpack_from(data, at)
    if fixed[0] != VERSION:
        raise MessageException(MD_ERROR, f"a descriptor of version {fixed[0]} is not known here", reason=MD_ERROR)
    if fixed[1] == _MEASURED:
        texts = _measured(data, at + FIXED_SIZE, end)
    else:
        texts = tuple(str(data[at + FIXED_SIZE : end], "utf-8", "surrogatepass").split("\0"))
        if len(texts) != _SEPARATORS + 1:
            raise MessageException(MD_ERROR, "a descriptor does not have the texts that it should", reason=MD_ERROR)
    in_order: tuple[object, ...] = _IN_ORDER(fixed + texts)
    return in_order


class Received(Descriptor):
    """A descriptor with the bytes that it was read from, which say the same: those made from it are without."""

    packed: bytes = b""


def received(data: bytes | memoryview, at: int, end: int) -> Descriptor:
    """Returns the descriptor that stands in `data` from `at` to `end`, and keeps these bytes for `pack`."""
    packed = bytes(data[at:end])
    if len(packed) > _LONGEST:
        raise _too_long(len(packed))
    made = tuple.__new__(Received, _values(packed, 0, None))
    made.packed = packed
    return made


def with_number(packed: bytes, at: int, value: int) -> bytes:
    """Returns a packed descriptor with another number at an offset, such as BACKOUT_COUNT_AT."""
    return packed[:at] + _NUMBER.pack(value) + packed[at + 4 :]


def _measured(data: bytes | memoryview, at: int, end: int | None) -> tuple[str, ...]:
    """Returns the texts of a descriptor that says how long each is."""
    lengths = _LENGTHS.unpack_from(data, at)
    joined = str(data[at + _LENGTHS.size : end], "utf-8", "surrogatepass")
    ends = tuple(accumulate(lengths))
    return tuple(joined[end - length : end] for length, end in zip(lengths, ends, strict=True))


def with_whole_ids(descriptor: Descriptor) -> Descriptor:
    """Returns a descriptor whose short ids are filled with zeros, as MQ fills them; ids that are too long are refused.

    >>> with_whole_ids(Descriptor(correl_id=b"K")).correl_id == b"K".ljust(24, bytes(1))
    True
    """
    _check_lengths(descriptor)
    return descriptor._replace(**{name: getattr(descriptor, name).ljust(LENGTHS[name], b"\0") for name in _IDS})


def _too_long(length: int) -> MessageException:
    text = f"a descriptor has {length} bytes, more than the {_LONGEST} that can be kept: shorten its texts"
    return MessageException(MD_ERROR, text, reason=MD_ERROR)


def _check_lengths(descriptor: Descriptor) -> None:
    for name in _IDS:
        length = len(getattr(descriptor, name))
        if length > LENGTHS[name]:
            text = f"{name} has {length} bytes: give it {LENGTHS[name]} at most"
            raise MessageException(MD_ERROR, text, reason=MD_ERROR)

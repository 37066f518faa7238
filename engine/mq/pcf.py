r"""Records in PCF, the format MQADMIN: written from named values, and read back.

A record has a header, then parameters: numbers, texts, lists of numbers, and groups of parameters. Names stand for the
numbers that MQ gives them; those from 65,536 on are of this queue manager alone.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

FORMAT: Final = "MQADMIN"
Parameter: TypeAlias = "int | str | Sequence[int] | Sequence[Mapping[str, Parameter]]"


class Written(NamedTuple):
    """Parameters of a record as bytes, and how many they are."""

    data: bytes
    parameters: int


_VERSION: Final = 3
_HEADER: Final = struct.Struct("<9i")  # kind, length, version, command, sequence number, control, codes, parameters
_START: Final = struct.Struct("<3i")  # kind, length, parameter
_INT: Final = struct.Struct("<i")
_LONG: Final = struct.Struct("<q")
_TEXT: Final = struct.Struct("<5i")  # kind, length, parameter, CCSID, length of the text
_UTF_8: Final = 1208
_INTEGER, _STRING, _INTEGERS, _BYTES, _GROUP, _LONG_INTEGER, _LONG_INTEGERS = 3, 4, 5, 9, 20, 23, 25
_COMMANDS: Final = {"statistics": (21, 165), "accounting": (22, 168)}  # the header's kind, and its command
_NAMES: Final = {
    "queue_manager": 2015,
    "start_date": 2711,
    "start_time": 2712,
    "end_date": 2707,
    "end_time": 2708,
    "command_level": 31,
    "sequence_number": 1079,
    "process": 1024,
    "connection": 7006,
    "application": 3024,
    "user": 3025,
    "object_count": 732,
    "queues": 8011,
    "queues_of_task": 8010,
    "queue": 2016,
    "creation_date": 2004,
    "creation_time": 2005,
    "queue_type": 20,
    "definition_type": 7,
    "depth": 3,
    "low_depth": 740,
    "high_depth": 739,
    "average_time": 703,
    "puts": 735,
    "puts_failed": 754,
    "put1s": 734,
    "put1s_failed": 755,
    "put_bytes": 748,
    "gets": 722,
    "get_bytes": 747,
    "gets_failed": 725,
    "browses": 705,
    "browse_bytes": 745,
    "browses_failed": 708,
    "not_queued": 759,
    "expired": 758,
    "purged": 760,
    "streamed": 65_536,
    "stream_failed": 65_537,
    "put_elapsed": 65_538,
    "put_cpu": 65_539,
    "get_elapsed": 65_540,
    "get_cpu": 65_541,
    "store": 65_542,
}
_BY_NUMBER: Final = {number: name for name, number in _NAMES.items()}
_LONG_NAMES: Final = frozenset(
    {"average_time", "put_bytes", "get_bytes", "browse_bytes", "put_elapsed", "put_cpu", "get_elapsed", "get_cpu"}
)
_MOST: Final = (1 << 31) - 1


def written(
    kind: str, values: Mapping[str, Parameter], groups: Sequence[bytes] = (), *, number: int = 1, last: bool = True
) -> bytes:
    """Returns a record, statistics or accounting, as bytes; `number` is its place among those of one interval.

    `groups` are groups that `group` has written, which stand behind the values.

    >>> read(written("statistics", {"queue_manager": "QM", "queues": [{"queue": "A", "puts": [1, 0]}]}))["queues"]
    [{'queue': 'A', 'puts': [1, 0]}]
    """
    return record(kind, [parameters(values), Written(b"".join(groups), len(groups))], number=number, last=last)


def record(kind: str, parts: Sequence[Written], *, number: int = 1, last: bool = True) -> bytes:
    """Returns a record of parts that are written already."""
    code, command = _COMMANDS[kind]
    count = sum([part.parameters for part in parts])
    header = _HEADER.pack(code, _HEADER.size, _VERSION, command, number, last, 0, 0, count)
    return b"".join([header, *[part.data for part in parts]])


def parameters(values: Mapping[str, Parameter]) -> Written:
    """Returns parameters as bytes."""
    parts: list[bytes] = []
    for name, value in values.items():
        _write(name, value, parts)
    return Written(b"".join(parts), sum(_count(value) for value in values.values()))


def group(name: str, parts: Sequence[Written]) -> bytes:
    """Returns a group of parameters that are written already as bytes."""
    head = _START.pack(_GROUP, 16, _NAMES[name]) + _INT.pack(sum([part.parameters for part in parts]))
    return b"".join([head, *[part.data for part in parts]])


def identifier(name: str, data: bytes) -> Written:
    """Returns a parameter of bytes.

    >>> read(record("accounting", [identifier("connection", bytes(24))]))["connection"] == "00" * 24
    True
    """
    padded = len(data) + -len(data) % 4
    head = _START.pack(_BYTES, 16 + padded, _NAMES[name]) + _INT.pack(len(data))
    return Written(head + data.ljust(padded, b"\0"), 1)


class Numbers:
    """The form of parameters that are written often: lists of as many numbers, and numbers behind them, by their names.

    >>> numbers = Numbers(["puts", "gets"], 2, ["depth"]).written((1, 2), (3, 4), (5,))
    >>> found = read(record("statistics", [numbers]))
    >>> found["gets"], found["depth"]
    ([2, 4], 5)
    """

    __slots__ = ("_layout", "_lists", "_pieces", "_places", "_single")

    def __init__(self, lists: Sequence[str], columns: int, single: Sequence[str] = ()) -> None:
        """Lists of so many `columns`, and names of numbers that are single."""
        forms = [*(_form(name, columns) for name in lists), *(_form(name, -1) for name in single)]
        self._lists, self._single = tuple(lists), tuple(single)
        end = len(lists) * (1 + columns)
        self._places = [slice(at, end, 1 + columns) for at in range(1, 1 + columns)]
        self._places += [slice(end + 1, None, 2)] if single else []
        self._pieces: list[int | bytes] = []
        for number, (head, _) in enumerate(forms):
            self._pieces += head, *[0] * (columns if number < len(lists) else 1)
        self._layout = struct.Struct("<" + "".join(f"{len(head)}s{own.format[1:]}" for head, own in forms))

    def written(self, *columns: Sequence[int]) -> Written:
        """Returns the parameters; a column has a number of each list, and the last of them the single numbers."""
        pieces = self._pieces.copy()
        for place, column in zip(self._places, columns, strict=True):
            pieces[place] = column
        try:
            return Written(self._layout.pack(*pieces), len(self._lists) + len(self._single))
        except struct.error:  # a number that four bytes do not hold
            *lists, single = (*columns, ()) if not self._single else columns
            values = dict(zip(self._lists, zip(*lists, strict=True), strict=True))
            return parameters(values | dict(zip(self._single, single, strict=True)))


def _count(value: Parameter) -> int:
    """Returns how many parameters a value is: as many as it has groups, otherwise one."""
    if isinstance(value, int | str) or (value and isinstance(value[0], int)):
        return 1
    return len(value)


def _write(name: str, value: Parameter, parts: list[bytes]) -> None:
    """Adds the bytes of a parameter to others."""
    if isinstance(value, int):
        head, layout = _form(name, -1)
        parts += head, layout.pack(value if name in _LONG_NAMES else min(value, _MOST))
    elif isinstance(value, str):
        data = value.encode()
        padded = len(data) + -len(data) % 4
        parts.append(_TEXT.pack(_STRING, _TEXT.size + padded, _NAMES[name], _UTF_8, len(data)) + data.ljust(padded))
    elif value and isinstance(value[0], int):
        head, layout = _form(name, len(value))
        try:
            parts += head, layout.pack(*value)
        except struct.error:  # a number that four bytes do not hold
            parts += head, layout.pack(*(min(one, _MOST) for one in value if isinstance(one, int)))
    else:
        for group in value:
            assert not isinstance(group, int)  # a list is of numbers or of groups
            parts.append(_START.pack(_GROUP, 16, _NAMES[name]) + _INT.pack(len(group)))
            for inner, has in group.items():
                _write(inner, has, parts)


@lru_cache(maxsize=1_024)
def _form(name: str, count: int) -> tuple[bytes, struct.Struct]:
    """Returns what a number, or a list of so many, begins with, and the layout of the rest; -1: one that is no list."""
    number, is_long = _NAMES[name], name in _LONG_NAMES
    letter = "q" if is_long else "i"
    if count < 0:
        return (
            (_START.pack(_LONG_INTEGER, 24, number) + _INT.pack(0), _LONG)
            if is_long
            else (_START.pack(_INTEGER, 16, number), _INT)
        )
    layout = struct.Struct(f"<{count}{letter}")
    kind = _LONG_INTEGERS if is_long else _INTEGERS
    return _START.pack(kind, _START.size + 4 + layout.size, number) + _INT.pack(count), layout


def read(data: bytes) -> dict[str, object] | None:
    """Returns what a record says by the names of its parameters, or None where the bytes are no record."""
    try:
        code, length, _, command, number, control, _, _, count = _HEADER.unpack_from(data)
        kind = next((name for name, codes in _COMMANDS.items() if codes == (code, command)), "")
        if length != _HEADER.size or not kind:
            return None
        found, end = _read(data, length, count)
    except (struct.error, ValueError):
        return None
    if end != len(data):
        return None
    return {"kind": kind, "number": number, "last": bool(control)} | found


def _read(data: bytes, at: int, count: int) -> tuple[dict[str, object], int]:
    found: dict[str, object] = {}
    for _ in range(count):
        at = _read_one(data, at, found)
    return found, at


def _read_one(data: bytes, at: int, found: dict[str, object]) -> int:
    """Reads a parameter into `found`, and returns where the next begins; groups of one name make a list."""
    kind, length, number = map(int, _START.unpack_from(data, at))
    if length < 16 or at + length > len(data):
        raise ValueError(f"a parameter of {length} bytes at {at}")
    name, inner = _BY_NUMBER.get(number, str(number)), at + _START.size
    if kind == _GROUP:
        count: int = _INT.unpack_from(data, inner)[0]
        group, end = _read(data, at + length, count)
        groups = found.setdefault(name, [])
        assert isinstance(groups, list)  # a name is of a group or of a value
        groups.append(group)
        return end
    found[name] = _value(kind, data[inner : at + length])
    return at + length


def _value(kind: int, data: bytes) -> object:
    if kind == _INTEGER:
        return _INT.unpack(data)[0]
    if kind == _LONG_INTEGER:
        return _LONG.unpack_from(data, _INT.size)[0]
    if kind == _BYTES:
        return data[4 : 4 + _INT.unpack_from(data)[0]].hex()
    if kind == _STRING:
        return data[8 : 8 + _INT.unpack_from(data, 4)[0]].decode().rstrip(" ")
    if kind in {_INTEGERS, _LONG_INTEGERS}:
        letter = "i" if kind == _INTEGERS else "q"
        return list(struct.unpack_from(f"<{_INT.unpack_from(data)[0]}{letter}", data, 4))
    raise ValueError(f"a parameter of kind {kind}")

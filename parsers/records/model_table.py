"""The layout of a message set as a table: name, level, type, offset, length and occurrences of each field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from engine.errors import ConfigurationException
from parsers.charsets.ccsid import is_single_byte
from parsers.importers.copybook.table import aligned
from parsers.mrm.cwf.declared import CWF, CwfField
from parsers.mrm.model import UNBOUNDED, WIDTHS, Field, Group, Message, MessageSet, SimpleType

_DEEPEST: Final = 50
_MOST: Final = 50_000
_FLOATS: Final = {"float": 4, "double": 8}
_FIXED: Final = {"integer": 4, "boolean": 4, "float": 8, "timeSeconds": 4, "timeMilliseconds": 8}
_COUNTED: Final = frozenset({"lengthEncodedString1", "lengthEncodedString2", "nullTerminatedString"})


class _Rows:
    """The rows of one message while they are made; an offset is None behind what has no fixed length."""

    def __init__(self, message_set: MessageSet, format_: str) -> None:
        self.set = message_set
        self.format = format_
        self.rows: list[dict[str, Any]] = []

    def group(self, group: Group, at: int | None, level: int) -> int | None:
        """Add the fields of a group; answers with where it ends."""
        if group.composition == "choice":
            ends = [self.member(member, at, level) for member in group.members]
            return None if None in ends else max((end for end in ends if end is not None), default=at)
        for member in group.members:
            at = self.member(member, at, level)
        return at

    def member(self, member: Field | Group, at: int | None, level: int) -> int | None:
        return self.group(member, at, level) if isinstance(member, Group) else self.field(member, at, level)

    def field(self, field: Field, at: int | None, level: int) -> int | None:
        if len(self.rows) >= _MOST:
            raise ConfigurationException(f"{field.name}: with all that is in it, the message has over {_MOST:,} fields")
        said = field.physical.get(self.format)
        cwf = said if isinstance(said, CwfField) else CwfField()
        at = None if at is None else _aligned(at, int(cwf.byte_alignment)) + cwf.leading_skip_count
        row = {"name": field.name, "level": level, "type": "", "offset": at, "length": None}
        row |= {"occurs": _occurs(field)}
        self.rows.append(row)
        inner = self.set.content(field.type)
        if inner is None:
            assert isinstance(field.type, SimpleType)
            row["type"] = " ".join(word for word in (field.type.kind, cwf.physical_type) if word)
            length = _length(field.type, cwf)
        else:
            row["type"] = field.type if isinstance(field.type, str) else "group"
            end = self.group(inner, at, level + 1) if level < _DEEPEST else None
            length = None if end is None or at is None else end - at
        row["length"] = length
        if at is None or length is None or field.max_occurs == UNBOUNDED:
            return None
        return at + (length + cwf.trailing_skip_count) * field.max_occurs


def model_data(message_set: MessageSet) -> list[dict[str, Any]]:
    """The messages as data; offsets and lengths are those of the set's first CWF format, where it has one."""
    format_ = next((name for name, use in message_set.formats.items() if use.kind == CWF), "")
    return [_message(message_set, message, format_) for message in message_set.messages.values()]


def fixed_length(message_set: MessageSet, message: Message, format_: str) -> int | None:
    """The bytes of every record of a CWF message; None where they depend on what is in it."""
    found = _message(message_set, message, format_)
    depends = any(".." in row["occurs"] or " by " in row["occurs"] for row in found["fields"])
    return None if depends else found["length"]


def _message(message_set: MessageSet, message: Message, format_: str) -> dict[str, Any]:
    rows = _Rows(message_set, format_)
    group = message_set.content(message.type)
    assert group is not None
    end = rows.group(group, 0 if format_ else None, 2)
    return {"record": message.name, "length": end, "fields": rows.rows}


def model_text(message_set: MessageSet) -> str:
    """The messages as a table, each field indented under its group; what has no fixed place has no offset."""
    return aligned([row for found in model_data(message_set) for row in _cells(found)])


def _cells(found: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    yield found["record"], "01", "message", _said(0), _said(found["length"]), ""
    for row in found["fields"]:
        name = "  " * (row["level"] - 1) + row["name"]
        yield name, f"{row['level']:02}", row["type"], _said(row["offset"]), _said(row["length"]), row["occurs"]


def _said(number: int | None) -> str:
    return "" if number is None else str(number)


def _occurs(field: Field) -> str:
    if field.min_occurs == field.max_occurs == 1:
        return ""
    most = "unbounded" if field.max_occurs == UNBOUNDED else str(field.max_occurs)
    times = most if str(field.min_occurs) == most else f"{field.min_occurs}..{most}"
    return f"{times} by {field.repeat_reference}" if field.repeat_reference else times


def _aligned(at: int, boundary: int) -> int:
    return at + -at % boundary


def _length(type_: SimpleType, cwf: CwfField) -> int | None:
    """The bytes of a simple field; None where its data say how long it is."""
    if cwf.length_reference or cwf.physical_type in _COUNTED or cwf.length_units == "endOfBitstream":
        return None
    if cwf.length:
        wide = cwf.length_units != "bytes" and cwf.ccsid and not is_single_byte(cwf.ccsid)
        return cwf.length * (2 if wide else 1)
    if type_.kind in WIDTHS and cwf.physical_type in {"", "integer"}:
        return WIDTHS[type_.kind][0]
    if type_.kind in _FLOATS and cwf.physical_type in {"", "float"}:
        return _FLOATS[type_.kind]
    return _FIXED.get(cwf.physical_type or type_.family)

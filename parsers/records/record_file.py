"""Files of records: segments told by a field, records decoded to JSON objects, and objects encoded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final

from engine.catalog import did_you_mean
from engine.errors import BrokerError, ConfigurationException, ParserException
from parsers.charsets.ccsid import encode, is_ebcdic
from parsers.importers.copybook.items import Copybook, DataItem, Entry, Record
from parsers.importers.copybook.offsets import origin
from parsers.mrm.cwf.layout import Item
from parsers.mrm.simple_values import Decode, Stored
from parsers.records.framing import Cut, Framing, Measure, cut_records
from parsers.records.json_fields import Coding, field_of_item
from parsers.records.reading import BAD_FIELD, REFUSED, read_record
from parsers.records.record_plan import RecordPlan, plan_of
from parsers.records.writing import write_record

_RULE: Final = re.compile(r"\s*([^=\s]+)\s*=(.*):\s*([\w$#@-]+)\s*")


@dataclass(frozen=True, slots=True)
class Segment:
    """A rule: where `item` has one of the values, the record is of this type.

    `chosen` is what of items that share their storage is there, `rejected` are the others; `ends` says that nothing
    follows them in the record.
    """

    item: DataItem
    stored: Stored
    values: tuple[str, ...]
    record: Record
    chosen: Entry | None = None
    rejected: frozenset[Entry] = frozenset()
    ends: bool = False

    def fits(self, data: bytes) -> bool:
        """Returns whether a record is such a segment."""
        start, end = self.item.offset, self.item.offset + self.item.length
        if len(data) < end:
            return False
        try:
            return same(self.stored.decode(data, start, end), self.values)
        except REFUSED:
            return False


def same(value: Any, values: tuple[str, ...]) -> bool:
    """Returns whether a value is one of those that a rule names; numbers are compared as such."""
    text = str(value).strip()
    return any(
        text == wanted or (wanted.isdecimal() and text.isdecimal() and int(text) == int(wanted)) for wanted in values
    )


def _segment(rule: str, book: Copybook, coding: Coding) -> Segment:
    """The rule of a FIELD=VALUE,VALUE:NAME text; NAME is a record's or that of an item that shares its storage."""
    found = _RULE.fullmatch(rule)
    if found is None:
        raise ConfigurationException(f"the segment {rule!r} is not of the form FIELD=VALUE:NAME")
    field, values, name = found[1], tuple(value.strip() for value in found[2].split(",")), found[3].upper()
    for record in book.records:
        if record.name.upper() == name:
            item = find_field(record, field)
            return Segment(item, field_of_item(item, coding), values, record)
    for record in book.records:
        for group in record.top.walk():
            chosen = next((child for child in group.children if child.name.upper() == name), None)
            if chosen is not None and (others := _sharing(chosen, group)):
                item = find_field(record, field)
                ends = max(one.offset + one.total for one in (chosen, *others)) == record.length
                rejected = frozenset(other.entry for other in others)
                return Segment(item, field_of_item(item, coding), values, record, chosen.entry, rejected, ends)
    known = [record.name for record in book.records]
    raise ConfigurationException(
        f"the segment {rule!r} names {found[3]}, which is neither a record nor an item that shares its storage"
        f"{did_you_mean(found[3], known)}"
    )


def _sharing(chosen: DataItem, group: DataItem) -> list[DataItem]:
    """The other items that share the storage of one."""
    first = origin(chosen).entry
    return [child for child in group.children if child is not chosen and origin(child).entry is first]


def find_field(record: Record, name: str) -> DataItem:
    """The elementary item of a name, or of a path by dots, at a place that depends on no count."""
    wanted = [part.upper() for part in name.split(".")]
    named = [way[-1] for way in _ways(record.top, ()) if _ends_with(way, wanted)]
    fixed = [item for item in named if not _moves(item, record)]
    if len(fixed) == 1 or (fixed and len(wanted) > 1):
        return fixed[0]
    if fixed:
        raise ConfigurationException(
            f"{record.name} has more than one field called {name}: name its group too, by dots"
        )
    if named:
        raise ConfigurationException(
            f"the place of {record.name}.{name} depends on a count: it cannot tell what a record is"
        )
    names = [item.name for item in record.top.walk() if item.name]
    raise ConfigurationException(f"{record.name} has no field called {name}{did_you_mean(name, names)}")


def _ways(item: DataItem, above: tuple[DataItem, ...]) -> Iterator[tuple[DataItem, ...]]:
    way = (*above, item)
    if not item.children:
        yield way
    for child in item.children:
        yield from _ways(child, way)


def _ends_with(way: tuple[DataItem, ...], wanted: list[str]) -> bool:
    names = iter(reversed([item.name.upper() for item in way]))
    return way[-1].name.upper() == wanted[-1] and all(part in names for part in reversed(wanted))


def _moves(item: DataItem, record: Record) -> bool:
    """Returns whether a table of variable length stands before an item, or it is in one."""
    return any(
        (table.counter is not None and (table.offset + table.length <= item.offset or item in table.walk()))
        for table in record.top.walk()
    )


NONE: Final[frozenset[Item]] = frozenset()
_LAST: Final = 77


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A kind of file: the plan of its records, the rules that tell them apart, how it is cut, and where counts are."""

    framing: Framing
    coding: Coding
    plans: dict[str, RecordPlan]
    type: str
    segments: tuple[Segment, ...]
    measure: Measure | None
    longest: int

    def cut(self, file: BinaryIO) -> Iterator[Cut]:
        """The records of a file."""
        return cut_records(file, self.framing, longest=self.longest, measure=self.measure)

    def decode(self, cut: Cut) -> dict[str, Any]:
        """The fields of a record; an error says which record it is and where in the file it begins."""
        try:
            return self._decoded(cut.data)
        except BrokerError as error:
            text = f"record {cut.number} at offset {cut.offset}: {error.text}"
            raise ParserException(_number(error), text, *error.inserts) from error

    def encode(self, value: dict[str, Any], number: int) -> bytes:
        """The bytes of a record; an error says which one it is."""
        try:
            segment = self._segment_for(value)
            plan = self.plans[self.type if segment is None else segment.record.name]
            short = segment is not None and segment.ends and self.framing.format in {"V", "VB", "L"}
            absent = rejected_by(segment, plan) if short else frozenset()
            return self._of_told_length(write_record(plan, value, self.coding.blank[0], absent=absent), plan)
        except BrokerError as error:
            raise ParserException(_number(error), f"record {number}: {error.text}", *error.inserts) from error

    def _of_told_length(self, made: bytes, plan: RecordPlan) -> bytes:
        """The record, unless its field of length does not say how long it is: what comes behind it would be lost."""
        if self.framing.format != "L" or self.measure is None:
            return made
        said = self.measure(made) + self.framing.length_adjustment
        length = self.framing.start + len(made) + self.framing.end
        if said != length:
            raise ParserException(BAD_FIELD, f"{plan.name} takes {length} bytes, and its length field says {said}")
        return made

    def _decoded(self, data: bytes) -> dict[str, Any]:
        segment = self._segment_of(data)
        plan = self.plans[self.type if segment is None else segment.record.name]
        if self.framing.format == "D" and plan.fixed_size is not None and len(data) < plan.fixed_size:
            data = data + self.coding.blank * (plan.fixed_size - len(data))
        chosen = frozenset({plan.of[segment.chosen]}) if segment is not None and segment.chosen is not None else NONE
        found, end = read_record(plan.read, data, chosen, rejected_by(segment, plan))
        surplus = data[end:]
        if surplus and not self._may_be_longer(surplus):
            text = f"{len(surplus)} bytes are left over behind {plan.name} at offset {end}: X'{surplus[:32].hex()}'"
            raise ParserException(BAD_FIELD, text, plan.name)
        return found

    def _may_be_longer(self, surplus: bytes) -> bool:
        """Returns whether a record may end behind its fields: where all have one length, or blanks end a line."""
        if self.framing.format == "D":
            return not surplus.strip(self.coding.blank)
        return self.framing.format == "F"

    def _segment_of(self, data: bytes) -> Segment | None:
        if not self.segments:
            return None
        for segment in self.segments:
            if segment.fits(data):
                return segment
        names = ", ".join(f"{s.item.name}={','.join(s.values)}" for s in self.segments)
        raise ParserException(BAD_FIELD, f"is none of the segments {names}: it begins with X'{data[:32].hex()}'")

    def _segment_for(self, value: dict[str, Any]) -> Segment | None:
        if not self.segments:
            return None
        for segment in self.segments:
            if any(same(found, segment.values) for found in _values_of(value, segment.item.name)):
                return segment
        raise ParserException(BAD_FIELD, "its fields make it none of the segments")


def rejected_by(segment: Segment | None, plan: RecordPlan) -> frozenset[Item]:
    """Returns what shares the storage of the segment that a record is."""
    return NONE if segment is None else frozenset(plan.of[entry] for entry in segment.rejected)


def _number(error: BrokerError) -> int:
    return BAD_FIELD if isinstance(error, REFUSED) else error.number


def _values_of(value: Any, name: str) -> Iterator[Any]:
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key.upper() == name.upper():
            yield inner
        yield from _values_of(inner, name)


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices for a file of records beside its copybook: its type, segments and fields of length."""

    type: str = ""
    segments: tuple[str, ...] = ()
    length_field: str = ""
    fillers: bool = False
    slide: bool = True


def record_file(book: Copybook, framing: Framing, coding: Coding, choices: Choices) -> RecordFile:
    """The kind of file that a copybook and choices describe."""
    segments = tuple(_segment(rule, book, coding) for rule in choices.segments)
    chosen = _chosen(book, choices.type, segments)
    records = {segment.record.name: segment.record for segment in segments} or {chosen.name: chosen}
    plans = {
        name: plan_of(record, coding, fillers=choices.fillers, slide=choices.slide) for name, record in records.items()
    }
    longest = max(record.length for record in records.values())
    framing = replace(framing, line_end=_line_end(coding))
    measure: Measure | None = None
    if framing.format == "L":
        measure, longest = _length_field(choices.length_field, next(iter(records.values())), coding)
        longest += framing.start
    elif choices.length_field:
        raise ConfigurationException("a length field is given, and the record format is not L")
    elif any(plan.fixed_size is None for plan in plans.values()) or len({p.fixed_size for p in plans.values()}) > 1:
        measure = _measure_by_reading(plans, segments, chosen.name)
    return RecordFile(framing, coding, plans, chosen.name, segments, measure, longest)


def _measure_by_reading(plans: dict[str, RecordPlan], segments: tuple[Segment, ...], type_: str) -> Measure:
    """Returns how long a record is that says so by its counters or segment; all bytes where it cannot be read."""

    def measure(data: bytes) -> int:
        segment = next((segment for segment in segments if segment.fits(data)), None)
        if segment is None and any(len(data) < one.item.offset + one.item.length for one in segments):
            return len(data)
        plan = plans[type_ if segment is None else segment.record.name]
        if plan.fixed_size is not None:
            return plan.fixed_size
        try:
            return read_record(plan.read, data, NONE, rejected_by(segment, plan))[1]
        except BrokerError:
            return len(data)

    return measure


def _length_field(field: str, record: Record, coding: Coding) -> tuple[Measure, int]:
    """Returns what reads the length of a record, by a field's name or OFFSET:SIZE, and the bytes that it needs."""
    at, colon, size = field.partition(":")
    if colon and at.isdecimal() and size.isdecimal() and 1 <= int(size) <= 8:
        start, end, order = int(at), int(at) + int(size), coding.order
        return lambda data: int.from_bytes(data[start:end], order), end
    if not field:
        raise ConfigurationException("records with a length field need its name, or its OFFSET:SIZE")
    item = find_field(record, field)
    start, end = item.offset, item.offset + item.length
    return _reading_length(field_of_item(item, coding).decode, start, end, item.name), end


def _reading_length(decode: Decode, start: int, end: int, name: str) -> Measure:
    def measure(data: bytes) -> int:
        try:
            return int(decode(data, start, end))
        except (ValueError, TypeError, BrokerError) as error:
            text = f"{name} does not say how long the record is: X'{data[start:end].hex()}'"
            raise ParserException(BAD_FIELD, text, name) from error

    return measure


def _chosen(book: Copybook, name: str, segments: tuple[Segment, ...]) -> Record:
    """The record that is meant, where no segment says."""
    if segments and not name:
        return segments[0].record
    if name:
        for record in book.records:
            if record.name.upper() == name.upper():
                return record
        known = [record.name for record in book.records]
        raise ConfigurationException(f"{book.file} has no record called {name}{did_you_mean(name, known)}")
    records = [record for record in book.records if record.top.level != _LAST] or list(book.records)
    if len(records) > 1:
        names = ", ".join(record.name for record in records)
        raise ConfigurationException(
            f"{book.file} describes more than one record: choose one of {names} with --type,"
            " or tell them apart with --segment FIELD=VALUE:NAME"
        )
    return records[0]


def _line_end(coding: Coding) -> bytes:
    return b"\x15" if is_ebcdic(coding.ccsid) else encode("\n", coding.ccsid, coding.encoding)

"""Records read: bytes by their plan to what JSON holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from engine.errors import BrokerError, ParserException
from parsers.importers.copybook.entries import Entry
from parsers.records.leaves import READ_ERRORS
from parsers.records.plan import Step

BAD_FIELD = 5421
SHOWN_BYTES = 32
_LEAST_OCCURRENCES: Final = 100_000  # that any record may have, with or without bytes
_OCCURRENCES: Final = 16  # and beyond these for each byte


@dataclass(slots=True)
class _Reading:
    """One record while it is read: its bytes, and what its counters have said."""

    data: bytes
    chosen: frozenset[Entry]
    rejected: frozenset[Entry]
    counts: dict[Entry, int] = field(default_factory=dict)
    left: int = 0

    def __post_init__(self) -> None:
        self.left = _LEAST_OCCURRENCES + _OCCURRENCES * len(self.data)


def read_record(
    plan: Step,
    data: bytes,
    *,
    chosen: frozenset[Entry] = frozenset(),
    rejected: frozenset[Entry] = frozenset(),
) -> tuple[dict[str, Any], int]:
    """The fields of a record that begins the data, and how many bytes it takes.

    Of items that share their storage, all are read, but for those `rejected`; one that cannot be read is null, if
    another can. What is `chosen` must be readable.
    """
    reading = _Reading(data, chosen, rejected)
    found, end = _group(plan, reading, 0, plan.key)
    return found, end


def _group(step: Step, reading: _Reading, at: int, path: str) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    starts: list[int] = []
    end = at
    failures: dict[int, list[BrokerError]] = {}
    readable: set[int] = set()
    shared = {inner.after for inner in step.steps if inner.shared}
    for number, inner in enumerate(step.steps):
        start = starts[inner.after] if inner.shared else end + inner.slack
        starts.append(start)
        area = inner.after if inner.shared else number
        where = f"{path}.{inner.key or inner.item.name or 'FILLER'}"
        if inner.item.entry in reading.rejected:
            end = max(end, start + (inner.fixed_size or 0))
            if inner.key:
                found[inner.key] = None
            continue
        try:
            value, stop = _occurrences(inner, reading, start, where)
        except BrokerError as error:
            if area not in shared or inner.item.entry in reading.chosen:
                raise
            failures.setdefault(area, []).append(error)
            value = None
            stop = start + (inner.fixed_size or 0)
        else:
            readable.add(area)
        end = max(end, stop)
        if inner.key:
            found[inner.key] = value
    for area, errors in failures.items():
        if area not in readable:
            raise errors[0]
    return found, end + step.tail


def _occurrences(step: Step, reading: _Reading, at: int, path: str) -> tuple[Any, int]:
    if not step.repeats:
        return _one(step, reading, at, path)
    count = _count(step, reading, at, path)
    if step.stride is not None and at + count * step.stride > len(reading.data):
        raise _cut_off(step, reading, at, path, count * step.stride)
    values = []
    start = at
    for number in range(1, count + 1):
        reading.left -= 1
        if reading.left < 0:
            text = f"{path} at offset {at} occurs {count} times, which take no bytes: look at the counts in the record"
            raise ParserException(BAD_FIELD, text, path)
        value, at = _one(step, reading, at, f"{path}[{number}]")
        values.append(value)
    return values, at if step.fixed_size is None else max(at, _within(reading, start + step.fixed_size, at))


def _within(reading: _Reading, end: int, least: int) -> int:
    """The end of a table that has room for more than it holds; a record may end with the last one that it holds."""
    return end if end <= len(reading.data) else least


def _count(step: Step, reading: _Reading, at: int, path: str) -> int:
    if step.counter is None:
        return step.most
    count = reading.counts.get(step.counter.entry)
    if count is None:
        raise ParserException(BAD_FIELD, f"{path} at offset {at}: its count {step.counter.name} has no value", path)
    if count < 0 or (count > step.most >= 0):
        allowed = f"{step.least} to {step.most}"
        text = f"{path} at offset {at} occurs {count} times, as {step.counter.name} says: it may {allowed}"
        raise ParserException(BAD_FIELD, text, path)
    return count


def _one(step: Step, reading: _Reading, at: int, path: str) -> tuple[Any, int]:
    if step.leaf is None:
        return _group(step, reading, at, path)
    end = at + step.item.length
    data = reading.data[at:end]
    if len(data) < step.item.length:
        raise _cut_off(step, reading, at, path, step.item.length)
    try:
        value = step.leaf.read(data)
    except READ_ERRORS as error:
        text = error.text if isinstance(error, BrokerError) else str(error)
        shown = data[:SHOWN_BYTES].hex()
        told = text if shown in text else f"{text}; its bytes are X'{shown}'"
        raise ParserException(BAD_FIELD, f"{path} ({step.item.type}) at offset {at}: {told}", path) from error
    if isinstance(value, int):
        reading.counts[step.item.entry] = value
    return value, end


def _cut_off(step: Step, reading: _Reading, at: int, path: str, wanted: int) -> ParserException:
    left = max(0, len(reading.data) - at)
    shown = f": X'{reading.data[at : at + SHOWN_BYTES].hex()}'" if left else ""
    text = f"{path} ({step.item.type}) at offset {at} takes {wanted} bytes and {left} are left{shown}"
    return ParserException(BAD_FIELD, text, path)

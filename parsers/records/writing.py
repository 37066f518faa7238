"""Records written: what JSON holds by its plan to bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from engine.catalog import did_you_mean
from engine.errors import BrokerError, ParserException
from parsers.importers.copybook.entries import Entry
from parsers.records.framing import LONGEST_RECORD
from parsers.records.leaves import WRITE_ERRORS
from parsers.records.plan import Step
from parsers.records.reading import BAD_FIELD
from parsers.records.values import initial

NOTHING = object()
MOST_ABSENT: Final = 1_000_000  # occurrences in a record that are not given, of which a count may ask for any number


@dataclass(slots=True)
class _Writing:
    """One record while it is written; `counted` are the places of counters, and what was written there.

    Nothing is kept free for the items that are `absent`.
    """

    data: bytearray
    blank: int
    absent: frozenset[Entry] = frozenset()
    counted: dict[Entry, tuple[int, Step, int | None]] = field(default_factory=dict)
    left: int = MOST_ABSENT

    def put(self, at: int, data: bytes) -> None:
        self.reach(at + len(data))
        self.data[at : at + len(data)] = data

    def reach(self, end: int) -> None:
        """Make the record that long; what nothing is written to is blank."""
        if end > LONGEST_RECORD:
            raise ParserException(
                BAD_FIELD, f"the record takes {end:,} bytes, and at most {LONGEST_RECORD:,} are written"
            )
        if end > len(self.data):
            self.data.extend(bytes([self.blank]) * (end - len(self.data)))


def write_record(plan: Step, value: Any, blank: int, *, absent: frozenset[Entry] = frozenset()) -> bytes:
    """The bytes of a record.

    What is not given has its VALUE, or zeros or blanks by its type; a count that is not given is that of its table. Of
    items that share their storage, the first that is given counts where they overlap. Those that are `absent` are not
    there: the record ends with the item that is in their place, unless something follows it.
    """
    writing = _Writing(bytearray(), blank, absent)
    end = _group(plan, writing, value, 0, plan.key, fill=True)
    writing.reach(end)
    return bytes(writing.data)


def _group(step: Step, writing: _Writing, value: Any, at: int, path: str, *, fill: bool) -> int:
    given = {} if value is NOTHING or value is None else value
    if not isinstance(given, dict):
        raise ParserException(BAD_FIELD, f"{path} is a group: an object is to be written to it, not {_shown(given)}")
    known = {inner.key for inner in step.steps if inner.key}
    for key in given:
        if key not in known:
            close = did_you_mean(key, tuple(known))
            raise ParserException(BAD_FIELD, f"{path} has no field called {key}{close}", path)
    end = at
    for area in _areas(step.steps):
        end = _area(area, writing, given, end + area[0].slack, path, fill=fill)
    end += step.tail
    if fill:
        writing.reach(end)
    return end


def _areas(steps: tuple[Step, ...]) -> list[list[Step]]:
    """The items of a group, those together that share their storage."""
    areas: list[list[Step]] = []
    for step in steps:
        if step.shared:
            areas[-1].append(step)
        else:
            areas.append([step])
    return areas


def _area(steps: list[Step], writing: _Writing, given: dict[str, Any], start: int, path: str, *, fill: bool) -> int:
    """Write items that share their storage, the first one given last, so that it counts."""
    values = [given.get(inner.key, NOTHING) if inner.key else NOTHING for inner in steps]
    wanted = [pair for pair in zip(steps, values, strict=True) if pair[1] is not NOTHING and pair[1] is not None]
    if len(steps) == 1 or not wanted:
        wanted = [(steps[0], values[0])]
    end = start
    for number, (inner, value) in enumerate(reversed(wanted)):
        name = f"{path}.{inner.key or inner.item.name or 'FILLER'}"
        end = max(end, _occurrences(inner, writing, value, start, name, fill=fill and number == 0))
    if writing.absent.intersection(inner.item.entry for inner in steps):
        return end
    if len(steps) > 1 and all(inner.fixed_size is not None for inner in steps):
        end = max(end, start + max(inner.fixed_size or 0 for inner in steps))
    return end


def _occurrences(step: Step, writing: _Writing, value: Any, at: int, path: str, *, fill: bool) -> int:
    if not step.repeats:
        return _one(step, writing, value, at, path, fill=fill)
    values = [] if value is NOTHING or value is None else value
    if not isinstance(values, list):
        raise ParserException(BAD_FIELD, f"{path} occurs more than once: write an array, not {_shown(values)}")
    if len(values) > step.most >= 0:
        raise ParserException(BAD_FIELD, f"{path} occurs {step.most} times at most, and {len(values)} are given", path)
    start, count = at, len(values)
    if step.counter is None:
        count = step.most
    else:
        count = _counted(step, writing, count, path, given=value is not NOTHING and value is not None)
    writing.left -= max(count - len(values), 0)
    if writing.left < 0:
        text = f"{path} is to occur {count:,} times, and {len(values):,} are given: look at its count"
        raise ParserException(
            BAD_FIELD, f"{text}; of what is not given a record takes {MOST_ABSENT:,} occurrences", path
        )
    for number in range(count):
        inner = values[number] if number < len(values) else NOTHING
        at = _one(step, writing, inner, at, f"{path}[{number + 1}]", fill=fill)
    return at if step.fixed_size is None else max(at, start + step.fixed_size)


def _counted(step: Step, writing: _Writing, count: int, path: str, *, given: bool) -> int:
    """How often a table occurs: as its counter says, which is set where it was not given."""
    assert step.counter is not None
    at, counter, said = writing.counted.get(step.counter.entry, (0, None, None))
    if said is not None and given and said != count:
        raise ParserException(BAD_FIELD, f"{path} has {count} occurrences, and {step.counter.name} says {said}", path)
    if said is not None:
        return said
    if counter is not None and counter.leaf is not None:
        writing.put(at, counter.leaf.write(count))
        writing.counted[step.counter.entry] = (at, counter, count)
    return count


def _one(step: Step, writing: _Writing, value: Any, at: int, path: str, *, fill: bool) -> int:
    if step.leaf is None:
        return _group(step, writing, value, at, path, fill=fill)
    end = at + step.item.length
    if value is NOTHING:
        writing.counted.setdefault(step.item.entry, (at, step, None))
        if fill:
            writing.put(at, initial(step.item, step.leaf))
        return end
    try:
        writing.put(at, step.leaf.empty if value is None and not _has_null(step) else step.leaf.write(value))
    except WRITE_ERRORS as error:
        text = error.text if isinstance(error, BrokerError) else str(error)
        raise ParserException(BAD_FIELD, f"{path} ({step.item.type}): {text}", path) from error
    writing.counted[step.item.entry] = (at, step, value if _is_count(value) else None)
    return end


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _has_null(step: Step) -> bool:
    """Whether null is written in a way of its own: a number of characters may be blank."""
    return step.item.picture is not None and step.item.picture.category == "numeric" and step.item.usage == "DISPLAY"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."

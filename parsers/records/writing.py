"""Records written off their layout: what JSON holds to bytes, without a tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from engine.catalog import did_you_mean
from engine.errors import ParserException
from parsers.mrm.cwf.layout import Choice, Item, Layout
from parsers.records.framing import LONGEST_RECORD
from parsers.records.reading import BAD_FIELD, REFUSED
from parsers.records.record_plan import RecordPlan

NOTHING = object()
MOST_ABSENT: Final = 1_000_000  # occurrences in a record that are not given, of which a count may ask for any number


@dataclass(slots=True)
class _Writing:
    """One record while it is written; `said` is where counters stand, and what was written there.

    Nothing is kept free for the items that are `absent`.
    """

    plan: RecordPlan
    blank: int
    absent: frozenset[Item]
    data: bytearray = field(default_factory=bytearray)
    said: dict[Item, tuple[int, int | None]] = field(default_factory=dict)
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


def write_record(plan: RecordPlan, value: Any, blank: int, *, absent: frozenset[Item] = frozenset()) -> bytes:
    """The bytes of a record.

    What is not given has its VALUE, or zeros or blanks by its type; a count that is not given is that of its table. Of
    items that share their storage, the first that is given counts where they overlap. Those that are `absent` are not
    there: the record ends with the item that is in their place, unless something follows it.
    """
    writing = _Writing(plan, blank, absent)
    writing.reach(_group(plan.layout, writing, value, 0, plan.name, fill=True))
    return bytes(writing.data)


def _group(layout: Layout, writing: _Writing, value: Any, at: int, path: str, *, fill: bool) -> int:
    given = {} if value is NOTHING or value is None else value
    if not isinstance(given, dict):
        raise ParserException(BAD_FIELD, f"{path} is a group: an object is to be written to it, not {_shown(given)}")
    for key in given:
        if key not in layout.names or not key:
            close = did_you_mean(key, tuple(name for name in layout.names if name))
            raise ParserException(BAD_FIELD, f"{path} has no field called {key}{close}", path)
    for slot in layout.slots:
        if isinstance(slot, Choice):
            at = _choice(slot, writing, given, at, path, fill=fill)
        else:
            at = _item(slot, writing, given, at, path, fill=fill)
    if fill:
        writing.reach(at)
    return at


def _value(item: Item, given: dict[str, Any]) -> Any:
    return given.get(item.name, NOTHING) if item.name else NOTHING


def _choice(choice: Choice, writing: _Writing, given: dict[str, Any], at: int, path: str, *, fill: bool) -> int:
    """Write items that share their storage, the first one given last, so that it counts."""
    items = [slot for option in choice.options for slot in option.slots if isinstance(slot, Item)]
    chosen = [item for item in items if _value(item, given) is not NOTHING and given[item.name] is not None]
    end = at
    for number, item in enumerate(reversed(chosen or items[:1])):
        end = max(end, _item(item, writing, given, at, path, fill=fill and number == 0))
    totals = [writing.plan.totals.get(item) for item in items]
    if not writing.absent.isdisjoint(items) or None in totals:
        return end
    return max(end, at + max(item.lead + (size or 0) for item, size in zip(items, totals, strict=True)))


def _item(item: Item, writing: _Writing, given: dict[str, Any], at: int, path: str, *, fill: bool) -> int:
    value, name = _value(item, given), f"{path}.{item.name or 'FILLER'}"
    start = at = at + item.lead
    if item not in writing.plan.tables:
        return _one(item, writing, value, at, name, fill=fill)
    values = [] if value is NOTHING or value is None else value
    if not isinstance(values, list):
        raise ParserException(BAD_FIELD, f"{name} occurs more than once: write an array, not {_shown(values)}")
    if len(values) > item.most >= 0:
        raise ParserException(BAD_FIELD, f"{name} occurs {item.most} times at most, and {len(values)} are given", name)
    count = _count(item, writing, values, name, given=value is not NOTHING and value is not None)
    for number in range(count):
        inner = values[number] if number < len(values) else NOTHING
        at = _one(item, writing, inner, at, f"{name}[{number + 1}]", fill=fill)
    return max(at, start + writing.plan.totals.get(item, 0))


def _count(item: Item, writing: _Writing, values: list[Any], path: str, *, given: bool) -> int:
    """Returns how often a table occurs: as its counter says, which is set where it was not given."""
    count = len(values)
    if item.count is None:
        count = count if item.most < 0 else item.most
    else:
        counter = item.count.target
        at, said = writing.said.get(counter, (-1, None))
        if said is not None and given and said != count:
            text = f"{path} has {count} occurrences, and {item.count.path[-1]} says {said}"
            raise ParserException(BAD_FIELD, text, path)
        if said is None and at >= 0 and counter.stored is not None:
            writing.put(at, counter.stored.encode(count, counter.size))
            writing.said[counter] = at, count
        count = count if said is None else said
    writing.left -= max(count - len(values), 0)
    if writing.left < 0:
        text = f"{path} is to occur {count:,} times, and {len(values):,} are given: look at its count"
        raise ParserException(
            BAD_FIELD, f"{text}; of what is not given a record takes {MOST_ABSENT:,} occurrences", path
        )
    return count


def _one(item: Item, writing: _Writing, value: Any, at: int, path: str, *, fill: bool) -> int:
    if item.inner is not None:
        return _group(item.inner, writing, value, at, path, fill=fill) + item.trail
    assert item.stored is not None
    end = at + item.size
    if value is NOTHING:
        if item.referred:
            writing.said.setdefault(item, (at, None))
        if fill:
            writing.put(at, writing.plan.initial[item])
        return end
    try:
        writing.put(at, item.stored.encode(value, item.size))
    except REFUSED as error:
        name = item.what.partition(" ")[0]
        text = f"{path}{error.text.removeprefix(name)}" if error.text.startswith(name) else f"{path}: {error.text}"
        raise ParserException(BAD_FIELD, text, path) from error
    if item.referred:
        writing.said[item] = at, value if isinstance(value, int) and not isinstance(value, bool) else None
    return end


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."

"""Records read off their layout to what JSON holds, without a tree: a function for each part, made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from engine.errors import BrokerError, ConversionException, ParserException
from parsers.mrm.cwf.layout import Choice, Item, Layout, Reference
from parsers.mrm.model import UNBOUNDED
from parsers.mrm.simple_values import cut_off

BAD_FIELD = 5421
REFUSED: Final = (ParserException, ConversionException)  # what is said of bytes and values that do not fit
_LEAST_OCCURRENCES: Final = 100_000  # that any record may have, with or without bytes
_OCCURRENCES: Final = 16  # and beyond these for each byte
_NONE: Final[frozenset[Item]] = frozenset()


class Reading:
    """One record while it is read: its bytes, what fields have said that others refer to, and which options count."""

    __slots__ = ("chosen", "data", "left", "length", "rejected", "said")

    def __init__(self, data: bytes, chosen: frozenset[Item] = _NONE, rejected: frozenset[Item] = _NONE) -> None:
        self.data, self.length = data, len(data)
        self.chosen, self.rejected = chosen, rejected
        self.said: dict[Item, Any] = {}
        self.left = _LEAST_OCCURRENCES + _OCCURRENCES * len(data)


Read: TypeAlias = Callable[[Reading, int, dict[str, Any]], int]
One: TypeAlias = Callable[[Reading, int], tuple[Any, int]]


def read_record(
    read: Read, data: bytes, chosen: frozenset[Item] = _NONE, rejected: frozenset[Item] = _NONE
) -> tuple[dict[str, Any], int]:
    """The fields of a record that begins the data, and how many bytes it takes.

    Of items that share their storage, all are read, but for those `rejected`; one that cannot be read is null, if
    another can. What is `chosen` must be readable.
    """
    found: dict[str, Any] = {}
    end = read(Reading(data, chosen, rejected), 0, found)
    return found, end


class Reader:
    """Makes the functions that read layouts; `tables` are what JSON has as arrays, `sizes` as a plan has them.

    An option that cannot be read has its room, also beyond the end of a record that `may_end` in the midst of it.
    """

    def __init__(
        self, tables: frozenset[Item], strides: Mapping[Item, int], sizes: Mapping[Item, int], *, may_end: bool
    ) -> None:
        self._tables, self._strides, self._sizes, self._may_end = tables, strides, sizes, may_end

    def layout(self, layout: Layout) -> Read:
        """Returns the function that reads the fields of a layout; what has no name in JSON is read and left out."""
        steps = list(self._steps(layout))

        def read(reading: Reading, at: int, found: dict[str, Any]) -> int:
            for step in steps:
                at = step(reading, at, found)
            return at

        def read_without(reading: Reading, at: int, found: dict[str, Any]) -> int:
            for step in steps:
                at = step(reading, at, found)
            found.pop("", None)
            return at

        if "" in layout.names:
            return read_without
        return steps[0] if len(steps) == 1 else read

    def _steps(self, layout: Layout) -> Iterator[Read]:
        plain: list[Item] = []
        for slot in layout.slots:
            if isinstance(slot, Item) and self._is_plain(slot):
                plain.append(slot)
                continue
            if plain:
                yield _plain_fields(plain)
                plain = []
            yield self._choice(slot) if isinstance(slot, Choice) else self._item(slot)
        if plain:
            yield _plain_fields(plain)

    def _is_plain(self, item: Item) -> bool:
        is_single = item not in self._tables and item.most == 1 and item.count is None
        is_bare = item.inner is None and not item.trail and not item.referred and not item.identifies
        return is_single and is_bare and item.size > 0 and item.length is None and item.align == 1

    def _item(self, item: Item) -> Read:
        one, name, lead, align = self._one(item), item.name, item.lead, item.align
        if item in self._tables:
            return self._table(item, one)

        def read(reading: Reading, at: int, found: dict[str, Any]) -> int:
            at += lead
            found[name], at = one(reading, at + -at % align)
            return at

        return read

    def _one(self, item: Item) -> One:
        """Returns the function that reads one occurrence."""
        if item.inner is not None:
            inner, trail = self.layout(item.inner), item.trail

            def group(reading: Reading, at: int) -> tuple[Any, int]:
                found: dict[str, Any] = {}
                return found, inner(reading, at, found) + trail

            return group
        decode, trail, keeps = item.decode, item.trail, item.referred or item.identifies

        def field(reading: Reading, at: int) -> tuple[Any, int]:
            end = _end(reading, item, at)
            value = decode(reading.data, at, end)
            if keeps:
                reading.said[item] = value
            return value, end + trail

        return field

    def _table(self, item: Item, one: One) -> Read:
        stride, room, align = self._strides.get(item), self._sizes.get(item), item.align

        def read(reading: Reading, at: int, found: dict[str, Any]) -> int:
            start = at = at + item.lead
            count = _count(reading, item, at)
            if stride is not None and count > 0 and at + count * stride - item.trail > reading.length:
                raise cut_off(item.what, reading.data, at, count * stride - item.trail)
            values: list[Any] = []
            while len(values) != count and (count >= 0 or at < reading.length):
                reading.left -= 1
                if reading.left < 0:
                    text = f"{item.what} at offset {at} occurs {count} times, which take no bytes"
                    raise ParserException(BAD_FIELD, f"{text}: look at the counts in the record", item.what)
                try:
                    value, at = one(reading, at + -at % align)
                except REFUSED as error:
                    raise _in_table(error, item, len(values) + 1) from error
                values.append(value)
            found[item.name] = values
            # a record may end with the last occurrence that it holds
            return at if room is None or start + room > reading.length else max(at, start + room)

        return read

    def _choice(self, choice: Choice) -> Read:
        keeps_room = self._may_end or choice.size > 0
        options = [
            (self.layout(layout), _items(layout), tuple(layout.names), self._room(layout)) for layout in choice.options
        ]

        def read(reading: Reading, at: int, found: dict[str, Any]) -> int:
            end, errors, readable = at, list[BrokerError](), False
            for number in _options(reading, choice):
                inner, items, names, room = options[number]
                mine, stop = dict[str, Any](), at + room if keeps_room or at + room <= reading.length else at
                if reading.rejected.isdisjoint(items):
                    try:
                        stop = inner(reading, at, mine)
                        readable = True
                    except REFUSED as error:
                        if not reading.chosen.isdisjoint(items):
                            raise
                        errors.append(error)
                        mine.clear()
                end = max(end, stop)
                found.update(mine or dict.fromkeys(names))
            if errors and not readable:
                raise errors[0]
            return end

        return read

    def _room(self, layout: Layout) -> int:
        """The bytes of an option that cannot be read, as far as they are known."""
        return sum(item.lead + self._sizes.get(item, 0) for item in layout.slots if isinstance(item, Item))


def _plain_fields(items: list[Item]) -> Read:
    """Returns the function that reads fields which stand one behind another and have one length in every record."""
    cells = [(item.name, item.decode, item.lead, item.size, item) for item in items]

    def read(reading: Reading, at: int, found: dict[str, Any]) -> int:
        data, length = reading.data, reading.length
        for name, decode, lead, size, item in cells:
            at += lead
            end = at + size
            if end > length:
                raise cut_off(item.what, data, at, size)
            found[name] = decode(data, at, end)
            at = end
        return at

    return read


def _items(layout: Layout) -> frozenset[Item]:
    return frozenset(item for routes in layout.names.values() for *_, item in routes)


def _options(reading: Reading, choice: Choice) -> Iterator[int]:
    """The numbers of the options that are read: of messages the one that a field names, or the first."""
    if not choice.names:
        return iter(range(len(choice.options)))
    said = "" if choice.identity is None else str(reading.said.get(choice.identity.target)).strip()
    if choice.identity is not None and said not in choice.names:
        name, known = ".".join(choice.identity.path), ", ".join(choice.names)
        raise ParserException(BAD_FIELD, f"{name} says that message {said} is in it; the messages are {known}", said)
    return iter((choice.names.index(said) if said else 0,))


def _end(reading: Reading, item: Item, at: int) -> int:
    """Returns where an occurrence of an elementary field ends."""
    stored, data = item.stored, reading.data
    assert stored is not None
    if item.length is not None:
        units = _referred(reading, item, item.length, at) - (item.length.target.size if item.inclusive else 0)
        if units < 0:
            raise ParserException(BAD_FIELD, f"{item.what} at offset {at}: it is said to be {units} long", item.what)
        end = stored.span(data, at, units) if stored.span is not None else at + units * stored.unit
    elif stored.size:
        end = at + stored.size
    else:
        assert stored.measure is not None
        end = stored.measure(data, at, len(data))
    if end > reading.length:
        raise cut_off(item.what, data, at, end - at)
    return end


def _referred(reading: Reading, item: Item, reference: Reference, at: int) -> int:
    """Returns what a field says that counts or measures another."""
    said, name = reading.said.get(reference.target), ".".join(reference.path)
    try:
        count = int(said)  # type: ignore[arg-type]  # whatever it is, what is no number is refused
    except (TypeError, ValueError, OverflowError) as error:
        raise ParserException(BAD_FIELD, f"{item.what} at offset {at}: {name} has no value", item.what) from error
    if count != said or count < 0:
        text = f"{item.what} at offset {at}: {name} is {said}, and it must be a whole number that is not negative"
        raise ParserException(BAD_FIELD, text, item.what)
    return count


def _count(reading: Reading, item: Item, at: int) -> int:
    """Returns how often a table occurs: -1 as often as there are bytes for it."""
    if item.count is None:
        return item.most
    count = _referred(reading, item, item.count, at)
    if item.most != UNBOUNDED and count > item.most:
        allowed = f"{item.model.min_occurs} to {item.most}"
        name = ".".join(item.count.path)
        text = f"{item.what} at offset {at} occurs {count} times, as {name} says: it may {allowed}"
        raise ParserException(BAD_FIELD, text, item.what)
    return count


def _in_table(error: BrokerError, item: Item, number: int) -> BrokerError:
    """An error in one of the occurrences of a table, with its number behind the name of the table."""
    path = item.what.partition(" ")[0]
    text = f"{path}[{number}]{error.text.removeprefix(path)}" if error.text.startswith(path) else error.text
    return type(error)(error.number, text, *error.inserts)

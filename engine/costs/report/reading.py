"""Reading results: the JSON that a run has written, checked field by field, and the same written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar, get_args, get_type_hints

from engine.catalog import did_you_mean
from engine.costs.measuring import Measured
from engine.costs.report.wording import named, printable
from engine.costs.results import FORMAT, Key, Node, Results, Row, Spread, Taken
from engine.costs.results import Place as RunOn
from engine.errors import ConfigurationException, Place

LONGEST_TEXT: Final = 10_000
MOST_ITEMS: Final = 100_000
LARGEST_NUMBER: Final = 10**15
_KINDS: Final = (
    (bool, "a truth value"),
    ((int, float), "a number"),
    (str, "a text"),
    (list, "a list"),
    (dict, "fields"),
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Value:
    """Something read, and where it stands: the file, and the way to it within."""

    data: Any
    file: str
    path: str = ""

    def fail(self, problem: str) -> NoReturn:
        """Say what is wrong with this value."""
        where = printable(self.path[:200]) or "the document"
        raise ConfigurationException(f"{where}: {problem}").at(Place(file=self.file))

    def expected(self, what: str) -> NoReturn:
        """Say what it should be, and what it is."""
        self.fail(f"{what} is expected here, and it is {_kind(self.data)}")

    def text(self) -> str:
        """It as a text."""
        if not isinstance(self.data, str):
            self.expected("a text")
        if len(self.data) > LONGEST_TEXT:
            self.fail(f"a text of {len(self.data):,} characters is longer than the {LONGEST_TEXT:,} allowed")
        return self.data

    def truth(self) -> bool:
        """It as a truth value."""
        if not isinstance(self.data, bool):
            self.expected("true or false")
        return self.data

    def number(self) -> float:
        """It as a number that is finite and not absurd."""
        if isinstance(self.data, bool) or not isinstance(self.data, int | float):
            self.expected("a number")
        if not abs(self.data) <= LARGEST_NUMBER:  # which is no number is not either
            self.fail("the number is too large")
        return self.data

    def count(self, least: int = 0) -> int:
        """It as a whole number that is not negative."""
        if isinstance(self.data, bool) or not isinstance(self.data, int):
            self.expected("a whole number")
        if not least <= self.data <= LARGEST_NUMBER:
            self.fail(f"a whole number from {least} to {LARGEST_NUMBER} is expected here")
        return self.data

    def amount(self) -> float:
        """It as a number that is not negative."""
        if self.number() < 0:
            self.fail(f"it cannot be negative: {self.data}")
        return self.number()

    def one_of(self, known: tuple[T, ...]) -> T:
        """It as one of the values that are known."""
        found = [value for value in known if type(value) is type(self.data) and value == self.data]
        if not found:
            self.fail(f"one of {', '.join(map(str, known))} is expected here")
        return found[0]

    def items(self) -> Iterator[Value]:
        """The items of it as a list."""
        if not isinstance(self.data, list):
            self.expected("a list")
        if len(self.data) > MOST_ITEMS:
            self.fail(f"{len(self.data):,} items are more than the {MOST_ITEMS:,} allowed")
        return (Value(item, self.file, f"{self.path}[{number}]") for number, item in enumerate(self.data))

    def mapping(self) -> Mapping[str, Value]:
        """The fields of it, whatever they are called."""
        if not isinstance(self.data, dict):
            self.expected("an object")
        if len(self.data) > MOST_ITEMS:
            self.fail(f"{len(self.data):,} fields are more than the {MOST_ITEMS:,} allowed")
        return {name: Value(each, self.file, f"{self.path}.{name}".lstrip(".")) for name, each in self.data.items()}

    def fields(self, *names: str) -> tuple[Value, ...]:
        """The values of these fields, all of which must be there and no others."""
        found = self.mapping()
        for name in names:
            if name not in found:
                self.fail(f"the field {name} is missing")
        for name in found:
            if name not in names:
                self.fail(f"there is no field called {printable(name[:100])}{did_you_mean(name[:100], names)}")
        return tuple(found[name] for name in names)

    def unless_null(self, read: Callable[[Value], T]) -> T | None:
        """It as `read` reads it, or None for null."""
        return None if self.data is None else read(self)


def _kind(data: object) -> str:
    return "null" if data is None else next(name for types, name in _KINDS if isinstance(data, types))


LARGEST: Final = 64 << 20  # bytes of a file: some hundred thousand rows
DEEPEST: Final = 32
# Results hold the groups that every run measures, and in these every bound is the most that a figure may be.
_FIELDS: Final = tuple(name for name in Measured.__slots__ if name not in {"beside", "at_least"})


def results_json(results: Results) -> str:
    """Results as `read_results` reads them."""
    return json.dumps(results.data(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_results(path: str | Path) -> Results:
    """The results in a file; one that is no such file is refused with the field that is wrong."""
    place = Place(file=str(path))
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise ConfigurationException(f"the results cannot be read: {error.strerror or error}").at(place) from error
    if len(data) > LARGEST:
        raise ConfigurationException(f"the file is larger than the {LARGEST:,} bytes that results may have").at(place)
    return results_from(_parsed(data, place), str(path))


def results_from(data: Any, file: str = "") -> Results:
    """Results out of JSON's data."""
    root = Value(data, file)
    if not isinstance(data, dict) or "format" not in data:
        root.fail("these are no results of penstock costs: the field format is missing")
    if data["format"] != FORMAT or isinstance(data["format"], bool):
        root.fail(
            f"results of format {FORMAT} are expected; measure again, or read them with the version that wrote them"
        )
    _, machine, started, options, rows, bounds = root.fields(
        "format", "machine", "started", "options", "rows", "bounds"
    )
    return Results(
        machine={_name(each, name): each.text() for name, each in machine.mapping().items()},
        started=started.text(),
        options={_name(each, name): _plain(each) for name, each in options.mapping().items()},
        rows=_rows(rows),
        bounds=tuple(_bound(each) for each in bounds.items()),
    )


def measured(bound: dict[str, Any] | Any) -> Measured:
    """A figure beside its bound, out of what results have of it."""
    return Measured(**{name: bound[name] for name in _FIELDS}, beside=bound.get("beside"))


def _parsed(data: bytes, place: Place) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_no_number, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        problem = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ConfigurationException(f"the file is not JSON as results are: {printable(problem)}").at(place) from error


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise ValueError(f"the field {twice[:100]} stands twice in one object")
    return fields


def _name(value: Value, name: str) -> str:
    if len(name) > 200:
        value.fail("the name is longer than 200 characters")
    return name


def _plain(value: Value, depth: int = 0) -> Any:
    """Returns what an option holds: any data, so deep and no deeper."""
    if depth > DEEPEST:
        value.fail("it is nested too deeply")
    match value.data:
        case None | bool():
            return value.data
        case int() | float():
            return value.number()
        case str():
            return value.text()
        case list():
            return [_plain(each, depth + 1) for each in value.items()]
        case _:
            return {name: _plain(each, depth + 1) for name, each in value.mapping().items()}


def _rows(value: Value) -> tuple[Row, ...]:
    rows: dict[tuple[Key, RunOn], Row] = {}
    for each in value.items():
        row = _row(each)
        if (row.key, row.place) in rows:
            each.fail(f"the row stands there twice: {printable(named(row))}")
        rows[row.key, row.place] = row
    return tuple(rows.values())


def _row(value: Value) -> Row:
    key, place, taken, reason = value.fields("key", "place", "taken", "reason")
    places: tuple[RunOn, ...] = get_args(RunOn)
    return Row(_key(key), place.one_of(places), taken.unless_null(_taken), reason.text())


def _key(value: Value) -> Key:
    section, scenario, persistent, message_bytes = value.fields("section", "scenario", "persistent", "message_bytes")
    return Key(section.text(), scenario.text(), persistent.truth(), message_bytes.count())


def _taken(value: Value) -> Taken:
    runs, messages, drivers, rate, cpu_percent, cpu_ms, limit_ms, nodes, rss_mib = value.fields(*Taken.__slots__)
    return Taken(
        runs=runs.count(1),
        messages=messages.count(),
        drivers=drivers.count(),
        rate=_spread(rate),
        cpu_percent=_spread(cpu_percent),
        cpu_ms=_spread(cpu_ms),
        limit_ms=limit_ms.unless_null(_spread),
        nodes=tuple(_node(each) for each in nodes.items()),
        rss_mib=rss_mib.amount(),
    )


def _spread(value: Value) -> Spread:
    median, low, high = value.fields("median", "low", "high")
    spread = Spread(median.amount(), low.number(), high.number())
    if not spread.low <= spread.median <= spread.high:
        value.fail("the median is not between its quartiles")
    return spread


def _node(value: Value) -> Node:
    label, cpu_ms = value.fields("label", "cpu_ms")
    return Node(label.text(), cpu_ms.amount())


def _bound(value: Value) -> dict[str, Any]:
    found = dict(zip((*_FIELDS, "beside", "met"), value.fields(*_FIELDS, "beside", "met"), strict=True))
    units: tuple[str, ...] = get_args(get_type_hints(Measured)["unit"])
    read: dict[str, Any] = {name: found[name].number() for name in _FIELDS if name not in {"group", "name", "unit"}}
    read |= {"group": found["group"].text(), "name": found["name"].text(), "unit": found["unit"].one_of(units)}
    read |= {"beside": found["beside"].unless_null(Value.number), "met": found["met"].truth()}
    return read

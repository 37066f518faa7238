"""Reading results: the JSON that a run has written, checked field by field, and the same written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from engine.catalog import did_you_mean
from engine.costs.measuring import Measured, Spread
from engine.costs.report.wording import named, printable
from engine.costs.results import FORMAT, Key, Results, Row, Taken
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

    def fields(self, *names: str, optional: Sequence[str] = ()) -> Mapping[str, Value]:
        """The fields of it, which must be these, without some that are optional."""
        found = self.mapping()
        for name in names:
            if name not in found and name not in optional:
                self.fail(f"the field {name} is missing")
        for name in found:
            if name not in names:
                self.fail(f"there is no field called {printable(name[:100])}{did_you_mean(name[:100], names)}")
        return found


def _kind(data: object) -> str:
    return "null" if data is None else next(name for types, name in _KINDS if isinstance(data, types))


LARGEST: Final = 64 << 20  # bytes of a file: some hundred thousand rows
DEEPEST: Final = 32


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
    given = root.fields("format", "machine", "started", "options", "rows", "bounds")
    machine, options = given["machine"].mapping(), given["options"].mapping()
    return Results(
        machine={_name(each, name): each.text() for name, each in machine.items()},
        started=given["started"].text(),
        options={_name(each, name): _plain(each) for name, each in options.items()},
        rows=_rows(given["rows"]),
        bounds=tuple(_bound(each) for each in given["bounds"].items()),
    )


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
        row = _record(each, Row)
        if (row.key, row.place) in rows:
            each.fail(f"the row stands there twice: {printable(named(row))}")
        rows[row.key, row.place] = row
    return tuple(rows.values())


def _bound(value: Value) -> Measured:
    """Reads a figure beside its bound; that it is met is worked out anew."""
    given = value.mapping()
    if "met" not in given:
        value.fail("the field met is missing")
    given["met"].one_of((True, False))
    data = {name: each for name, each in value.data.items() if name != "met"}
    return _record(Value(data, value.file, value.path), Measured, Value.number, optional=("at_least",))


def _record(
    value: Value, kind: type[T], number: Callable[[Value], float] = Value.amount, *, optional: Sequence[str] = ()
) -> T:
    """Reads a dataclass, each field by its type."""
    hints = get_type_hints(kind)
    given = value.fields(*hints, optional=optional)
    made = kind(**{name: _field(each, hints[name], number) for name, each in given.items()})
    if isinstance(made, Spread) and not made.low <= made.median <= made.high:
        value.fail("the median is not between its quartiles")
    if isinstance(made, Taken):
        given["runs"].count(1)
    return made


def _field(value: Value, hint: Any, number: Callable[[Value], float]) -> Any:
    simple: dict[Any, Callable[[Value], Any]] = {str: Value.text, int: Value.count, float: number}
    inside = get_args(hint)
    if hint is bool and not isinstance(value.data, bool):
        value.expected("true or false")
    elif hint is bool:
        return value.data
    elif hint in simple:
        return simple[hint](value)
    elif get_origin(hint) is Literal:
        return value.one_of(inside)
    elif get_origin(hint) is tuple:
        return tuple(_record(each, inside[0]) for each in value.items())
    elif inside:  # it may be null
        return None if value.data is None else _field(value, inside[0], number)
    return _record(value, hint)

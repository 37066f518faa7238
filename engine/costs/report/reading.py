"""Reading results: the JSON that a run has written, each field checked by its type, and the same written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Any, Final, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from engine.catalog import did_you_mean
from engine.costs.measuring import Measured, Spread
from engine.costs.results import FORMAT, Results, Taken, named, printable
from engine.errors import ConfigurationException, Place

LARGEST: Final = 64 << 20  # bytes of a file: some hundred thousand rows
DEEPEST: Final = 32
LONGEST_TEXT: Final = 10_000
LONGEST_NAME: Final = 200
MOST_ITEMS: Final = 100_000
LARGEST_NUMBER: Final = 10**15
_KINDS: Final = {NoneType: "null", bool: "a truth value", str: "a text", list: "a list", dict: "fields"}
# what is written beside the fields of a class
_ADDED: Final[Mapping[type, Mapping[str, type]]] = MappingProxyType({Results: {"format": int}, Measured: {"met": bool}})

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Value:
    """Something read, and where it stands: the file, and the way to it within."""

    data: Any
    file: str
    path: str = ""

    def check(self, is_right: bool, problem: str) -> None:
        """Fail with a problem of this value where something about it is not right."""
        if not is_right:
            where = printable(self.path[:200]) or "the document"
            raise ConfigurationException(f"{where}: {problem}").at(Place(file=self.file))

    def of(self, kind: Any, what: str) -> Any:
        """Returns the data, which must be of a kind; a truth value is no number."""
        is_right = isinstance(self.data, kind) and (kind is bool or not isinstance(self.data, bool))
        self.check(is_right, f"{what} is expected here, and it is {_KINDS.get(type(self.data), 'a number')}")
        return self.data

    def text(self) -> str:
        """Returns the data as a text."""
        found: str = self.of(str, "a text")
        length = len(found)
        self.check(
            length <= LONGEST_TEXT, f"a text of {length:,} characters is longer than the {LONGEST_TEXT:,} allowed"
        )
        return found

    def number(self, *, least: float = -LARGEST_NUMBER) -> float:
        """Returns the data as a number that is finite and not absurd."""
        found: float = self.of((int, float), "a number")
        self.check(abs(found) <= LARGEST_NUMBER, "the number is too large")  # which what is no number is not either
        self.check(found >= least, f"it cannot be negative: {found}")
        return found

    def count(self, least: int = 0) -> int:
        """Returns the data as a whole number that is not negative."""
        found: int = self.of(int, "a whole number")
        problem = f"a whole number from {least} to {LARGEST_NUMBER} is expected here"
        self.check(least <= found <= LARGEST_NUMBER, problem)
        return found

    def items(self) -> list[Value]:
        """Returns the items of a list."""
        found = self.of(list, "a list")
        self.check(len(found) <= MOST_ITEMS, f"{len(found):,} items are more than the {MOST_ITEMS:,} allowed")
        return [Value(item, self.file, f"{self.path}[{number}]") for number, item in enumerate(found)]

    def fields(self) -> dict[str, Value]:
        """Returns the fields of an object, whatever they are called."""
        found = self.of(dict, "an object")
        self.check(len(found) <= MOST_ITEMS, f"{len(found):,} fields are more than the {MOST_ITEMS:,} allowed")
        made = {name: Value(each, self.file, f"{self.path}.{name}".lstrip(".")) for name, each in found.items()}
        for name, each in made.items():
            each.check(len(name) <= LONGEST_NAME, f"the name is longer than {LONGEST_NAME} characters")
        return made


def results_json(results: Results) -> str:
    """Returns results as `read_results` reads them."""
    return json.dumps(results.data(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_results(path: str | Path) -> Results:
    """Returns the results in a file; one that is no such file is refused with the field that is wrong."""
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
    """Returns results out of JSON's data."""
    root = Value(data, file)
    is_told = isinstance(data, dict) and "format" in data
    root.check(is_told, "these are no results of penstock costs: the field format is missing")
    problem = f"results of format {FORMAT} are expected; measure again, or read them with the version that wrote them"
    root.check(data["format"] == FORMAT and not isinstance(data["format"], bool), problem)
    made = _record(root, Results)
    rows = set()
    for row, value in zip(made.rows, Value(data["rows"], file, "rows").items(), strict=True):
        value.check((row.key, row.place) not in rows, f"the row stands there twice: {printable(named(row))}")
        rows.add((row.key, row.place))
    return made


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


def _record(value: Value, kind: type[T]) -> T:
    """Reads a dataclass, each field by its type; what is only added for other readers, such as `met`, is dropped."""
    added = _ADDED.get(kind, {})
    hints = {**get_type_hints(kind), **added}
    given = value.fields()
    for name in hints:
        value.check(name in given or name == "at_least", f"the field {name} is missing")
    for name in given:
        unknown = f"there is no field called {printable(name[:100])}{did_you_mean(name[:100], tuple(hints))}"
        value.check(name in hints, unknown)
    least = -LARGEST_NUMBER if kind is Measured else 0  # a difference may be less than nothing, what is spent may not
    found = {name: _field(each, hints[name], least) for name, each in given.items()}
    made = kind(**{name: each for name, each in found.items() if name not in added})
    if isinstance(made, Spread):
        value.check(made.low <= made.median <= made.high, "the median is not between its quartiles")
    if isinstance(made, Taken):
        given["runs"].count(1)
    return made


def _field(value: Value, hint: Any, least: float) -> Any:
    origin, inside = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return _record(value, hint)  # type: ignore[arg-type]  # it is a class, as hints are
    if origin is Literal:
        value.check(value.data in inside, f"one of {', '.join(map(str, inside))} is expected here")
        return value.data
    if origin is tuple:
        return tuple(_field(each, inside[0], least) for each in value.items())
    if origin is Mapping:
        return {name: _field(each, inside[1], least) for name, each in value.fields().items()}
    if inside:  # it may be null
        return None if value.data is None else _field(value, inside[0], least)
    if hint is float:
        return value.number(least=least)
    return _SIMPLE[hint](value)


def _plain(value: Value, depth: int = 0) -> Any:
    """Returns what an option holds: any data, so deep and no deeper."""
    value.check(depth <= DEEPEST, "it is nested too deeply")
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
            return {name: _plain(each, depth + 1) for name, each in value.fields().items()}


_SIMPLE: Final[Mapping[Any, Callable[[Value], Any]]] = MappingProxyType(
    {str: Value.text, int: Value.count, bool: lambda value: value.of(bool, "true or false"), Any: _plain}
)

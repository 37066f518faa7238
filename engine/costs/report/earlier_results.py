"""Earlier results: read from their file, each field checked by its type; and what has changed since in a later run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from statistics import median
from types import MappingProxyType, NoneType
from typing import Any, Final, Literal, NoReturn, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from engine.catalog import did_you_mean
from engine.costs.measuring import Measured, Spread, aligned
from engine.costs.results import (
    FORMAT,
    Results,
    Row,
    Taken,
    counted,
    divided,
    figure,
    kind,
    lines,
    named,
    run_on,
    span,
    times,
)
from engine.errors import ConfigurationException, Place, printable

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


_MOST_NAMED: Final = 5

Figure: TypeAlias = Literal["cpu_ms", "rate"]

LEAST_CHANGE: Final = 0.05
DRIFT: Final = 0.1  # by which programs by hand may differ before machines are said to


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of one row in both runs.

    It is beyond the spread when two things hold: the ranges between the quartiles do not overlap, so that not even
    the nearer quartiles of both runs meet, and the medians differ by more than 5 % of the earlier one. Either alone
    is no change: a busy minute moves the median of a wide range, and a quiet machine has ranges so narrow that a
    difference that no one would notice lies outside.
    """

    row: Row
    figure: Figure
    old: Spread
    new: Spread

    @property
    def ratio(self) -> float | None:
        """The later median beside the earlier one."""
        return divided(self.new.median, self.old.median)

    @property
    def beyond_spread(self) -> bool:
        """Returns whether the figure has changed by more than repeated runs differ."""
        apart = self.new.low > self.old.high or self.new.high < self.old.low
        return apart and abs(self.new.median - self.old.median) > LEAST_CHANGE * self.old.median

    @property
    def better(self) -> bool:
        """Returns whether the later figure is the better one: less processor time, or a higher rate."""
        lower, higher = self.old.median > self.new.median, self.old.median < self.new.median
        return higher if self.figure == "rate" else lower


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs: figures of rows measured in both, rows measured in one only, and what makes them hard to compare."""

    old_started: str
    new_started: str
    changes: tuple[Change, ...]
    appeared: tuple[Row, ...]
    vanished: tuple[Row, ...]
    warnings: tuple[str, ...]

    @property
    def flagged(self) -> tuple[Change, ...]:
        """The changes beyond the spread, the worst first."""
        found = [change for change in self.changes if change.beyond_spread]
        return tuple(sorted(found, key=lambda change: (change.better, -_size(change))))


def compare(old: Results, new: Results) -> Comparison:
    """Returns what has changed from `old` to `new`."""
    before = {(line.key, line.row.place): line.row for line in lines(old) if line.taken}
    after = {(line.key, line.row.place): line.row for line in lines(new) if line.taken}
    both = [(before[name], row) for name, row in after.items() if name in before]
    return Comparison(
        old_started=old.started,
        new_started=new.started,
        changes=tuple(change for pair in both for change in _changes(*pair)),
        appeared=tuple(row for name, row in after.items() if name not in before),
        vanished=tuple(row for name, row in before.items() if name not in after),
        warnings=(*_differences(old, new), *_drift(both)),
    )


def changes_table(comparison: Comparison) -> str:
    """A comparison as text: warnings, what changed beyond the spread, and rows that appeared or vanished."""
    flagged, rows = comparison.flagged, len(comparison.changes) // 2
    found = [f"Compared with the run of {comparison.old_started}: {counted(rows, 'row')} measured in both"]
    found += (f"  warning: {warning}" for warning in comparison.warnings)
    found.append(f"  {counted(len(flagged), 'figure')} changed beyond the spread")
    if flagged:
        head = ("row", "figure", "before", "quartiles", "now", "quartiles", "now/before", "")
        told = ((*texts, f"{judged:6}") for *texts, judged in map(cells, flagged))
        found += (f"  {line}" for line in aligned([head, *told], words=2))
    for word, rows_of in (("appeared", comparison.appeared), ("vanished", comparison.vanished)):
        found += (f"  {word}: {scenario}" for scenario in by_scenario(rows_of))
    return "\n".join(found) + "\n"


def by_scenario(rows: Iterable[Row]) -> Iterator[str]:
    """Rows in words, those of one scenario together."""
    kinds: dict[str, list[str]] = {}
    for row in rows:
        kinds.setdefault(f"{row.key.scenario}{run_on(row.place)}", []).append(kind(row.key))
    return (f"{scenario}, {' and '.join(found)}" for scenario, found in kinds.items())


def cells(change: Change) -> tuple[str, ...]:
    """A change in words: its row, its figure, medians and quartiles before and now, their ratio, and a verdict."""
    name = {"cpu_ms": "CPU ms", "rate": "rate"}[change.figure]
    old, new = change.old, change.new
    ranges = [(figure(each.median), span(each.low, each.high)) for each in (old, new)]
    return (
        named(change.row),
        name,
        *ranges[0],
        *ranges[1],
        times(change.ratio),
        "better" if change.better else "WORSE",
    )


def _changes(old: Row, new: Row) -> Iterator[Change]:
    if old.taken and new.taken:
        yield Change(new, "cpu_ms", old.taken.cpu_ms, new.taken.cpu_ms)
        yield Change(new, "rate", old.taken.rate, new.taken.rate)


def _size(change: Change) -> float:
    ratio = change.ratio or 1
    return max(ratio, divided(1, ratio) or ratio)


def _differences(old: Results, new: Results) -> Iterator[str]:
    for said, before, after, nothing in (
        ("the machines differ", old.machine, new.machine, "not said"),
        ("the runs were made differently", old.options, new.options, None),
    ):
        for name in sorted({*before, *after}):
            ours, theirs = before.get(name, nothing), after.get(name, nothing)
            if ours != theirs:
                yield f"{said} in {name}: {_difference(ours, theirs)}"


def _difference(before: Any, after: Any) -> str:
    """Returns what became of a value; of a list, what came and what went."""
    if not isinstance(before, list) or not isinstance(after, list):
        return f"{before}, now {after}"
    found = (("now with", after, before), ("now without", before, after))
    parts = [f"{words} {_some(only)}" for words, one, other in found if (only := [x for x in one if x not in other])]
    return " and ".join(parts) or "in another order"


def _some(values: list[Any]) -> str:
    more = f" and {len(values) - _MOST_NAMED} more" if len(values) > _MOST_NAMED else ""
    return ", ".join(map(str, values[:_MOST_NAMED])) + more


def _drift(both: list[tuple[Row, Row]]) -> Iterator[str]:
    """Programs by hand are the same work in both runs: where they take longer, the machine is slower or busier."""
    pairs = [(old.taken.limit_ms, new.taken.limit_ms) for old, new in both if old.taken and new.taken]
    found = [divided(new.median, old.median) for old, new in pairs if old and new]
    ratios = [ratio for ratio in found if ratio is not None]
    if ratios and not 1 - DRIFT <= (moved := median(ratios)) <= 1 + DRIFT:
        yield f"the programs by hand took {times(moved)} what they took before: the machine is another, or busier"

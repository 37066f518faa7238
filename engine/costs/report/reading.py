"""Reading results: the JSON that a run has written, checked field by field, and the same written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NoReturn, get_args, get_type_hints

from engine.costs.bounds import Measured
from engine.costs.report.fields import Value
from engine.costs.report.wording import named, printable
from engine.costs.results import FORMAT, Key, Node, Results, Row, Spread, Taken
from engine.costs.results import Place as RunOn
from engine.errors import ConfigurationException, Place

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

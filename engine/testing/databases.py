"""Tables of databases in tests: filled before a case, in databases of its own, and looked at behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from engine.databases.definitions import Definition
from engine.databases.session import Access, Connection, Session
from engine.databases.sources import Sources
from engine.databases.statements import Insert, Passthru, Select
from engine.errors import BrokerError, ConfigurationException
from engine.testing.case import ExpectedTable, GivenTable, Text
from flows.yaml_document import Scalar

if TYPE_CHECKING:
    from engine.testing.case import Case
    from engine.testing.messages import Tables
    from flows.yaml_document import Tree

TABLE: Final = ("columns", "rows")
_TYPE: Final = re.compile(r"[A-Za-z][\w ]*(\(\s*\d+\s*(,\s*\d+\s*)?\))?[\w ]*")
_IN_MEMORY: Final = "sqlite://"
_BYTES: Final = re.compile(r"blob|binary|bytea", re.IGNORECASE)
_HEX: Final = re.compile(r"(?:X')?((?:[0-9A-Fa-f]{2})*)'?")


@dataclass(frozen=True, slots=True)
class FoundTable:
    """The rows of a table behind a case, or why it could not be looked at."""

    names: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    problem: str = ""


def given_tables(tables: Tables, tree: Tree | None) -> list[GivenTable]:
    """`tables: {SOURCE: {TABLE: {columns: {COL: TYPE}, rows: [{…}]}}}`."""
    made = []
    for source, inside in tables.entries(tree, "tables"):
        for name, content in tables.entries(inside, f"tables of {source.text}"):
            found = tables.table(content, f"table {name.text}", TABLE)
            columns = [
                (key.text, tables.text(kind, key.text)) for key, kind in tables.entries(found.get("columns"), "columns")
            ]
            for column, kind in columns:
                if not _TYPE.fullmatch(kind):
                    tables.complain(name.place, f"{column} of {name.text} has no type of SQL, such as DECIMAL(12,2)")
            if not columns:
                tables.complain(name.place, f"table {name.text} needs columns: {{NAME: TYPE}}")
            rows = _rows(tables, found.get("rows"), [column for column, _ in columns])
            made.append(GivenTable(source.text, name.text, tuple(columns), rows, name.place))
    return made


def expected_tables(tables: Tables, tree: Tree | None) -> tuple[ExpectedTable, ...]:
    """`expect: {tables: {SOURCE: {TABLE: [{…}]}}}`."""
    return tuple(
        ExpectedTable(source.text, name.text, _rows(tables, rows), name.place)
        for source, inside in tables.entries(tree, "tables")
        for name, rows in tables.entries(inside, f"tables of {source.text}")
    )


def _rows(tables: Tables, tree: Tree | None, known: Sequence[str] | None = None) -> tuple[dict[str, Text], ...]:
    made = []
    for item in tables.items(tree):
        row = {}
        for key, value in tables.entries(item, "a row"):
            if known and key.text not in known:
                tables.complain(key.place, f"there is no column {key.text}; it has {', '.join(known)}", key.text)
            row[key.text] = _text(tables, value)
        made.append(row)
    return tuple(made)


def _text(tables: Tables, tree: Tree) -> Text:
    if isinstance(tree, Scalar):
        return tables.value(tree)
    tables.complain(tree.place, "a value of a row is a text, a number, true, false or null")
    return Text(None)


@contextmanager
def databases_of(case: Case, given: Sources | None) -> Iterator[Sources | None]:
    """The data sources of a case, with its tables in them: those that were given, else each in memory."""
    spoken_of = [one.source for one in case.tables] + [one.source for one in case.expected.tables]
    names = list(dict.fromkeys(spoken_of))
    if not names:
        yield given
        return
    known = {one.name: one for one in (given.definitions if given else ())}
    others = [Definition(name, _IN_MEMORY) for name in names if name not in known]
    made = Sources([*known.values(), *others], stand_in=True)
    created: list[GivenTable] = []
    try:
        for table in case.tables:
            _create(made, table)
            created.append(table)
        yield made
    finally:
        for table in reversed(created):
            if table.source in known:
                _execute(made, table.source, f"DROP TABLE {_quoted(table.name)}")
        made.close()


def _create(sources: Sources, table: GivenTable) -> None:
    columns = ", ".join(f"{_quoted(name)} {kind}" for name, kind in table.columns)
    try:
        _execute(sources, table.source, f"CREATE TABLE {_quoted(table.name)} ({columns})")
        kinds = dict(table.columns)
        session = Session(sources)
        connection = Connection(Access(table.source), session)
        for row in table.rows:
            statement = Insert(tuple(row), (table.name,))
            values = tuple(_value(text.text, kinds[name]) for name, text in row.items())
            connection.execute(statement, (table.name,), values)
        session.commit()
    except BrokerError as error:
        text = f"table {table.name} of data source {table.source} cannot be made: {error.text}"
        raise ConfigurationException(text).at(table.place) from error


def _execute(sources: Sources, source: str, sql: str) -> None:
    session = Session(sources)
    Connection(Access(source), session).execute(Passthru(), (), (sql,))
    session.commit()


def _quoted(name: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))


def _value(text: str | None, kind: str) -> Any:
    """A value as the database takes it; bytes are written in hexadecimal digits."""
    if text is None:
        return None
    if _BYTES.search(kind) and (found := _HEX.fullmatch(text)):
        return bytes.fromhex(found[1])
    if kind.upper().startswith("BOOL") and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    return text


def found_tables(sources: Sources | None, expected: Sequence[ExpectedTable]) -> list[FoundTable]:
    """Returns the contents of the tables that a case expects something of, as they are after the case."""
    found = []
    for table in expected:
        assert sources is not None  # a case that speaks of tables has them
        session = Session(sources)
        try:
            place = tuple(table.name.split("."))
            answer = Connection(Access(table.source), session).execute(Select((), None, place), place, ())
            found.append(FoundTable(answer.names, tuple(map(tuple, answer.rows))))
        except BrokerError as error:
            found.append(FoundTable(problem=error.text))
        finally:
            session.back_out()
    return found


def differences(expected: ExpectedTable, found: FoundTable, agrees: Callable[[Text, Any], bool]) -> list[str]:
    """The rows that are missing and those that are too many, in lines."""
    if found.problem:
        return [found.problem]
    left = [dict(zip((name.lower() for name in found.names), row, strict=True)) for row in found.rows]
    lines = []
    for wanted in expected.rows:
        match = next((row for row in left if _fits(row, wanted, agrees)), None)
        if match is None:
            lines.append(f"missing  {_shown({name: text.text for name, text in wanted.items()})}")
        else:
            left.remove(match)
    return [*lines, *(f"found    {_shown(row)}" for row in left)]


def _shown(row: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {'null' if value is None else _told(value)}" for name, value in row.items()) + "}"


def _fits(row: dict[str, Any], wanted: dict[str, Text], agrees: Callable[[Text, Any], bool]) -> bool:
    return all(name.lower() in row and agrees(text, row[name.lower()]) for name, text in wanted.items())


def _told(value: Any) -> str:
    return value.hex().upper() if isinstance(value, bytes) else str(value)

"""Tables as a database has them, found by the names that programs write."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy.types import DECIMAL, NUMERIC, TIME, TIMESTAMP, Interval

from engine.catalog import did_you_mean
from engine.databases.driver import ColumnType

# By the names of SQLAlchemy's types, upper case, and those that they are kinds of.
_KINDS: Final = MappingProxyType(
    {
        **dict.fromkeys(("BOOLEAN",), "boolean"),
        **dict.fromkeys(("INTEGER",), "integer"),
        **dict.fromkeys(("FLOAT", "REAL", "DOUBLE"), "float"),
        **dict.fromkeys(("NUMERIC",), "decimal"),
        **dict.fromkeys(("DATETIME", "TIMESTAMP"), "timestamp"),
        **dict.fromkeys(("DATE",), "date"),
        **dict.fromkeys(("TIME",), "time"),
        **dict.fromkeys(("INTERVAL",), "interval"),
        **dict.fromkeys(("_BINARY", "LARGEBINARY", "BLOB"), "blob"),
        **dict.fromkeys(("STRING", "TEXT", "VARCHAR"), "text"),
    }
)
_LOOSE_NAMES: Final = MappingProxyType(
    {
        **dict.fromkeys(("NUMERIC", "NUMBER", "DEC"), DECIMAL),
        **dict.fromkeys(("TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMPTZ"), TIMESTAMP),
        **dict.fromkeys(("TIME WITH TIME ZONE", "TIME WITHOUT TIME ZONE", "TIMETZ"), TIME),
        "INTERVAL": Interval,
    }
)


class NotFoundError(Exception):
    """There is no table or column of a name; the text says what is near."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its exact name."""

    name: str
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Table:
    """A table by its exact names; `schema` is empty where it is the one that is looked in first."""

    schema: str
    name: str
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """The column of exactly that name, else the only one that differs in case; raises NotFoundError."""
        exact = found_name(name, [one.name for one in self.columns])
        if exact is None:
            near = did_you_mean(name, [one.name for one in self.columns])
            known = near or f"; it has {', '.join(one.name for one in self.columns[:12])}"
            raise NotFoundError(f"table {self.name} has no column {name}{known}")
        return next(one for one in self.columns if one.name == exact)


def found_name(name: str, known: Sequence[str]) -> str | None:
    """The name that is exactly this one, else the only one that differs in case alone.

    >>> found_name("CUSTOMER", ["customer", "orders"]), found_name("A", ["a", "A"]), found_name("X", ["xx"])
    ('customer', 'A', None)
    """
    if name in known:
        return name
    alike = [one for one in known if one.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def reflected(inspector: Any, schema: str, name: str) -> Table:
    """Look a table or view up; raises NotFoundError."""
    is_loose = inspector.dialect.name == "sqlite"  # any word may be a type there, and NUMERIC stands for the unknown
    if is_loose:
        inspector.dialect.ischema_names = {**inspector.dialect.ischema_names, **_LOOSE_NAMES}
    exact_schema = ""
    if schema:
        found = found_name(schema, inspector.get_schema_names())
        if found is None:
            near = did_you_mean(schema, inspector.get_schema_names())
            raise NotFoundError(f"there is no schema {schema}{near}")
        exact_schema = found
    known = _tables(inspector, exact_schema or None)
    exact = found_name(name, known)
    if exact is None:
        near = did_you_mean(name, known) or (f"; there are {', '.join(known[:12])}" if known else "; there is none")
        raise NotFoundError(f"there is no table {name}{near}")
    columns = inspector.get_columns(exact, exact_schema or None)
    return Table(exact_schema, exact, tuple(Column(str(one["name"]), _type(one["type"], is_loose)) for one in columns))


def _tables(inspector: Any, schema: str | None) -> list[str]:
    found = [*inspector.get_table_names(schema), *inspector.get_view_names(schema)]
    if hasattr(inspector, "get_materialized_view_names"):
        with suppress(NotImplementedError):
            found += inspector.get_materialized_view_names(schema)
    if schema is None:
        for names in (inspector.get_temp_table_names, inspector.get_temp_view_names):
            with suppress(NotImplementedError):
                found += names()
    return list(dict.fromkeys(map(str, found)))


def _type(type_: Any, is_loose: bool) -> ColumnType:
    """The kind of a column from SQLAlchemy's type of it; none for moments with a zone, which are bound as they are."""
    if is_loose and type(type_) is NUMERIC:
        return ColumnType("")
    for kind in type(type_).__mro__:
        found = _KINDS.get(kind.__name__.upper())
        if found == "decimal":
            return ColumnType(found, type_.scale, type_.precision)
        if found:
            return ColumnType("" if getattr(type_, "timezone", False) else found)
    return ColumnType("")

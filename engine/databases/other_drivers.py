"""Other databases by their own drivers: what SQLAlchemy's dialects and Python's database API say, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Final

from engine.databases.driver import (
    Binder,
    ColumnType,
    Duration,
    Reader,
    State,
    WithoutFirstPhase,
    operation,
    with_markers,
)
from engine.databases.errors import GENERAL

_MARKERS: Final = MappingProxyType({"qmark": "?", "format": "%s", "pyformat": "%s"})
_FUNCTIONS: Final = MappingProxyType({"UCASE": "UPPER", "LCASE": "LOWER", "ABSVAL": "ABS", "CEILING": "CEIL"})
_TYPES: Final = MappingProxyType({"text": "CHAR", "float": "DOUBLE PRECISION"})


class AnyDatabase(WithoutFirstPhase):
    """A database that is spoken to as every one can be: without savepoints and without a first phase of commit."""

    converts = True
    single_writer = False

    def __init__(self, dialect: Any) -> None:
        self._dialect = dialect
        self.name = str(dialect.name)
        self.errors: tuple[type[BaseException], ...] = (dialect.loaded_dbapi.Error, ValueError, TypeError)

    def arguments(self, url: Any) -> dict[str, Any]:
        return {}

    def opened(self, connection: Any) -> None:
        """Nothing is to be set up."""

    def cursor(self, connection: Any) -> Any:
        return connection.cursor()

    def execute(self, cursor: Any, sql: str, values: Sequence[Any], *, prepared: bool) -> None:
        if values:
            cursor.execute(sql, tuple(values))
        else:
            cursor.execute(sql)

    def binder(self, type_: ColumnType) -> Binder | None:
        return _adapted

    def reader(self, type_: ColumnType) -> Reader | None:
        return None

    def quoted(self, name: str) -> str:
        return str(self._dialect.identifier_preparer.quote_identifier(name))

    def marker(self, number: int) -> str:
        return _MARKERS.get(self._dialect.paramstyle, f":{number}")

    def operation(self, operator: str, operands: Sequence[str], types: Sequence[ColumnType]) -> str:
        return operation(operator, operands, _FUNCTIONS)

    def converted(self, sql: str, to: ColumnType) -> str:
        size = f"({to.precision}, {to.scale or 0})" if to.precision else ""
        return f"CAST({sql} AS {_TYPES.get(to.kind, to.kind.upper())}{size})"

    def passthru(self, sql: str, *, has_values: bool) -> str:
        is_percent = self._dialect.paramstyle in {"format", "pyformat"}
        return with_markers(sql, self.marker, "%%" if is_percent else "%") if has_values else sql

    def begin(self, connection: Any) -> None:
        """Python's database API begins by itself."""

    def protect(self, connection: Any, *, first: bool) -> None:
        """These databases undo a statement that fails, and no more."""

    def restore(self, connection: Any) -> bool:
        return True

    def command(self, connection: Any, sql: str) -> None:
        connection.cursor().execute(sql)

    def commit(self, connection: Any) -> None:
        connection.commit()

    def rollback(self, connection: Any) -> None:
        connection.rollback()

    def state(self, error: BaseException) -> State:
        state = getattr(error, "sqlstate", None) or GENERAL
        native = next((one for one in error.args if isinstance(one, int)), 0)
        return State(str(state), native, " ".join(str(error).split()))

    def is_broken(self, connection: Any, error: BaseException) -> bool:
        return bool(self._dialect.is_disconnect(error, connection, None))


def _adapted(value: Any) -> Any:
    return str(value) if isinstance(value, Duration) else value

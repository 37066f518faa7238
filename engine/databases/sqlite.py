"""SQLite: exact decimals and integers, moments and bytes by the declared type of a column, one writer at a time."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Final

from engine.databases.driver import Binder, ColumnType, Reader, State, WithoutFirstPhase, operation
from engine.databases.errors import GENERAL, NO_COLUMN, NO_TABLE
from engine.databases.sqlite_functions import register
from engine.databases.sqlite_values import CONVERTERS, binder, is_wide, reader

_STATES: Final = MappingProxyType(
    {
        sqlite3.SQLITE_CONSTRAINT_UNIQUE: "23505",
        sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: "23505",
        sqlite3.SQLITE_CONSTRAINT_ROWID: "23505",
        sqlite3.SQLITE_CONSTRAINT_NOTNULL: "23502",
        sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: "23503",
        sqlite3.SQLITE_CONSTRAINT_CHECK: "23514",
        sqlite3.SQLITE_CONSTRAINT: "23000",
        sqlite3.SQLITE_BUSY: "HYT00",
        sqlite3.SQLITE_LOCKED: "HYT00",
        sqlite3.SQLITE_READONLY: "25006",
        sqlite3.SQLITE_FULL: "53100",
        sqlite3.SQLITE_MISMATCH: "22018",
        sqlite3.SQLITE_CANTOPEN: "08001",
        sqlite3.SQLITE_NOTADB: "08001",
    }
)
_WORDS: Final = (
    ("no such table", NO_TABLE),
    ("no such column", NO_COLUMN),
    ("syntax error", "42000"),
    ("user-defined", "22000"),
)
_REFUSED: Final = (
    "user-defined function raised exception",
    "a number that SQL has worked out is too large, or was made of no number (user-defined function)",
)
_NATIVE: Final = frozenset(("integer", "float"))
_FUNCTIONS: Final = MappingProxyType(
    {
        **{
            name: f"penstock_{name.lower()}" for name in ("LEFT", "OVERLAY", "RIGHT", "ROUND", "SUBSTRING", "TRANSLATE")
        },
        **dict.fromkeys(("UCASE", "UPPER"), "penstock_upper"),
        **dict.fromkeys(("LCASE", "LOWER"), "penstock_lower"),
        **dict.fromkeys(("ABS", "ABSVAL"), "penstock_abs"),
        "LIKE": "penstock_like",
        "NOT LIKE": "NOT penstock_like",
        "TRUNCATE": "penstock_truncate",
        "CEILING": "CEIL",
        "LOG": "LN",
        "POSITION": "INSTR",
    }
)
_ARITHMETIC: Final = frozenset(("+", "-", "*", "/", "MOD"))
_AGGREGATES: Final = frozenset(("SUM", "MIN", "MAX"))
_ORDERING: Final = frozenset(("<", ">", "<=", ">=", "BETWEEN", "NOT BETWEEN"))
_EQUATING: Final = frozenset(("=", "<>", "IN", "NOT IN"))


class SQLite(WithoutFirstPhase):
    """SQLite: reads stand outside transactions until the unit writes; a failed statement leaves the unit usable."""

    name = "sqlite"
    converts = False
    single_writer = True
    errors: tuple[type[BaseException], ...] = (sqlite3.Error, sqlite3.Warning, ValueError, TypeError, OverflowError)

    def arguments(self, url: Any) -> dict[str, Any]:
        given: dict[str, Any] = {
            "check_same_thread": False,
            "isolation_level": None,
            "cached_statements": 512,
            "timeout": float(url.query.get("timeout", 30)),
            "detect_types": sqlite3.PARSE_DECLTYPES,
        }
        found: dict[str, Any] = {"connect_args": given, "pool_reset_on_return": None}
        if url.database in {None, "", ":memory:"}:
            from sqlalchemy.pool import QueuePool

            name = f"file:/penstock-{uuid.uuid4().hex}?vfs=memdb"
            keeper = sqlite3.connect(name, uri=True, check_same_thread=False)  # what it holds lasts as long as this

            def connect() -> Any:
                keeper.total_changes  # noqa: B018 - kept alive
                return sqlite3.connect(name, uri=True, **given)

            found = {"creator": connect, "poolclass": QueuePool, "pool_reset_on_return": None}
        return found

    def opened(self, connection: Any) -> None:
        for word, convert in CONVERTERS.items():
            sqlite3.register_converter(word, convert)
        register(connection)
        connection.execute("PRAGMA foreign_keys = ON")  # off by itself, for what SQLite was before it knew them

    def cursor(self, connection: Any) -> Any:
        return connection.cursor()

    def execute(self, cursor: Any, sql: str, values: Sequence[Any], *, prepared: bool) -> None:
        cursor.execute(sql, values)

    def binder(self, type_: ColumnType) -> Binder | None:
        return binder(type_)

    def reader(self, type_: ColumnType) -> Reader | None:
        return reader(type_)

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def marker(self, number: int) -> str:
        return "?"

    def operation(self, operator: str, operands: Sequence[str], types: Sequence[ColumnType]) -> str:
        """An operator or a function on operands: exact where decimals take part."""
        if operator in _ARITHMETIC and len(operands) > 1 and not _NATIVE.issuperset(one.kind for one in types):
            return self._computed(operator, operands, types)
        if operator == "-" and types[0].kind == "decimal":
            return self._computed("-", ("0", *operands), (ColumnType("integer"), *types))
        if operator in _AGGREGATES and operands and _is_exact(operator, types[0]):
            return f"penstock_{operator.lower()}({_as_decimal(operands[0], types[0])})"
        is_compared = operator in _ORDERING or (operator in _EQUATING and any(one.computed for one in types))
        if is_compared and any(map(is_wide, types)):
            operands = [f"penstock_sortable({one})" for one in operands]
        return operation(operator, operands, _FUNCTIONS)

    @staticmethod
    def _computed(operator: str, operands: Sequence[str], types: Sequence[ColumnType]) -> str:
        first, *others = map(_as_decimal, operands, types)
        for other in others:
            first = f"penstock_computed('{operator}', {first}, {other})"
        return first

    def converted(self, sql: str, to: ColumnType) -> str:
        size = ("NULL" if one is None else str(one) for one in (to.precision, to.scale))
        return f"penstock_converted({sql}, '{to.kind}', {', '.join(size)})"

    def passthru(self, sql: str, *, has_values: bool) -> str:
        return sql

    def begin(self, connection: Any) -> None:
        connection.execute("BEGIN IMMEDIATE")

    def protect(self, connection: Any, *, first: bool) -> None:
        """Nothing is to be done: SQLite undoes a statement that fails, and no more."""

    def restore(self, connection: Any) -> bool:
        return bool(connection.in_transaction)

    def command(self, connection: Any, sql: str) -> None:
        connection.execute(sql)

    def commit(self, connection: Any) -> None:
        connection.execute("COMMIT")

    def rollback(self, connection: Any) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")

    def state(self, error: BaseException) -> State:
        text = " ".join(str(error).split()).replace(*_REFUSED)
        code = int(getattr(error, "sqlite_errorcode", 0) or 0)
        found = _STATES.get(code) or _STATES.get(code & 0xFF)
        by_words = next((state for words, state in _WORDS if words in text), None)
        if isinstance(error, ValueError | TypeError | OverflowError):
            by_words = getattr(error, "state", "22000")
        return State(by_words or found or GENERAL, code, text)

    def is_broken(self, connection: Any, error: BaseException) -> bool:
        return False


def _is_exact(operator: str, type_: ColumnType) -> bool:
    return is_wide(type_) or type_.computed or (operator == "SUM" and type_.kind == "decimal")


def _as_decimal(sql: str, type_: ColumnType) -> str:
    """The operand of arithmetic; what a decimal column holds as a REAL is no FLOAT."""
    return f"penstock_decimal({sql})" if type_.kind == "decimal" and not type_.computed else sql

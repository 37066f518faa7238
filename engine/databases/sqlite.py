"""SQLite: exact decimals and integers, moments and bytes by the declared type of a column, one writer at a time."""

from __future__ import annotations

import re
import sqlite3
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from engine.databases.driver import ColumnType, Duration, Reader, State, decimal_scale
from engine.databases.errors import GENERAL, NO_COLUMN, NO_TABLE

_PLAIN: Final = frozenset((str, int, float, bytes, type(None)))
_DIGITS: Final = 15  # that a REAL keeps of a decimal
_LARGEST: Final = 2**63
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
_WORDS: Final = (("no such table", NO_TABLE), ("no such column", NO_COLUMN), ("syntax error", "42000"))
_FUNCTIONS: Final = MappingProxyType(
    {
        "UCASE": "penstock_upper",
        "UPPER": "penstock_upper",
        "LCASE": "penstock_lower",
        "LOWER": "penstock_lower",
        "ABSVAL": "ABS",
        "SUBSTRING": "penstock_substring",
        "LIKE": "penstock_like",
        "CEILING": "CEIL",
    }
)


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _substring(value: Any, start: Any, length: Any = None) -> Any:
    """SUBSTRING as SQL has it: what of the string lies between two places, which may be outside it."""
    if value is None or start is None:
        return None
    text = value if isinstance(value, str | bytes) else str(value)
    end = len(text) + 1 if length is None else start + max(length, 0)
    return text[max(start, 1) - 1 : max(end, 1) - 1]


def _like(value: Any, pattern: Any, escape: Any = "\\") -> bool | None:
    """LIKE as SQL has it: upper and lower case differ."""
    if value is None or pattern is None or escape is None:
        return None
    return _pattern(str(pattern), str(escape)).fullmatch(str(value)) is not None


@lru_cache(maxsize=256)
def _pattern(pattern: str, escape: str) -> re.Pattern[str]:
    made, is_escaped = "", False
    for char in pattern:
        if is_escaped or char not in {escape, "%", "_"}:
            made, is_escaped = made + re.escape(char), False
        elif char == escape:
            is_escaped = True
        else:
            made += ".*" if char == "%" else "."
    return re.compile(made, re.DOTALL)


def _lenient(read: Callable[[str], Any]) -> Callable[[bytes], Any]:
    """A converter of what a column holds; what is no value of the declared type stays text."""

    def converted(data: bytes) -> Any:
        try:
            return read(data.decode())
        except (ValueError, InvalidOperation):
            return data.decode(errors="replace")

    return converted


def _boolean(text: str) -> bool:
    return {"0": False, "1": True, "false": False, "true": True}[text.lower()] if text.lower() in _TRUTHS else _no(text)


_TRUTHS: Final = frozenset(("0", "1", "false", "true"))


def _no(text: str) -> bool:
    raise ValueError(text)


def _date(text: str) -> date:
    return date.fromisoformat(text[:10]) if len(text) in {10, 19} else date.fromisoformat(text)


def _duration(text: str) -> Duration:
    """An interval as `Duration` writes it."""
    sign = -1 if text.startswith("-") else 1
    months = re.fullmatch(r"-?(\d+)-(\d\d)", text)
    if months:
        return Duration(sign * (int(months[1]) * 12 + int(months[2])))
    clock = re.fullmatch(r"-?(\d+) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?", text)
    if clock is None:
        raise ValueError(text)
    days, hours, minutes, seconds = (int(clock[number]) for number in range(1, 5))
    whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return Duration(0, sign * (whole * 1_000_000 + int((clock[5] or "").ljust(6, "0"))))


_CONVERTERS: Final = MappingProxyType(
    {
        **dict.fromkeys(("DECIMAL", "NUMERIC", "DEC"), _lenient(Decimal)),
        **dict.fromkeys(("TIMESTAMP", "DATETIME"), _lenient(datetime.fromisoformat)),
        **dict.fromkeys(("BOOLEAN", "BOOL"), _lenient(_boolean)),
        "DATE": _lenient(_date),
        "TIME": _lenient(time.fromisoformat),
        "INTERVAL": _lenient(_duration),
    }
)


class SQLite:
    """SQLite: reads stand outside transactions until the unit writes; a failed statement leaves the unit usable."""

    name = "sqlite"
    prepares = False
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
        for word, convert in _CONVERTERS.items():
            sqlite3.register_converter(word, convert)
        for name, count, function in (
            ("penstock_upper", 1, _upper),
            ("penstock_lower", 1, _lower),
            ("penstock_substring", -1, _substring),
            ("penstock_like", -1, _like),
        ):
            connection.create_function(name, count, function, deterministic=True)

    def cursor(self, connection: Any) -> Any:
        return connection.cursor()

    def execute(self, cursor: Any, sql: str, values: Sequence[Any], *, prepared: bool) -> None:
        cursor.execute(sql, values)

    def bound(self, values: Sequence[Any], types: Sequence[ColumnType]) -> Sequence[Any]:
        if _PLAIN.issuperset(map(type, values)):
            return values
        return [_bound(value, type_.kind) for value, type_ in zip(values, types, strict=True)]

    def reader(self, type_: ColumnType) -> Reader | None:
        scale = decimal_scale(type_)
        if scale is None:
            return None
        unit = Decimal(1).scaleb(-scale)

        def scaled(value: Any) -> Any:
            found = Decimal(value) if isinstance(value, int) else value
            if isinstance(found, float):
                found = Decimal(repr(found))
            return found.quantize(unit) if isinstance(found, Decimal) and found.is_finite() else found

        return scaled

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def marker(self, number: int) -> str:
        return "?"

    def function(self, name: str, operands: list[str]) -> str:
        if name == "NOT LIKE":
            return f"NOT penstock_like({', '.join(operands)})"
        return f"{_FUNCTIONS.get(name, name)}({', '.join(operands)})"

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

    def room(self, connection: Any) -> int:
        return 0

    def prepare(self, connection: Any, gid: str) -> None:
        raise TypeError(f"{self.name} cannot prepare a unit of work")

    def resolve(self, connection: Any, gid: str, *, commits: bool) -> bool:
        return False

    def prepared(self, connection: Any, prefix: str) -> list[str]:
        return []

    def state(self, error: BaseException) -> State:
        text = " ".join(str(error).split())
        code = int(getattr(error, "sqlite_errorcode", 0) or 0)
        found = _STATES.get(code) or _STATES.get(code & 0xFF)
        by_words = next((state for words, state in _WORDS if words in text), None)
        if isinstance(error, ValueError | TypeError | OverflowError):
            by_words = "22000"
        return State(by_words or found or GENERAL, code, text)

    def is_broken(self, connection: Any, error: BaseException) -> bool:
        return False


def _bound(value: Any, kind: str) -> Any:
    if isinstance(value, Decimal):
        return _decimal(value, kind)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime):
        moment = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        return moment.date().isoformat() if kind == "date" else moment.isoformat(" ")
    if isinstance(value, time):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, date):
        return f"{value.isoformat()} 00:00:00" if kind == "timestamp" else value.isoformat()
    return str(value) if isinstance(value, Duration) else value


def _decimal(value: Decimal, kind: str) -> Any:
    """A decimal as SQLite keeps it exactly; raises where it cannot."""
    if kind == "text":
        return str(value)
    if value.is_finite() and value == value.to_integral_value() and abs(value) < _LARGEST:
        return int(value)
    if not value.is_finite():
        return float(value) if value.is_infinite() else str(value)
    digits = value.normalize().as_tuple().digits
    if len(digits) > _DIGITS:
        if not kind:
            return str(value)  # it is compared, or part of what is computed
        text = f"SQLite keeps {_DIGITS} digits of a decimal and {value} has {len(digits)}: declare the column TEXT"
        raise ValueError(text)
    return float(value)

"""PostgreSQL by psycopg: prepared statements, savepoints, and the first phase of a two-phase commit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from types import MappingProxyType
from typing import Any, Final

import psycopg
from psycopg import errors as refused
from psycopg.adapt import Dumper, Loader
from psycopg.pq import ExecStatus
from psycopg.types.datetime import TimestamptzLoader, TimetzLoader
from psycopg.types.string import TextLoader

from engine.databases.driver import Binder, ColumnType, Duration, Reader, State, operation, with_markers
from engine.databases.errors import BROKEN, GENERAL, NO_COLUMN, NO_TABLE

_INTERVAL: Final = 1186
_SAVED: Final = b"SAVEPOINT penstock"
_SAVED_AGAIN: Final = b"RELEASE SAVEPOINT penstock; SAVEPOINT penstock"
_RESTORED: Final = b"ROLLBACK TO SAVEPOINT penstock"
_AS_ODBC: Final = MappingProxyType({"42P01": NO_TABLE, "3F000": NO_TABLE, "42703": NO_COLUMN})
_AS_TEXT: Final = ("json", "jsonb", "uuid", "inet", "cidr", "money", "xml", "bit", "varbit", "name", "hstore")
_PART: Final = re.compile(r"([+-]?\d+) (year|mon|day)s?")
_CLOCK: Final = re.compile(r"([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?")
_STATES: Final = ((psycopg.OperationalError, BROKEN), (psycopg.DataError, "22000"), (ValueError, "22000"))
_UNITS: Final = MappingProxyType({"year": (12, 0), "mon": (1, 0), "day": (0, 86_400_000_000)})
_FUNCTIONS: Final = MappingProxyType(
    {
        "UCASE": "UPPER",
        "LCASE": "LOWER",
        "ABSVAL": "ABS",
        "CEILING": "CEIL",
        "TRUNCATE": "TRUNC",
        "POSITION": "STRPOS",
        "REPLICATE": "REPEAT",
        "LOG": "LN",
        "LOG10": "LOG",
    }
)
_TO_PLACES: Final = frozenset(("ROUND", "TRUNCATE"))
_TYPES: Final = MappingProxyType(
    {
        "text": "text",
        "integer": "bigint",
        "decimal": "numeric",
        "float": "double precision",
        "boolean": "boolean",
        "date": "date",
        "time": "time",
        "timestamp": "timestamp",
    }
)


class _DurationDumper(Dumper):
    """Writes intervals."""

    oid = _INTERVAL

    def dump(self, obj: Duration) -> bytes:
        return f"{obj.months} months {obj.microseconds} microseconds".encode()


class _DurationLoader(Loader):
    """Reads intervals, months included."""

    def load(self, data: Any) -> Duration:
        return duration_of(bytes(data).decode())


class _GmtTimestampLoader(TimestamptzLoader):
    """Reads timestamps with a time zone as those of GMT."""

    def load(self, data: Any) -> datetime:
        return super().load(data).astimezone(UTC)


class _GmtTimeLoader(TimetzLoader):
    """Reads times with a time zone as those of GMT."""

    def load(self, data: Any) -> time:
        found = super().load(data)
        return datetime.combine(datetime(2000, 1, 2), found).astimezone(UTC).timetz()


def duration_of(text: str) -> Duration:
    """An interval as PostgreSQL writes it.

    >>> duration_of("1 year 2 mons"), duration_of("-1 days +02:03:04.5")
    (Duration(months=14, microseconds=0), Duration(months=0, microseconds=-79015500000))
    """
    months = microseconds = 0
    for amount, unit in _PART.findall(text):
        per_month, per_day = _UNITS[unit]
        months += int(amount) * per_month
        microseconds += int(amount) * per_day
    clock = _CLOCK.search(text)
    if clock:
        sign, hours, minutes, seconds, fraction = clock.groups()
        size = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 1_000_000 + int((fraction or "").ljust(6, "0"))
        microseconds += -size if sign == "-" else size
    return Duration(months, microseconds)


class PostgreSQL:
    """PostgreSQL: reads stand outside transactions until the unit has written something, as READ COMMITTED allows."""

    name = "postgresql"
    prepares = True
    converts = True
    single_writer = False
    errors: tuple[type[BaseException], ...] = (psycopg.Error, ValueError, TypeError, OverflowError)

    def arguments(self, url: Any) -> dict[str, Any]:
        given = {key: value for key, value in _DEFAULTS.items() if key not in url.query}
        return {"connect_args": given, "isolation_level": "AUTOCOMMIT", "pool_reset_on_return": None}

    def opened(self, connection: Any) -> None:
        connection.autocommit = True
        adapters = connection.adapters
        adapters.register_dumper(Duration, _DurationDumper)
        adapters.register_loader("interval", _DurationLoader)
        adapters.register_loader("timestamptz", _GmtTimestampLoader)
        adapters.register_loader("timetz", _GmtTimeLoader)
        for kind in _AS_TEXT:
            if adapters.types.get(kind):
                adapters.register_loader(kind, TextLoader)
        for info in list(adapters.types):
            if info.array_oid and info.array_oid != info.oid:
                adapters.register_loader(info.array_oid, TextLoader)

    def cursor(self, connection: Any) -> Any:
        return psycopg.RawCursor(connection)

    def execute(self, cursor: Any, sql: str, values: Sequence[Any], *, prepared: bool) -> None:
        cursor.execute(sql, values or None, prepare=True if prepared else None)

    def binder(self, type_: ColumnType) -> Binder | None:
        return _BINDERS.get(type_.kind)

    def reader(self, type_: ColumnType) -> Reader | None:
        return None

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def marker(self, number: int) -> str:
        return f"${number}"

    def operation(self, operator: str, operands: Sequence[str], types: Sequence[ColumnType]) -> str:
        if operator.endswith("LIKE") and len(operands) == 2:
            operands = (*operands, _BACKSLASH)
        if operator == "MOD" or (operator in _TO_PLACES and len(operands) > 1):
            operands = (f"CAST({operands[0]} AS numeric)", *operands[1:])
        return operation(operator, operands, _FUNCTIONS)

    def converted(self, sql: str, to: ColumnType) -> str:
        size = f"({to.precision}, {to.scale or 0})" if to.precision else ""
        return f"CAST({sql} AS {_TYPES[to.kind]}{size})"

    def passthru(self, sql: str, *, has_values: bool) -> str:
        return with_markers(sql, self.marker) if has_values else sql

    def begin(self, connection: Any) -> None:
        _plain(connection, b"BEGIN")

    def protect(self, connection: Any, *, first: bool) -> None:
        _plain(connection, _SAVED if first else _SAVED_AGAIN)

    def restore(self, connection: Any) -> bool:
        _plain(connection, _RESTORED)
        return True

    def command(self, connection: Any, sql: str) -> None:
        _plain(connection, sql.encode())

    def commit(self, connection: Any) -> None:
        _plain(connection, b"COMMIT")

    def rollback(self, connection: Any) -> None:
        _plain(connection, b"ROLLBACK")

    def prepare(self, connection: Any, gid: str) -> None:
        """End the first phase of a two-phase commit: the unit survives this process under its gid."""
        _plain(connection, f"PREPARE TRANSACTION {_literal(gid)}".encode())

    def resolve(self, connection: Any, gid: str, *, commits: bool) -> bool:
        """Commit or roll back what was prepared under a gid; False where nothing is."""
        try:
            _plain(connection, f"{'COMMIT' if commits else 'ROLLBACK'} PREPARED {_literal(gid)}".encode())
        except refused.UndefinedObject:
            return False
        return True

    def prepared(self, connection: Any, prefix: str) -> list[str]:
        """The gids of this database under which something is prepared, by how they begin."""
        cursor = psycopg.RawCursor(connection)
        asked = "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() AND starts_with(gid, $1)"
        return [str(gid) for (gid,) in cursor.execute(f"{asked} ORDER BY prepared", (prefix,)).fetchall()]

    def room(self, connection: Any) -> int:
        """Returns the number of transactions that can be prepared beside those that are prepared already."""
        cursor = psycopg.RawCursor(connection)
        most = cursor.execute("SHOW max_prepared_transactions").fetchone()
        held = cursor.execute("SELECT count(*) FROM pg_prepared_xacts").fetchone()
        return int(most[0]) - int(held[0]) if most and held else 0

    def lock(self, connection: Any, name: str, *, is_shared: bool) -> None:
        kind = "_shared" if is_shared else ""
        psycopg.RawCursor(connection).execute(f"SELECT pg_advisory_lock{kind}(hashtextextended($1, 0))", (name,))

    def unlock(self, connection: Any) -> None:
        psycopg.RawCursor(connection).execute("SELECT pg_advisory_unlock_all()")

    def state(self, error: BaseException) -> State:
        state = getattr(error, "sqlstate", None) or next((s for kind, s in _STATES if isinstance(error, kind)), GENERAL)
        detail = getattr(getattr(error, "diag", None), "message_detail", None)
        text = (getattr(getattr(error, "diag", None), "message_primary", None) or str(error)).strip()
        return State(_AS_ODBC.get(state, state), 0, f"{text}: {detail}" if detail else " ".join(text.split()))

    def is_broken(self, connection: Any, error: BaseException) -> bool:
        return bool(connection.broken or connection.closed) or "cached plan must not change" in str(error)


def _text_of(value: Any) -> Any:
    """A value beside a text: PostgreSQL compares texts with nothing else."""
    if value is None or isinstance(value, str | bytes):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def _truth_of(value: Any) -> Any:
    return bool(value) if value in {0, 1} else value


def _without_zone(value: Any) -> Any:
    return value.replace(tzinfo=None) if getattr(value, "tzinfo", None) else value


_BINDERS: Final[Mapping[str, Binder]] = MappingProxyType(
    {"text": _text_of, "boolean": _truth_of, "timestamp": _without_zone, "time": _without_zone}
)
_BACKSLASH: Final = "E'\\\\'"
_DEFAULTS: Final = MappingProxyType(
    {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "application_name": "penstock"}
)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _plain(connection: Any, command: bytes) -> None:
    """Send a command that has neither parameters nor rows; raises what psycopg would."""
    result = connection.pgconn.exec_(command)
    if result.status != ExecStatus.COMMAND_OK:
        raise refused.error_from_result(result)
    if command.startswith((b"COMMIT", b"PREPARE")) and result.command_status == b"ROLLBACK":
        raise refused.InFailedSqlTransaction("a statement of the unit of work failed: it was rolled back")

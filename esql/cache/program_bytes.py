"""Compiled programs as bytes: their code as Python marshals it, and beside it what code refers to, as plain data.

A cache holds what Penstock itself has compiled. Bytes that were damaged, or that belong to something else, are no
entry; that they are its user's own is what the cache sees to.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date, datetime, time
from decimal import Decimal
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, Final, NamedTuple

from engine.databases import statements as database
from engine.databases.driver import ColumnType
from engine.tree.step import Step, step
from esql.cast.request import Target
from esql.functions import function_catalog
from esql.runtime.linker import EntryPoint, Parts
from esql.text.source import StatementSpan
from esql.values.types import Bit, Interval, Qualifier

_MARK: Final = b"penstock esql 2\n"
_DIGEST: Final = hashlib.sha256().digest_size


class _Kind(NamedTuple):
    """A type of constants: into plain data, and back."""

    of: type
    data: Callable[[Any], Any]
    value: Callable[[Any], Any]


_STATEMENTS: Final = (
    *(database.Select, database.Insert, database.Update, database.Delete, database.Passthru, database.Procedure),
    *(database.Commit, database.Rollback, database.Column, database.Parameter, database.Computed),
    database.Query,
    *(database.Converted, ColumnType),
)


def _fields_of(kind: type) -> _Kind:
    """A dataclass by what its fields hold, in their order."""
    titles = tuple(one.name for one in fields(kind))
    return _Kind(
        kind,
        lambda value: tuple(_data(getattr(value, title)) for title in titles),
        lambda data: kind(*map(_value, data)),
    )


_KINDS: Final[Mapping[str, _Kind]] = MappingProxyType(
    {
        "step": _Kind(Step, lambda one: (one.name, one.namespace, one.types), lambda data: step(*data)),
        "decimal": _Kind(Decimal, str, Decimal),
        "datetime": _Kind(datetime, datetime.isoformat, datetime.fromisoformat),  # in front of date, as it is one
        "date": _Kind(date, date.isoformat, date.fromisoformat),
        "time": _Kind(time, time.isoformat, time.fromisoformat),
        "bit": _Kind(Bit, lambda one: (one.length, one.number), lambda data: Bit(*data)),
        "units": _Kind(Qualifier, lambda one: (one.largest, one.smallest), lambda data: Qualifier(*data)),
        "interval": _Kind(
            Interval,
            lambda one: (one.amount, one.qualifier.largest, one.qualifier.smallest),
            lambda data: Interval(data[0], Qualifier(*data[1:])),
        ),
        "target": _Kind(
            Target,
            lambda one: (one.name, one.precision, one.scale, _data(one.units)),
            lambda data: Target(data[0], data[1], data[2], _value(data[3])),
        ),
        **{kind.__name__: _fields_of(kind) for kind in _STATEMENTS},
        "tuple": _Kind(tuple, lambda one: tuple(map(_data, one)), lambda data: tuple(map(_value, data))),
    }
)
_PLAIN: Final = (str, bytes, int, float, bool, type(None))


def to_bytes(key: str, parts: Parts) -> bytes:
    """Write an entry; the key says what it was compiled from."""
    constants = tuple((slot, _constant(slot, value)) for slot, value in parts.constants.items())
    entry_points = tuple(
        (entry.kind, entry.name, entry.slot, entry.yields, entry.starts, entry.shares) for entry in parts.entry_points
    )
    placed: Any = tuple((file, tuple(map(tuple, found))) for file, found in parts.statements.items())
    body = marshal.dumps((key, parts.codes, constants, entry_points, parts.places, placed))
    return _MARK + hashlib.sha256(body).digest() + body


def from_bytes(key: str, data: bytes, texts: Mapping[str, str]) -> Parts | None:
    """Read the entry of a key; None if the bytes are something else."""
    start = len(_MARK) + _DIGEST
    if not data.startswith(_MARK) or hashlib.sha256(data[start:]).digest() != data[len(_MARK) : start]:
        return None
    found, codes, constants, entry_points, places, placed = marshal.loads(data[start:])  # noqa: S302 - see the architecture test
    if found != key or not all(isinstance(code, CodeType) for code in codes):
        return None
    known = {slot: _value(one) for slot, one in constants}
    statements = {file: tuple(StatementSpan(*one) for one in spans) for file, spans in placed}
    return Parts(codes, known, tuple(EntryPoint(*entry) for entry in entry_points), places, texts, statements)


def _constant(slot: str, value: object) -> Any:
    """A function of the catalogue is known by its name; all else is a value."""
    return ("function", slot) if isinstance(value, FunctionType) else _data(value)


def _data(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    word, kind = next((word, kind) for word, kind in _KINDS.items() if type(value) is kind.of)
    return word, kind.data(value)


def _value(data: Any) -> Any:
    if type(data) is not tuple:
        return data
    word, inside = data
    return function_catalog.find(inside).body if word == "function" else _KINDS[word].value(inside)

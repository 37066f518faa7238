"""The clauses of statements and functions: whether what stands behind NAME, CCSID, VALUES … is of the right type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from esql import syntax
from esql.check.casts import SCALARS, can_cast
from esql.check.finding import Finding, a, accepted_types
from esql.values.types import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from esql.scope import Resolution

_TEXT = frozenset(("CHARACTER",))
_TEXT_OR_NUMBER = _TEXT | NUMBERS
ANY: frozenset[str] = frozenset()
_RAISED = {"severity": NUMBERS, "catalog": _TEXT, "message": _TEXT_OR_NUMBER, "values": ANY}
# field of the syntax -> the types it may have; ANY is any single value
_CLAUSES: dict[type, dict[str, frozenset[str]]] = {
    syntax.CreateField: {"domain": _TEXT, "type": NUMBERS, "namespace": _TEXT, "name": _TEXT, "value": ANY},
    syntax.MoveBy: {"type": NUMBERS, "namespace": _TEXT, "name": _TEXT},
    syntax.Throw: _RAISED,
    syntax.Log: _RAISED,
    syntax.Propagate: {"terminal": _TEXT_OR_NUMBER, "label": _TEXT},
    syntax.Eval: {"text": ANY},
    syntax.Passthru: {"sql": _TEXT},
    syntax.PassthruCall: {"sql": _TEXT},
    syntax.Insert: {"values": ANY},
    syntax.ColumnChange: {"source": ANY},
    syntax.Parse: {"bits": frozenset(("BLOB", "BIT", "CHARACTER"))},
    syntax.Cast: {"ccsid": NUMBERS, "encoding": NUMBERS, "format": _TEXT, "default": ANY},
    syntax.BitstreamClauses: {
        "options": NUMBERS,
        "encoding": NUMBERS,
        "ccsid": NUMBERS,
        "set": _TEXT,
        "type": _TEXT,
        "format": _TEXT,
    },
}
_WORDS = {"values": "VALUES", "source": "SET", "sql": "PASSTHRU", "text": "EVAL", "bits": "PARSE"}


def clauses(found: Resolution) -> Iterator[Finding]:
    """Values behind the words of a statement or function that are of a type it does not take."""
    for kind, accepted in _CLAUSES.items():
        for visit in found.each(kind):
            for name, types in accepted.items():
                given = getattr(visit.node, name)
                for value in given if isinstance(given, tuple) else (given,):
                    yield from _clause(value, types, _WORDS.get(name, name.upper()), found)


def _clause(value: Any, types: frozenset[str], word: str, found: Resolution) -> Iterator[Finding]:
    given = found.type_of(value)
    if not given or given in types or (types == ANY and given != "LIST"):
        return
    if given == "LIST":
        text = f"{word} takes one value here, and this is a LIST: take one element of it by THE or an index"
    else:
        advice = ": CAST it" if given in SCALARS and any(can_cast(given, name) for name in types) else ""
        text = f"{word} takes {accepted_types(types)} here, and this is {a(given)}{advice}"
    yield Finding(value, "type", text)

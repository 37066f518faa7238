"""Values of the clauses of PROPAGATE, THROW and LOG, seen to be of the types that these take."""

from __future__ import annotations

from typing import Final

from esql.values.errors import ValueFailure, wrong_argument
from esql.values.literals import shown, to_text
from esql.values.types import Value, type_of

_TERMINAL: Final = 4009
_TERMINALS: Final = ("failure", "out", "out1", "out2", "out3", "out4", "nowhere")


def terminal_of(value: Value) -> str:
    """The terminal that PROPAGATE names, by its number or its name."""
    if type(value) is int and -2 <= value <= 4:
        return {-2: "nowhere", -1: "failure"}.get(value, _TERMINALS[value + 1])
    if type(value) is str and value in _TERMINALS:
        return value
    text = f"PROPAGATE goes to one of {', '.join(_TERMINALS)}, not to {shown(value)}"
    raise ValueFailure(_TERMINAL, "SPS001", text, shown(value))


def label_of(value: Value) -> str:
    """The label that PROPAGATE names."""
    if type(value) is str and value:
        return value
    raise ValueFailure(4245, "SPS002", f"a label is named by a CHARACTER, not {shown(value)}", shown(value))


def number_of(clause: str, value: Value) -> int:
    """The INTEGER of a clause."""
    if type(value) is int:
        return value
    raise wrong_argument(clause, "value", "INTEGER", f"{type_of(value)} {shown(value)}")


def catalog_of(value: Value) -> str:
    """The CHARACTER of CATALOG, empty where it is NULL."""
    if value is None or type(value) is str:
        return value or ""
    raise wrong_argument("CATALOG", "value", "CHARACTER", f"{type_of(value)} {shown(value)}")


def insert_of(value: Value) -> str:
    """A value as the text of an insert."""
    return "" if value is None else to_text(value)

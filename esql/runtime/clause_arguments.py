"""Arguments of clauses of statements, seen to be what those take: subscripts, names, conditions, terminals, labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.errors import BrokerError, LimitExceeded
from engine.tree.element import Element
from engine.tree.step import Step, Types, step
from esql.names.constants import types_of_number
from esql.operators.strings import concatenate, like
from esql.runtime.invocation import Invocation
from esql.values.errors import WRONG_TYPES, ValueFailure, sqlstate_of, wrong_argument
from esql.values.literals import shown, to_text
from esql.values.types import Value, type_of

_NO_SUCH_FIELD: Final = 2528
_LONGEST_KEPT: Final = 1000


def joined(here: Invocation, values: Sequence[Value]) -> Value:
    """A long chain of `||`, of which no part is longer than a string may be.

    >>> joined(Invocation(), ("a", "b", "c"))
    'abc'
    """
    result = values[0]
    for value in values[1:]:
        result = concatenate(result, value)
        if result is not None:
            here.grow(len(result))
    return result


def existing(found: Element | None, title: str) -> Element:
    """A field that must be there."""
    if found is None:
        raise BrokerError(_NO_SUCH_FIELD, f"{title} leads to no field: create it first, or test it by EXISTS", title)
    return found


def index(value: Value) -> int:
    """A subscript, or another number of elements: an INTEGER that is not NULL.

    >>> index(3)
    3
    """
    if type(value) is int:
        return value
    text = f"a subscript is an INTEGER, not {shown(value)}: CAST it"
    raise ValueFailure(2420, WRONG_TYPES, text, shown(value))


def a_name(value: Value) -> str:
    """A name or a namespace that was computed: a CHARACTER that is not NULL."""
    if type(value) is str:
        return value
    text = f"a name is a CHARACTER, not {shown(value)}: CAST it"
    raise ValueFailure(2420, WRONG_TYPES, text, shown(value))


def step_of(title: str | None, namespace: str | None, types: Types) -> Step:
    """A step of a path with parts that were computed; one with a very long name is not kept for the next use."""
    is_kept = len(title or "") + len(namespace or "") <= _LONGEST_KEPT
    return step(title, namespace, types) if is_kept else Step(title, namespace, types)


def types_of(known: Types | None, *values: Value) -> Types:
    """Returns what a type clause accepts, of which parts were computed."""
    found = known or ()
    for value in values:
        found += types_of_number(index(value))
    return found


def handler_of(error: BrokerError, handlers: Sequence[Sequence[tuple[str, str, str]]]) -> int:
    """Returns which of a block's handlers an error is for; -1 where none is."""
    if isinstance(error, LimitExceeded):
        return -1
    state = sqlstate_of(error)
    for number, conditions in enumerate(handlers):
        if any(_fits(state, *condition) for condition in conditions):
            return number
    return -1


def _fits(state: str, kind: str, text: str, escape: str) -> bool:
    if kind == "SQLSTATE":
        return state == text
    if kind == "LIKE":
        return bool(like(state, text, escape))
    return kind == "SQLEXCEPTION"


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

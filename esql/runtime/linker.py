"""Emitted programs as data, and the names that their code uses: the one place where it is executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import CodeType
from typing import Any, Final

from esql.runtime.activation import Shared
from esql.runtime.program import Compiled, Entrance
from esql.text import StatementSpan, split_lines

# The contract between what is emitted and what runs it; what each takes and gives is said where it stands. An element
# is an Element; `here` is the Activation; a `found` is an element or None; a list is a Python list of elements and
# scalars; a row is an element without parent.
_PLACES: Final[Mapping[str, tuple[str, ...]]] = {
    "esql.operators.numeric_and_string": (
        *("add", "subtract", "multiply", "divide", "negate", "affirm", "concatenate", "like"),
        "subtract_in_units",
    ),
    "esql.operators.comparison": (
        *("equal", "unequal", "less", "less_or_equal", "greater", "greater_or_equal"),
        *("between", "between_symmetric", "is_in", "is_state", "is_not_state"),
        *("boolean", "not_", "and_all", "or_all"),
    ),
    "esql.operators.datetimes": ("in_units",),
    "functools": ("reduce",),
    "esql.cast": ("Clauses", "assign", "cast", "attempted_cast", "default_of_cast", "FAILED"),
    "esql.runtime.program_library": (
        *("joined", "existing", "index", "a_name", "step_of", "types_of", "handler_of"),
        *("value_of", "field_of", "items_of", "joined_items", "siblings", "sibling"),
        *("new_row", "add_column", "add_named", "add_all", "row_or_value", "same_lists", "same_rows"),
        *("count", "maximum", "minimum", "total"),
    ),
    "esql.functions.field": ("the",),
    "esql.trees.assignments": (
        *("give", "set_field", "give_child", "set_child", "set_list", "set_type", "set_name", "set_namespace"),
        *("ensure_nth", "ensure_last", "ensure_any", "ensure_like"),
        *("create", "create_repeat", "create_from", "create_identity", "identify"),
    ),
    "esql.trees.moves": (
        "delete",
        "delete_child",
        "delete_from",
        "each",
        "attach",
        "detach",
        "move",
        "move_repeat",
    ),
    "esql.trees.bitstreams": ("set_domain", "parse"),
    "engine.tree.sharing": ("peek",),
    "esql.database": ("sql_status_of", "with_lists"),
    "esql.runtime.trace_library": (  # in traced programs only
        *("trace_statement", "trace_value", "trace_started", "trace_finished"),
        *("trace_stored", "trace_given", "trace_copied"),
    ),
    "engine.errors": ("BrokerError",),
    "engine.message.assembly": ("finalize",),
}


def library() -> dict[str, object]:
    """All of them, as the globals of emitted code."""
    return {name: getattr(import_module(place), name) for place, names in _PLACES.items() for name in names}


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """An entrance of emitted code of which the function is known by name only."""

    kind: str
    name: str
    slot: str
    yields: bool
    starts: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of programs that are deployed together: code, constants, entrances, and the number of variables.

    `texts` are their files, by name, and `statements` where in them what stands. `trees` are the Python that the code
    was made of, for people to read; a cache does not keep them.
    """

    codes: tuple[CodeType, ...]
    constants: Mapping[str, object]
    entry_points: tuple[EntryPoint, ...]
    places: int
    texts: Mapping[str, str]
    statements: Mapping[str, tuple[StatementSpan, ...]] = field(default_factory=dict)
    trees: tuple[ast.Module, ...] = field(default=(), compare=False)


def link(parts: Parts) -> Compiled:
    """The programs, ready to run, with SHARED variables of their own."""
    namespace = executed(parts.codes, parts.constants)
    entrances = {
        entry.name: Entrance(entry.kind, entry.name, namespace[entry.slot], entry.yields, entry.starts, entry.shares)
        for entry in parts.entry_points
        if entry.slot  # a module that nothing enters by Main has none
    }
    files = {name: split_lines(text) for name, text in parts.texts.items()}
    shared = Shared(parts.places)
    return Compiled(entrances, namespace, files, parts.places, parts.statements, parts.trees, shared, _reenter)


def executed(codes: Sequence[CodeType], constants: Mapping[str, object]) -> dict[str, Any]:
    """The functions that code defines, and all that they use."""
    namespace: dict[str, Any] = {**library(), **constants}
    for code in codes:
        exec(code, namespace)  # noqa: S102 - see the architecture test
    return namespace


def _reenter(text: str, kind: str, given: tuple[Any, ...], is_expression: bool) -> tuple[Callable[..., Any], bool]:
    """Returns what EVAL runs. Nothing else of a program that is deployed from a cache needs the reader of ESQL."""
    from esql.compile import compile_given

    return compile_given(text, kind, given, is_expression)

"""Emitted programs as data, and the names that their code uses: the one place where it is executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import CodeType, MappingProxyType
from typing import Any, Final

from esql.runtime.activation import Shared
from esql.runtime.program import Compiled, Entrance
from esql.text import StatementSpan, split_lines

# The contract between what is emitted and what runs it. An element is an Element; `here` is the Activation; a
# `found` is an element or None; a list is a Python list of elements and scalars; a row is an element without parent.
_PLACES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "esql.operators.arithmetic_and_strings": (
            *("add", "subtract", "multiply", "divide", "negate", "affirm", "concatenate", "like"),
            "subtract_in_units",  # (left, right, units, zone): (left - right) units
        ),
        "esql.operators.comparison": (
            *("equal", "unequal", "less", "less_or_equal", "greater", "greater_or_equal"),
            *("between", "between_symmetric", "is_in", "is_state", "is_not_state"),
            *("boolean", "not_", "and_all", "or_all"),
        ),
        "esql.operators.datetimes": ("in_units",),
        "functools": ("reduce",),
        "esql.cast": ("Clauses", "assign", "cast", "attempted_cast", "default_of_cast", "FAILED"),
        "esql.runtime.program_calls": (
            *("joined", "existing", "index", "a_name", "step_of", "types_of", "handler_of"),
            *("value_of", "field_of", "items_of", "joined_items", "siblings", "sibling"),
            "new_row",  # () -> row
            "add_column",  # (row, steps, value, found or list): `expression AS path`; steps a tuple of Step
            "add_named",  # (row, name, element or value): a column without AS; an element brings its name, "" none
            "add_all",  # (row, element): `*`
            "row_or_value",  # (item) -> a row or a field with others in it as it is, else the value
            "count",  # (list of values) -> aggregate, also maximum, minimum and total
            "maximum",
            "minimum",
            "total",
            "same_lists",  # (list, list, zone) -> truth, also same_rows of elements: = and <> of wholes
            "same_rows",
        ),
        "esql.functions.field": ("the",),  # (list) -> first item or None
        "esql.trees.assignments": (
            "give",  # (target, element or value, nodes): SET where only now it shows which
            "set_field",  # (target, found, nodes): SET field = field or row; None deletes
            "ensure_nth",  # (parent, Step, number, nodes) -> element
            "give_child",  # (parent, Step, value, nodes): SET parent.step = value that is not NULL
            "set_child",  # (parent, Step, what peek found, its parent, its Step, nodes): SET parent.step = parent.step
            "set_list",  # (parent, Step, list, nodes): SET field[] = list
            "ensure_last",  # (parent, Step, number) -> element
            "ensure_any",  # (parent, Step, number) -> element: a new one only where the domain has a name for it
            "ensure_like",  # (parent, Step, number, source) -> element: a new one takes the name of the source
            "set_type",  # (target, value), also set_name and set_namespace: NULL is an error
            "set_name",
            "set_namespace",
            "create",  # (target, placement, name, namespace, type) -> new element; each of the last three may be None
            "create_repeat",  # (target, placement) -> new element: of the target's type and name
            "create_from",  # (target, placement, found, nodes) -> new element: of the name of its source as well
            "create_identity",  # (target, placement, Step) -> new element
            "identify",  # (element, Step): what CREATE FIELD … IDENTITY gives the field
        ),
        "esql.trees.moves": (
            "delete",  # (found)
            "delete_child",  # (parent, Step): SET parent.step = NULL
            "delete_from",  # (found, placement)
            "each",  # (list): the items of FOR
            "attach",  # (source, target, placement)
            "detach",  # (source)
            "move",  # (element, direction, Step or None) -> found; the direction is as in syntax.MoveBy
            "move_repeat",  # (element, direction, same_type, same_name) -> found
        ),
        "esql.trees.bitstreams": (
            "set_domain",  # (here, element, value): CREATE … DOMAIN
            "parse",  # (here, element, value of DOMAIN or None, bits, options, encoding, ccsid, set, type, format)
        ),
        "engine.tree.sharing": ("peek",),  # (parent, Step) -> found, or its place in the source
        "esql.database": (
            "sql_status_of",  # (error): what a handler is told of it
            "with_lists",  # (statement, names, values) -> the same, with a parameter for each item
        ),
        "esql.runtime.trace_calls": (  # in traced programs only
            *("trace_statement", "trace_value", "trace_started", "trace_finished"),
            *("trace_stored", "trace_given", "trace_copied"),
        ),
        "engine.errors": ("BrokerError",),
        "engine.message.assembly": ("finalize",),  # (root): what it says of itself is what its bytes will say
    }
)


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

"""The declaration that a name means: exactly as written, wherever that is in sight, before any other case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from esql import syntax
from esql.functions import Function
from esql.names.predefined import (
    TERMINALS,
    Predefined,
    Terminal,
    element_type,
    find_function,
    predefined,
    property_of_sql,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from esql.scope.deployed_routines import Library, Routines, Schema
    from esql.scope.references import DeclaredRoutine, Label, Place, Variable


@dataclass(frozen=True, slots=True)
class Callables:
    """The routines that a program may call: those of its modules, of its schema, of the schemas of its path."""

    library: Library
    own: Routines
    modules: dict[int, Routines]
    schemas: tuple[Schema, ...]

    def _in_sight(self, place: Place) -> Iterator[Routines]:
        if place.module is not None:
            yield self.modules[id(place.module)]
        yield self.own
        for schema in self.schemas:
            yield self.library.routines(schema)

    def find(self, name: tuple[str, ...], place: Place) -> DeclaredRoutine | Function | None:
        """Find the routine, or the built-in function, that a call means."""
        schema, last = name[:-1], name[-1]
        candidates = list(self._candidates(schema, place))
        for exactly in (True, False):
            for routines in candidates:
                found = routines.find(last, exactly=exactly)
                if found is not None:
                    return found
        return None if schema else find_function(last)

    def _candidates(self, schema: Schema, place: Place) -> Iterator[Routines]:
        if not schema:
            yield from self._in_sight(place)
            return
        if schema == self.schemas[0]:
            yield self.own
        yield self.library.routines(schema)

    def names(self, name: tuple[str, ...], place: Place) -> tuple[str, ...]:
        """List the names of the routines among which one was looked for."""
        return tuple(known for routines in self._candidates(name[:-1], place) for known in routines.exact)


def find_name(name: str, place: Place) -> Variable | Predefined | None:
    """Find what a name that a path starts with means."""
    for exactly in (True, False):
        found = place.scope.find(name, exactly=exactly) or predefined(name, place.kind, exactly=exactly)
        if found is not None:
            return found
    return None


def find_prefix(name: str, place: Place) -> Variable | None:
    """Find the variable that a namespace prefix means."""
    return place.scope.find(name, exactly=True) or place.scope.find(name, exactly=False)


def find_terminal(given: syntax.Expression | None) -> Terminal | None:
    """Find the terminal that a literal means, by its exact name or its number."""
    match given:
        case syntax.String(value=name):
            return next((terminal for terminal in TERMINALS if terminal.name == name), None)
        case syntax.Integer(value=number) | syntax.Unary("-", syntax.Integer(value=number)):
            number = -number if isinstance(given, syntax.Unary) else number
            return next((terminal for terminal in TERMINALS if terminal.number == number), None)
    return None


def find_label(name: str, place: Place) -> Label | None:
    """Find the block around a place that has this label."""
    folded, label = None, place.label
    while label is not None:
        if label.name == name:
            return label
        if folded is None and label.name.lower() == name.lower():
            folded = label
        label = label.outer
    return folded


def find_qualified(path: syntax.Path) -> Predefined | None:
    """Find what a path such as XMLNSC.Attribute or SQL.NodeName means."""
    if len(path.steps) != 1 or path.index is not None or not path.root:
        return None
    name = getattr(path.steps[0].name, "text", "")
    return property_of_sql(name) if path.root.upper() == "SQL" else element_type(path.root, name)

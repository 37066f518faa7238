"""Changes that statements make, and therefore the loops around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from esql import syntax
from esql.names.predefined import Correlation
from esql.scope.references import Changes, DeclaredRoutine, Reference, Variable, Visit

References = Mapping[int, Reference]


def targets(node: syntax.Node, references: References) -> tuple[syntax.Path, ...]:
    """Give the fields and variables that a statement or a call writes to."""
    rule = _TARGETS.get(type(node))
    return () if rule is None else rule(node, references)


def moved(node: syntax.Node) -> syntax.Path | None:
    """Give the reference variable that a statement moves."""
    match node:
        case syntax.MoveTo(reference=path) | syntax.MoveBy(reference=path) | syntax.MoveRepeat(reference=path):
            return path
    return None


def _called(node: syntax.Call | syntax.CallStatement, references: References) -> tuple[syntax.Path, ...]:
    routine = references.get(id(node))
    outputs = routine.outputs if isinstance(routine, DeclaredRoutine) else ()
    given = [node.arguments[index] for index in outputs if index < len(node.arguments)]
    found = tuple(argument for argument in given if isinstance(argument, syntax.Path))
    into = node.target if isinstance(node, syntax.CallStatement) else None
    return found if into is None else (*found, into)


def _target(node: Any, _: References) -> tuple[syntax.Path, ...]:
    return (node.target,)


def _source(node: Any, _: References) -> tuple[syntax.Path, ...]:
    return (node.source,)


def _attached(node: syntax.Attach, _: References) -> tuple[syntax.Path, ...]:
    return (node.source, node.target)


_TARGETS: dict[type, Callable[[Any, References], tuple[syntax.Path, ...]]] = {
    syntax.SetStatement: _target,
    syntax.CreateField: _target,
    syntax.DeleteField: _target,
    syntax.Attach: _attached,
    syntax.Detach: _source,
    syntax.Call: _called,
    syntax.CallStatement: _called,
}


class _Tally:
    """The changes seen so far in one loop."""

    __slots__ = ("evaluates", "routines", "trees", "variables")

    def __init__(self) -> None:
        self.variables: set[Variable] = set()
        self.trees: set[str] = set()
        self.routines: set[DeclaredRoutine] = set()
        self.evaluates = False

    def add(self, visit: Visit, references: References) -> None:
        node = visit.node
        for path in (*targets(node, references), moved(node)):
            self._write(references.get(id(path)))
        found = references.get(id(node))
        if isinstance(found, DeclaredRoutine) and not isinstance(node, syntax.Routine):
            self.routines.add(found)
        elif isinstance(found, Variable):
            self.variables.add(found)
        self.evaluates = self.evaluates or evaluates(node)

    def _write(self, found: Reference | None) -> None:
        if isinstance(found, Variable):
            self.variables.add(found)
        elif isinstance(found, Correlation):
            self.trees.add(found.tree)

    def join(self, inner: _Tally) -> None:
        self.variables |= inner.variables
        self.trees |= inner.trees
        self.routines |= inner.routines
        self.evaluates = self.evaluates or inner.evaluates


def evaluates(node: syntax.Node) -> bool:
    """Say whether this is an EVAL, which can do anything."""
    return isinstance(node, syntax.Eval) or (isinstance(node, syntax.Call) and node.name[-1].upper() == "EVAL")


_CHANGING = (*_TARGETS, syntax.MoveTo, syntax.MoveBy, syntax.MoveRepeat, syntax.Eval, syntax.Declare, syntax.For)


def loop_changes(visits: Sequence[Visit], references: References) -> dict[int, Changes]:
    """Find what each loop changes, that of the loops inside it included."""
    tallies: dict[int, _Tally] = {}
    outer: dict[int, syntax.Statement | None] = {}
    for visit in visits:
        node, loop = visit.node, visit.place.loop
        if isinstance(node, syntax.LOOPS):
            tallies[id(node)] = _Tally()
            outer[id(node)] = loop
            tallies[id(node)].add(visit, references)
        elif loop is not None and isinstance(node, _CHANGING):
            tallies[id(loop)].add(visit, references)
    for key in reversed(tallies):
        around = outer[key]
        if around is not None and id(around) != key:
            tallies[id(around)].join(tallies[key])
    return {key: _frozen(tally) for key, tally in tallies.items()}


def _frozen(tally: _Tally) -> Changes:
    return Changes(frozenset(tally.variables), frozenset(tally.trees), frozenset(tally.routines), tally.evaluates)

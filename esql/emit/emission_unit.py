"""Unit: what the functions emitted for one deployment share: constants, numbers of variables, names of routines."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.errors import Problem
from engine.tree.step import Types, step
from esql import syntax
from esql.emit.python_nodes import constant, name
from esql.scope.references import Variable
from esql.text import ANY_NUMBER, problem_at

if TYPE_CHECKING:
    from esql.scope.references import DeclaredRoutine, Resolution


_LITERAL = (str, bytes, bool, type(None))


class EmitError(Exception):
    """A piece of syntax for which there is no code; what is wrong with it, and where it stands."""

    def __init__(self, node: syntax.Node, text: str) -> None:
        super().__init__(text)
        self.node = node
        self.text = text


@dataclass(slots=True)
class EmittedRoutine:
    """A routine's name in Python, and whether it is a generator, for it may PROPAGATE."""

    slot: str
    yields: bool


@dataclass(slots=True)
class Constants:
    """The constants of emitted code that Python has no literal for."""

    values: dict[str, object] = field(default_factory=dict)
    _known: dict[tuple[type, str], str] = field(default_factory=dict)

    def slot(self, value: Any, prefix: str) -> str:
        """The name of a constant; equal ones of one type share it."""
        key = (type(value), repr(value))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = f"{prefix}{len(self.values)}"
            self.values[known] = value
        return known


@dataclass(slots=True)
class Unit:
    """The emission of one program, or of several that are deployed together."""

    resolution: Resolution
    file: str
    lines: tuple[str, ...]
    constants: Constants = field(default_factory=Constants)
    routines: dict[DeclaredRoutine, EmittedRoutine] = field(default_factory=dict)
    places: dict[tuple[Variable, str], int] = field(default_factory=dict)
    trace: str = ""
    declared: dict[int, Variable] = field(default_factory=dict)
    named: dict[tuple[int, str], Variable] = field(default_factory=dict)
    jumped: set[int] = field(default_factory=set)
    text_is_local: bool = True
    stored: set[Variable] = field(default_factory=set)
    shares_trees: bool = False

    def constant(self, value: Any) -> ast.expr:
        """A value as Python: a literal, or a name among the constants."""
        if isinstance(value, _LITERAL) or type(value) is int:
            return constant(value)
        if type(value) is float and math.isfinite(value):
            return constant(value)
        return name(self.constants.slot(value, "k"))

    def step(self, title: str | None, namespace: str | None = "", types: Types = ()) -> ast.expr:
        """A step of a path that is known now."""
        return name(self.constants.slot(step(title, namespace, types), "s"))

    def place(self, variable: Variable, what: str = "") -> int:
        """The number under which an invocation, or the flow, keeps a variable declared outside routines."""
        return self.places.setdefault((variable, what), len(self.places))

    def problem(self, error: EmitError) -> Problem:
        """An error as the problem of the program."""
        at = error.node.position
        line = self.lines[at.line - 1] if 0 < at.line <= len(self.lines) else ""
        return problem_at(at, error.text, self.file, line, ANY_NUMBER, "flow")

    def learn(self, variables: Iterable[Variable]) -> None:
        """Find the variables by their declarations, and the blocks that are jumped to."""
        jumps = self.resolution.each(syntax.Leave, syntax.Iterate)
        self.jumped.update(id(self.resolution.of(visit.node)) for visit in jumps)
        for variable in variables:
            self.declared[id(variable.declaration)] = variable
            self.named[id(variable.declaration), variable.name] = variable
        self.text_is_local = not self.resolution.routines

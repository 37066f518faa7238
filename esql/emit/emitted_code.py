"""Emission: expressions as Python, with what is known of their results; and what functions of one deployment share."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from engine.errors import Problem
from engine.tree.step import Types, step
from esql import syntax
from esql.emit.python_nodes import constant, name
from esql.scope.references import Variable
from esql.text import ANY_NUMBER, problem_at
from esql.values import literal_contents
from esql.values.literal_contents import UnreadableError
from esql.values.types import qualifier, type_of

if TYPE_CHECKING:
    from esql.emit.function_body import Body, Expressions
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


INTEGER = "INTEGER"
CHARACTER = "CHARACTER"
BOOLEAN = "BOOLEAN"


class Value:
    """An emitted expression: its type where it is known, whether it may be NULL, whether it may be evaluated twice.

    A sum of INTEGERs stays a formula until its Python is asked for, so that what it is part of can take it up whole.
    `small` is the local that says whether it is there and small, where there is one.
    """

    __slots__ = ("_code", "_make", "formula", "nullable", "simple", "small", "type")

    def __init__(
        self,
        code: ast.expr | None,
        type_: str = "",
        *,
        nullable: bool = True,
        simple: bool = False,
        formula: object = None,
        make: Callable[[], ast.expr] | None = None,
    ) -> None:
        self._code = code
        self._make = make
        self.type = type_
        self.nullable = nullable
        self.simple = simple
        self.formula = formula
        self.small = ""

    @property
    def code(self) -> ast.expr:
        """The Python of it."""
        if self._code is None:
            assert self._make is not None
            self._code = self._make()
        return self._code

    def located(self, locate: Callable[[ast.AST], None]) -> Value:
        """The same, once its Python is there it also knows its place in the text."""
        if self._code is not None:
            locate(self._code)
            return self
        make = self._make
        assert make is not None

        def placed() -> ast.expr:
            code = make()
            locate(code)
            return code

        self._make = placed
        return self


def known(body: Body, value: Any) -> Value:
    """A value that is known now."""
    type_ = "" if value is None else type_of(value)
    return Value(body.unit.constant(value), type_, nullable=value is None, simple=True)


def literal(node: syntax.Node) -> Any:
    """The value of a literal; what cannot be read is a problem of the program."""
    try:
        return _READERS[type(node)](node)
    except UnreadableError as error:
        raise EmitError(node, error.why) from error


def is_literal(node: syntax.Node) -> bool:
    """Returns whether a piece of syntax is a literal."""
    return type(node) in _READERS


_READERS: Final[Mapping[type, Callable[[Any], Any]]] = {
    syntax.Integer: lambda node: literal_contents.integer_or_decimal(node.value),
    syntax.Number: lambda node: literal_contents.read_number(node.text),
    syntax.String: lambda node: node.value,
    syntax.HexString: lambda node: literal_contents.read_blob(node.digits),
    syntax.BitString: lambda node: literal_contents.read_bit(node.digits),
    syntax.Truth: lambda node: node.value,
    syntax.Null: lambda node: None,
    syntax.TypedLiteral: lambda node: literal_contents.read_contents(node.type, node.text),
    syntax.IntervalLiteral: lambda node: literal_contents.read_interval(
        node.text, qualifier(node.qualifier.largest, node.qualifier.smallest)
    ),
}


def _emit(body: Body, node: Any) -> Value:
    value = known(body, literal(node))
    if isinstance(node, syntax.Truth):
        value.type = "BOOLEAN"
    return value


EXPRESSIONS: Final[Expressions] = dict.fromkeys(_READERS, _emit)

"""The syntax tree of selectors: frozen nodes, each with the column it starts at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = "str | bool | int | float | bytes | None"


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; its Python type is its type in the language (str, int, float, bool, bytes)."""

    column: int
    value: str | bool | int | float | bytes


@dataclass(frozen=True, slots=True)
class Identifier:
    """A property or a header field of a message."""

    column: int
    name: str


@dataclass(frozen=True, slots=True)
class Signed:
    """A number with a minus or a plus in front."""

    column: int
    negative: bool
    operand: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Operands of one precedence, calculated from the left; `rest` pairs each further operand with its operator."""

    column: int
    first: Expression
    rest: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two operands and one of = <> < <= > >=."""

    column: int
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Between:
    """A number held against two bounds, which are included."""

    column: int
    operand: Expression
    low: Expression
    high: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class In:
    """An identifier looked up among strings."""

    column: int
    operand: Identifier
    strings: frozenset[str]
    negated: bool


@dataclass(frozen=True, slots=True)
class Like:
    """An identifier held against a pattern of % and _."""

    column: int
    operand: Identifier
    pattern: str
    escape: str
    negated: bool


@dataclass(frozen=True, slots=True)
class IsNull:
    """A test for a property that a message does not have."""

    column: int
    operand: Identifier
    negated: bool


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    column: int
    operand: Expression


@dataclass(frozen=True, slots=True)
class And:
    """Conditions that must all be true."""

    column: int
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Conditions of which one must be true."""

    column: int
    operands: tuple[Expression, ...]


Expression: TypeAlias = (
    "Literal | Identifier | Signed | Arithmetic | Comparison | Between | In | Like | IsNull | Not | And | Or"
)

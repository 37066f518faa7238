"""Field references: a name to start from, and steps down the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from esql.syntax.node import Node

if TYPE_CHECKING:
    from esql.syntax.expressions import Expression


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name as written, without its quotes."""

    text: str


@dataclass(frozen=True, slots=True)
class AnyName(Node):
    """`*`: any name, or any namespace."""


@dataclass(frozen=True, slots=True)
class ComputedName(Node):
    """`{expression}`: a name known when the program runs."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class IndexAt(Node):
    """`[n]`: the n-th."""

    number: Expression


@dataclass(frozen=True, slots=True)
class IndexFromStart(Node):
    """`[>]` or `[>n]`: the n-th from the start, without a number the first."""

    distance: Expression | None = None


@dataclass(frozen=True, slots=True)
class IndexFromEnd(Node):
    """`[<]`, `[LAST]` or `[<n]`: the n-th from the end, without a number the last."""

    distance: Expression | None = None


@dataclass(frozen=True, slots=True)
class IndexAll(Node):
    """`[]`: the list of all."""


@dataclass(frozen=True, slots=True)
class Step(Node):
    """One step down: `(types)namespace:name[index]`, of which each part may be absent, but not all."""

    name: FieldName | None = None
    namespace: FieldName | None = None
    types: tuple[Expression, ...] = ()
    index: Index | None = None


@dataclass(frozen=True, slots=True)
class Path(Node):
    """A variable or correlation name and the steps from it.

    Names written without parentheses, such as CURRENT_DATE, SQLCODE or NodeName, are paths without steps: what a name
    means is not syntax.
    """

    root: str
    steps: tuple[Step, ...] = ()
    index: Index | None = None


@dataclass(frozen=True, slots=True)
class RelativePath(Node):
    """Steps from a place that something else names: after AS in SELECT and ROW, after IDENTITY."""

    steps: tuple[Step, ...]


FieldName = Name | AnyName | ComputedName
Index = IndexAt | IndexFromStart | IndexFromEnd | IndexAll

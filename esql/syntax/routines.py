"""Routines, modules, and the whole text they stand in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from esql.syntax.node import Node

if TYPE_CHECKING:
    from esql.syntax.expressions import DataType
    from esql.syntax.statements import Statement


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """`[IN|OUT|INOUT] name [CONSTANT] type [NULLABLE|NOT NULL]`; what is not said is None."""

    name: str
    type: DataType
    direction: str | None = None
    constant: bool = False
    nullable: bool | None = None


@dataclass(frozen=True, slots=True)
class Returns(Node):
    """`RETURNS type [NULLABLE|NOT NULL]`."""

    type: DataType
    nullable: bool | None = None


@dataclass(frozen=True, slots=True)
class External(Node):
    """`EXTERNAL NAME name` and where its code is found: ASSEMBLY, APPDOMAIN … or CLASSLOADER, each with a name."""

    name: str
    hosts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Routine(Node):
    """CREATE FUNCTION or CREATE PROCEDURE; the body is a statement, or lies outside."""

    kind: str
    name: str
    parameters: tuple[Parameter, ...]
    body: Statement | External
    returns: Returns | None = None
    language: str | None = None
    result_sets: int | None = None


@dataclass(frozen=True, slots=True)
class Module(Node):
    """`CREATE COMPUTE|FILTER|DATABASE|DATABASEEVENT MODULE name … END MODULE`."""

    kind: str
    name: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Comment(Node):
    """A comment with its marks, or one mark of an executable comment."""

    text: str


@dataclass(frozen=True, slots=True)
class Prologue(Node):
    """`BROKER SCHEMA schema PATH path`: where the file's names belong, and which schemas are searched."""

    schema: tuple[str, ...] | None
    path: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Program(Node):
    """A .esql file, or the statements in a property of a node.

    Comments are not part of what a program means: they stand beside it in the order of the text, and the printer puts
    each back at the statement it stood at, by position.
    """

    statements: tuple[Statement, ...]
    prologue: Prologue | None = None
    comments: tuple[Comment, ...] = field(default=(), compare=False, repr=False)

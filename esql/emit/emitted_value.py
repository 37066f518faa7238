"""Value: an expression of ESQL as Python, with what is known of its result; and literals as such values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from esql import syntax
from esql.emit.emission_unit import EmitError
from esql.values import literal_contents
from esql.values.literal_contents import UnreadableError
from esql.values.types import qualifier, type_of

if TYPE_CHECKING:
    from esql.emit.function_body import Body, Expressions


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


_READERS: Final[Mapping[type, Callable[[Any], Any]]] = MappingProxyType(
    {
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
)


def _emit(body: Body, node: Any) -> Value:
    value = known(body, literal(node))
    if isinstance(node, syntax.Truth):
        value.type = "BOOLEAN"
    return value


EXPRESSIONS: Final[Expressions] = MappingProxyType(dict.fromkeys(_READERS, _emit))

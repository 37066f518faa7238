"""Expressions of ESQL as Python, with what is known of their results."""

from __future__ import annotations

import ast
from collections.abc import Callable

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

"""The functions of ESQL, by chapter of the manual: each registers itself by a decorator.

A function is a Python function of the values that are not NULL. Its signature says the rest: a parameter with a
default may be left out; one that is annotated `Nullable` or `… | None` takes NULL, and any other argument that is NULL
makes the result NULL; `Element`, `Sequence` and `Reference` ask for a field, a list or a reference variable instead of
a value; one called `here` is the invocation, which the caller puts in. Forms with keywords between their arguments
have keyword parameters, which the docstring lists. The docstring's first sentence is the summary; its lines in
backticks are examples, which the tests run.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from engine.catalog import Catalog
from esql.values.types import Value

Nullable: TypeAlias = Value  # what a parameter is annotated with that takes NULL
Body = TypeVar("Body", bound=Callable[..., Any])

_EXAMPLE: Final = re.compile(r"^\s*`(.+)`$", re.MULTILINE)
_HERE: Final = "here"
_TAKEN: Final = {"Element": "field", "Sequence": "list", "Reference": "reference"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function; `takes` is value, field, list or reference."""

    name: str
    takes: str
    required: bool
    nullable: bool
    repeated: bool
    keyword: bool


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its names, the Python function, and what the signature and the docstring say of it."""

    names: tuple[str, ...]
    body: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    takes_invocation: bool
    summary: str
    examples: tuple[str, ...]
    bare: bool

    @property
    def name(self) -> str:
        """The first of its names."""
        return self.names[0]

    @property
    def strict(self) -> bool:
        """Whether NULL for any argument makes the result NULL."""
        return not any(parameter.nullable for parameter in self.parameters)

    @property
    def fewest(self) -> int:
        """How many arguments it needs."""
        return sum(parameter.required for parameter in self.parameters if not parameter.keyword)

    @property
    def most(self) -> int | None:
        """How many arguments it takes; None where there is no limit."""
        if any(parameter.repeated for parameter in self.parameters):
            return None
        return sum(not parameter.keyword for parameter in self.parameters)

    def call(self, *arguments: Value, **keywords: Value) -> Value:
        """The result for arguments that may be NULL; the invocation, where it takes one, comes by its keyword."""
        if self._null_among(arguments, keywords):
            return None
        return self.body(*arguments, **keywords)

    def _null_among(self, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> bool:
        if self.strict:
            return any(a is None for a in arguments) or any(k is None for k in keywords.values())
        takes_null = {parameter.name for parameter in self.parameters if parameter.nullable}
        places = [parameter for parameter in self.parameters if not parameter.keyword]
        for place, argument in enumerate(arguments):
            parameter = places[min(place, len(places) - 1)]
            if argument is None and not parameter.nullable:
                return True
        return any(value is None and name not in takes_null for name, value in keywords.items())


function_catalog: Final[Catalog[Function]] = Catalog("function", package="esql.functions")


def function(*names: str, bare: bool = False) -> Callable[[Body], Body]:
    """Decorator: put a function into the catalogue under these names; a bare one is written without parentheses."""

    def enter(body: Body) -> Body:
        signature = inspect.signature(body)
        text = inspect.getdoc(body) or ""
        found = Function(
            names,
            body,
            tuple(_parameter(known) for known in signature.parameters.values() if known.name != _HERE),
            _HERE in signature.parameters,
            text.partition("\n")[0],
            tuple(_EXAMPLE.findall(text)),
            bare,
        )
        function_catalog.register(*names)(found)
        return body

    return enter


def _parameter(known: inspect.Parameter) -> Parameter:
    repeated = known.kind is inspect.Parameter.VAR_POSITIONAL
    annotation = str(known.annotation)
    return Parameter(
        name=known.name,
        takes=next((takes for word, takes in _TAKEN.items() if word in annotation), "value"),
        required=known.default is inspect.Parameter.empty and not repeated,
        nullable="Nullable" in annotation or "| None" in annotation,
        repeated=repeated,
        keyword=known.kind is inspect.Parameter.KEYWORD_ONLY,
    )

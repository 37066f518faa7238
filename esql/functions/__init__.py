"""The functions of ESQL, by chapter of the manual: each is declared once, where it is, by a decorator.

A function is a Python function of the values that are not NULL, and its signature says the rest. A parameter with a
default may be left out; one that is annotated `Nullable` or `… | None` takes NULL, and any other argument that is NULL
makes the result NULL. `String`, `Numeric`, `Character` and `Blob` say the types that an argument may have, which is
checked before anything runs; `Element`, `Sequence` and `Reference` ask for a field, a list or a reference variable
instead of a value. `here`, the invocation, and `routine`, the name of the routine that calls, are put in by the caller.
Forms with keywords between their arguments have keyword parameters, which the docstring lists. What a function is
annotated to return is the type of its result; `Same` is that of its first argument, `Value` any, or NULL. The
docstring's first sentence is the summary; its lines in backticks are examples, which the tests run. Functions that
differ in no more than what they compute of a FLOAT, such as SIN and SQRT, are declared by `declare_float_function`.
"""

from __future__ import annotations

import datetime
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, get_args, get_origin

from engine.catalog import Catalog
from esql.functions.arguments import floating
from esql.values.types import NUMBERS, STRINGS, Interval, Value


@dataclass(frozen=True, slots=True)
class Takes:
    """The annotation of an argument: the types that it may have, any where there are none, and NULL."""

    types: frozenset[str] = frozenset()
    null: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """The annotation of a keyword: the words that it may be, by the types of the values that have them, "" of any."""

    words: Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True)
class Gives:
    """The annotation of a result."""

    type: str


# What parameters and results are annotated with.
Nullable: TypeAlias = Annotated[Value, Takes(null=True)]
String: TypeAlias = Annotated[Value, Takes(STRINGS)]
Numeric: TypeAlias = Annotated[Value, Takes(NUMBERS)]
Character: TypeAlias = Annotated[Value, Takes(frozenset(("CHARACTER",)))]
Blob: TypeAlias = Annotated[Value, Takes(frozenset(("BLOB",)))]
Same: TypeAlias = Annotated[Value, Gives("same")]
GmtTime: TypeAlias = Annotated[datetime.time, Gives("GMTTIME")]
GmtTimestamp: TypeAlias = Annotated[datetime.datetime, Gives("GMTTIMESTAMP")]
Body = TypeVar("Body", bound=Callable[..., Any])

_EXAMPLE: Final = re.compile(r"^\s*`(.+)`$", re.MULTILINE)
_HERE: Final = "here"
_ROUTINE: Final = "routine"
_TAKEN: Final = {"Element": "field", "Sequence": "list", "Reference": "reference"}
_RESULTS: Final[Mapping[Any, str]] = {
    int: "INTEGER",
    bool: "BOOLEAN",
    float: "FLOAT",
    str: "CHARACTER",
    bytes: "BLOB",
    datetime.date: "DATE",
    datetime.time: "TIME",
    datetime.datetime: "TIMESTAMP",
    Interval: "INTERVAL",
}
Parentheses = Literal["always", "optional", "never"]


@dataclass(frozen=True, slots=True)
class Writing:
    """The declaration of a function in its decorator: how calls are written, and what becomes of their values.

    A `form` has words between its arguments, which the grammar knows. An `action` is called for what it does. What
    `grows` may give more than it is given.
    """

    parentheses: Parentheses = "always"
    form: bool = False
    action: bool = False
    grows: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function; `takes` is value, field, list or reference, and no `types` are any.

    Where it is a keyword, `words` are those that it may be.
    """

    name: str
    takes: str
    types: frozenset[str]
    required: bool
    nullable: bool
    repeated: bool
    keyword: bool
    default: Any = None
    words: Mapping[str, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its names, the Python function, and what decorator, signature and docstring say of it.

    `result` is the type of its value where no argument is NULL: empty where that is not known, or it may be NULL, and
    "same" where it is that of the first argument.
    """

    names: tuple[str, ...]
    body: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    takes_invocation: bool
    takes_routine: bool
    result: str
    summary: str
    examples: tuple[str, ...]
    written: Writing

    @property
    def name(self) -> str:
        """The first of its names."""
        return self.names[0]

    @property
    def strict(self) -> bool:
        """Returns whether NULL for any argument makes the result NULL."""
        return not any(parameter.nullable for parameter in self.parameters)

    @property
    def places(self) -> tuple[Parameter, ...]:
        """The parameters that are told by their places; the last may be repeated."""
        return tuple(parameter for parameter in self.parameters if not parameter.keyword)

    def place(self, index: int) -> Parameter:
        """The parameter of the argument at an index."""
        places = self.places
        return places[min(index, len(places) - 1)]

    def accepts(self, count: int) -> bool:
        """Returns True where the function may be called with that many arguments."""
        return self.fewest <= count and (self.most is None or count <= self.most)

    @property
    def fewest(self) -> int:
        """Returns how many arguments it needs."""
        return sum(parameter.required for parameter in self.parameters if not parameter.keyword)

    @property
    def most(self) -> int | None:
        """Returns how many arguments it takes; None where there is no limit."""
        if any(parameter.repeated for parameter in self.parameters):
            return None
        return sum(not parameter.keyword for parameter in self.parameters)


function_catalog: Final[Catalog[Function]] = Catalog("function", package="esql.functions")


def function(
    *names: str, parentheses: Parentheses = "always", form: bool = False, action: bool = False, grows: bool = False
) -> Callable[[Body], Body]:
    """Decorator: put a function into the catalogue under these names; Writing says what else it may be told."""

    def enter(body: Body) -> Body:
        signature = inspect.signature(body, eval_str=True)
        text = inspect.getdoc(body) or ""
        found = Function(
            names,
            body,
            tuple(_parameter(known) for name, known in signature.parameters.items() if name not in {_HERE, _ROUTINE}),
            _HERE in signature.parameters,
            _ROUTINE in signature.parameters,
            _result(signature.return_annotation),
            text.partition("\n")[0],
            tuple(_EXAMPLE.findall(text)),
            Writing(parentheses, form, action, grows),
        )
        function_catalog.register(*names)(found)
        return body

    return enter


def declare_float_function(
    names: str, operate: Callable[[float], float], summary: str, *examples: str, parameter: str = "source"
) -> None:
    """Put a function of one number that gives a FLOAT into the catalogue, under names with blanks between them."""
    name, *_ = known = tuple(names.split())
    function_catalog.register(*known)(
        Function(
            known,
            lambda number: floating(name, operate, number),
            (Parameter(parameter, "value", NUMBERS, required=True, nullable=False, repeated=False, keyword=False),),
            takes_invocation=False,
            takes_routine=False,
            result="FLOAT",
            summary=summary,
            examples=(*examples, f"{name}(NULL) IS NULL"),
            written=Writing(),
        )
    )


def _result(annotation: Any) -> str:
    told = [one.type for one in get_args(annotation) if isinstance(one, Gives)]
    return told[0] if told else "" if get_origin(annotation) else _RESULTS.get(annotation, "")


def _parameter(known: inspect.Parameter) -> Parameter:
    repeated = known.kind is inspect.Parameter.VAR_POSITIONAL
    parts = get_args(known.annotation)
    takes = next((one for one in parts if isinstance(one, Takes)), Takes())
    asked = [_TAKEN[name] for one in (known.annotation, *parts) if (name := _name(one)) in _TAKEN]
    return Parameter(
        name=known.name,
        takes=asked[0] if asked else "value",
        types=frozenset((asked[0].upper(),)) if asked else takes.types,
        required=known.default is inspect.Parameter.empty and not repeated,
        nullable=takes.null or (bool(asked) and type(None) in parts),
        repeated=repeated,
        keyword=known.kind is inspect.Parameter.KEYWORD_ONLY,
        default=None if known.default is inspect.Parameter.empty else known.default,
        words=next((one.words for one in parts if isinstance(one, OneOf)), MappingProxyType({})),
    )


def _name(annotation: Any) -> str:
    """Returns what asks for a field, a list or a reference is known by its name."""
    return getattr(get_origin(annotation) or annotation, "__name__", "")

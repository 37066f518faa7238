"""Names that mean something without a declaration: trees, properties, element types, functions; and reserved words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from esql.functions import Function, Parameter, Writing, function_catalog
from esql.functions.field import BIT_STREAM_OPTIONS
from esql.names.constants import MQ_CONSTANTS, PLAIN, TERMINAL_NUMBERS, ElementType, NamedConstant

KINDS = ("COMPUTE", "FILTER", "DATABASE", "DATABASEEVENT")
KIND_TITLES = {"COMPUTE": "Compute", "FILTER": "Filter", "DATABASE": "Database", "DATABASEEVENT": "DatabaseEvent"}


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation name of a node, and its tree: Body starts in Root, and DestinationList is an older name."""

    name: str
    tree: str
    writable: bool


@dataclass(frozen=True, slots=True)
class BrokerProperty:
    """A name such as NodeName, which the broker knows the value of."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class SpecialName:
    """A function without parentheses, such as CURRENT_DATE or SQLCODE."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal of a node, by its name and the number that PROPAGATE may give instead."""

    name: str
    number: int


TERMINALS = tuple(Terminal(*named) for named in TERMINAL_NUMBERS.items())
Predefined = Correlation | BrokerProperty | SpecialName | ElementType | NamedConstant

_COMPUTE = (
    Correlation("InputRoot", "InputRoot", writable=False),
    Correlation("InputBody", "InputRoot", writable=False),
    Correlation("InputProperties", "InputRoot", writable=False),
    Correlation("OutputRoot", "OutputRoot", writable=True),
    Correlation("InputLocalEnvironment", "InputLocalEnvironment", writable=True),
    Correlation("OutputLocalEnvironment", "OutputLocalEnvironment", writable=True),
    Correlation("InputDestinationList", "InputLocalEnvironment", writable=True),
    Correlation("OutputDestinationList", "OutputLocalEnvironment", writable=True),
    Correlation("InputExceptionList", "InputExceptionList", writable=False),
    Correlation("OutputExceptionList", "OutputExceptionList", writable=True),
)
_ONE_MESSAGE = (
    Correlation("Root", "Root", writable=False),
    Correlation("Body", "Root", writable=False),
    Correlation("Properties", "Root", writable=False),
    Correlation("LocalEnvironment", "LocalEnvironment", writable=True),
    Correlation("DestinationList", "LocalEnvironment", writable=True),
    Correlation("ExceptionList", "ExceptionList", writable=False),
)
# The procedures of a DatabaseInput node build the message that it sends.
_EVENT = tuple(replace(name, writable=True) if name.tree == "Root" else name for name in _ONE_MESSAGE)
_EVERYWHERE = (
    Correlation("Environment", "Environment", writable=True),
    Correlation("Database", "Database", writable=False),
)
CORRELATIONS = {name.name: name for name in (*_COMPUTE, *_ONE_MESSAGE, *_EVERYWHERE)}

# What to write instead of a correlation name that a node of this kind does not have.
_INPUT = ("Root", "Body", "Properties", "LocalEnvironment", "DestinationList", "ExceptionList")
_INSTEAD_COMPUTE = {
    **{name: f"Input{name}" for name in _INPUT},
    "LocalEnvironment": "InputLocalEnvironment or OutputLocalEnvironment",
    "DestinationList": "InputDestinationList or OutputDestinationList",
    "OutputBody": "OutputRoot and the name of the body's parser",
}
_INSTEAD_OTHERS = {
    **{f"Input{name}": name for name in _INPUT},
    "OutputLocalEnvironment": "LocalEnvironment",
    "OutputDestinationList": "DestinationList",
}


def instead(name: str, kind: str) -> str:
    """Give what to write instead of a correlation name in a node of this kind, or nothing."""
    return (_INSTEAD_COMPUTE if kind == "COMPUTE" else _INSTEAD_OTHERS).get(name, "")


_PROPERTIES = (
    *("BrokerName", "BrokerVersion", "BrokerDataSourceName", "ExecutionGroupLabel", "ExecutionGroupName", "Family"),
    *("MessageFlowLabel", "MessageFlowName", "NodeLabel", "NodeName", "NodeType", "QueueManagerName"),
    *("TransactionType", "WorkPath", "DataSource", "DataSourceUserId", "DeployedBarFile", "ClientId"),
    *("ApplicationLabel", "ApplicationName", "LibraryLabel", "LibraryName", "BrokerUserId"),
)
_NUMBERS = ("ProcessId", "ThreadId", "AdditionalInstances")
PROPERTIES = (
    *(BrokerProperty(name, "CHARACTER") for name in _PROPERTIES),
    *(BrokerProperty(name, "INTEGER") for name in _NUMBERS),
    BrokerProperty("CoordinatedTransaction", ""),
)
_SQL_NAMES = (
    SpecialName("SQLCODE", "INTEGER"),
    SpecialName("SQLERRORTEXT", "CHARACTER"),
    SpecialName("SQLNATIVEERROR", "INTEGER"),
    SpecialName("SQLSTATE", "CHARACTER"),
)
OPTIONS = tuple(NamedConstant(*option) for option in BIT_STREAM_OPTIONS.items())

# Prefixes that XML itself declares, with their namespaces.
XML_PREFIXES = {"xml": "http://www.w3.org/XML/1998/namespace", "xmlns": "http://www.w3.org/2000/xmlns/"}


def _names(correlations: tuple[Correlation, ...]) -> tuple[dict[str, Predefined], dict[str, Predefined]]:
    names: tuple[Predefined, ...] = (
        *correlations,
        *_EVERYWHERE,
        *_SQL_NAMES,
        *PROPERTIES,
        *OPTIONS,
        *(ElementType("", name) for name in PLAIN),
        *MQ_CONSTANTS,
    )
    return {name.name: name for name in names}, {name.name.lower(): name for name in reversed(names)}


_OF_KIND = {"COMPUTE": _COMPUTE, "DATABASEEVENT": _EVENT}
# A routine outside modules may be called from nodes of any kind: it may use the names of all.
_BY_KIND = {
    **{kind: _names(_OF_KIND.get(kind, _ONE_MESSAGE)) for kind in KINDS},
    "": _names((*_COMPUTE, *_ONE_MESSAGE)),
}


def predefined(name: str, kind: str, *, exactly: bool) -> Predefined | None:
    """Find a name that needs no declaration in a node of this kind; with `exactly`, only as it is usually written."""
    exact, folded = _BY_KIND[kind]
    found = exact.get(name) if exactly else folded.get(name.lower())
    return found or _function(name if exactly else name.upper())


def _function(name: str) -> SpecialName | None:
    """A function that is written without parentheses."""
    found = function_catalog.get(name)
    if found is None or found.written.parentheses == "always":
        return None
    return SpecialName(name, found.result)


def special_names() -> list[str]:
    """The names of functions that are written without parentheses, and of what the last statement of a database did."""
    functions = [name for name in function_catalog if _function(name) is not None]
    return [*functions, *(one.name for one in _SQL_NAMES)]


def property_of_sql(name: str) -> BrokerProperty | SpecialName | None:
    """Find what SQL.name means: the same as the name alone, even where a variable hides that."""
    found = predefined(name, "", exactly=False)
    return found if isinstance(found, BrokerProperty | SpecialName) else None


def predefined_names(kind: str) -> tuple[str, ...]:
    """List the names that need no declaration in a node of this kind."""
    return tuple(_BY_KIND[kind][0])


AGGREGATES: Final = frozenset(("COUNT", "MAX", "MIN", "SUM"))
_SYNTAX: Final = frozenset(("CAST", "PASSTHRU"))  # written like functions, and not functions of values
_TEXT: Final = Parameter("text", "value", frozenset(), required=True, nullable=True, repeated=False, keyword=False)
# EVAL reads its text where it stands, so that emitted code does what a function could not.
EVAL: Final = Function(
    names=("EVAL",),
    body=lambda text: text,
    parameters=(_TEXT,),
    takes_invocation=False,
    takes_routine=False,
    result="",
    summary="The value of an expression, or what a statement does, that a text holds.",
    examples=(),
    written=Writing(action=True),
)


def find_function(name: str) -> Function | None:
    """Find a function that is written name(arguments), in capitals or not.

    >>> find_function("Left").accepts(1)
    False
    """
    title = name.upper()
    found = EVAL if title == "EVAL" else function_catalog.get(title)
    is_call = found is not None and not found.written.form and found.written.parentheses != "never"
    return found if is_call else None


def callable_names() -> list[str]:
    """Returns the names of all calls but routines: with those of forms, as a misspelt one may have been meant."""
    bare = {name for name in function_catalog if function_catalog.find(name).written.parentheses == "never"}
    return sorted({*function_catalog, "EVAL", *AGGREGATES, *_SYNTAX} - bare)


RESERVED = frozenset(
    ("ALL", "ASYMMETRIC", "BOTH", "CASE", "DISTINCT", "FROM", "ITEM", "LEADING", "NOT", "SYMMETRIC", "TRAILING", "WHEN")
)
OPERATORS = frozenset(("AND", "BETWEEN", "IN", "IS", "LIKE", "OR"))
LITERALS = frozenset(("FALSE", "NULL", "TRUE", "UNKNOWN"))
FORMS = frozenset(
    (
        "ASBITSTREAM", "CAST", "EXTRACT", "FOR", "OVERLAY", "PASSTHRU", "POSITION", "ROUND", "ROW", "SELECT",
        "SUBSTRING", "TRIM",
    )
)  # fmt: skip
STATEMENTS = frozenset(
    (
        "ATTACH", "BEGIN", "CALL", "COMMIT", "CREATE", "DECLARE", "DELETE", "DETACH", "ELSE", "ELSEIF", "END", "EVAL",
        "IF", "INSERT", "ITERATE", "LEAVE", "LOG", "LOOP", "MOVE", "PROPAGATE", "REPEAT", "RESIGNAL", "RETURN",
        "ROLLBACK", "SET", "THROW", "UNTIL", "UPDATE", "WHILE",
    )
)  # fmt: skip

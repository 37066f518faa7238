"""The names that calls may have beside those of routines: functions of the catalogue, EVAL, aggregates and forms."""

from __future__ import annotations

from typing import Final

from esql.functions import Function, Parameter, Writing, function_catalog

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


def find(name: str) -> Function | None:
    """Find a function that is written name(arguments), in capitals or not.

    >>> find("Left").accepts(1)
    False
    """
    title = name.upper()
    found = EVAL if title == "EVAL" else function_catalog.get(title)
    is_call = found is not None and not found.written.form and found.written.parentheses != "never"
    return found if is_call else None


def names() -> list[str]:
    """All names that calls may have: those of forms among them, as a misspelt one may have been meant."""
    bare = {name for name in function_catalog if function_catalog.find(name).written.parentheses == "never"}
    return sorted({*function_catalog, "EVAL", *AGGREGATES, *_SYNTAX} - bare)

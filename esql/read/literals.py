"""Contexts of the parser -> literals and data types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from esql import syntax
from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.read.expressions import builds

if TYPE_CHECKING:
    from esql.text.source import Source

_LONG_NAMES = {"BOOL": "BOOLEAN", "INT": "INTEGER", "CHAR": "CHARACTER", "DEC": "DECIMAL"}
_ORDER = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_TRUTHS = {"TRUE": True, "FALSE": False, "UNKNOWN": None}


def text_of(token: Any) -> str:
    """Give the value of a string literal, its quotes undone."""
    text: str = token.text
    return text[1:-1].replace("''", "'")


def optional_text(token: Any) -> str | None:
    """Give the value of a string literal, None where it is absent."""
    return None if token is None else text_of(token)


@builds(Rules.LiteralValueContext)
def _literal(context: Any, source: Source) -> syntax.Expression:
    context = context.plain
    at, kind, text = source.of(context), context.kind.type, context.kind.text
    if context.text is not None:
        return _typed(context, source)
    match kind:
        case Rules.INTEGER_LITERAL:
            return syntax.Integer(int(text) if len(text) < 4000 else _too_long(context, source), position=at)
        case Rules.HEX_LITERAL:
            return syntax.Integer(int(text[2:], 16), hexadecimal=True, position=at)
        case Rules.NUMBER_LITERAL:
            return syntax.Number(text.upper(), position=at)
        case Rules.STRING:
            return syntax.String(text_of(context.kind), position=at)
        case Rules.HEX_STRING | Rules.BIT_STRING:
            return _digits(context, source)
        case Rules.NULL:
            return syntax.Null(position=at)
    return syntax.Truth(_TRUTHS[text.upper()], position=at)


def _too_long(context: Any, source: Source) -> int:
    source.problem_at(context, "a number of more than 4,000 digits")
    return 0


def _typed(context: Any, source: Source) -> syntax.Expression:
    word = context.kind.text.upper()
    text, at = text_of(context.text), source.of(context)
    if word == "INTERVAL":
        return syntax.IntervalLiteral(text, qualifier(context.units, source), position=at)
    return syntax.TypedLiteral(_LONG_NAMES.get(word, word), text, position=at)


def _digits(context: Any, source: Source) -> syntax.Expression:
    at, digits = source.of(context), context.kind.text[2:-1]
    if context.kind.type == Rules.BIT_STRING:
        if re.fullmatch("[01]*", digits) is None:
            source.problem_at(context, "a bit string has the digits 0 and 1 only")
        return syntax.BitString(digits, position=at)
    if re.fullmatch("[0-9A-Fa-f]*", digits) is None:
        source.problem_at(context, "a BLOB literal has the digits 0 to 9 and A to F only")
    elif len(digits) % 2 == 1:
        source.problem_at(context, "a BLOB literal has two digits for each byte: here one is missing")
    return syntax.HexString(digits.upper(), position=at)


def qualifier(context: Any, source: Source) -> syntax.Qualifier:
    """Build the fields of an interval, and see that they go together."""
    largest = context.largest.start.text.upper()
    smallest = None if context.smallest is None else context.smallest.start.text.upper()
    built = syntax.Qualifier(largest, smallest, position=source.of(context))
    if smallest is None:
        return built
    same_kind = (largest in _ORDER[:2]) == (smallest in _ORDER[:2])
    if not same_kind or _ORDER.index(largest) >= _ORDER.index(smallest):
        advice = "YEAR TO MONTH, or from a larger to a smaller one of DAY, HOUR, MINUTE, SECOND"
        source.problem_at(context, f"{largest} TO {smallest} is not an interval: it is {advice}")
    return built


def data_type(context: Any, source: Source) -> syntax.DataType:
    """Build the type of a declaration."""
    word = context.kind.text.upper()
    units = None if context.units is None else qualifier(context.units, source)
    return syntax.DataType(_LONG_NAMES.get(word, word), qualifier=units, position=source.of(context))


def cast_type(context: Any, source: Source) -> syntax.DataType:
    """Build the type of CAST, which may have a precision and a scale."""
    if context.plain is not None:
        return data_type(context.plain, source)
    scale = None if context.scale is None else int(context.scale.text)
    return syntax.DataType("DECIMAL", int(context.precision.text), scale, position=source.of(context))

"""Contexts of the parser -> expressions, literals and data types."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from esql import syntax
from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.text import Source
from esql.values.types import FIELDS

T = TypeVar("T")
Read = Callable[[Any, Source], Any]  # what a part of a context stands for


def built(node: Callable[..., T], *behind: Read, **parts: Read) -> Callable[[Any, Source], T]:
    """Returns what builds a node of a context.

    Its fields are, in this order, the parts that the context has under these names, and what is read off all of it.
    """

    def build(context: Any, source: Source) -> T:
        fields = [read(getattr(context, name), source) for name, read in parts.items()]
        return node(*fields, *[read(context, source) for read in behind], position=source.of(context))

    return build


def every(build: Callable[[Any, Source], T]) -> Callable[[Any, Source], tuple[T, ...]]:
    """Returns what builds each context of a list."""
    return lambda contexts, source: tuple(build(context, source) for context in contexts)


def maybe(build: Callable[[Any, Source], T]) -> Callable[[Any, Source], T | None]:
    """Returns what builds an optional part, which is None where it is absent."""
    return lambda context, source: None if context is None else build(context, source)


def word(token: Any, _: Source) -> str:
    """Give a keyword in capitals."""
    text: str = token.text
    return text.upper()


class Register(Generic[T]):
    """Functions by the class of the context that the generated parser makes for a rule."""

    __slots__ = ("_functions",)

    def __init__(self) -> None:
        self._functions: dict[type, T] = {}

    def enter(self, rule: type) -> Callable[[T], T]:
        """A decorator that enters a function under a rule."""

        def entered(function: T) -> T:
            self._functions[rule] = function
            return function

        return entered

    def __getitem__(self, rule: type) -> T:
        return self._functions[rule]


Build = Callable[[Any, Source], syntax.Expression]

CHAIN_LIMIT = 150
BUILDERS: Register[Build] = Register()
builds = BUILDERS.enter


def expression(context: Any, source: Source) -> syntax.Expression:
    """Build an expression; a chain of operators is walked, not descended, for there may be thousands."""
    spine = []
    while True:
        kind = type(context)
        if kind is Rules.ValueExpressionContext:
            context = context.inner
        elif kind in _JOINS:
            spine.append(context)
            context = context.left
        else:
            break
    if kind is Rules.UnaryContext and spine and type(spine[-1]) not in _LOGIC:
        result = _negated(context, spine, source)
    else:
        result = BUILDERS[kind](context, source)
    return _climb(result, spine, source) if spine else result


def _negated(context: Any, spine: list[Any], source: Source) -> syntax.Expression:
    """`NOT a = b`: the whole comparison is what NOT is for, unless a is a condition of its own."""
    outermost, inner = context, context
    negations = []
    while type(inner) is Rules.UnaryContext and inner.operator.text.upper() == "NOT":
        negations.append(inner)
        inner = inner.operand
    operand = BUILDERS[type(inner)](inner, source)
    if not negations or _is_condition(operand):
        return BUILDERS[type(outermost)](outermost, source)
    start = next((place + 1 for place in reversed(range(len(spine))) if type(spine[place]) in _LOGIC), 0)
    compared = spine[start:]
    del spine[start:]
    result = _climb(operand, compared, source)
    for one in reversed(negations):
        result = syntax.Unary("NOT", result, position=source.of(one))
    return result


def _is_condition(node: syntax.Expression) -> bool:
    return isinstance(node, _CONDITIONS) or (isinstance(node, syntax.Operation) and node.operator in ("AND", "OR"))


def optional(context: Any, source: Source) -> syntax.Expression | None:
    """Build an expression, None where it is absent."""
    return None if context is None else expression(context, source)


def each(contexts: Any, source: Source) -> tuple[syntax.Expression, ...]:
    """Build every expression of a list."""
    return tuple(expression(context, source) for context in contexts)


def arguments(context: Any, source: Source) -> tuple[syntax.Expression, ...]:
    """Build what stands in the parentheses of a call or of VALUES."""
    for item in context.items:
        if item.star is not None:
            source.problem_at(item, "'*' is not an expression; only COUNT(*) has it")
    return tuple(expression(item.inner, source) for item in context.items if item.star is None)


def _climb(result: syntax.Expression, spine: list[Any], source: Source) -> syntax.Expression:
    levels = 0
    while spine:
        context = spine.pop()
        join, levels = _JOINS[type(context)], levels + 1
        if join is not _operation:
            result = join(result, context, source)
            continue
        operator = context.operator.text.upper()
        operands = [result, expression(context.right, source)]
        while spine and _JOINS[type(spine[-1])] is _operation and spine[-1].operator.text.upper() == operator:
            context = spine.pop()
            operands.append(expression(context.right, source))
        result = syntax.Operation(operator, tuple(operands), position=source.of(context))
    if levels > CHAIN_LIMIT:
        advice = "compute parts of it into variables"
        source.problem_at(context, f"this expression joins more than {CHAIN_LIMIT} different operators: {advice}")
    return result


def _operation(left: syntax.Expression, context: Any, source: Source) -> syntax.Expression:
    operands = (left, expression(context.right, source))
    return syntax.Operation(context.operator.text.upper(), operands, position=source.of(context))


def _comparison(left: syntax.Expression, context: Any, source: Source) -> syntax.Expression:
    right = expression(context.right, source)
    return syntax.Comparison(context.operator.text, left, right, position=source.of(context))


def _is(operand: syntax.Expression, context: Any, source: Source) -> syntax.Expression:
    truth = context.which
    sign = "" if truth.sign is None else truth.sign.text
    word = truth.kind.text.upper()
    state = sign + {"INFINITY": "INF", "NUMBER": "NUM"}.get(word, word)
    return syntax.Is(operand, state, context.negated is not None, position=source.of(context))


def _is_said(token: Any, _: Source) -> bool:
    return token is not None


def _joined(node: Callable[..., syntax.Expression], **parts: Read) -> Callable[[Any, Any, Source], syntax.Expression]:
    """Returns what builds a condition of its operand, and of the parts that the context has under these names."""

    def join(operand: syntax.Expression, context: Any, source: Source) -> syntax.Expression:
        fields = [read(getattr(context, name), source) for name, read in parts.items()]
        return node(operand, *fields, position=source.of(context))

    return join


_JOINS = {
    Rules.ProductContext: _operation,
    Rules.ConcatenationContext: _operation,
    Rules.SumContext: _operation,
    Rules.ConjunctionContext: _operation,
    Rules.DisjunctionContext: _operation,
    Rules.ComparisonContext: _comparison,
    Rules.IsConditionContext: _is,
    Rules.BetweenConditionContext: _joined(
        syntax.Between,
        low=expression,
        high=expression,
        order=lambda token, source: maybe(word)(token, source) == "SYMMETRIC",
        negated=_is_said,
    ),
    Rules.InConditionContext: _joined(syntax.In, choices=each, negated=_is_said),
    Rules.LikeConditionContext: _joined(syntax.Like, pattern=expression, escape=optional, negated=_is_said),
}

_LOGIC = (Rules.ConjunctionContext, Rules.DisjunctionContext)
_CONDITIONS = (
    *(syntax.Truth, syntax.Null, syntax.Comparison, syntax.Is, syntax.Between, syntax.In, syntax.Like),
    *(syntax.Quantified, syntax.Unary),
)


builds(Rules.UnaryContext)(built(syntax.Unary, operator=word, operand=expression))
_BRANCH: Final = built(syntax.CaseBranch, condition=expression, result=expression)
builds(Rules.CaseValueContext)(built(syntax.Case, operand=optional, branches=every(_BRANCH), otherwise=optional))


_LONG_NAMES = {"BOOL": "BOOLEAN", "INT": "INTEGER", "CHAR": "CHARACTER", "DEC": "DECIMAL"}
_TRUTHS = {"TRUE": True, "FALSE": False, "UNKNOWN": None}


def text_of(token: Any, _: Source | None = None) -> str:
    """Give the value of a string literal, its quotes undone."""
    text: str = token.text
    return text[1:-1].replace("''", "'")


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
    same_kind = (largest in FIELDS[:2]) == (smallest in FIELDS[:2])
    if not same_kind or FIELDS.index(largest) >= FIELDS.index(smallest):
        advice = "YEAR TO MONTH, or from a larger to a smaller one of DAY, HOUR, MINUTE, SECOND"
        source.problem_at(context, f"{largest} TO {smallest} is not an interval: it is {advice}")
    return built


def data_type(context: Any, source: Source) -> syntax.DataType:
    """Build the type of a declaration."""
    word = context.kind.text.upper()
    units = maybe(qualifier)(context.units, source)
    return syntax.DataType(_LONG_NAMES.get(word, word), qualifier=units, position=source.of(context))


def cast_type(context: Any, source: Source) -> syntax.DataType:
    """Build the type of CAST, which may have a precision and a scale."""
    if context.plain is not None:
        return data_type(context.plain, source)
    scale = None if context.scale is None else int(context.scale.text)
    return syntax.DataType("DECIMAL", int(context.precision.text), scale, position=source.of(context))

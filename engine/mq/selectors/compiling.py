"""Compiles the syntax tree of a selector to nested closures over a descriptor and its properties."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Final

from engine.descriptor import Descriptor
from engine.mq.selectors.lexer import refused
from engine.mq.selectors.likeness import matcher
from engine.mq.selectors.names import IDS, Evaluation, Properties, lookup
from engine.mq.selectors.syntax import (
    And,
    Arithmetic,
    Between,
    Comparison,
    Expression,
    Identifier,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    Signed,
    Value,
)

_LARGEST: Final = (1 << 63) - 1
_SMALLEST: Final = -(1 << 63)
_ID: Final = re.compile("ID:[0-9a-fA-F]+%?")
_ORDERS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CALCULATIONS: Final[dict[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def compiled(expression: Expression, text: str) -> Evaluation:
    """Returns the evaluation of an expression; `text` is the selector it stands in, for errors."""
    match expression:
        case Not(operand=operand):
            return _not(compiled(operand, text))
        case And(operands=operands):
            return _joined([compiled(one, text) for one in operands], decisive=False)
        case Or(operands=operands):
            return _joined([compiled(one, text) for one in operands], decisive=True)
        case Comparison():
            return _compared(expression, text)
        case Between():
            return _between(expression, text)
        case In() | Like() | IsNull():
            return _told(expression, text)
        case _:
            return _value(expression, text)


def _value(expression: Literal | Identifier | Signed | Arithmetic, text: str) -> Evaluation:
    match expression:
        case Literal(value=value):
            return lambda _, __: value
        case Identifier():
            return _looked_up(expression, text)
        case Signed(operand=operand, negative=negative):
            return _signed(compiled(operand, text), negative=negative)
        case Arithmetic():
            return _calculated(expression, text)


def _looked_up(identifier: Identifier, text: str) -> Evaluation:
    found = lookup(identifier.name)
    if found is None:
        problem = f"{identifier.name} is no name that selectors know; write a property, a JMS header or Root.MQMD.Field"
        raise refused(text, identifier.column, problem)
    return found


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _signed(operand: Evaluation, *, negative: bool) -> Evaluation:
    def found(descriptor: Descriptor, properties: Properties) -> Value:
        value = operand(descriptor, properties)
        if not _is_number(value):
            return None
        return _calculation("-", 0, value) if negative else value  # type: ignore[arg-type]

    return found


def _calculated(expression: Arithmetic, text: str) -> Evaluation:
    first = compiled(expression.first, text)
    rest = [(sign, compiled(operand, text)) for sign, operand in expression.rest]

    def found(descriptor: Descriptor, properties: Properties) -> Value:
        result = first(descriptor, properties)
        for sign, operand in rest:
            value = operand(descriptor, properties)
            if not (_is_number(result) and _is_number(value)):
                return None
            result = _calculation(sign, result, value)  # type: ignore[arg-type]
        return result

    return found


def _calculation(sign: str, left: float, right: float) -> Value:
    """Returns the result of one operation; NULL when whole numbers overflow 64 bits or something is divided by 0."""
    whole = isinstance(left, int) and isinstance(right, int)
    if not whole:
        left, right = float(left), float(right)
    if sign != "/":
        result = _CALCULATIONS[sign](left, right)
    elif right == 0:
        return None
    elif whole:
        result = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    else:
        result = left / right
    return result if not whole or _SMALLEST <= result <= _LARGEST else None


def _compared(expression: Comparison, text: str) -> Evaluation:
    left, right = expression.left, expression.right
    if isinstance(left, Literal) and not isinstance(right, Literal) and expression.operator in {"=", "<>"}:
        left, right = right, left
    own, sign = compiled(left, text), expression.operator
    if isinstance(right, Literal) and isinstance(right.value, str | bytes):
        return _compared_with(own, sign, _as_id(left, right.value))
    other = compiled(right, text)
    if sign in _ORDERS:
        return _ordered(own, _ORDERS[sign], other)
    equal = sign == "="

    def found(descriptor: Descriptor, properties: Properties) -> Value:
        one, another = own(descriptor, properties), other(descriptor, properties)
        if one is None or another is None:
            return None
        if not _alike(one, another):
            return False
        if type(one) is not type(another) and _is_number(one):
            one, another = float(one), float(another)
        return (one == another) is equal

    return found


def _compared_with(own: Evaluation, sign: str, constant: str | bytes) -> Evaluation:
    """Returns a comparison with a constant string: what most selectors consist of."""
    kind = type(constant)
    if sign == "=":

        def equal(descriptor: Descriptor, properties: Properties) -> Value:
            value = own(descriptor, properties)
            return None if value is None else value == constant

        return equal

    def unequal(descriptor: Descriptor, properties: Properties) -> Value:
        value = own(descriptor, properties)
        return None if value is None else isinstance(value, kind) and value != constant

    return unequal


def _alike(one: Value, another: Value) -> bool:
    """Returns True for values that can be compared: both numbers, or of the same type."""
    if _is_number(one):
        return _is_number(another)
    return type(one) is type(another)


def _as_id(operand: Expression, constant: str | bytes) -> str | bytes:
    """Returns a constant that an id is compared with in the digits that ids have."""
    if (
        isinstance(operand, Identifier)
        and operand.name in IDS
        and isinstance(constant, str)
        and _ID.fullmatch(constant)
    ):
        return f"ID:{constant[3:].lower()}"
    return constant


def _ordered(own: Evaluation, order: Callable[[float, float], bool], other: Evaluation) -> Evaluation:
    def found(descriptor: Descriptor, properties: Properties) -> Value:
        one, another = own(descriptor, properties), other(descriptor, properties)
        return _in_order(order, one, another)

    return found


def _in_order(order: Callable[[float, float], bool], one: Value, another: Value) -> bool | None:
    if one is None or another is None:
        return None
    if not (_is_number(one) and _is_number(another)):
        return False
    if type(one) is not type(another):
        one, another = float(one), float(another)
    return order(one, another)  # type: ignore[arg-type]


def _between(expression: Between, text: str) -> Evaluation:
    """Returns x >= low AND x <= high, or x < low OR x > high, as the specification has it."""
    own, low, high = (compiled(one, text) for one in (expression.operand, expression.low, expression.high))
    negated = expression.negated

    def found(descriptor: Descriptor, properties: Properties) -> Value:
        value = own(descriptor, properties)
        below, above = low(descriptor, properties), high(descriptor, properties)
        if negated:
            results = {_in_order(operator.lt, value, below), _in_order(operator.gt, value, above)}
            return True if True in results else None if None in results else False
        results = {_in_order(operator.ge, value, below), _in_order(operator.le, value, above)}
        return False if False in results else None if None in results else True

    return found


def _told(expression: In | Like | IsNull, text: str) -> Evaluation:
    """Returns the evaluation of IS NULL, or of IN or LIKE: a test of a string, of which NULL is unknown."""
    own, negated = compiled(expression.operand, text), expression.negated
    if isinstance(expression, IsNull):
        return lambda descriptor, properties: (own(descriptor, properties) is None) is not negated
    if isinstance(expression, In):
        test: Callable[[str], bool] = frozenset(
            _as_id(expression.operand, one) for one in expression.strings
        ).__contains__
    else:
        test = matcher(str(_as_id(expression.operand, expression.pattern)), expression.escape)

    def found(descriptor: Descriptor, properties: Properties) -> Value:
        value = own(descriptor, properties)
        if value is None:
            return None
        return (isinstance(value, str) and test(value)) is not negated

    return found


def _not(operand: Evaluation) -> Evaluation:
    def found(descriptor: Descriptor, properties: Properties) -> Value:
        value = operand(descriptor, properties)
        return not value if isinstance(value, bool) else None

    return found


def _joined(operands: list[Evaluation], *, decisive: bool) -> Evaluation:
    """AND, which one FALSE decides, or OR, which one TRUE decides; else what is unknown makes all of it so."""
    otherwise = not decisive

    def found(descriptor: Descriptor, properties: Properties) -> Value:
        result: bool | None = otherwise
        for operand in operands:
            value = operand(descriptor, properties)
            if value is decisive:
                return decisive
            if value is not otherwise:
                result = None
        return result

    return found

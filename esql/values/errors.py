"""Errors of values, with IBM's numbers and SQLSTATEs, and the words for values in them."""

from __future__ import annotations

from typing import Final

from engine.errors import BrokerError, ConversionException, UserException

OVERFLOW: Final = "S22003"
FORMAT_OF_DATETIME: Final = "S22007"
DATETIME_RANGE: Final = "S22008"
SUBSTRING_RANGE: Final = "S22011"
ZERO_DIVISION: Final = "S22012"
INTERVAL_RANGE: Final = "S22015"
CAST_REFUSED: Final = "S22018"
NUMERIC_ARGUMENT: Final = "S22023"
WRONG_TYPES: Final = "S42804"
NO_CONVERSION: Final = "S22021"
GENERAL: Final = "SXXXXX"

# IBM's numbers for a CHARACTER that is no literal of the type; every other cast has one number.
CHARACTER_CASTS: Final = {"INTEGER": 2521, "DECIMAL": 2522, "FLOAT": 2523, "BOOLEAN": 2524, "BLOB": 2525, "BIT": 2526}
CAST: Final = 2595


class ValueFailure(BrokerError):
    """An operation on values that cannot be done; `sqlstate` is what handlers look at."""

    def __init__(self, number: int, sqlstate: str, text: str, *inserts: str) -> None:
        super().__init__(number, text, *inserts)
        self.sqlstate = sqlstate

    def __reduce__(self) -> tuple[type[ValueFailure], tuple[object, ...]]:
        return type(self), (self.number, self.sqlstate, self.text, *(insert.text for insert in self.inserts))


def overflow(operator: str, left: str, right: str, kind: str) -> ValueFailure:
    """The result of an operator does not fit its type.

    >>> overflow("+", "9223372036854775807", "1", "INTEGER").sqlstate
    'S22003'
    """
    advice = "CAST an operand AS DECIMAL" if kind == "INTEGER" else "use smaller operands"
    return ValueFailure(
        2451, OVERFLOW, f"{left} {operator} {right} does not fit {kind}: {advice}", operator, left, right
    )


def division_by_zero(left: str) -> ValueFailure:
    """Something was divided by zero."""
    return ValueFailure(2450, ZERO_DIVISION, f"{left} was divided by zero: test the divisor first", f"{left} / 0")


def wrong_types(operator: str, left: str, right: str = "") -> ValueFailure:
    """An operator does not take operands of these types."""
    operands = f"{left} and {right}" if right else left
    text = f"the operator {operator} does not take {operands}: CAST to types that it takes"
    return ValueFailure(2420, WRONG_TYPES, text, operator, *((left, right) if right else (left,)))


def wrong_argument(function: str, parameter: str, wanted: str, literal: str) -> ValueFailure:
    """A function was given an argument of a type it does not take."""
    text = f"{function} takes {wanted} as its {parameter}, not {literal}: CAST it first"
    return ValueFailure(2420, WRONG_TYPES, text, function, literal)


def out_of_range(function: str, text: str, sqlstate: str = NUMERIC_ARGUMENT) -> ValueFailure:
    """A function was given an argument for which it has no result."""
    return ValueFailure(2453, sqlstate, f"{function}: {text}", function)


def cast_failure(literal: str, source: str, target: str, why: str, sqlstate: str = CAST_REFUSED) -> ValueFailure:
    """A value cannot be cast.

    >>> str(cast_failure("'abc'", "CHARACTER", "INTEGER", "an integer has digits only"))
    "BIP2521: 'abc' cannot be cast from CHARACTER to INTEGER: an integer has digits only"
    """
    number = CHARACTER_CASTS.get(target, CAST) if source == "CHARACTER" else CAST
    text = f"{literal} cannot be cast from {source} to {target}: {why}"
    return ValueFailure(number, sqlstate, text, literal, source, target)


def sqlstate_of(error: BrokerError) -> str:
    """The SQLSTATE of any error, as handlers compare it; one that has none of its own is of the broker.

    >>> sqlstate_of(division_by_zero("1")), sqlstate_of(BrokerError(2230, "the flow failed"))
    ('S22012', 'SXXXXX')
    """
    own = getattr(error, "sqlstate", None)
    if isinstance(own, str) and own:
        return own
    if isinstance(error, UserException):
        return _users_state(error)
    return NO_CONVERSION if isinstance(error, ConversionException) else GENERAL


def _users_state(error: UserException) -> str:
    """THROW can give a SQLSTATE by its first insert: U and five characters."""
    first = error.inserts[0].text if error.inserts else ""
    return first if len(first) == 6 and first.startswith("U") else "U00000"

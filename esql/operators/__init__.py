"""The operators of ESQL over values: what emitted code calls where it does not know better."""

from esql.operators.arithmetic import add, affirm, divide, multiply, negate, subtract
from esql.operators.comparison import (
    and_,
    between,
    between_symmetric,
    compare,
    equal,
    greater,
    greater_or_equal,
    is_in,
    is_not_state,
    is_state,
    less,
    less_or_equal,
    not_,
    or_,
    unequal,
)
from esql.operators.datetimes import difference, in_units
from esql.operators.strings import concatenate, like

__all__ = [
    "add",
    "affirm",
    "and_",
    "between",
    "between_symmetric",
    "compare",
    "concatenate",
    "difference",
    "divide",
    "equal",
    "greater",
    "greater_or_equal",
    "in_units",
    "is_in",
    "is_not_state",
    "is_state",
    "less",
    "less_or_equal",
    "like",
    "multiply",
    "negate",
    "not_",
    "or_",
    "subtract",
    "unequal",
]

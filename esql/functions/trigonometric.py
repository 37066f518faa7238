"""Trigonometric functions: of angles in radians, all FLOAT."""

from __future__ import annotations

import math

from esql.functions import Numeric, declare_float_function, function
from esql.functions.arguments import floating

declare_float_function(
    "SIN",
    math.sin,
    "The sine of an angle.",
    "SIN(0) = 0",
    "SIN(1) BETWEEN 0.84147 AND 0.84148",
    "SIN('0') fails S42804",
    parameter="angle",
)
declare_float_function(
    "COS", math.cos, "The cosine of an angle.", "COS(0) = 1", "COS(1) BETWEEN 0.5403 AND 0.5404", parameter="angle"
)
declare_float_function(
    "TAN", math.tan, "The tangent of an angle.", "TAN(0) = 0", "TAN(1) BETWEEN 1.5574 AND 1.5575", parameter="angle"
)
declare_float_function(
    "COT",
    lambda x: 1 / math.tan(x),
    "The cotangent of an angle.",
    "COT(1) BETWEEN 0.6420 AND 0.6421",
    "COT(0) fails S22023",
    parameter="angle",
)
declare_float_function(
    "ASIN",
    math.asin,
    "The angle that has a sine.",
    "ASIN(0) = 0",
    "ASIN(1) BETWEEN 1.5707 AND 1.5708",
    "ASIN(2) fails S22023",
)
declare_float_function(
    "ACOS",
    math.acos,
    "The angle that has a cosine.",
    "ACOS(1) = 0",
    "ACOS(0) BETWEEN 1.5707 AND 1.5708",
    "ACOS(-2) fails S22023",
)
declare_float_function(
    "ATAN", math.atan, "The angle that has a tangent.", "ATAN(0) = 0", "ATAN(1) BETWEEN 0.7853 AND 0.7854"
)


@function("ATAN2")
def arc_tangent_of_quotient(opposite: Numeric, adjacent: Numeric) -> float:
    """The angle whose tangent is a quotient, in the quadrant of its parts.

    `ATAN2(0, 1) = 0`
    `ATAN2(1, 1) BETWEEN 0.7853 AND 0.7854`
    `ATAN2(1, -1) BETWEEN 2.3561 AND 2.3562`
    `ATAN2(1, NULL) IS NULL`
    """
    return floating("ATAN2", math.atan2, opposite, adjacent)


declare_float_function(
    "SINH",
    math.sinh,
    "The hyperbolic sine.",
    "SINH(0) = 0",
    "SINH(1) BETWEEN 1.1752 AND 1.1753",
    "SINH(1000) fails S22003",
)
declare_float_function("COSH", math.cosh, "The hyperbolic cosine.", "COSH(0) = 1", "COSH(1) BETWEEN 1.5430 AND 1.5431")
declare_float_function("TANH", math.tanh, "The hyperbolic tangent.", "TANH(0) = 0", "TANH(1000) = 1")
declare_float_function(
    "DEGREES", math.degrees, "An angle in degrees.", "DEGREES(0) = 0", "DEGREES(ACOS(-1)) = 180", parameter="angle"
)
declare_float_function(
    "RADIANS", math.radians, "An angle in radians.", "RADIANS(0) = 0", "RADIANS(180) = ACOS(-1)", parameter="angle"
)

"""Trigonometric functions: of angles in radians, all FLOAT."""

from __future__ import annotations

import math

from esql.functions import Numeric, function
from esql.functions.arguments import floating


@function("SIN")
def sine(angle: Numeric) -> float:
    """The sine of an angle.

    `SIN(0) = 0`
    `SIN(1) BETWEEN 0.84147 AND 0.84148`
    `SIN(NULL) IS NULL`
    `SIN('0') fails S42804`
    """
    return floating("SIN", math.sin, angle)


@function("COS")
def cosine(angle: Numeric) -> float:
    """The cosine of an angle.

    `COS(0) = 1`
    `COS(1) BETWEEN 0.5403 AND 0.5404`
    `COS(NULL) IS NULL`
    """
    return floating("COS", math.cos, angle)


@function("TAN")
def tangent(angle: Numeric) -> float:
    """The tangent of an angle.

    `TAN(0) = 0`
    `TAN(1) BETWEEN 1.5574 AND 1.5575`
    `TAN(NULL) IS NULL`
    """
    return floating("TAN", math.tan, angle)


@function("COT")
def cotangent(angle: Numeric) -> float:
    """The cotangent of an angle.

    `COT(1) BETWEEN 0.6420 AND 0.6421`
    `COT(0) fails S22023`
    `COT(NULL) IS NULL`
    """
    return floating("COT", lambda x: 1 / math.tan(x), angle)


@function("ASIN")
def arc_sine(source: Numeric) -> float:
    """The angle that has a sine.

    `ASIN(0) = 0`
    `ASIN(1) BETWEEN 1.5707 AND 1.5708`
    `ASIN(2) fails S22023`
    `ASIN(NULL) IS NULL`
    """
    return floating("ASIN", math.asin, source)


@function("ACOS")
def arc_cosine(source: Numeric) -> float:
    """The angle that has a cosine.

    `ACOS(1) = 0`
    `ACOS(0) BETWEEN 1.5707 AND 1.5708`
    `ACOS(-2) fails S22023`
    `ACOS(NULL) IS NULL`
    """
    return floating("ACOS", math.acos, source)


@function("ATAN")
def arc_tangent(source: Numeric) -> float:
    """The angle that has a tangent.

    `ATAN(0) = 0`
    `ATAN(1) BETWEEN 0.7853 AND 0.7854`
    `ATAN(NULL) IS NULL`
    """
    return floating("ATAN", math.atan, source)


@function("ATAN2")
def arc_tangent_of_quotient(opposite: Numeric, adjacent: Numeric) -> float:
    """The angle whose tangent is a quotient, in the quadrant of its parts.

    `ATAN2(0, 1) = 0`
    `ATAN2(1, 1) BETWEEN 0.7853 AND 0.7854`
    `ATAN2(1, -1) BETWEEN 2.3561 AND 2.3562`
    `ATAN2(1, NULL) IS NULL`
    """
    return floating("ATAN2", math.atan2, opposite, adjacent)


@function("SINH")
def hyperbolic_sine(source: Numeric) -> float:
    """The hyperbolic sine.

    `SINH(0) = 0`
    `SINH(1) BETWEEN 1.1752 AND 1.1753`
    `SINH(1000) fails S22003`
    `SINH(NULL) IS NULL`
    """
    return floating("SINH", math.sinh, source)


@function("COSH")
def hyperbolic_cosine(source: Numeric) -> float:
    """The hyperbolic cosine.

    `COSH(0) = 1`
    `COSH(1) BETWEEN 1.5430 AND 1.5431`
    `COSH(NULL) IS NULL`
    """
    return floating("COSH", math.cosh, source)


@function("TANH")
def hyperbolic_tangent(source: Numeric) -> float:
    """The hyperbolic tangent.

    `TANH(0) = 0`
    `TANH(1000) = 1`
    `TANH(NULL) IS NULL`
    """
    return floating("TANH", math.tanh, source)


@function("DEGREES")
def degrees(angle: Numeric) -> float:
    """An angle in degrees.

    `DEGREES(0) = 0`
    `DEGREES(ACOS(-1)) = 180`
    `DEGREES(NULL) IS NULL`
    """
    return floating("DEGREES", math.degrees, angle)


@function("RADIANS")
def radians(angle: Numeric) -> float:
    """An angle in radians.

    `RADIANS(0) = 0`
    `RADIANS(180) = ACOS(-1)`
    `RADIANS(NULL) IS NULL`
    """
    return floating("RADIANS", math.radians, angle)

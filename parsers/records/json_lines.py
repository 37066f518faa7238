"""JSON lines: values with all their digits as text, and text as values with all their digits."""

from __future__ import annotations

import json
import math
from collections import Counter
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, Final

from engine.errors import ParserException

LONGEST_LINE: Final = 256 * 1024 * 1024
_BAD_JSON: Final = 5705


def to_json(value: Any) -> str:
    """The JSON text of a value; a decimal keeps its places, and what JSON has no number for is text.

    >>> to_json({"A": Decimal("1.50"), "B": [None, "x", float("nan")]})
    '{"A": 1.50, "B": [null, "x", "NaN"]}'
    """
    match value:
        case str():
            return encode_basestring(value)
        case bool() | None:
            return "null" if value is None else "true" if value else "false"
        case Decimal():
            return format(value, "f")
        case dict():
            return (
                "{" + ", ".join([f"{encode_basestring(key)}: {to_json(inner)}" for key, inner in value.items()]) + "}"
            )
        case list():
            return "[" + ", ".join([to_json(inner) for inner in value]) + "]"
        case float() if not math.isfinite(value):
            return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
        case _:
            return repr(value)


def from_json(text: str, number: int) -> dict[str, Any]:
    """The object of a line of JSON; `number` is that of the line, for the error."""
    try:
        found = json.loads(text, parse_float=Decimal, parse_constant=_constant, object_pairs_hook=_unique)
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise ParserException(_BAD_JSON, f"line {number} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ParserException(_BAD_JSON, f"line {number} holds no JSON object: a record is one")
    return found


def _constant(name: str) -> str:
    return name


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the field {twice} is there twice")
    return found

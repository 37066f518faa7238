"""Functions that SQLite is given: arithmetic and comparison of exact decimals, and texts as ESQL has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from engine.databases.driver import ColumnType
from engine.databases.sqlite_values import OUT_OF_RANGE, UnfitError, binder, decimal_of, exact, moved

_EXACT: Final = Context(prec=10_000)
_DIVIDING: Final = Context(prec=34)
_LARGEST: Final = 2**63
_HALF_OF_EXPONENTS: Final = 2**32


def register(connection: Any) -> None:
    """Give a connection all of these functions."""
    for name, function in _FUNCTIONS.items():
        connection.create_function(f"penstock_{name}", -1, function, deterministic=True)
    for name, aggregate in (("sum", _Sum), ("min", _Min), ("max", _Max)):
        connection.create_aggregate(f"penstock_{name}", 1, aggregate)


def strictly(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives NULL where an argument is NULL."""

    def called(*arguments: Any) -> Any:
        return None if None in arguments else function(*arguments)

    return called


# numbers


def _decimal(value: Any) -> Any:
    """The operand of arithmetic that a decimal column holds."""
    return value if isinstance(value, int | bytes) else exact(decimal_of(value))


def _computed(operator: str, left: Any, right: Any) -> Any:
    """`left operator right`: of FLOATs a FLOAT, of INTEGERs an INTEGER, of a moment a moment, else an exact decimal."""
    if isinstance(left, str) and isinstance(right, str):
        return moved(left, right, backwards=operator == "-")
    if isinstance(left, float) or isinstance(right, float):
        return _OF_FLOATS[operator](float(left), float(right))
    if isinstance(left, int) and isinstance(right, int):
        found = _OF_INTEGERS[operator](left, right)
        if not -_LARGEST <= found < _LARGEST:
            raise UnfitError(OUT_OF_RANGE, f"{found} is no INTEGER of 64 bits")
        return found
    return exact(_OF_DECIMALS[operator](decimal_of(left), decimal_of(right)))


def _quotient(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_OF_INTEGERS: Final[Mapping[str, Callable[[int, int], int]]] = MappingProxyType(
    {"+": int.__add__, "-": int.__sub__, "*": int.__mul__, "/": _quotient, "MOD": lambda a, b: a - b * _quotient(a, b)}
)
_OF_FLOATS: Final = MappingProxyType(
    {"+": float.__add__, "-": float.__sub__, "*": float.__mul__, "/": float.__truediv__, "MOD": float.__mod__}
)
_OF_DECIMALS: Final = MappingProxyType(
    {
        "+": _EXACT.add,
        "-": _EXACT.subtract,
        "*": _EXACT.multiply,
        "/": _DIVIDING.divide,
        "MOD": _EXACT.remainder,
    }
)


def _converted(value: Any, kind: str, precision: int | None, scale: int | None) -> Any:
    """A value as a column of that type keeps it."""
    if value is None:
        return None
    known = decimal_of(value) if isinstance(value, bytes) and kind != "blob" else value
    return binder(ColumnType(kind, scale, precision, stored=True))(known)


def _sortable(value: Any) -> bytes:
    """Bytes that stand in the order of the numbers that they are made of.

    >>> _sortable(-2.5) < _sortable(-2) < _sortable(0) < _sortable(b"12345678901234567.8") < _sortable(10**18)
    True
    """
    number = decimal_of(value)
    if not number.is_finite():
        return b"\x04" if number.is_nan() else b"\x03" if number > 0 else b"\x00"
    negative, digits, exponent = number.normalize(_EXACT).as_tuple()
    if not number:
        return b"\x01"
    size = int(exponent) + len(digits) + _HALF_OF_EXPONENTS
    body = size.to_bytes(5) + bytes(digit + 1 for digit in digits)
    return b"\x00" + bytes(255 - byte for byte in body) + b"\xff" if negative else b"\x02" + body


class _Sum:
    """SUM of decimals."""

    def __init__(self) -> None:
        self.found: Any = None

    def step(self, value: Any) -> None:
        """Add a value."""
        if value is not None:
            self.found = value if self.found is None else _computed("+", self.found, value)

    def finalize(self) -> Any:
        """The sum."""
        return self.found


class _Max(_Sum):
    """MAX of decimals."""

    def step(self, value: Any) -> None:
        """Keep the larger."""
        if value is not None and (self.found is None or decimal_of(value) > decimal_of(self.found)):
            self.found = value


class _Min(_Sum):
    """MIN of decimals."""

    def step(self, value: Any) -> None:
        """Keep the smaller."""
        if value is not None and (self.found is None or decimal_of(value) < decimal_of(self.found)):
            self.found = value


def _absolute(value: Any) -> Any:
    return exact(abs(decimal_of(value))) if isinstance(value, bytes) else abs(value)


def _to_places(rounding: str) -> Callable[..., Any]:
    def rounded(value: Any, places: int = 0) -> Any:
        if isinstance(value, int) and places >= 0:
            return value
        found = decimal_of(value).quantize(Decimal(1).scaleb(-places), rounding, _EXACT)
        return float(found) if isinstance(value, float) else int(found) if isinstance(value, int) else exact(found)

    return rounded


# texts


def _substring(value: Any, start: int, length: int | None = None) -> Any:
    """SUBSTRING as SQL has it: what of the string lies between two places, which may be outside it."""
    text = value if isinstance(value, str | bytes) else str(value)
    end = len(text) + 1 if length is None else start + max(length, 0)
    return text[max(start, 1) - 1 : max(end, 1) - 1]


def _overlay(value: str, new: str, start: int, length: int | None = None) -> str:
    behind = start - 1 + (len(new) if length is None else length)
    return value[: max(start - 1, 0)] + new + value[max(behind, 0) :]


def _translated(value: str, search: str, replacement: str = "") -> str:
    known = {ord(one): replacement[place : place + 1] for place, one in reversed(list(enumerate(search)))}
    return value.translate(known)


class _Piece(NamedTuple):
    """A part of a pattern between two %, and the number of characters that match it."""

    pattern: re.Pattern[str]
    length: int


def _like(value: Any, pattern: Any, escape: Any = "\\") -> bool:
    r"""LIKE as SQL has it: upper and lower case differ; it takes no longer than text times pattern.

    >>> _like("a_bc", r"a\_%c"), _like("abc", r"a\_%c"), _like("ABC", "a%"), _like("aa", "a%a%a")
    (True, False, False, False)
    """
    text = str(value)
    first, *rest = _pieces(str(pattern), str(escape))
    if not rest:
        return first.pattern.fullmatch(text) is not None
    if first.pattern.match(text) is None:
        return False
    at = first.length
    *middle, last = rest
    for piece in middle:
        found = piece.pattern.search(text, at)
        if found is None:
            return False
        at = found.end()
    start = len(text) - last.length
    return start >= at and last.pattern.match(text, start) is not None


@lru_cache(maxsize=256)
def _pieces(pattern: str, escape: str) -> list[_Piece]:
    pieces: list[list[str]] = [[]]
    is_escaped = False
    for char in pattern:
        if is_escaped or char not in {escape, "%", "_"}:
            pieces[-1].append(re.escape(char))
            is_escaped = False
        elif char == escape:
            is_escaped = True
        elif char == "%":
            pieces.append([])
        else:
            pieces[-1].append(".")
    return [_Piece(re.compile("".join(piece), re.DOTALL), len(piece)) for piece in pieces]


_FUNCTIONS: Final = MappingProxyType(
    {
        "abs": strictly(_absolute),
        "computed": strictly(_computed),
        "converted": _converted,
        "decimal": strictly(_decimal),
        "left": strictly(lambda value, count: value[: max(count, 0)]),
        "like": strictly(_like),
        "lower": strictly(lambda value: value.lower() if isinstance(value, str) else value),
        "overlay": strictly(_overlay),
        "right": strictly(lambda value, count: value[max(len(value) - count, 0) :]),
        "round": strictly(_to_places(ROUND_HALF_UP)),
        "sortable": strictly(_sortable),
        "substring": strictly(_substring),
        "translate": strictly(_translated),
        "truncate": strictly(_to_places(ROUND_DOWN)),
        "upper": strictly(lambda value: value.upper() if isinstance(value, str) else value),
    }
)

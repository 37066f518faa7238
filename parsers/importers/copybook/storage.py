"""Storage: the bytes that an elementary item takes and the boundary that SYNCHRONIZED puts it on."""

from __future__ import annotations

from typing import Final

from parsers.importers.copybook.dialect import Dialect
from parsers.importers.copybook.entries import Entry, Sign
from parsers.importers.copybook.pictures import Picture

BINARY: Final = frozenset({"BINARY", "COMP-5", "COMP-X", "COMP-N"})
WITHOUT_PICTURE: Final = {
    "COMP-1": 4,
    "COMP-2": 8,
    "BINARY-CHAR": 1,
    "BINARY-SHORT": 2,
    "BINARY-LONG": 4,
    "BINARY-DOUBLE": 8,
    "POINTER-32": 4,
}
ADDRESSES: Final = {
    "INDEX": (4, 8),
    "POINTER": (4, 8),
    "FUNCTION-POINTER": (4, 8),
    "PROCEDURE-POINTER": (8, 8),
    "OBJECT": (4, 8),
}
_NUMBERS: Final = frozenset({*BINARY, "PACKED-DECIMAL", "COMP-6"})
_BINARY_DIGITS: Final = 38
_LONG_DIGITS: Final = 18
MOST_BYTES: Final = 8
# The bytes that hold so many digits, without a sign and with one: as the smallest that can.
_SMALLEST: Final = {False: (2, 4, 7, 9, 12, 14, 16, 19), True: (2, 4, 6, 9, 11, 14, 16, 18)}


def needs_picture(usage: str) -> bool:
    """Returns whether an elementary item of that usage is nothing without a picture."""
    return usage not in WITHOUT_PICTURE and usage not in ADDRESSES


def storage_problem(entry: Entry, usage: str, picture: Picture | None) -> str:
    """Returns what is wrong with the clauses of an elementary item taken together, empty where nothing is."""
    if picture is None:
        return f"has neither a picture nor items under it, and its usage {usage} needs one" * needs_picture(usage)
    if not needs_picture(usage):
        return f"has a picture, and its usage {usage} takes none"
    return _usage_problem(usage, picture) or _clause_problem(entry, picture)


def _usage_problem(usage: str, picture: Picture) -> str:
    if usage in {"COMP-X", "COMP-N"} and picture.category == "alphanumeric":
        return f"has {picture.positions} bytes: {usage} has at most 8" if picture.positions > MOST_BYTES else ""
    if usage in _NUMBERS and picture.category != "numeric":
        return f"has the usage {usage}, and its picture {picture.text} is not that of a number"
    if usage in BINARY and picture.digits > _BINARY_DIGITS:
        return f"has {picture.digits} digits: a binary number has at most {_BINARY_DIGITS}"
    return "has S in its picture, and its usage COMP-6 has no sign" if usage == "COMP-6" and picture.signed else ""


def _clause_problem(entry: Entry, picture: Picture) -> str:
    is_number = picture.category in {"numeric", "numeric-edited"}
    if entry.blank_when_zero and not is_number:
        return f"has BLANK WHEN ZERO, and its picture {picture.text} is not that of a number"
    if entry.justified and is_number:
        return f"has JUSTIFIED, and its picture {picture.text} is that of a number"
    return ""


def size_of(entry: Entry, usage: str, picture: Picture | None, sign: Sign | None, dialect: Dialect) -> int:
    """The bytes of one occurrence of an elementary item."""
    if usage in ADDRESSES:
        return ADDRESSES[usage][dialect.lp == 64]
    if usage in WITHOUT_PICTURE or picture is None:
        return WITHOUT_PICTURE.get(usage, 0)
    if usage in BINARY:
        return _binary(usage, picture, dialect)
    if usage in {"PACKED-DECIMAL", "COMP-6"}:
        return picture.digits // 2 + 1 if usage == "PACKED-DECIMAL" else (picture.digits + 1) // 2
    return positions_of(picture, sign) * width_of(usage, picture)


def positions_of(picture: Picture, sign: Sign | None) -> int:
    """The characters of an item, a sign of its own among them."""
    separate = sign is not None and sign.separate and picture.signed and picture.category == "numeric"
    return picture.positions + separate


def width_of(usage: str, picture: Picture) -> int:
    """The bytes that are kept for a character."""
    if usage in {"NATIONAL", "DISPLAY-1"}:
        return 2
    return 4 if picture.category == "utf-8" else 1


def _binary(usage: str, picture: Picture, dialect: Dialect) -> int:
    if usage in {"COMP-X", "COMP-N"}:
        is_text = picture.category == "alphanumeric"
        return picture.positions if is_text else _smallest(picture.digits, signed=picture.signed)
    return binary_size(picture.digits, dialect, signed=picture.signed)


def binary_size(digits: int, dialect: Dialect, *, signed: bool) -> int:
    """The bytes of a binary number of so many digits; more than 18 take 16, which IBM's compilers do not have.

    >>> from parsers.importers.copybook.dialect import IBM
    >>> [binary_size(digits, IBM, signed=True) for digits in (1, 4, 5, 9, 10, 18)]
    [2, 2, 4, 4, 8, 8]
    """
    if digits > _LONG_DIGITS:
        return 16
    if dialect.binary_size == "1--8":
        return _smallest(digits, signed=signed)
    if digits <= 2 and dialect.binary_size == "1-2-4-8":
        return 1
    return 2 if digits <= 4 else 4 if digits <= 9 else 8


def _smallest(digits: int, *, signed: bool) -> int:
    return next((size for size, most in enumerate(_SMALLEST[signed], 1) if digits <= most), 16)


def boundary_of(usage: str, length: int, dialect: Dialect) -> int:
    """The boundary that a synchronized item is put on: 2 for halfwords, 4 for fullwords, 8 for doublewords."""
    if usage in BINARY or usage.startswith("BINARY-"):
        return 1 if length < 2 else 2 if length == 2 else 4
    if usage == "COMP-1":
        return 4
    if usage == "COMP-2":
        return 8
    return ADDRESSES["POINTER"][dialect.lp == 64] if usage in {*ADDRESSES, "POINTER-32"} else 1

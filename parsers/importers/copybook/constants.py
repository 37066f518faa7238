"""Constants: level 78, and 01 with CONSTANT, which stand for numbers in OCCURS and in pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import add, mul, sub
from types import MappingProxyType
from typing import Final

from parsers.importers.copybook.source import Findings
from parsers.importers.copybook.tokens import Word

_NUMBER: Final = re.compile(r"\+?\d{1,12}")
_NAME_IN_PICTURE: Final = re.compile(r"\(([A-Za-z0-9][\w-]*)\)")
_BETWEEN: Final = frozenset({"CONSTANT", "VALUE", "VALUES", "IS", "AS", "GLOBAL"})
_OPERATORS: Final[Mapping[str, Callable[[int, int], int]]] = MappingProxyType({"+": add, "-": sub, "*": mul})


def note_constant(tokens: list[Word], constants: dict[str, int], findings: Findings) -> bool:
    """Note a constant; one that is no number means nothing to a layout until it is used in one."""
    words = [token.upper for token in tokens]
    declares = words[2:3] == ["CONSTANT"] if words[0] in {"01", "1"} else words[0] == "78" and words[2:3] != ["RENAMES"]
    if not declares:
        return False
    if len(words) == 1:
        findings.add(tokens[0].spot, "a constant has level 78 and no name", words[0])
        return True
    number = _worked_out([word for word in words[2:] if word not in _BETWEEN], constants)
    if number is not None:
        constants[words[1]] = number
    return True


def _worked_out(value: list[str], constants: Mapping[str, int]) -> int | None:
    """The number that a constant stands for: digits, another constant, or two of these and an operator."""
    if len(value) == 3 and value[1] in _OPERATORS:
        left, right = _worked_out(value[:1], constants), _worked_out(value[2:], constants)
        return None if left is None or right is None else _OPERATORS[value[1]](left, right)
    if len(value) != 1:
        return None
    return int(value[0]) if _NUMBER.fullmatch(value[0]) else constants.get(value[0])


def with_numbers(picture: str, constants: Mapping[str, int]) -> str:
    """A picture with numbers for the constants in its parentheses.

    >>> with_numbers("X(NAME-LENGTH)", {"NAME-LENGTH": 30})
    'X(30)'
    """

    def number(found: re.Match[str]) -> str:
        return f"({constants.get(found[1].upper(), found[1])})"

    return _NAME_IN_PICTURE.sub(number, picture)

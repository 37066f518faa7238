"""Initial values: what an item holds that was given none, by its VALUE clause or its type."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeAlias

from engine.errors import BrokerError
from parsers.importers.copybook.items import Item
from parsers.importers.copybook.physical import has_number
from parsers.mrm.stored import Stored

Write: TypeAlias = Callable[[Any], bytes]

_ZEROS = frozenset({"ZERO", "ZEROS", "ZEROES"})
_SPACES = frozenset({"SPACE", "SPACES"})
_BYTES = {
    "LOW-VALUE": 0x00,
    "LOW-VALUES": 0x00,
    "HIGH-VALUE": 0xFF,
    "HIGH-VALUES": 0xFF,
    "NULL": 0x00,
    "NULLS": 0x00,
}
_PREFIXED: Final = re.compile(r"(NX|BX|HX|UX|NC|[XNGBZUH])(?=['\"])", re.IGNORECASE)


def initial(item: Item, stored: Stored) -> bytes:
    """The bytes of an item that was given no value; a VALUE that its type cannot hold does not count."""
    write = partial(_write, item, stored)
    empty = write(0 if has_number(item) else None)
    values = item.entry.values
    if not values:
        return empty
    try:
        return _of_literal(values[0].first, item, write, empty)
    except (ValueError, ArithmeticError, BrokerError):
        return empty


def _write(item: Item, stored: Stored, value: Any) -> bytes:
    return stored.encode(value, item.length)


def _of_literal(literal: str, item: Item, write: Write, empty: bytes) -> bytes:
    upper = literal.upper()
    if upper in _BYTES:
        return bytes([_BYTES[upper]]) * item.length
    if upper in _SPACES or upper in {"ALL SPACE", "ALL SPACES"}:
        return empty if _is_number(item) else write("")
    if upper in _ZEROS:
        return write(0) if _is_number(item) else write("0" * item.length)
    if upper in {"QUOTE", "QUOTES"}:
        return write('"' * item.length)
    if upper.startswith("ALL "):
        text = text_of_literal(literal[4:].strip())
        return write((text * item.length)[: item.length])
    prefix = _PREFIXED.match(literal)
    if prefix:
        return _of_prefixed(prefix[1].upper(), text_of_literal(literal[prefix.end() :]), item, write, empty)
    if literal[:1] in {"'", '"'}:
        return _of_text(text_of_literal(literal), item, write)
    return write(Decimal(literal.replace(",", ".")) if _is_number(item) else literal)


def _of_prefixed(prefix: str, text: str, item: Item, write: Write, empty: bytes) -> bytes:
    """The bytes of a literal with letters before its quote: hexadecimal, national, with a zero byte, or a number."""
    if prefix == "X":
        data = bytes.fromhex(text)
        return data + empty[len(data) :] if len(data) <= item.length else empty
    if prefix in {"H", "HX", "B", "BX"}:
        return write(int(text, 2 if prefix == "B" else 16))
    if prefix in {"NX", "UX"}:
        text = bytes.fromhex(text).decode("utf-16-be" if prefix == "NX" else "utf-8")
    return _of_text(text + "\0" * (prefix == "Z"), item, write)


def _of_text(text: str, item: Item, write: Write) -> bytes:
    """The bytes of a text: a VALUE begins at the left, whether JUSTIFIED or not."""
    positions = item.picture.positions if item.entry.justified and item.picture else 0
    return write(text.ljust(positions))


def _is_number(item: Item) -> bool:
    return item.picture is None or item.picture.category == "numeric"


def text_of_literal(literal: str) -> str:
    """The text that a literal in quotes stands for.

    >>> text_of_literal("'it''s'")
    "it's"
    """
    quote = literal[:1]
    if quote not in {"'", '"'}:
        raise ValueError(f"{literal} is no literal in quotes")
    return literal[1:].removesuffix(quote).replace(quote * 2, quote)

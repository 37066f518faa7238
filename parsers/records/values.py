"""Initial values: what an item holds that was given none, by its VALUE clause or its type."""

from __future__ import annotations

from decimal import Decimal

from engine.errors import BrokerError
from parsers.importers.copybook.items import Item
from parsers.records.leaves import Leaf

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


def initial(item: Item, leaf: Leaf) -> bytes:
    """The bytes of an item that was given no value; a VALUE that its type cannot hold does not count."""
    values = item.entry.values
    if not values:
        return leaf.empty
    try:
        return _of_literal(values[0].first, item, leaf)
    except (ValueError, ArithmeticError, BrokerError):
        return leaf.empty


def _of_literal(literal: str, item: Item, leaf: Leaf) -> bytes:
    upper = literal.upper()
    if upper in _BYTES:
        return bytes([_BYTES[upper]]) * item.length
    if upper in _SPACES or upper in {"ALL SPACE", "ALL SPACES"}:
        return leaf.empty if _is_number(item) else leaf.write("")
    if upper in _ZEROS:
        return leaf.write(0) if _is_number(item) else leaf.write("0" * item.length)
    if upper in {"QUOTE", "QUOTES"}:
        return leaf.write('"' * item.length)
    if upper.startswith("ALL "):
        text = text_of_literal(literal[4:].strip())
        return leaf.write((text * item.length)[: item.length])
    if upper.startswith("X") and literal[1:2] in {"'", '"'}:
        data = bytes.fromhex(text_of_literal(literal[1:]))
        return data if len(data) == item.length else leaf.empty
    if literal[:1] in {"'", '"'}:
        return leaf.write(text_of_literal(literal))
    return leaf.write(Decimal(literal.replace(",", ".")) if _is_number(item) else literal)


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

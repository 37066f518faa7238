"""List functions: how many there are, and the first of them."""

from __future__ import annotations

from collections.abc import Sequence

from esql.functions import function
from esql.values.types import Value


@function("CARDINALITY")
def cardinality(items: Sequence[Value]) -> int:
    """Returns how many elements a list has.

    `CARDINALITY(Environment.Order.Item[]) = 3`
    `CARDINALITY(Environment.Order.Missing[]) = 0`
    `CARDINALITY(Environment.Order.*[]) = 5`
    """
    return len(items)


@function("EXISTS")
def exists(items: Sequence[Value]) -> bool:
    """Returns whether a list has elements.

    `EXISTS(Environment.Order.Item[])`
    `EXISTS(Environment.Order.Missing[]) = FALSE`
    """
    return len(items) > 0


@function("SINGULAR")
def singular(items: Sequence[Value]) -> bool:
    """Returns whether a list has exactly one element.

    `SINGULAR(Environment.Order.Id[])`
    `SINGULAR(Environment.Order.Item[]) = FALSE`
    `SINGULAR(Environment.Order.Missing[]) = FALSE`
    """
    return len(items) == 1


@function("THE")
def the(items: Sequence[Value] | None) -> Value:
    """The first element of a list; NULL where there is none.

    `THE(Environment.Order.Item[]) = 'pen'`
    `THE(Environment.Order.Missing[]) IS NULL`
    """
    return items[0] if items else None

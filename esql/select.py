"""SELECT at run time: its rows, and what its aggregates make of their values.

The loops over the lists of FROM, and the test of WHERE, are emitted code: a list, or the rows of a database, is
whatever can be iterated. A row is an element without a parent; rows and elements never share a child.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.source import NAME, Value
from engine.step import Step
from engine.tree import Element
from esql.operators import add, greater, less
from esql.trees import set_field, set_list


def new_row() -> Element:
    """A row without columns."""
    return Element("", "", NAME)


def add_column(row: Element, steps: Sequence[Step], value: object) -> None:
    """`expression AS path`: the path is created below the row, and given a scalar, a field or, by `name[]`, a list."""
    at = row
    for wanted in steps[:-1]:
        at = at.ensure(wanted)
    if isinstance(value, list):
        set_list(at, steps[-1], value)
    elif isinstance(value, Element):
        set_field(at.ensure(steps[-1]), value)
    elif value is not None:
        at.ensure(steps[-1]).value = value


def add_named(row: Element, name: str, value: object) -> None:
    """A column without AS: a field brings its name, any other value is given one."""
    if isinstance(value, Element):
        set_field(row.add(value.name, namespace=value.namespace), value)
    elif value is not None:
        row.add(name, value)


def add_all(row: Element, *items: object) -> None:
    """`*`: all that is below each item of FROM; of an item without anything below, the item's value."""
    for item in items:
        if not isinstance(item, Element):
            row.value = item
        elif item.first_child is None:
            row.value = item.value
        else:
            for child in item:
                set_field(row.add(child.name, namespace=child.namespace), child)


def the(items: Sequence[object]) -> object:
    """THE: the first item of a list; NULL where there is none."""
    return items[0] if items else None


def count(values: Sequence[Value]) -> int:
    """COUNT: how many values are not NULL."""
    return sum(value is not None for value in values)


def total(values: Sequence[Value]) -> Value:
    """SUM of the values that are not NULL; NULL where there are none."""
    result = None
    for value in values:
        if value is not None:
            result = value if result is None else add(result, value)
    return result


def maximum(values: Sequence[Value]) -> Value:
    """MAX of the values that are not NULL; NULL where there are none."""
    result = None
    for value in values:
        if value is not None and (result is None or greater(value, result)):
            result = value
    return result


def minimum(values: Sequence[Value]) -> Value:
    """MIN of the values that are not NULL; NULL where there are none."""
    result = None
    for value in values:
        if value is not None and (result is None or less(value, result)):
            result = value
    return result

"""Calls that a compiled program makes: arguments of clauses, seen to be what those take; and rows and lists.

Rows are those of SELECT and ROW, with their aggregates and comparisons. The loops over the lists of FROM, and the test
of WHERE, are emitted code: a list, or the rows of a database, is whatever can be iterated. A row is an element without
a parent; rows and elements never share a child.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

from engine.errors import BrokerError, LimitExceeded
from engine.tree.element import Element
from engine.tree.source import NAME
from engine.tree.states import LOOSE
from engine.tree.step import Step, Types, step
from esql.names.constants import TERMINAL_NUMBERS, types_of_number
from esql.operators.comparison import and_all, equal, greater, less
from esql.operators.numeric_and_string import add, concatenate, like
from esql.runtime.invocation import Invocation, Zone
from esql.trees.assignments import copy_of, set_field, set_list
from esql.values.errors import WRONG_TYPES, ValueFailure, sqlstate_of, wrong_types
from esql.values.literals import shown, to_text
from esql.values.types import Interval, Value, type_of

_NO_SUCH_FIELD: Final = 2528
_LONGEST_KEPT: Final = 1000


def joined(here: Invocation, values: Sequence[Value]) -> Value:
    """A long chain of `||`, of which no part is longer than a string may be.

    >>> joined(Invocation(), ("a", "b", "c"))
    'abc'
    """
    result = values[0]
    for value in values[1:]:
        result = concatenate(result, value)
        if result is not None:
            here.grow(len(result))
    return result


def existing(found: Element | None, title: str) -> Element:
    """A field that must be there."""
    if found is None:
        raise BrokerError(_NO_SUCH_FIELD, f"{title} leads to no field: create it first, or test it by EXISTS", title)
    return found


def index(value: Value) -> int:
    """A subscript, or another number of elements: an INTEGER that is not NULL.

    >>> index(3)
    3
    """
    if type(value) is int:
        return value
    text = f"a subscript is an INTEGER, not {shown(value)}: CAST it"
    raise ValueFailure(2420, WRONG_TYPES, text, shown(value))


def a_name(value: Value) -> str:
    """A name or a namespace that was computed: a CHARACTER that is not NULL."""
    if type(value) is str:
        return value
    text = f"a name is a CHARACTER, not {shown(value)}: CAST it"
    raise ValueFailure(2420, WRONG_TYPES, text, shown(value))


def step_of(title: str | None, namespace: str | None, types: Types) -> Step:
    """A step of a path with parts that were computed; one with a very long name is not kept for the next use."""
    is_kept = len(title or "") + len(namespace or "") <= _LONGEST_KEPT
    return step(title, namespace, types) if is_kept else Step(title, namespace, types)


def types_of(known: Types | None, *values: Value) -> Types:
    """Returns what a type clause accepts, of which parts were computed."""
    found = known or ()
    for value in values:
        found += types_of_number(index(value))
    return found


def handler_of(error: BrokerError, handlers: Sequence[Sequence[tuple[str, str, str]]]) -> int:
    """Returns which of a block's handlers an error is for; -1 where none is."""
    if isinstance(error, LimitExceeded):
        return -1
    state = sqlstate_of(error)
    for number, conditions in enumerate(handlers):
        if any(_fits(state, *condition) for condition in conditions):
            return number
    return -1


def _fits(state: str, kind: str, text: str, escape: str) -> bool:
    if kind == "SQLSTATE":
        return state == text
    if kind == "LIKE":
        return bool(like(state, text, escape))
    return kind == "SQLEXCEPTION"


_TERMINAL: Final = 4009
_TERMINALS: Final = {number: name for name, number in TERMINAL_NUMBERS.items()}


def terminal_of(value: Value) -> str:
    """The terminal that PROPAGATE names, by its number or its name."""
    if type(value) is int and value in _TERMINALS:
        return _TERMINALS[value]
    if type(value) is str and value in TERMINAL_NUMBERS:
        return value
    text = f"PROPAGATE goes to one of {', '.join(TERMINAL_NUMBERS)}, not to {shown(value)}"
    raise ValueFailure(_TERMINAL, "SPS001", text, shown(value))


def label_of(value: Value) -> str:
    """The label that PROPAGATE names."""
    if type(value) is str and value:
        return value
    raise ValueFailure(4245, "SPS002", f"a label is named by a CHARACTER, not {shown(value)}", shown(value))


def insert_of(value: Value) -> str:
    """A value as the text of an insert."""
    return "" if value is None else to_text(value)


Place: TypeAlias = Step | tuple[Step, int]  # a step of a path after AS, and its subscript where it has one
_SUMMED: Final = frozenset((int, float, Decimal, Interval))


def new_row() -> Element:
    """A row without columns."""
    return Element("", "", NAME)


def add_column(row: Element, steps: Sequence[Place], value: object) -> None:
    """`expression AS path`: the path is created below the row, and given a scalar, a field or, by `name[]`, a list.

    NULL makes no column; a type that the path gives to the column stays where it is given no more than a value.
    """
    if value is None:
        return
    at = row
    for wanted in steps[:-1]:
        at = _ensured(at, wanted)
    if isinstance(value, list):
        last = steps[-1]
        set_list(at, last if isinstance(last, Step) else last[0], value)
        return
    if isinstance(value, Element):
        _give(at, steps[-1], value)
    else:
        _ensured(at, steps[-1]).value = value


def _ensured(at: Element, wanted: Place) -> Element:
    if isinstance(wanted, Step) and at.state & LOOSE and (found := at.child(wanted)) and found.name != wanted.name:
        return at.ensure_new(wanted)  # a column of its own, however like another it is
    return at.ensure(wanted) if isinstance(wanted, Step) else at.ensure_nth(*wanted)


def _give(at: Element, wanted: Place, field: Element) -> None:
    if isinstance(wanted, Step) and wanted.name is not None and not wanted.types and at.child(wanted) is None:
        _append(at, field, wanted.name, wanted.namespace or "")
    else:
        set_field(_ensured(at, wanted), field)


def _append(at: Element, field: Element, name: str, namespace: str) -> None:
    """Add a copy of a field under a name: one element less than to create one and set it."""
    twin = copy_of(field)
    twin.name, twin.namespace = name, namespace
    at.append(twin)


def add_named(row: Element, name: str, value: object) -> None:
    """A column without AS: a field brings its name, any other value is given one; NULL makes no column.

    Of a list each item is a column, also a row; a row by itself, which has no name, brings its own columns.
    """
    if isinstance(value, list):
        for item in value:
            if isinstance(item, Element) and not item.name and item.first_child is not None:
                _append(row, item, name, "")
            else:
                add_named(row, name, item)
    elif isinstance(value, Element) and not value.name:  # a row, of a database for one
        add_all(row, value)
    elif isinstance(value, Element):
        _append(row, value, value.name, value.namespace)
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
                _append(row, child, child.name, child.namespace)
            row.state |= item.state & LOOSE


def row_or_value(item: object) -> object:
    """Returns a row, or a field with others in it, as it is; of anything else the value."""
    return item.value if isinstance(item, Element) and item.first_child is None else item


def count(values: Sequence[Value]) -> int:
    """COUNT: how many values are not NULL."""
    return sum(value is not None for value in values)


def total(values: Sequence[Value]) -> Value:
    """SUM of the values that are not NULL; NULL where there are none."""
    result = None
    for value in values:
        if value is None:
            continue
        if type(value) not in _SUMMED:
            raise wrong_types("SUM", type_of(value))
        result = value if result is None else add(result, value)
    return result


def maximum(values: Sequence[Value]) -> Value:
    """MAX of the values that are not NULL; NULL where there are none."""
    return _extreme(values, greater)


def minimum(values: Sequence[Value]) -> Value:
    """MIN of the values that are not NULL; NULL where there are none."""
    return _extreme(values, less)


def _extreme(values: Sequence[Value], goes_before: Callable[[Value, Value], bool | None]) -> Value:
    result = None
    for value in values:
        if value is not None and (result is None or goes_before(value, result)):
            result = value
    return result


def same_lists(left: Sequence[object], right: Sequence[object], zone: Zone) -> bool | None:
    """`list = list`: as many items, each equal to the one in its place; rows and folders as `same_rows` has them.

    >>> from esql.runtime.invocation import local_zone
    >>> same_lists([1, 2], [1, 2], local_zone), same_lists([1], [1, 2], local_zone), same_lists([1], [None], local_zone)
    (True, False, None)
    """
    if len(left) != len(right):
        return False
    return and_all([_same(*pair, zone) for pair in zip(left, right, strict=True)])


def same_rows(left: object, right: object, zone: Zone) -> bool | None:
    """`row = row`: the same columns in the same order, by name and namespace, each equal, with what is below it.

    A column without a value is equal to another without one; a row that is not there is NULL.
    """
    if left is None or right is None:
        return None
    if not (isinstance(left, Element) and isinstance(right, Element)):
        raise wrong_types("=", "a row and a value: compare a row with a row or a field")
    return _same_below(left, right, zone)


def _same(left: Any, right: Any, zone: Zone) -> bool | None:
    """Two items of lists: by value, and if both have any, by what is below them."""
    first = left.value if isinstance(left, Element) else left
    second = right.value if isinstance(right, Element) else right
    folders = [side for side in (left, right) if isinstance(side, Element) and _columns(side)]
    if len(folders) == 2:
        return _below(left, right, zone)
    return False if folders else equal(first, second, zone)


def _below(left: Element, right: Element, zone: Zone) -> bool | None:
    """Two fields of one name: by value where either has one, and by what is below them."""
    if left.value is not None or right.value is not None:
        of_values = equal(left.value, right.value, zone)
        if not of_values:
            return of_values
    return _same_below(left, right, zone)


def _same_below(left: Element, right: Element, zone: Zone) -> bool | None:
    first, second = _columns(left), _columns(right)
    if [(one.name, one.namespace) for one in first] != [(one.name, one.namespace) for one in second]:
        return False
    return and_all([_below(*pair, zone) for pair in zip(first, second, strict=True)])


def _columns(row: Element) -> list[Element]:
    """The fields below a row or field; the texts that its own value is made of are none."""
    return [one for one in row if one.type & NAME]


def value_of(item: object) -> Value:
    """The value of a field, or a scalar as it is."""
    return item.value if isinstance(item, Element) else item


def field_of(item: object) -> Element | None:
    """A field, where an item of a list is one."""
    return item if isinstance(item, Element) else None


def items_of(value: object) -> list[object]:
    """A list as it is; anything else is a list of one, NULL of none.

    >>> items_of(1), items_of(None), items_of([1, 2])
    ([1], [], [1, 2])
    """
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def joined_items(*lists: Sequence[object]) -> list[Value]:
    """The values of several lists, one behind the other."""
    return [value_of(item) for items in lists for item in items]


def siblings(element: Element | None) -> list[Element]:
    """All fields of an element's name beside it, itself among them."""
    if element is None:
        return []
    if element.parent is None:
        return [element]
    return element.parent.every(step(element.name, element.namespace))


def sibling(element: Element, number: int, from_end: object) -> Element | None:
    """The n-th field of an element's name beside it."""
    found = siblings(element)
    place = len(found) - number if from_end else number - 1
    return found[place] if 0 <= place < len(found) else None

"""Rows as a database gives them: elements whose fields are made all at once, and which nothing else holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.tree.element import Element
from engine.tree.source import NAME, Value
from engine.tree.states import EDITED, EXPANDED, LOOSE, VALUED

_FIELD = EXPANDED | EDITED | VALUED
_ROW = EXPANDED | EDITED


class FreshRow(Element):
    """A row that has just been made, so that it can be put where it is wanted."""

    __slots__ = ()


def fresh_rows(names: Sequence[str], rows: Iterable[Sequence[Value]], *, is_loose: bool = True) -> list[Element]:
    """Rows with a field of each name; a field whose value is NULL is there, without a value.

    Names are the database's, so that they are found in another case too, but for those that a program chose itself.

    >>> [[(field.name, field.value) for field in row] for row in fresh_rows(("ID", "NAME"), [(1, None)])]
    [[('ID', 1), ('NAME', None)]]
    """
    made: list[Element] = []
    state = _ROW | LOOSE if is_loose else _ROW
    for values in rows:
        row = FreshRow("")
        row.state = state
        last: Element | None = None
        for name, value in zip(names, values, strict=True):
            field = Element(name, "", NAME, None, None, row)
            if value is not None:
                field.raw_value = value
                field.state = _FIELD
            if last is None:
                row.first_linked = field
            else:
                last.next_linked = field
                field.previous_linked = last
            last = field
        row.last_linked = last
        made.append(row)
    return made

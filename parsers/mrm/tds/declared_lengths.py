"""The lengths and repeats that fields which are written declare of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import ParserException
from engine.tree.element import Element
from engine.tree.step import step
from parsers.mrm.simple_values import LARGEST
from parsers.mrm.tds.values import UNWRITABLE

if TYPE_CHECKING:
    from parsers.mrm.tds.message_plan import FieldPlan


class DeclaredLengths:
    """The elements around what is being written, and the lengths of those whose lengths count themselves."""

    __slots__ = ("_lasts", "above", "lengths")

    def __init__(self) -> None:
        self.above: list[Element] = []
        self.lengths: dict[int, int] = {}
        self._lasts: dict[tuple[int, str], Element | None] = {}

    def of(self, path: tuple[str, ...]) -> tuple[int | None, int]:
        """Returns the number that a field written before gives for another, or None, and the length of that field."""
        for above in reversed(self.above):
            found: Element | None = above
            for name in path:
                found = None if found is None else self._last(found, name)
            if found is not None:
                value = found.value
                is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
                return (value if is_number else None), self.lengths.get(id(found), 0)  # type: ignore[return-value]
        return None, 0

    def _last(self, above: Element, name: str) -> Element | None:
        key = id(above), name
        if key not in self._lasts:
            self._lasts[key] = next(iter(above.every(step(name))[-1:]), None)
        return self._lasts[key]

    def length(self, plan: FieldPlan) -> int:
        """Returns the length that a field must have; 0 where nothing fixes it."""
        length = self._length(plan)
        if length > LARGEST:
            why = f"{plan.name} is to be {length:,} long, and a field is at most {LARGEST:,}"
            raise ParserException(UNWRITABLE, why, plan.name)
        return length

    def _length(self, plan: FieldPlan) -> int:
        if not plan.length_reference:
            return plan.length
        said, own = self.of(plan.length_reference)
        if said is None:
            return 0
        if plan.inclusive and said < own:
            name = ".".join(plan.length_reference)
            raise ParserException(UNWRITABLE, f"{plan.name}: {name} says {said}, and takes {own} itself", plan.name)
        return said - own if plan.inclusive else said

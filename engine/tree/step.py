"""Step: one step of a path through a message tree, made once and compared by identity; children by their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from engine.tree.states import LOOSE

if TYPE_CHECKING:
    from engine.tree.element import Element

_SPECIAL: Final = re.compile("[{}*\x00-\x1f\ud800-\udfff]")

Types: TypeAlias = tuple[tuple[int, int], ...]
ByName: TypeAlias = "dict[tuple[str, str], list[Element]]"


class _Named(Protocol):
    name: str
    namespace: str

    @property
    def type(self) -> int: ...


class Step:
    """One step of a path: a name (None: any), a namespace (None: any), and the types it accepts (empty: all).

    A type is a mask and the value that is left of an element's type under it. `clark` is name and namespace in
    Clark's notation, `{namespace}name`, as XML libraries take them; that is `plain` where no character of either has a
    meaning of its own there.
    """

    __slots__ = ("clark", "name", "namespace", "plain", "types")

    def __init__(self, name: str | None, namespace: str | None, types: Types) -> None:
        self.name = name
        self.namespace = namespace
        self.types = types
        self.plain = bool(name) and not _SPECIAL.search(f"{name}{namespace or ''}")
        self.clark: str = (name or "*") if namespace == "" else f"{{{'*' if namespace is None else namespace}}}{name}"

    def __repr__(self) -> str:
        return f"step({self.name!r}, {self.namespace!r}, {self.types!r})"

    def matches(self, element: _Named) -> bool:
        """Returns whether the step leads to this element."""
        return (
            (self.name is None or self.name == element.name)
            and (self.namespace is None or self.namespace == element.namespace)
            and (not self.types or any(element.type & mask == value for mask, value in self.types))
        )


@lru_cache(maxsize=65536)
def step(name: str | None, namespace: str | None = "", types: Types = ()) -> Step:
    """The one step of this name, namespace and types.

    >>> step("Order") is step("Order")
    True
    """
    return Step(name, namespace, types)


def other_case(wanted: Step, elements: Iterable[_Named]) -> Step | None:
    """The step to the only name among those of elements that differs from the wanted one in case alone.

    >>> from engine.tree.element import Element
    >>> other_case(step("ID"), [Element("id"), Element("name")]), other_case(step("ID"), [Element("id"), Element("Id")])
    (step('id', '', ()), None)
    """
    if wanted.name is None:
        return None
    folded = wanted.name.lower()
    found = {one.name for one in elements if one.name.lower() == folded}
    return step(found.pop(), wanted.namespace, wanted.types) if len(found) == 1 and wanted.name not in found else None


def children_by_name(element: Element, names: Collection[tuple[str, str]]) -> ByName:
    """Returns the children by name and namespace, each in order.

    Children that are named as the columns of a database stand under one of `names` that differs in case alone.
    """
    found: ByName = {}
    at = element.first_child
    while at is not None:
        found.setdefault((at.name, at.namespace), []).append(at)
        at = at.next_linked
    if element.state & LOOSE:
        others = {name: other_case(step(*name), element) for name in names if name not in found}
        renamed = {name: (other.name or "", name[1]) for name, other in others.items() if other is not None}
        found.update({name: found.get(own, []) for name, own in renamed.items()})
        for own in set(renamed.values()).difference(names):
            found.pop(own, None)
    return found


def children_beyond(element: Element, found: ByName, names: Collection[tuple[str, str]]) -> list[Element]:
    """Returns the children that stand under none of these names, in the order of the tree."""
    known = {id(child) for name in names if name in found for child in found[name]}
    return [child for child in element if id(child) not in known]

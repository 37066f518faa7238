"""Plans: a record's items with their leaves and the names they have in JSON, worked out once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from parsers.importers.copybook.items import Item, Record
from parsers.importers.copybook.names import named_children
from parsers.records.coding import Coding
from parsers.records.leaves import Leaf, leaf_of


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """An item on the way through a record: `key` is its name in JSON, empty where it is not shown.

    `after` is where it begins among its brothers: the number of the one whose storage it shares, -1 where it follows
    the one before it. `slack` stands before it, `tail` after the last item in it. `fixed_size` is the bytes of all its
    occurrences, None where they depend on a count.
    """

    item: Item
    key: str
    leaf: Leaf | None = None
    steps: tuple[Step, ...] = ()
    after: int = -1
    slack: int = 0
    tail: int = 0
    least: int = 1
    most: int = 1
    repeats: bool = False
    counter: Item | None = None
    fixed_size: int | None = None
    stride: int | None = None

    @property
    def shared(self) -> bool:
        """Whether its storage is that of a brother before it."""
        return self.after >= 0


def plan_of(record: Record, coding: Coding, *, fillers: bool = False, slide: bool = True) -> Step:
    """The plan of a record; `fillers` shows FILLER items, `slide` moves what follows a table of variable length."""
    top = _step(record.top, record.name, coding, fillers=fillers, slide=slide)
    if top.steps and not top.repeats:
        return top
    wrapped = Item(record.top.entry, children=(record.top,), length=record.top.total)
    return Step(wrapped, record.name, steps=(top,), fixed_size=top.fixed_size, stride=top.fixed_size)


def _step(item: Item, key: str, coding: Coding, *, fillers: bool, slide: bool) -> Step:
    occurs = item.occurs
    step = Step(
        item,
        key,
        leaf=None if item.is_group else leaf_of(item, coding),
        slack=item.slack,
        most=item.most if occurs is None or occurs.most is not None else -1,
        least=item.least,
        repeats=occurs is not None,
        counter=item.counter,
    )
    if not item.is_group:
        stride: int | None = item.length
        return replace(step, stride=stride, fixed_size=_fixed_size(step, stride, slide=slide))
    steps: list[Step] = []
    places = {id(child): number for number, child in enumerate(item.children)}
    for child, name in _named(item, fillers=fillers):
        made = _step(child, name, coding, fillers=fillers, slide=slide)
        target = child.redefines
        steps.append(replace(made, after=-1 if target is None else _origin(target, item.children, places)))
    end = max(child.offset + child.total for child in item.children)
    tail = item.offset + item.length - end
    fixed = all(inner.fixed_size is not None for inner in steps)
    stride = item.length if fixed else None
    made = replace(step, steps=tuple(steps), tail=tail, stride=stride)
    return replace(made, fixed_size=_fixed_size(made, stride, slide=slide))


def _fixed_size(step: Step, stride: int | None, *, slide: bool) -> int | None:
    if stride is None or (step.counter is not None and slide) or step.most < 0:
        return None
    return stride * step.most


def _origin(target: Item, brothers: tuple[Item, ...], places: dict[int, int]) -> int:
    """The number of the brother that was described first of those that share a storage."""
    number = next((n for n, brother in enumerate(brothers) if brother.entry is target.entry), 0)
    inner = brothers[number].redefines
    return number if inner is None else _origin(inner, brothers, places)


def _named(item: Item, *, fillers: bool) -> Iterator[tuple[Item, str]]:
    """The items of a group with their names in JSON; what has no name and nothing with a name in it has none."""
    hidden = [child for child in item.children if not any(inner.name for inner in child.walk())]
    return named_children(item, without=frozenset() if fillers else frozenset(id(child) for child in hidden))

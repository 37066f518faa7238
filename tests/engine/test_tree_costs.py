"""What asking and changing a tree costs, counted: elements made, questions to the source, elements looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from engine.tree.element import Element
from engine.tree.sharing import copy, copy_into, read_only
from engine.tree.source import EXPAND, NAME, NAME_VALUE, Domain, Source
from engine.tree.step import Step, step

MANY = 10_000
ITEM, OTHER = step("Item"), step("Other")


class Counted(Source):
    """A folder of many items over which every question is counted."""

    __slots__ = ("asked", "knows", "size")

    def __init__(self, size: int, *, knows: bool = True) -> None:
        self.size = size
        self.knows = knows
        self.asked: Counter[str] = Counter()

    def value(self, handle: int) -> int:
        self.asked["value"] += 1
        return handle

    def children(self, handle: int) -> range | tuple[()]:
        self.asked["children"] += 1
        return range(1, self.size + 1) if handle == 0 else ()

    def element(self, handle: int, parent: Element) -> Element:
        self.asked["element"] += 1
        return Element("Item", "", NAME_VALUE, self, handle, parent)

    def first(self, handle: int, wanted: Step) -> Any:
        self.asked["first"] += 1
        if not self.knows:
            return EXPAND
        return 1 if handle == 0 and wanted.name == "Item" else None

    def every(self, handle: int, wanted: Step) -> Any:
        self.asked["every"] += 1
        if not self.knows:
            return EXPAND
        return range(1, self.size + 1) if handle == 0 and wanted.name == "Item" else ()


class Names(Domain):
    """A domain in which a name that is given a value stays a name, as an element does in XML."""

    __slots__ = ()
    valued_type = NAME


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a step was held against an element."""
    counts: Counter[str] = Counter()
    matches = Step.matches

    def counted(self: Step, element: Any) -> bool:
        counts["matches"] += 1
        return matches(self, element)

    monkeypatch.setattr(Step, "matches", counted)
    return counts


def read(size: int, *, knows: bool = True) -> tuple[Counted, Element]:
    source = Counted(size, knows=knows)
    return source, Element("Items", "", NAME_VALUE, source, 0)


def built(size: int) -> Element:
    top = Element("Items")
    for number in range(size):
        top.add("Item", number)
    return top


def deleted_first(top: Element) -> None:
    while top.count(ITEM):
        first = top.child(ITEM)
        assert first is not None
        first.detach()


def deleted_last(top: Element) -> None:
    while (last := top.nth_last(ITEM, 1)) is not None:
        last.detach()


def deleted_every_other(top: Element) -> None:
    at = 1
    while at <= top.count(ITEM):
        item = top.nth(ITEM, at)
        assert item is not None
        item.detach()
        at += 1


def renamed(top: Element) -> None:
    while (item := top.nth(ITEM, 1)) is not None:
        item.change(name="Other")


def appended(top: Element) -> None:
    for number in range(MANY):
        assert top.count(ITEM) == MANY + number
        top.ensure_nth(ITEM, MANY + number + 1)


def put_in_front(top: Element) -> None:
    for number in range(MANY):
        first = top.first_child
        assert first is not None
        top.insert(Element("Item"), before=first)
        assert top.count(ITEM) == MANY + number + 1


def moved_to_the_end(top: Element) -> None:
    for _ in range(MANY):
        item = top.nth(ITEM, 1)
        assert item is not None
        top.append(item.detach())


def others_put_between(top: Element) -> None:
    for number in range(1, MANY + 1):
        item = top.nth(ITEM, number)
        assert item is not None
        top.insert(Element("Other"), before=item)


def same_put_between(top: Element) -> None:
    for number in range(1, 2 * MANY, 2):
        item = top.nth(ITEM, number)
        assert item is not None
        new = Element("Item")
        top.insert(new, before=item)
        assert (new, item) == (top.nth(ITEM, number), top.nth(ITEM, number + 1))


def put_in_the_middle(top: Element) -> None:
    middle = top.nth(ITEM, MANY // 2)
    assert middle is not None
    top.insert(Element("Other"), before=middle)
    for number in range(MANY):
        assert top.count(ITEM) == MANY + number
        top.insert(new := Element("Item"), before=middle)
        assert top.nth(ITEM, MANY // 2 + number) is new
        assert top.nth(ITEM, MANY // 2 + number + 1) is middle


def put_at_distant_places(top: Element) -> None:
    for number in range(MANY):
        before = top.nth(ITEM, 7919 * number % MANY + 1)
        assert before is not None
        assert top.nth_last(ITEM, 1) is not None
        top.insert(Element("Item"), before=before)
        assert top.count(ITEM) == MANY + number + 1


def put_before_a_trailer(top: Element) -> None:
    trailer = top.add("Trailer")
    for number in range(MANY):
        top.insert(new := Element("Item"), before=trailer)
        assert (top.count(ITEM), top.nth_last(ITEM, 1)) == (MANY + number + 1, new)


LOOPS = [
    put_in_the_middle,
    put_at_distant_places,
    put_before_a_trailer,
    deleted_first,
    deleted_last,
    deleted_every_other,
    renamed,
    appended,
    put_in_front,
    moved_to_the_end,
    others_put_between,
    same_put_between,
]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_that_changes_repeats_looks_at_each_a_few_times(
    loop: Callable[[Element], None], looked: Counter[str]
) -> None:
    """Whatever a loop does to 10,000 repeats one by one, the tree looks at a few elements a turn."""
    loop(built(MANY))
    assert MANY <= looked["matches"] < 9 * MANY


@pytest.mark.parametrize("loop", [deleted_first, moved_to_the_end, appended])
def test_a_loop_that_changes_what_was_read_asks_the_source_once(
    loop: Callable[[Element], None], looked: Counter[str]
) -> None:
    """The source of 10,000 repeats makes each of them at most once, however they are changed."""
    source, top = read(MANY)
    loop(top)
    assert source.asked["element"] <= MANY
    assert source.asked["children"] <= 1
    assert source.asked["every"] + source.asked["first"] <= 4
    assert looked["matches"] < 9 * MANY


@pytest.mark.parametrize("knows", [True, False])
def test_a_loop_by_subscript_is_linear(knows: bool, looked: Counter[str]) -> None:
    """WHILE i <= CARDINALITY(Item[]) with Item[i], Item[<] and Item[<i] in it makes each repeat once."""
    source, top = read(MANY, knows=knows)
    number = 1
    while number <= top.count(ITEM):
        item, mirrored, last = top.nth(ITEM, number), top.nth_last(ITEM, number), top.nth_last(ITEM, 1)
        assert item is not None
        assert mirrored is not None
        assert last is not None
        assert (item.value, mirrored.value, last.value) == (number, MANY + 1 - number, MANY)
        number += 1
    assert source.asked["element"] == source.asked["value"] == MANY
    assert source.asked["every"] == 1
    assert source.asked["children"] == (0 if knows else 1)
    assert looked["matches"] == (0 if knows else MANY)


def test_a_loop_by_type_is_linear_where_values_change_no_type(looked: Counter[str]) -> None:
    """SET (XML.Element)Item[i] = ... over what has no values yet looks at each repeat a few times."""
    top, typed = Element("Items"), step("Item", "", ((0xFFFFFFFF, NAME),))
    top.domain = Names()
    for _ in range(MANY):
        top.add("Item")
    for number in range(1, MANY + 1):
        item = top.nth(typed, number)
        assert item is not None
        item.value = number
    assert MANY <= looked["matches"] < 9 * MANY


def test_a_count_makes_nothing(looked: Counter[str]) -> None:
    """CARDINALITY and a look at one repeat make no element beside that one."""
    source, top = read(MANY)
    assert top.count(ITEM) == MANY
    assert source.asked["element"] == 0
    assert top.nth(ITEM, 7_000) is not None
    assert source.asked["element"] == 1
    assert looked["matches"] == 0


def test_walking_siblings_makes_each_once(looked: Counter[str]) -> None:
    """A walk over the siblings and back expands their parent once, and looks for nothing."""
    source, top = read(MANY)
    at = top.child(ITEM)
    seen = 0
    while at is not None:
        last, at, seen = at, at.next_sibling, seen + 1
    while last is not None:
        last, seen = last.previous_sibling, seen + 1  # type: ignore[assignment]  # None ends the loop
    assert seen == 2 * MANY
    assert source.asked == Counter(first=1, children=1, element=MANY)
    assert looked["matches"] == 0


def test_a_copy_of_what_was_read_makes_nothing() -> None:
    """Copies, copies into and views of a tree that was read and looked at make no element and ask nothing."""
    source, top = read(MANY)
    assert top.nth(ITEM, 5) is not None
    assert top.first_child is not None
    before = source.asked.copy()
    target = Element("Root").add("Items")
    copy_into(target, copy(read_only(copy(top))))
    assert source.asked == before


def test_a_changed_copy_makes_the_way_to_the_change() -> None:
    """One value set in a copy of a copy makes one element a level, whatever stands beside it."""
    source, top = read(MANY)
    first = copy(top)
    first.ensure_nth(ITEM, 10).value = "first"
    second = copy(read_only(first))
    second.ensure_nth(ITEM, 20).value = "second"
    assert source.asked["children"] == 0
    assert source.asked["element"] == 2
    tenth = second.nth(ITEM, 10)
    assert tenth is not None
    assert tenth.value == "first"


def test_a_field_looked_at_again_is_not_looked_for(looked: Counter[str]) -> None:
    """A child that was found stays found while others come after it."""
    top = built(MANY)
    for number in range(MANY):
        assert top.ensure(OTHER).name == "Other"
        top.add("Item", number)
    assert looked["matches"] <= MANY + 2


def test_a_name_that_is_not_there_is_looked_for_once(looked: Counter[str]) -> None:
    """EXISTS of a name that never comes looks at each element once, not at each turn."""
    top = Element("Items")
    for number in range(MANY):
        assert top.child(OTHER) is None
        assert top.count(OTHER) == 0
        top.add("Item", number)
    assert looked["matches"] <= MANY


def test_names_that_differ_are_found_at_once(looked: Counter[str]) -> None:
    """A tree that is used as a table, each name once, is filled and asked without a look at all of it each time."""
    top = Element("Table")
    for number in range(MANY):
        top.ensure(step(f"Key{number}")).value = number
    for number in reversed(range(MANY)):
        found = top.child(step(f"Key{number}"))
        assert found is not None
        assert found.value == number
        assert top.child(step(f"Nix{number}")) is None
    assert looked["matches"] < 9 * MANY


def test_the_first_of_a_name_is_found_whatever_was_changed() -> None:
    """Among many names, what is taken out, renamed, moved and put in front is found where it is now."""
    top, number = Element("Table"), iter(range(1_000))
    for name in [*"abcdefghijklmnop", *"klmnop"]:
        top.add(name, next(number))

    def first(name: str) -> object:
        found = top.child(step(name))
        return None if found is None else found.value

    assert (10, 15, None) == (first("k"), first("p"), first("z"))
    top.ensure(step("k")).detach()
    top.ensure(step("l")).change(name="z")
    top.insert(Element("p"), before=top.ensure(step("c")))
    top.append(top.ensure(step("m")).detach())
    top.ensure(step("n")).change(namespace="urn:n")
    assert [16, 17, 18, 19, None, 11] == [first(name) for name in "klmnpz"]
    assert top.child(step("n", "urn:n")) is not None
    assert top.child(step("n", None)) is top.child(step("n", "urn:n"))
    top.add("k", 99)
    top.ensure(step("k")).detach()
    assert 99 == first("k")


def test_depth_needs_no_recursion() -> None:
    """A tree of 10,000 levels is built, copied, viewed, changed at its end, copied again and taken apart."""
    top = at = Element("a")
    for _ in range(MANY):
        at = at.add("a")
    at.value = "end"
    twin = copy(read_only(copy(top)))
    at = twin
    while (child := at.first_child) is not None:
        at = child
    at.value = "changed"
    again = at = copy(twin)
    while (child := at.first_child) is not None:
        at = child
    assert at.value == "changed"
    again.clear()
    assert again.first_child is None

"""What copies share: cases that the model of plain objects meets too seldom."""

from __future__ import annotations

from engine.tree.element import Element
from engine.tree.sharing import copy, copy_into, read_only
from engine.tree.source import NAME_VALUE, VALUE
from engine.tree.step import step
from tests.engine.plain_trees import Plain, Sample


def test_a_copy_of_an_expanded_element_keeps_the_value_of_its_content() -> None:
    """A value that stands in the first child is the copy's too, though the copy has made no child yet."""
    top = Element("a", source=Sample(names=True, counts=True), handle=Plain("a", children=[Plain("", VALUE, "text")]))
    assert top.first_child is not None
    assert copy(top).value == copy(read_only(top)).value == "text"


def test_a_value_read_before_a_change_is_not_kept() -> None:
    """A copy's value follows the child that holds it, whenever it was first read."""
    top = Element("a")
    top.add("", "old", type_=VALUE)
    twin = copy(read_only(top))
    assert twin.value == "old"
    twin.add("more")
    assert twin.first_child is not None
    twin.first_child.value = "new"
    assert (twin.value, top.value) == ("new", "old")


def test_a_field_of_null_stays_a_field_in_copies() -> None:
    """A field that was given NULL is a field, and so are its copies."""
    top = Element("a")
    top.add("b").value = None
    assert [child.type for tree in (top, copy(top), read_only(top)) for child in tree] == [NAME_VALUE] * 3


def test_a_text_copied_over_a_field_leaves_the_value_of_what_holds_it() -> None:
    """An element's own value stays its own where its first child becomes a text before the others are made."""
    plain = Plain("a", NAME_VALUE, 1, [Plain("b", NAME_VALUE, 2), Plain("c", NAME_VALUE, 3)])
    top = copy(read_only(Element("a", "", NAME_VALUE, Sample(names=True, counts=True), plain)))
    first = top.child(step("b"))
    assert first is not None
    text = Element("t", "", VALUE)
    text.value = "text"
    copy_into(first, copy(read_only(text)))
    assert (top.value, [child.value for child in top]) == (1, ["text", 3])
    top.value = 5
    assert (top.value, first.value) == (5, "text")

"""Filling: a child of a place is found or made and given something in one go, without what it does not need."""

from __future__ import annotations

from typing import Any

from engine.tree.element import Element
from engine.tree.sharing import append_as_read, child_in
from engine.tree.source import Value
from engine.tree.states import EXPANDED, TYPED
from engine.tree.step import Step
from esql.trees.assigning import set_field
from esql.trees.limit import Nodes


def give_child(parent: Element, wanted: Step, value: Value, nodes: Nodes) -> None:
    """`SET parent.wanted = value`."""
    known = None if parent.first_linked is None and parent.state & EXPANDED else parent.child(wanted)
    if known is not None:
        known.value = value
    elif parent.state & TYPED and not wanted.types:  # what was found by type no longer counts
        parent.ensure(wanted).value = value
    else:
        nodes.left -= 1
        if nodes.left < 0:
            nodes.made(0)
        parent.ensure_new(wanted, value)


def ensure_nth(parent: Element, wanted: Step, number: int, nodes: Nodes) -> Element:
    """The n-th child that a step matches; the one after the last is made."""
    made = parent.append_nth(wanted, number)
    if made is None:
        return parent.ensure_nth(wanted, number)
    nodes.left -= 1
    if nodes.left < 0:
        nodes.made(0)
    return made


def set_child(parent: Element, wanted: Step, found: Any, above: Element, asked: Step, nodes: Nodes) -> None:
    """`SET parent.wanted = above.asked`, of which `peek` has found what is copied; neither step has types.

    Of a place as it was read a new child that belongs to the same parser becomes another element. What was a place
    may have been made an element since, on the way to the target.
    """
    is_place = found.__class__ is not Element
    is_bare = parent.first_linked is None and parent.state & EXPANDED
    if is_place and (is_bare or parent.child(wanted) is None) and append_as_read(parent, wanted, above, found, asked):
        nodes.left -= 1
        if nodes.left < 0:
            nodes.made(0)
        return
    target = parent.ensure(wanted)
    set_field(target, child_in(above, found, asked) if is_place else found, nodes)

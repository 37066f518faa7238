"""Filling: a child of a place is found or made and given something in one go, without what it does not need."""

from __future__ import annotations

from typing import Any

from engine.tree.element import Element
from engine.tree.source import EXPAND, Value, of_one_owner
from engine.tree.states import EDITED, EXPANDED, REPLACED, SHARES, TYPED, VALUED
from engine.tree.step import Step
from esql.trees.assigning import set_field
from esql.trees.limit import Nodes

_NOT_AS_READ = EXPANDED | SHARES


def give_child(parent: Element, wanted: Step, value: Value, nodes: Nodes) -> None:
    """`SET parent.wanted = value`."""
    known = None if parent._first is None and parent.state & EXPANDED else parent.child(wanted)
    if known is not None:
        known.value = value
    elif parent.state & TYPED and not wanted.types:  # what was found by type no longer counts
        parent.ensure(wanted).value = value
    else:
        nodes.left -= 1
        if nodes.left < 0:
            nodes.made(0)
        made = parent.ensure_new(wanted)
        made._value = value
        made.state |= VALUED


def ensure_nth(parent: Element, wanted: Step, number: int, nodes: Nodes) -> Element:
    """The n-th child that a step matches; the one after the last is made."""
    repeats = parent._repeats(wanted)
    at = number - len(repeats.placed) - 1
    linked = repeats.linked
    if at != len(linked) or repeats._wanted is not wanted:  # of a row they may be those of a name in another case
        return parent.ensure_nth(wanted, number)
    nodes.left -= 1
    if nodes.left < 0:
        nodes.made(0)
    made = parent.ensure_new(wanted)
    linked.append(made)
    repeats.seen = made
    return made


def peek(parent: Element, wanted: Step) -> Any:
    """The first child that a step without types matches, or only its place where no one has asked for it yet."""
    if parent.state & _NOT_AS_READ:
        return parent.child(wanted)
    found = parent._found
    if found is not None and (known := found.get(wanted)) is not None:
        return known
    place = parent.source.first(parent.handle, wanted)
    if place is None or place is EXPAND or (found is not None and place in found):
        return parent.child(wanted)
    return place


def set_child(parent: Element, wanted: Step, found: Any, above: Element, asked: Step, nodes: Nodes) -> None:
    """`SET parent.wanted = above.asked`, of which `peek` has found what is copied; neither step has types.

    Of a place as it was read a new child that belongs to the same parser becomes another element. What was a place
    may have been made an element since, on the way to the target.
    """
    is_bare = parent._first is None and parent.state & EXPANDED
    if found.__class__ is not Element and (is_bare or parent.child(wanted) is None):
        if not parent.state & EDITED:
            parent._touch()
        is_as_read = not above.state & _NOT_AS_READ and not (above._found and found in above._found)
        if is_as_read and of_one_owner(above, parent, asked, wanted):
            made = above.source.element(found, parent)
            if made.domain is None:
                _link(parent, made, wanted, nodes)
                return
    target = parent.ensure(wanted)
    if found.__class__ is not Element:
        found = above.child(asked) if above.state & _NOT_AS_READ else above._made(found)
    set_field(target, found, nodes)


def _link(parent: Element, made: Element, wanted: Step, nodes: Nodes) -> None:
    """Give a new last child the name that is wanted."""
    nodes.left -= 1
    if nodes.left < 0:
        nodes.made(0)
    made.name, made.namespace = wanted.name or "", wanted.namespace or ""
    made.state |= REPLACED
    made._previous = last = parent._last
    if last is None:
        parent._first = made
    else:
        last._next = made
    parent._last = made

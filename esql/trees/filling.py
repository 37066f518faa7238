"""Filling: a child of a place is found or made and given something in one go, without what it does not need."""

from __future__ import annotations

from typing import Any

from engine.sharing import alike
from engine.source import EXPAND, Domain, Value, owner_of
from engine.state import EDITED, EXPANDED, REPLACED, SHARES, TYPED, VALUED
from engine.step import Step
from engine.tree import Element
from esql.trees.assigning import set_field
from esql.trees.limit import Nodes

_NOT_AS_READ = EXPANDED | SHARES


def give_child(parent: Element, wanted: Step, value: Value) -> None:
    """`SET parent.wanted = value`."""
    known = parent.child(wanted)
    if known is not None:
        known.value = value
    elif parent.state & TYPED and not wanted.types:  # what was found by type no longer counts
        parent.ensure(wanted).value = value
    else:
        made = parent.ensure_new(wanted)
        made._value = value
        made.state |= VALUED


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

    A new child that belongs to the same parser becomes an element of the source's place at once. On the way to the
    target the field may have been made, so that its place alone does not tell any more what is in it.
    """
    known = parent.child(wanted)
    if known is None and not parent.state & EDITED:
        parent._touch()
    if found.__class__ is not Element and (above.state & _NOT_AS_READ or (above._found and found in above._found)):
        found = above.child(asked)
    if known is None:
        made = _again(found, above, asked, parent, wanted)
        if made is not None:
            made.name, made.namespace = wanted.name or "", wanted.namespace or ""
            made.state |= REPLACED
            nodes.made()
            parent._link(made)
            return
        known = parent.ensure(wanted)
    set_field(known, found if found.__class__ is Element else above._made(found), nodes)


def _again(found: Any, above: Element, asked: Step, parent: Element, wanted: Step) -> Element | None:
    """A second element of a field as it was read, for a place that belongs to the same parser."""
    owner = _owner_below(parent, wanted)
    if found.__class__ is Element:
        return None if found.state & EDITED or owner_of(found) is not owner else alike(found, parent)
    return None if _owner_below(above, asked) is not owner else above.source.element(found, parent)


def _owner_below(parent: Element, wanted: Step) -> Domain:
    """The domain that a child of this name, which has none of its own, belongs to."""
    domain = parent.domain
    if domain is None:
        return owner_of(parent)
    return domain.inner(wanted.name or "") or domain

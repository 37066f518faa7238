"""DELETE, DETACH and ATTACH: taking fields out of trees and putting them in."""

from __future__ import annotations

from typing import Final

from engine.errors import BrokerError
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.source import GENERIC
from engine.tree.step import Step
from esql.trees.navigation import beside, path_of
from esql.trees.translating import translate

_NO_SUCH_PLACE: Final = 2542


def delete(found: Element | None) -> None:
    """`DELETE FIELD`, and `SET field = NULL`: a tree itself is emptied, as it cannot go."""
    if found is None:
        return
    if found.parent is None:
        found.clear()
    else:
        _take_out(found)


def delete_child(parent: Element, wanted: Step) -> None:
    """`SET parent.child = NULL`."""
    delete(parent.child(wanted))


def _take_out(field: Element) -> None:
    """Take a field out of its tree; what refers to it may still ask its parser about types."""
    owner = field.owner
    field.detach()
    if owner is not GENERIC:
        field.domain = owner


def delete_from(found: Element | None, placement: str) -> None:
    """`DELETE FIRSTCHILD OF field` and its like; where nothing is, nothing is done."""
    delete(None if found is None else beside(found, placement))


def place(made: Element, target: Element, placement: str) -> None:
    """Put an element that stands alone in its place beside or below another."""
    if placement == "LASTCHILD":
        target.append(made)
        return
    if placement == "FIRSTCHILD":
        above, before = target, target.first_child
    else:
        parent = target.parent
        if parent is None:
            text = f"{path_of(target)} is the top of a tree, so nothing can stand beside it"
            raise BrokerError(_NO_SUCH_PLACE, text, target.name)
        above, before = parent, target if placement == "PREVIOUSSIBLING" else target.next_sibling
    if before is None:
        above.append(made)
    else:
        above.insert(made, before=before)


def detach(source: Element) -> None:
    """DETACH: the field leaves its tree, with all below it; until it is attached it belongs to the same parser."""
    if source.parent is None:
        text = f"{path_of(source)} is the top of a tree or detached already, so it cannot be detached"
        raise BrokerError(_NO_SUCH_PLACE, text, source.name)
    _take_out(source)


def attach(source: Element, target: Element, placement: str) -> None:
    """ATTACH: a detached field becomes a child or sibling of the target, and belongs to the parser there.

    The manual keeps what left an output tree out of the Environment; here any tree that can be changed will do.
    """
    owner = source.owner
    place(source, target, placement)
    source.domain = None
    if source.owner is GENERIC and owner is not GENERIC:
        source.domain = owner
    elif source.owner is not owner:
        alone = copy(source)
        alone.domain = owner
        translate(alone, source)

"""SET: what a field is given, by a scalar, another field, a row or a list."""

from __future__ import annotations

from collections.abc import Sequence

from engine.sharing import copy, copy_into
from engine.source import GENERIC, Value
from engine.step import Step
from engine.tree import Element
from esql.failures import wrong_argument
from esql.literals import shown
from esql.trees.limit import Nodes
from esql.trees.placing import delete
from esql.trees.translating import stands_beside, translate


def set_scalar(target: Element, value: Value) -> None:
    """`SET field = scalar` for a field that is there, and `SET field VALUE = scalar`: what is below it stays."""
    target.value = value


def set_field(target: Element, source: Element | None, nodes: Nodes | None = None) -> None:
    """`SET field = field` or a row: value, type and children are copied, the name stays; no source deletes.

    An attribute stays one where what it is given is no more than a value.
    """
    if source is None:
        delete(target)
        return
    if source is target:
        return
    if nodes is not None:
        nodes.copied(source)
    above, owner = source.owner, target.owner
    if above is owner:
        if stands_beside(owner, target.type) and not stands_beside(owner, source.type):
            target.value = source.value
        else:
            copy_into(target, source)
    elif owner is GENERIC:
        copy_into(target, source)
        target.domain = above
    else:
        translate(source, target)


def set_list(parent: Element, wanted: Step, items: Sequence[object], nodes: Nodes | None = None) -> None:
    """`SET field[] = list`: an instance for each item; those that are there are reused, surplus ones go."""
    top = _top(parent)
    values = [copy(item) if isinstance(item, Element) and _top(item) is top else item for item in items]
    if nodes is not None:
        nodes.made(len(values))
    for number, item in enumerate(values, 1):
        target = parent.ensure_nth(wanted, number)
        if isinstance(item, Element):
            set_field(target, item, nodes)
        else:
            target.clear()
            target.value = item
    for surplus in parent.every(wanted)[len(values) :]:
        surplus.detach()


def set_type(target: Element, value: Value) -> None:
    """`SET field TYPE = value`."""
    if type(value) is not int:
        raise wrong_argument("SET … TYPE", "value", "INTEGER", shown(value))
    target.change(type_=value)


def set_name(target: Element, value: Value) -> None:
    """`SET field NAME = value`."""
    target.change(name=_text("NAME", value))


def set_namespace(target: Element, value: Value) -> None:
    """`SET field NAMESPACE = value`."""
    target.change(namespace=_text("NAMESPACE", value))


def _text(clause: str, value: Value) -> str:
    if type(value) is not str:
        raise wrong_argument(f"SET … {clause}", "value", "CHARACTER", shown(value))
    return value


def _top(element: Element) -> Element:
    while element.parent is not None:
        element = element.parent
    return element

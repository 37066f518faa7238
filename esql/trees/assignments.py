"""SET and CREATE: what fields are given, by scalars, fields, rows and lists, and new fields beside and below others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.errors import BrokerError
from engine.tree.element import Element
from engine.tree.fresh_rows import FreshRow
from engine.tree.sharing import append_as_read, child_in, copy, copy_into, of_one_owner
from engine.tree.source import GENERIC, NAME, Value
from engine.tree.states import EDITED, EXPANDED, SHARES, TYPED
from engine.tree.step import Step
from esql.runtime.limits import Nodes
from esql.trees.domain_copies import is_leaf, is_special, own_type, translate
from esql.trees.moves import delete, path_of, place
from esql.values.errors import wrong_argument, wrong_types
from esql.values.literals import shown


def set_field(target: Element, source: Element | None, nodes: Nodes | None = None) -> None:
    """`SET field = field` or a row: value, type and children are copied, the name stays; no source deletes.

    A field that is more than name and value, such as an attribute, stays that where its source is no more than a
    value. Where no parser owns the target, what it is given still belongs to the parser it came from, if it is
    more than a value.
    """
    if source is None:
        delete(target)
        return
    if source is target:
        return
    if target.raw_type != NAME and is_special(target) and is_leaf(source):
        _replace(target, source.value)
        return
    above = None
    if not of_one_owner(source, target):
        if _given_otherwise(target, source, nodes):
            return
        above = source.owner
    if nodes is not None:
        if nodes.exact or source.state & (EDITED | SHARES) == EDITED:
            nodes.copied(source)
        else:  # what is shared as it was read counts once
            nodes.left -= 1
            if nodes.left < 0:
                nodes.made(0)
    copy_into(target, source)
    if above is not None:
        target.domain = above


def _given_otherwise(target: Element, source: Element, nodes: Nodes | None) -> bool:
    """Give a field what belongs to another parser; returns False where that is to be copied as it is."""
    if target.owner is not GENERIC:
        made = translate(source, target)
        if nodes is not None:
            nodes.made(made)
    elif _is_value(source):
        _replace(target, source.value)
    else:
        return False
    return True


def give(target: Element, value: object, nodes: Nodes) -> None:
    """SET where only now it shows whether a field or a value is given."""
    if isinstance(value, Element):
        set_field(target, value, nodes)
    elif isinstance(value, list):
        raise wrong_types("SET", "a list: assign it to field[]")
    else:
        target.value = value


def _is_value(source: Element) -> bool:
    """Returns whether a field of a parser is a plain value; the top of a message's part is not read to see that."""
    return source.domain is None and is_leaf(source) and not is_special(source)


def _replace(target: Element, value: Value) -> None:
    """Give a field a value and nothing else; its type stays."""
    if target.first_child is not None:
        target.clear()
    target.value = value


def set_list(parent: Element, wanted: Step, items: Sequence[object], nodes: Nodes | None = None) -> None:
    """`SET field[] = list`: an instance for each item; those that are there are reused, surplus ones go.

    What an instance had before goes; an item that is NULL makes a field without a value, so that places are kept.
    """
    if items and type(items[0]) is FreshRow and _takes_rows(parent, wanted):
        items = _moved(parent, wanted, items, nodes)
        if not items:
            return
    top = _top(parent)
    values = [copy_of(item) if isinstance(item, Element) and _top(item) is top else item for item in items]
    for number, item in enumerate(values, 1):
        if isinstance(item, Element):
            target = parent.nth(wanted, number) or _added(parent, wanted, number, item)
            set_field(target, item, nodes)
            continue
        if nodes is not None:
            nodes.made()
        _replace(parent.ensure_nth(wanted, number), item)
    for surplus in parent.every(wanted)[len(values) :]:
        delete(surplus)


def _takes_rows(parent: Element, wanted: Step) -> bool:
    """Returns True where new fields are plain: a name, no types, of no parser, and none of the name there yet."""
    return bool(wanted.name) and not wanted.types and parent.owner is GENERIC and parent.child(wanted) is None


def _moved(parent: Element, wanted: Step, items: Sequence[object], nodes: Nodes | None) -> Sequence[object]:
    """Put rows that nothing else holds below a field; all items are given back where one of them is no such row."""
    rows = [item for item in items if type(item) is FreshRow and item.parent is None]
    if len(rows) != len(items) or len({id(row) for row in rows}) != len(rows):
        return items
    if nodes is not None:
        nodes.made(len(rows) * (1 + sum(1 for _ in rows[0])))  # each has the same columns
    for row in rows:
        row.name, row.namespace = wanted.name or "", wanted.namespace or ""
        parent.append(row)
    return ()


def _added(parent: Element, wanted: Step, number: int, item: Element) -> Element:
    """A new instance; of a list of fields of any name it takes the name of the item."""
    if wanted.name is not None:
        return parent.ensure_nth(wanted, number)
    return parent.add(item.name, namespace=wanted.namespace or item.namespace)


def copy_of(element: Element) -> Element:
    """A copy that stands alone and still belongs to the parser of the original."""
    twin, owner = copy(element), element.owner
    if owner is not GENERIC:
        twin.domain = owner
    return twin


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
    return parent.ensure_nth(wanted, number, nodes.made)


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


def create(
    target: Element, placement: str, name: str | None, namespace: str | None = None, type_: int | None = None
) -> Element:
    """`CREATE placement OF target [TYPE t] [NAMESPACE n] [NAME x]`: a new field, whatever is there already."""
    made = Element(name or "", namespace or "", NAME if type_ is None else type_)
    place(made, target, placement)
    return made


def create_repeat(target: Element, placement: str) -> Element:
    """`CREATE NEXTSIBLING OF target REPEAT`: a new field of the target's type and name."""
    return create(target, placement, target.name, target.namespace, own_type(target, target.owner))


def create_identity(target: Element, placement: str, wanted: Step) -> Element:
    """`CREATE placement OF target IDENTITY (type)namespace:name`."""
    return create(target, placement, wanted.name, wanted.namespace, wanted.types[0][1] if wanted.types else None)


def identify(field: Element, wanted: Step) -> None:
    """`CREATE FIELD field IDENTITY (type)namespace:name`: the field is given what of these is said."""
    type_ = wanted.types[0][1] if wanted.types else None
    said = (wanted.name or None, wanted.namespace or None, type_)
    own = (field.name, field.namespace, field.type)
    if any(new not in {None, old} for new, old in zip(said, own, strict=True)):
        field.change(name=said[0], namespace=said[1], type_=type_)


def create_from(target: Element, placement: str, source: Element | None, nodes: Nodes | None = None) -> Element:
    """`CREATE placement OF target FROM source` without a name: the new field takes that of the source too."""
    if source is None:
        return create(target, placement, None)
    made = create(target, placement, source.name, source.namespace)
    set_field(made, source, nodes)
    return made


def ensure_like(parent: Element, wanted: Step, number: int, source: object) -> Element:
    """The n-th field of any name, for `SET x.*[n] = field`: the one behind the last takes the name of its source."""
    found = parent.nth(wanted, number)
    if found is not None:
        return found
    count = parent.count(wanted)
    if not isinstance(source, Element) or number != count + 1:
        text = f"{path_of(parent)} has {count} fields, so there is no *[{number}] to set: create it by its name"
        raise BrokerError(2528, text, str(number))
    type_ = wanted.types[0][1] if wanted.types else NAME
    return parent.add(source.name, namespace=wanted.namespace or source.namespace, type_=type_)


def ensure_any(parent: Element, wanted: Step, number: int) -> Element:
    """The n-th field of any name, for `SET x.*[n] = value`; some domains have a name for one that is missing."""
    found = parent.nth(wanted, number)
    if found is not None:
        return found
    name = parent.owner.nameless
    if not name or number != parent.count(wanted) + 1:
        raise BrokerError(2528, "* leads to no field: create it first, or test it by EXISTS", "*")
    return parent.add(name)


def ensure_last(parent: Element, wanted: Step, number: int = 1) -> Element:
    """The n-th field from the end, for `SET x[<n] = …`: the first one is created where there is none."""
    found = parent.nth_last(wanted, number)
    if found is not None:
        return found
    if number == 1:
        return parent.ensure(wanted)
    text = f"{path_of(parent)} has {parent.count(wanted)} of {wanted.name}, so there is no [<{number}] to set"
    raise BrokerError(2527, text, str(number))

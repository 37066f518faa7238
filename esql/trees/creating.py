"""CREATE: new fields, placed beside or below others."""

from __future__ import annotations

from engine.errors import BrokerError
from engine.tree.element import Element
from engine.tree.source import NAME
from engine.tree.step import Step
from esql.runtime.limits import Nodes
from esql.trees.assigning import set_field
from esql.trees.navigation import path_of
from esql.trees.placing import place
from esql.trees.translating import own_type


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

"""A document as the source of a tree: its fields by the model, what the model does not know under its own names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from lxml import etree

from engine.tree.element import Element
from engine.tree.source import NAME, NAME_VALUE, Handle, Source, Value
from engine.tree.step import Step
from parsers.markup.lxml_nodes import attribute_of
from parsers.mrm.xml.values import COLON, NIL, FieldPlan, GroupPlan, Plans

XSI: Final = "{http://www.w3.org/2001/XMLSchema-instance}"


_NONE: Final[Mapping[str, FieldPlan]] = MappingProxyType({})


class Place(NamedTuple):
    """The place of a field: an element, or one of its attributes; what the model does not know has no plan."""

    node: Any
    attribute: str
    plan: FieldPlan | None
    group: GroupPlan | None


class Document(Source):
    """One message that was read; a handle is a Place.

    Whoever asks an element for a second field by its name is likely to ask for all of them, so from then on its fields
    are known by their names.
    """

    __slots__ = ("_asked", "_named", "plans", "top")

    def __init__(self, plans: Plans, node: Any) -> None:
        self.plans = plans
        self.top = Place(node, "", None, plans.top())
        self._asked: set[Any] = set()
        self._named: dict[Any, dict[str, list[Place]]] = {}

    def value(self, handle: Place) -> Value:
        if handle.attribute:
            text = attribute_of(handle.node, handle.attribute) or _declared(handle) or ""
        else:
            if not _has_value(handle):
                return None
            text = _text(handle)
        plan = handle.plan
        if plan is None or plan.values is None:
            return text
        return None if _is_null(handle, text) else plan.values.read(text)

    def children(self, handle: Place) -> Iterator[Place]:
        if handle.attribute or not _has_content(handle):
            return
        node, group = handle.node, handle.group
        taken = handle.plan.identity if handle.plan is not None else self._identity(handle)
        prefixed = group if group is not None and group.has_prefixes else None
        if prefixed is not None:
            yield from _declarations(node, prefixed)
        for name in node.attrib:
            plan = None if group is None else group.attributes.get(name)
            if plan is None and prefixed is not None:
                plan = prefixed.attributes.get(with_prefix(node, name))
            if plan is not None or not (name.startswith(XSI) or (taken is not None and name == taken[0])):
                yield Place(node, name, plan, None)
        alone: Mapping[str, FieldPlan] = _NONE if group is None else group.alone
        for child in node.iterchildren(etree.Element):
            plan = alone.get(child.tag) or (None if group is None else _plan_of(group, child))
            inner = None if plan is None or plan.type is None else self.plans.of(plan.type)
            yield Place(child, "", plan, inner)

    def _identity(self, handle: Place) -> tuple[str, str] | None:
        return self.plans.identity if handle is self.top else None

    def element(self, handle: Place, parent: Element) -> Element:
        name, namespace = _name_of(handle)
        return Element(name, namespace, _type_of(handle), self, handle, parent)

    def first(self, handle: Place, wanted: Step) -> Handle:
        return next((place for place in self._candidates(handle, wanted) if _matches(place, wanted)), None)

    def every(self, handle: Place, wanted: Step) -> list[Place]:
        return [place for place in self._candidates(handle, wanted) if _matches(place, wanted)]

    def _candidates(self, handle: Place, wanted: Step) -> Iterable[Place]:
        """The fields that can be the wanted ones: all, or those of that name."""
        if wanted.name is None or handle.attribute:
            return self.children(handle)
        named = self._named.get(handle.node)
        if named is None:
            if handle.node not in self._asked:
                self._asked.add(handle.node)
                return self.children(handle)
            named = self._named[handle.node] = {}
            for place in self.children(handle):
                named.setdefault(_name_of(place)[0], []).append(place)
        return named.get(wanted.name, ())


def with_prefix(node: Any, tag: str) -> str:
    """The tag of an element or of one of its attributes as a model without namespaces has it, by its prefix."""
    namespace, _, name = tag.removeprefix("{").rpartition("}")
    if not namespace:
        return name.replace(":", COLON)  # of a prefix that is not declared
    prefix = (
        node.prefix if tag == node.tag else next((p for p, uri in node.nsmap.items() if p and uri == namespace), "")
    )
    return f"{prefix}{COLON}{name}" if prefix else tag


def _declarations(node: Any, group: GroupPlan) -> Iterator[Place]:
    """The declarations of prefixes that are fields of a model without namespaces."""
    above = node.getparent()
    known = {} if above is None else above.nsmap
    for prefix, uri in node.nsmap.items():
        name = f"xmlns{COLON}{prefix}" if prefix else "xmlns"
        if known.get(prefix) != uri and name in group.attributes:
            yield Place(node, name, group.attributes[name], None)


def _declared(place: Place) -> str | None:
    """The namespace that an attribute declares."""
    start, _, prefix = place.attribute.partition(COLON)
    return place.node.nsmap.get(prefix or None) if start == "xmlns" else None


def _plan_of(group: GroupPlan, node: Any) -> FieldPlan | None:
    """The field that an element is; where several have its name, by the attribute that tells them apart."""
    for plan in group.elements.get(node.tag, ()):
        if plan.identity is None or node.get(plan.identity[0]) == plan.identity[1]:
            return plan
    for plan in group.elements.get(with_prefix(node, node.tag), ()) if group.has_prefixes else ():
        if plan.identity is None or node.get(plan.identity[0]) == plan.identity[1]:
            return plan
    return None


def _has_content(place: Place) -> bool:
    """Returns whether fields stand in a place, rather than a value."""
    if place.group is not None:
        return True
    if place.plan is not None:
        return False
    return len(place.node) > 0 or bool(place.node.attrib)


def _has_value(place: Place) -> bool:
    """Returns whether a value stands in a place; an element without a model may have one beside its attributes."""
    if place.plan is None and place.group is None and not len(place.node):
        return bool(place.node.text) or not place.node.attrib
    return not _has_content(place)


def _text(place: Place) -> str:
    plan = place.plan
    if plan is not None and plan.value_attribute:
        return place.node.get(plan.value_attribute) or ""
    return "".join(place.node.itertext(with_tail=False)) if len(place.node) else place.node.text or ""


def _is_null(place: Place, text: str) -> bool:
    plan = place.plan
    if plan is None or plan.values is None or not plan.field.nullable:
        return False
    values, node = plan.values, place.node
    match values.null:
        case "nullEmpty":
            return not text
        case "nullValue":
            return text == values.null_value
        case _ if place.attribute:
            return False  # all else is said by what an element has, and an attribute has nothing
        case "nullXMLSchema":
            return values.is_true(node.get(NIL))
        case "nullValueAttribute":
            return node.get(plan.value_attribute) is None if plan.value_attribute else not text
        case "nullAttribute":
            name, _, value = values.null_value.partition("=")
            return bool(node.get(name) == value if value else values.is_true(node.get(name)))
    return node.find(values.null_value) is not None


def _type_of(place: Place) -> int:
    return NAME_VALUE if place.attribute or _has_value(place) else NAME


def _name_of(place: Place) -> tuple[str, str]:
    if place.plan is not None:
        return place.plan.field.name, place.plan.field.namespace
    namespace, _, name = (place.attribute or place.node.tag).rpartition("}")
    return name, namespace[1:]


def _matches(place: Place, wanted: Step) -> bool:
    name, namespace = _name_of(place)
    if wanted.name not in {None, name} or wanted.namespace not in {None, namespace}:
        return False
    return not wanted.types or any(_type_of(place) & mask == value for mask, value in wanted.types)

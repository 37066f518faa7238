"""Plans: the fields of a message with the elements and attributes that stand for them, settled once and for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lxml import etree

from engine.errors import ConfigurationException
from parsers.markup.lxml_nodes import is_settable
from parsers.mrm.model import Field, Group, SimpleType, fields_of
from parsers.mrm.xml.values import XmlField, XmlFormat, XmlMessage, XmlValues

if TYPE_CHECKING:
    from parsers.mrm.model import Definition

NIL: Final = "{http://www.w3.org/2001/XMLSchema-instance}nil"


@dataclass(frozen=True, slots=True, eq=False)
class FieldPlan:
    """A field: what it is called in XML, as Clark's notation has it, and what reads and writes its values."""

    field: Field
    type: Group | None
    values: XmlValues | None
    said: XmlField
    tag: str
    identity: tuple[str, str] | None
    is_attribute: bool  # of the element around it
    value_attribute: str  # the one that holds the value; empty where the element's own text does


@dataclass(frozen=True, slots=True, eq=False)
class GroupPlan:
    """The fields that stand below one element; by tag, those that share one are told apart by their identity."""

    group: Group
    fields: tuple[FieldPlan, ...]
    elements: dict[str, list[FieldPlan]] = field(default_factory=dict)
    attributes: dict[str, FieldPlan] = field(default_factory=dict)
    names: frozenset[tuple[str, str]] = frozenset()


class Plans:
    """The plans of one message set in one XML format; those of types are made when they are first met."""

    __slots__ = ("_made", "definition", "message", "root_tag", "settings", "tag")

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        settings = definition.settings
        self.settings = settings if isinstance(settings, XmlFormat) else XmlFormat()
        _check_nulls(self.settings)
        said = definition.message.physical.get(definition.format)
        self.message: XmlMessage = said if isinstance(said, XmlMessage) else XmlMessage()
        name = definition.message.name
        self.tag = _checked(clark(definition.message.namespace, self.message.xml_name or name), name)
        self.root_tag = self.message.root_tag_name or self.settings.root_tag_name
        if self.root_tag:
            _checked(self.root_tag, name)
        self._made: dict[int, GroupPlan] = {}

    @property
    def identity(self) -> tuple[str, str] | None:
        """The attribute that tells the message's element, and its value."""
        if self.message.render == "XMLElement":
            return None
        return self.message.id_attribute_name or "id", self.message.id_attribute_value or self.definition.message.name

    def top(self) -> GroupPlan:
        """The plan of the message itself."""
        content = self.definition.message_set.content(self.definition.message.type)
        if content is None:
            name = self.definition.message.name
            raise ConfigurationException(f"the message {name} has no fields: an XML format needs a complex type")
        return self.of(content)

    def of(self, group: Group) -> GroupPlan:
        """The plan of a group; that of one group is made once, however often it is met."""
        known = self._made.get(id(group))
        if known is None:
            plans = tuple(self._field(each) for each in fields_of(group))
            names = frozenset((plan.field.name, plan.field.namespace) for plan in plans)
            known = self._made[id(group)] = GroupPlan(group, plans, names=names)
            for plan in plans:
                if plan.is_attribute:
                    known.attributes[plan.tag] = plan
                else:
                    known.elements.setdefault(plan.tag, []).append(plan)
        return known

    def _field(self, field: Field) -> FieldPlan:
        found = field.physical.get(self.definition.format)
        said = found if isinstance(found, XmlField) else XmlField()
        type_ = self.definition.message_set.content(field.type)
        if type_ is not None and said.render in {"XMLAttribute", "XMLElementAttrVal", "XMLElementAttrIDVal"}:
            raise ConfigurationException(f"{field.name} has fields of its own, so it cannot be rendered {said.render}")
        spelled = isinstance(field.type, SimpleType)
        identity = None
        if "AttrID" in said.render:
            name = clark(said.id_attribute_name_namespace, said.id_attribute_name or "id")
            identity = (_checked(name, field.name), said.id_attribute_value or field.name)
        return FieldPlan(
            field=field,
            type=type_,
            values=XmlValues(field.name, field.type, said, self.settings) if spelled else None,  # type: ignore[arg-type]
            said=said,
            tag=_checked(clark(field.namespace, said.xml_name or field.name), field.name),
            identity=identity,
            is_attribute=said.render == "XMLAttribute",
            value_attribute=(said.value_attribute_name or "val") if said.render.endswith("Val") else "",
        )


def _check_nulls(settings: XmlFormat) -> None:
    for how, value in (
        (settings.encoding_numeric_null, settings.encoding_numeric_null_value),
        (settings.encoding_non_numeric_null, settings.encoding_non_numeric_null_value),
    ):
        name = value.partition("=")[0] if how == "nullAttribute" else value
        if how in {"nullAttribute", "nullElement"}:
            try:
                etree.QName(name)
            except ValueError as error:
                raise ConfigurationException(f"{how} needs the name that says NULL, which {name!r} is not") from error


def _checked(tag: str, what: str) -> str:
    """The name of an element or attribute, if XML can have it."""
    try:
        if is_settable(tag) and etree.QName(tag):
            return tag
    except ValueError:
        pass  # as below
    raise ConfigurationException(f"{what}: {tag!r} cannot be a name in XML: say another, as xmlName")


def clark(namespace: str, name: str) -> str:
    """A name in Clark's notation.

    >>> clark("urn:a", "b"), clark("", "b")
    ('{urn:a}b', 'b')
    """
    return f"{{{namespace}}}{name}" if namespace else name

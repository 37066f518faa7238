"""The MRM XML wire format: messages that are XML documents, whose fields a model types and renames."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from lxml import etree

from engine.budget import pay
from engine.errors import ParserException
from engine.message.received import Part
from engine.message.thread_parsers import PARSERS
from engine.parser import Form, Portion
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import NAME_VALUE, VALUE, Handle, Source
from engine.tree.states import EDITED, SHARES
from engine.tree.step import children_beyond, children_by_name
from parsers.charsets.ccsid import codec
from parsers.markup.element_types import Retention
from parsers.markup.lxml_nodes import attribute_of, is_settable
from parsers.markup.reading import read_document
from parsers.markup.text import encode, name_of_codec, text_of
from parsers.mrm.model import Definition, wire_format
from parsers.mrm.xml.source import XSI, Document, Place, with_prefix
from parsers.mrm.xml.values import (
    COLON,
    NIL,
    UNWRITABLE,
    FieldPlan,
    GroupPlan,
    Plans,
    XmlField,
    XmlFormat,
    XmlMessage,
    clark,
)

_DEEPEST: Final = 512


class Writing:
    """One tree on its way to a document."""

    __slots__ = ("_encoding", "_plans")

    def __init__(self, plans: Plans, encoding: str) -> None:
        self._plans = plans
        self._encoding = encoding

    def document(self, element: Element) -> str:
        """The text of the document, with what stands in front of its root."""
        PARSERS.keep_names_apart()
        plans = self._plans
        top = etree.Element(plans.tag, nsmap=self._namespaces())
        if plans.identity is not None:
            top.set(*plans.identity)
        self._keep_attributes(element, top)
        self._content(plans.top(), element, top, 1)
        root = top
        if plans.root_tag:
            root = etree.Element(plans.root_tag)
            root.append(top)
        text = self._prolog(root) + etree.tostring(root, encoding="unicode")
        return text.replace(COLON, ":") if plans.has_prefixes else text

    def _namespaces(self) -> dict[str, str] | None:
        """The namespaces that are declared at the start: all that fields of the message may have."""
        if self._plans.settings.output_namespace_declaration != "atStart":
            return None
        found, seen, pending = {self._plans.definition.message.namespace}, set(), [self._plans.top()]
        while pending:
            group = pending.pop()
            if group in seen:
                continue
            seen.add(group)
            found.update(plan.field.namespace for plan in group.fields)
            pending += [self._plans.of(plan.type) for plan in group.fields if plan.type is not None]
        return {f"ns{number}": name for number, name in enumerate(sorted(found - {""}), 1)}

    def _prolog(self, root: Any) -> str:
        settings, pieces = self._plans.settings, []
        if not settings.suppress_xml_declaration:
            alone = "" if settings.standalone_document == "none" else f' standalone="{settings.standalone_document}"'
            pieces.append(f'<?xml version="{settings.xml_version}" encoding="{self._encoding}"{alone}?>')
        if not settings.suppress_doctype:
            system, public = settings.doctype_system_id, settings.doctype_public_id
            outside = f' PUBLIC "{public}" "{system}"' if public else f' SYSTEM "{system}"' if system else ""
            inside = f" [{settings.doctype_text}]" if settings.doctype_text else ""
            name = root.tag if root.prefix is None else f"{root.prefix}:{etree.QName(root).localname}"
            pieces.append(f"<!DOCTYPE {name}{outside}{inside}>")
        return "".join(pieces)

    def _content(self, group: GroupPlan, element: Element, node: Any, depth: int) -> None:
        """Puts fields into a node in the order of the model, and behind them what the model does not know."""
        if depth > _DEEPEST:
            raise ParserException(UNWRITABLE, f"elements are nested deeper than {_DEEPEST} levels at {element.name}")
        around = _place_of(element)  # without it, nothing below was read here as unknown to the model
        pay(len(group.fields) + 1)
        found = children_by_name(element, group.names)
        if around is not None:
            for name, children in found.items():
                found[name] = [child for child in children if not self._is_stranger(child, around)]
        for plan in group.fields:
            for child in found.get((plan.field.name, plan.field.namespace), ()):
                self._field(plan, child, node, depth)
        if around is not None or not group.names.issuperset(found):
            for child in children_beyond(element, found, group.names):
                self._stranger(child, node, depth)

    def _is_stranger(self, element: Element, around: Place) -> bool:
        """Returns True where an element was read here as unknown to the model, although it has a field's name."""
        place = _place_of(element)
        if place is None or place.plan is not None:
            return False
        stands = (place.node if place.attribute else place.node.getparent()) is around.node
        return stands and self._has_own_name(element)

    def _field(self, plan: FieldPlan, element: Element, node: Any, depth: int) -> None:
        if plan.is_attribute:
            if node.get(plan.tag) is not None:
                raise ParserException(UNWRITABLE, f"{plan.field.name} is an attribute, which stands there only once")
            self._set(node, plan.tag, self._null_text(plan) if element.value is None else self._text(plan, element))
            return
        held = written(element) if element.state & SHARES else element
        was_read = held.source is not None
        if was_read and self._as_read(plan, element, node):
            return
        made = etree.SubElement(node, plan.tag)
        if was_read:
            self._keep_attributes(element, made)
        if plan.identity is not None:
            made.set(*plan.identity)
        if plan.type is not None:
            self._content(self._plans.of(plan.type), element, made, depth + 1)
        elif element.value is None:
            self._null(plan, made)
        elif plan.value_attribute:
            self._set(made, plan.value_attribute, self._text(plan, element))
        else:
            text = self._text(plan, element)
            self._put(made, etree.CDATA(text) if plan.said.output_type == "cdata" else text, plan.field.name)

    def _has_own_name(self, element: Element) -> bool:
        """Returns whether what has no model is called as where it was read, and was not copied to another name."""
        held = written(element)
        if not isinstance(held.source, Document):
            return False
        return bool(clark(element.namespace, element.name) == (held.handle.attribute or held.handle.node.tag))

    def _as_read(self, plan: FieldPlan | None, element: Element, node: Any) -> bool:
        """Puts in an element as it was read where it has not changed since the same model read it; False otherwise."""
        held = written(element)
        source = held.source
        if not isinstance(source, Document) or held.state & EDITED or source.plans is not self._plans:
            return False
        place = held.handle
        if place.plan is not plan or (place.attribute and node.get(place.attribute) is not None):
            return False
        if place.attribute:
            self._set(node, place.attribute, attribute_of(place.node, place.attribute) or "")
        else:
            kept = deepcopy(place.node)
            kept.tail = _own_text(place.node.tail) if plan is None else None
            node.append(kept)
        return True

    def _as_attribute(self, element: Element, node: Any) -> bool:
        """Returns True where an element was read as an attribute, and its new value is put there as one."""
        name = written(element).handle.attribute
        if not name or element.first_child is not None or node.get(name) is not None:
            return False
        self._set(node, name, text_of(element.value, compact=True))
        return True

    def _set(self, node: Any, name: str, text: str) -> None:
        """Give an element an attribute, if its name and its text can be in XML."""
        try:
            if is_settable(name):
                node.set(name, text)
                return
        except ValueError as error:
            raise ParserException(UNWRITABLE, f"the attribute {name} cannot be {text!r:.60}: {error}", name) from error
        raise ParserException(UNWRITABLE, f"{name!r} cannot be the name of an attribute", name)

    def _keep_attributes(self, element: Element, node: Any) -> None:
        """Give an element the attributes that it was read with and that its tree does not show."""
        place = _place_of(element)
        if place is None or place.attribute:
            return
        for name, text in place.node.attrib.items():
            if is_settable(name) and self._is_hidden(name, place):
                node.set(name, text)

    def _is_hidden(self, name: str, place: Place) -> bool:
        """Returns True where an attribute is no field, and gives neither its element's field nor its value."""
        plan = place.plan
        if name == NIL:
            return False
        if place.group is not None or plan is None:
            known = () if place.group is None else place.group.attributes
            return bool(name.startswith(XSI)) and with_prefix(place.node, name) not in known
        values = plan.values
        says_null = values is not None and values.null == "nullAttribute" and plan.field.nullable
        null = values.null_value.partition("=")[0] if values is not None and says_null else ""
        return name not in {plan.value_attribute, null}

    def _text(self, plan: FieldPlan, element: Element) -> str:
        assert plan.values is not None
        return plan.values.write(element.value)

    def _put(self, node: Any, text: Any, name: str) -> None:
        try:
            node.text = text
        except ValueError as error:
            raise ParserException(UNWRITABLE, f"{name} holds characters that XML cannot: {error}", name) from error

    def _null(self, plan: FieldPlan, node: Any) -> None:
        """Puts NULL into a node, as the model spells it."""
        text, values = self._null_text(plan), plan.values
        assert values is not None
        match values.null:
            case "nullXMLSchema":
                node.set(NIL, "true")
            case "nullAttribute":
                name, _, value = values.null_value.partition("=")
                node.set(name, value or self._plans.settings.boolean_true_value)
            case "nullElement":
                etree.SubElement(node, values.null_value)
            case "nullValue" if plan.value_attribute:
                node.set(plan.value_attribute, text)
            case "nullValue":
                node.text = text

    def _null_text(self, plan: FieldPlan) -> str:
        """The text that stands for NULL; it is empty where anything but a text does."""
        if not plan.field.nullable:
            raise ParserException(UNWRITABLE, f"{plan.field.name} may not be NULL", plan.field.name)
        assert plan.values is not None
        return plan.values.null_value if plan.values.null == "nullValue" else ""

    def _stranger(self, element: Element, node: Any, depth: int) -> None:
        """Puts what the model does not know under its own name."""
        own = self._has_own_name(element)
        if own and (self._as_read(None, element, node) or self._as_attribute(element, node)):
            return
        if element.raw_type == VALUE:
            raise ParserException(UNWRITABLE, f"{node.tag} has a value beside its fields, which MRM does not hold")
        if depth > _DEEPEST:
            raise ParserException(UNWRITABLE, f"elements are nested deeper than {_DEEPEST} levels at {element.name}")
        try:
            made = etree.SubElement(node, clark(element.namespace, element.name))
        except ValueError as error:
            raise ParserException(UNWRITABLE, f"{element.name!r} cannot be the name of an element") from error
        self._keep_attributes(element, made)
        if element.type == NAME_VALUE or element.first_child is None:
            self._put(made, text_of(element.value, compact=True), element.name)
        elif own and not written(element).handle.attribute:
            made.text = _own_text(written(element).handle.node.text)
        if own:
            made.tail = _text_behind(element)
        for child in element:
            self._stranger(child, made, depth + 1)


def _place_of(element: Element) -> Place | None:
    """Returns the place of an element in the document that it was read from, or None."""
    held = written(element)
    source = held.source
    if isinstance(source, Document):
        place: Place | None = held.handle
        return place
    content = source.source if isinstance(source, Part) else None
    return content.top if isinstance(content, Document) else None


def _text_behind(element: Element) -> str | None:
    """The text behind an element where it was read: it is not in the tree, and is not lost."""
    place: Place = written(element).handle
    return None if place.plan is not None or place.attribute else _own_text(place.node.tail)


def _own_text(text: str | None) -> str | None:
    return text if text and not text.isspace() else None


_KEEP = Retention(blanks=True, comments=False, instructions=False, references=False)


@wire_format("XML", settings=XmlFormat, field=XmlField, message=XmlMessage)
class ModelledDocument:
    """Reads and writes one message."""

    __slots__ = ("_plans",)

    def __init__(self, definition: Definition) -> None:
        self._plans = Plans(definition)
        self._plans.top()

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        """The document as a lazy source."""
        read = read_document(portion, _KEEP)
        if read is None:
            raise ParserException(5009, f"the message at offset {portion.start} is empty, and must be an XML document")
        source = Document(self._plans, self._message(read[0]))
        return source, source.top

    def _message(self, root: Any) -> Any:
        """The element of the message, which may stand in another."""
        plans = self._plans
        node = root
        if plans.root_tag:
            if etree.QName(root).localname != plans.root_tag:
                raise ParserException(5377, f"the document's root is {root.tag}, and must be {plans.root_tag}")
            node = next(root.iterchildren(etree.Element), None)
        if node is None or (node.tag != plans.tag and with_prefix(node, node.tag) != plans.tag):
            found, tag = "nothing" if node is None else node.tag, plans.tag.replace(COLON, ":")
            raise ParserException(
                5377,
                f"{found} stands where the message {plans.definition.message.name} must, as {tag}",
            )
        return node

    def write(self, element: Element, form: Form) -> bytes:
        """The bytes of the message that an element stands for; what the CCSID lacks is written as references."""
        info = codec(form.ccsid, form.encoding)
        return encode(Writing(self._plans, name_of_codec(info.name)).document(element), info, form.ccsid)

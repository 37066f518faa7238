"""Values in MRM XML: what a model may say of them, their texts, and the elements and attributes of each field."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from typing import Any, Final, Literal

from lxml import etree

from engine.dates.patterns import MomentError, written_iso
from engine.errors import ConfigurationException, ParserException
from engine.node import prop
from engine.tree.source import Value
from parsers.markup.lxml_nodes import is_settable
from parsers.mrm.dates import DEFAULT_FORMATS, text_of, value_of
from parsers.mrm.model import Definition, Field, Group, SimpleType, fields_of
from parsers.mrm.simple_values import as_decimal, as_float, as_integer, as_text, integer_of, number_of

Render = Literal["XMLElement", "XMLAttribute", "XMLElementAttrID", "XMLElementAttrVal", "XMLElementAttrIDVal"]
EncodingNull = Literal["nullEmpty", "nullValue", "nullXMLSchema", "nullValueAttribute", "nullAttribute", "nullElement"]


@dataclass(frozen=True, slots=True)
class XmlFormat:
    """The properties of an XML format for its whole message set."""

    root_tag_name: str = prop("", "The element around messages; empty: none, a message's own is the root.")
    suppress_doctype: bool = prop(True, "Whether no DOCTYPE is written.")
    doctype_system_id: str = prop("", "The system identifier of the DOCTYPE.")
    doctype_public_id: str = prop("", "The public identifier of the DOCTYPE.")
    doctype_text: str = prop("", "The internal subset of the DOCTYPE.")
    suppress_xml_declaration: bool = prop(False, "Whether no XML declaration is written.")
    xml_version: str = prop("1.0", "The version that the declaration names.")
    standalone_document: Literal["none", "yes", "no"] = prop("none", "What the declaration says of standalone.")
    output_namespace_declaration: Literal["asRequired", "atStart"] = prop("atStart", "Where namespaces are declared.")
    encoding_numeric_null: EncodingNull = prop("nullEmpty", "How numbers represent NULL.")
    encoding_numeric_null_value: str = prop("", "What represents it where that takes a value.")
    encoding_non_numeric_null: EncodingNull = prop("nullEmpty", "How all else represents NULL.")
    encoding_non_numeric_null_value: str = prop("", "What represents it where that takes a value.")
    boolean_true_value: str = prop("true", "The text of TRUE.")
    boolean_false_value: str = prop("false", "The text of FALSE.")
    default_date_time_format: str = prop("", "The format of dates and times; empty: as their logical types have it.")


@dataclass(frozen=True, slots=True)
class XmlField:
    """The XML properties of a field; empty names are the field's own."""

    render: Render = prop("XMLElement", "As what it is written.")
    xml_name: str = prop("", "The name of its element or attribute.")
    id_attribute_name: str = prop("", "The attribute that identifies it.")
    id_attribute_name_namespace: str = prop("", "The namespace of that attribute.")
    id_attribute_value: str = prop("", "The value of that attribute.")
    value_attribute_name: str = prop("", "The attribute that holds its value.")
    date_time_format: str = prop("", "The format of a date or time; empty: as the set says.")
    encoding: Literal["hex", "base64"] = prop("hex", "How bytes are written.")
    output_type: Literal["text", "cdata"] = prop("text", "Whether text is written as a CDATA section.")


@dataclass(frozen=True, slots=True)
class XmlMessage:
    """The XML properties of a message."""

    render: Literal["XMLElement", "XMLElementAttrID"] = prop("XMLElement", "As what it is written.")
    xml_name: str = prop("", "The name of its element.")
    root_tag_name: str = prop("", "The element around it; empty: as the set says.")
    id_attribute_name: str = prop("", "The attribute that identifies it.")
    id_attribute_value: str = prop("", "The value of that attribute.")


UNREADABLE: Final = 5285
UNWRITABLE: Final = 5286

_SPECIAL: Final = {"INF": "inf", "-INF": "-inf", "NaN": "nan"}


class XmlValues:
    """Reads and writes the values of one field; what is said of all comes from the format."""

    __slots__ = ("_name", "_read", "_said", "_settings", "_type", "_write", "null", "null_value")

    def __init__(self, name: str, type_: SimpleType, said: XmlField, settings: XmlFormat) -> None:
        self._name = name
        self._type = type_
        self._said = said
        self._settings = settings
        self._read, self._write = _KINDS[type_.family]
        numeric = type_.family in {"integer", "decimal", "float"}
        self.null = settings.encoding_numeric_null if numeric else settings.encoding_non_numeric_null
        self.null_value = settings.encoding_numeric_null_value if numeric else settings.encoding_non_numeric_null_value

    def is_true(self, text: str | None) -> bool:
        """Returns whether the text of an attribute says TRUE."""
        return text in {"true", "1", self._settings.boolean_true_value}

    def read(self, text: str) -> Value:
        """The value of a text; blanks around anything but strings do not count."""
        try:
            return self._read(self, text if self._type.family == "string" else text.strip(" \t\r\n"))
        except MomentError as error:
            raise self._failure(UNREADABLE, text, f"cannot be read: {error.why}") from error
        except (ValueError, ArithmeticError, binascii.Error) as error:
            raise self._failure(UNREADABLE, text, f"cannot be read: it is no {self._type.kind}") from error

    def write(self, value: Value) -> str:
        """The text of a value."""
        try:
            return self._write(self, value)
        except MomentError as error:
            raise self._failure(UNWRITABLE, value, f"cannot be written: {error.why}") from error
        except (ValueError, TypeError, ArithmeticError) as error:
            raise self._failure(
                UNWRITABLE, value, f"cannot be written: it takes values of {self._type.kind}"
            ) from error

    def _failure(self, number: int, value: Value, why: str) -> ParserException:
        return ParserException(number, f"{self._name}: {value!r:.60} {why}", self._name)

    def read_float(self, text: str) -> Value:
        return float(_SPECIAL[text] if text in _SPECIAL else number_of(text))

    def write_float(self, value: Any) -> str:
        text = repr(as_float(value) if value not in _SPECIAL else float(_SPECIAL[value]))
        return {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(text, text)

    def read_boolean(self, text: str) -> Value:
        settings = self._settings
        if text in {settings.boolean_true_value, "1"}:
            return True
        if text in {settings.boolean_false_value, "0"}:
            return False
        raise ValueError(text)

    def write_boolean(self, value: Any) -> str:
        if not isinstance(value, bool):
            raise TypeError(value)
        return self._settings.boolean_true_value if value else self._settings.boolean_false_value

    def read_bytes(self, text: str) -> Value:
        if self._said.encoding == "base64":
            return base64.b64decode("".join(text.split()), validate=True)
        return bytes.fromhex(text)

    def write_bytes(self, value: Any) -> str:
        if not isinstance(value, bytes):
            raise TypeError(value)
        return base64.b64encode(value).decode() if self._said.encoding == "base64" else value.hex().upper()

    def read_moment(self, text: str) -> Value:
        pattern = self._pattern()
        if not self._said_pattern() and pattern:
            text = _ZONED.sub("", text)
        return value_of(text, pattern or "I", self._type.kind)

    def write_moment(self, value: Any) -> str:
        pattern = self._pattern()
        if pattern or not isinstance(value, date | time):
            return text_of(value, pattern)
        return written_iso(value).replace("+00:00", "Z")

    def _pattern(self) -> str:
        """The format; without one, dates and times are as ISO 8601 has them."""
        return self._said_pattern() or _PARTS.get(self._type.kind, "")

    def _said_pattern(self) -> str:
        return self._said.date_time_format or self._settings.default_date_time_format


_ZONED: Final = re.compile(r"(?:Z|[+-][0-9]{2}:[0-9]{2})$")  # what a DATE has no room for
_PARTS: Final = {kind: pattern for kind, pattern in DEFAULT_FORMATS.items() if kind.startswith("g")}
_KINDS: Final[Mapping[str, tuple[Callable[[XmlValues, str], Any], Callable[[XmlValues, Any], str]]]] = {
    **dict.fromkeys(("string", "duration"), (lambda _, text: text, lambda _, value: as_text(value))),
    "integer": (lambda _, text: integer_of(text), lambda _, value: str(as_integer(value))),
    "decimal": (lambda _, text: number_of(text), lambda _, value: f"{as_decimal(value):f}"),
    "float": (XmlValues.read_float, XmlValues.write_float),
    "boolean": (XmlValues.read_boolean, XmlValues.write_boolean),
    "dateTime": (XmlValues.read_moment, XmlValues.write_moment),
    "binary": (XmlValues.read_bytes, XmlValues.write_bytes),
}


# In names with a prefix, such as models without namespaces have, it stands for the colon, which lxml would not take.
COLON: Final = "\U000efffd"

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
    """The fields that stand below one element; by tag, those that share one are told apart by their identity.

    `alone` are those that their tag alone tells.

    `has_prefixes` says that names of fields have prefixes, and mean them, whatever namespaces these stand for.
    """

    group: Group
    fields: tuple[FieldPlan, ...]
    elements: dict[str, list[FieldPlan]] = field(default_factory=dict)
    attributes: dict[str, FieldPlan] = field(default_factory=dict)
    names: frozenset[tuple[str, str]] = frozenset()
    has_prefixes: bool = False
    alone: dict[str, FieldPlan] = field(default_factory=dict)


class Plans:
    """The plans of one message set in one XML format; those of types are made when they are first met."""

    __slots__ = ("_made", "definition", "has_prefixes", "message", "root_tag", "settings", "tag")

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        settings = definition.settings
        self.settings = settings if isinstance(settings, XmlFormat) else XmlFormat()
        _check_nulls(self.settings)
        said = definition.message.physical.get(definition.format)
        self.message: XmlMessage = said if isinstance(said, XmlMessage) else XmlMessage()
        name = definition.message.name
        self.tag = _tag(definition.message.namespace, self.message.xml_name or name, name)
        self.has_prefixes = COLON in self.tag
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
        return self.of(self.definition.message_set.content(self.definition.message.type))

    def of(self, group: Group) -> GroupPlan:
        """The plan of a group; that of one group is made once, however often it is met."""
        known = self._made.get(id(group))
        if known is None:
            plans = tuple(self._field(each) for each in fields_of(group, self.definition.message_set))
            names = frozenset((plan.field.name, plan.field.namespace) for plan in plans)
            has_prefixes = any(COLON in plan.tag for plan in plans)
            self.has_prefixes |= has_prefixes
            known = self._made[id(group)] = GroupPlan(group, plans, names=names, has_prefixes=has_prefixes)
            for plan in plans:
                if plan.is_attribute:
                    known.attributes[plan.tag] = plan
                else:
                    known.elements.setdefault(plan.tag, []).append(plan)
            known.alone.update(
                (tag, found[0])
                for tag, found in known.elements.items()
                if len(found) == 1 and found[0].identity is None
            )
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
            tag=_tag(field.namespace, said.xml_name or field.name, field.name),
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


def _tag(namespace: str, name: str, what: str) -> str:
    """The tag of an element or attribute; a prefix in its name stays there where it has no namespace."""
    prefix, colon, local = name.partition(":")
    if colon and prefix and local and not namespace and _checked(local, what):
        return _checked(f"{prefix}{COLON}{local}", what)
    return _checked(clark(namespace, name), what)


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

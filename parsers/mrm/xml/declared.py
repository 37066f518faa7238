"""The MRM XML wire format: what a model may say of messages that are XML documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.node import prop

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

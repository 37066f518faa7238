"""JSON Schemas of flow and message-set files, for editors: two ship, and one with all node types can be made."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from engine.flow.definition import FLOW_PROPERTIES
from engine.node import NodeType, Property, Range
from flows.message_sets import yaml_reader
from parsers.mrm.model import wire_format_catalog

Schema: TypeAlias = dict[str, Any]

NAME: Final = r"^(?!\s)(?!.*->).*\S$"
WIRE: Final = r"^\s*\S.*\.[^.]*\S\s*->\s*\S.*$"
PROMOTED: Final = r"^\S.*\.[^.]*\S$|^\S\.\S$"
TYPES: Final = {int: "integer", float: "number", bool: "boolean"}
_SCALAR: Final = {"type": ["string", "number", "boolean"]}
_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_GROUP: Final = {
    "composition": {"enum": list(yaml_reader.COMPOSITIONS)},
    "content": {"enum": list(yaml_reader.CONTENTS)},
    "members": {"type": "array", "items": {"$ref": "#/$defs/member"}},
    "documentation": _TEXT,
}


def schema_text(schema: Schema) -> str:
    """The text of a schema's file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def flow_schema(node_types: Iterable[NodeType] = ()) -> Schema:
    """The schema of flow and subflow files; with node types it also says which properties each has."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Penstock flow",
        "type": "object",
        "properties": {
            "flow": {"description": "The name of the message flow.", "$ref": "#/$defs/name"},
            "subflow": {"description": "The name of the subflow, by which nodes use it.", "$ref": "#/$defs/name"},
            "schema": {"description": "The broker schema that the flow is in.", "type": ["string", "null"]},
            **_flow_tables(),
            "nodes": {
                "description": "The nodes by their labels.",
                "type": "object",
                "propertyNames": {"pattern": NAME},
                "additionalProperties": {"$ref": "#/$defs/node"},
            },
            "wires": {
                "description": "Label.terminal -> Label.terminal; `.in` may be left out.",
                "type": "array",
                "items": {"type": "string", "pattern": WIRE},
            },
        },
        "additionalProperties": False,
        "oneOf": [{"required": ["flow"]}, {"required": ["subflow"]}],
        "$defs": _flow_definitions(tuple(node_types)),
    }


def _flow_tables() -> Schema:
    return {
        "properties": {
            "description": "Properties of the flow, and values for those it promotes.",
            "type": "object",
            "properties": {declared.name: property_schema(declared) for declared in FLOW_PROPERTIES},
            "additionalProperties": {"$ref": "#/$defs/value"},
        },
        "userProperties": {
            "description": "User-defined properties, which ESQL reads by DECLARE ... EXTERNAL.",
            "type": "object",
            "additionalProperties": _SCALAR,
        },
        "promote": {
            "description": "Names for properties of nodes that are set from outside.",
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string", "pattern": PROMOTED}},
        },
    }


def _flow_definitions(node_types: tuple[NodeType, ...]) -> Schema:
    node: Schema = {
        "type": "object",
        "properties": {
            "type": {"description": "The type of the node, or the name of a subflow.", "$ref": "#/$defs/name"},
            "subflow": {"description": "The file of a subflow, seen from this file.", "pattern": r"\.ya?ml$"},
        },
        "additionalProperties": {"$ref": "#/$defs/value"},
        "oneOf": [{"required": ["type"]}, {"required": ["subflow"]}],
    }
    if node_types:
        node["allOf"] = [_node(node_type) for node_type in node_types]
    row = {"type": "object", "additionalProperties": {"$ref": "#/$defs/value"}}
    item = {"anyOf": [_SCALAR, row]}
    value = {"anyOf": [_SCALAR, {"type": "array", "items": item}]}
    return {"name": {"type": "string", "pattern": NAME}, "node": node, "value": value}


def _node(node_type: NodeType) -> Schema:
    declared = {"type": {"description": node_type.description}} | {
        p.name: property_schema(p) for p in node_type.properties
    }
    return {
        "if": {"properties": {"type": {"const": node_type.name}}, "required": ["type"]},
        "then": {"properties": declared, "propertyNames": {"enum": list(declared)}},
    }


def property_schema(declared: Property) -> Schema:
    """The schema of one property."""
    found: Schema = {"description": declared.description or declared.words}
    if declared.many:
        return found | {"type": "array"}
    if declared.choices:
        # Editors that follow YAML 1.1 take an unquoted yes or no for a truth value.
        truths = [True, False] if {"yes", "no"} & set(declared.choices) else []
        found["enum"] = [*declared.choices, *truths]
    elif declared.type in TYPES:
        found["type"] = TYPES[declared.type]
    else:
        found |= _SCALAR
    for mark in declared.marks:
        if isinstance(mark, Range):
            found["minimum"] = mark.low
            found |= {} if mark.high == float("inf") else {"maximum": mark.high}
    if isinstance(declared.default, str | int | float) and declared.default != "":
        found["default"] = declared.default
    return found


def message_set_schema() -> Schema:
    """The schema of message-set files."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Penstock message set",
        "type": "object",
        "required": ["messageSet"],
        "properties": {
            "messageSet": {"description": "The name of the message set.", "type": "string"},
            "identifier": {"description": "Another name by which templates may ask for it.", "type": "string"},
            "documentation": _TEXT,
            "defaultFormat": {"description": "The wire format of messages that name none.", "type": "string"},
            "formats": {
                "type": "object",
                "additionalProperties": {"oneOf": [_settings(kind) for kind in wire_format_catalog]},
            },
            "types": {"type": "object", "additionalProperties": _object(_GROUP | _physical("group"), ["members"])},
            "messages": {"type": "object", "additionalProperties": {"$ref": "#/$defs/message"}},
        },
        "additionalProperties": False,
        "$defs": _message_set_definitions(),
    }


def _message_set_definitions() -> Schema:
    said = (
        _GROUP | _physical("message") | _physical("group", name="groupPhysical") | {"type": _TEXT, "namespace": _TEXT}
    )
    message = {**_object(said, []), "oneOf": [{"required": ["type"]}, {"required": ["members"]}]}
    inner = {"group": {"enum": list(yaml_reader.COMPOSITIONS)}} | _GROUP | _physical("group")
    inner.pop("composition")
    return {
        "member": {"oneOf": [_object(_field(), ["field"]), _object(inner, ["group", "members"])]},
        "message": message,
    }


def _field() -> Schema:
    facets: Schema = {key: _COUNT if key in yaml_reader.COUNTS else _SCALAR for key in yaml_reader.FACETS}
    facets["enumeration"] = {"type": "array", "items": _SCALAR}
    return {
        "field": {"description": "The name of the field.", "type": "string"},
        "type": {"description": f"{', '.join(yaml_reader.KINDS)}, or one of the set's types.", "type": "string"},
        "namespace": _TEXT,
        "minOccurs": _COUNT,
        "maxOccurs": {"anyOf": [_COUNT, {"const": yaml_reader.UNBOUNDED_WORD}]},
        "repeatReference": {"description": "The path of the field that says how often it occurs.", "type": "string"},
        "default": _SCALAR,
        "fixed": {"type": "boolean"},
        "nullable": {"type": "boolean"},
        "interpretValueAs": {"enum": list(yaml_reader.INTERPRETATIONS)},
        **facets,
        **_GROUP,
        **_physical("field"),
        **_physical("group", name="groupPhysical"),
    }


def _object(properties: Schema, required: list[str]) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _physical(owner: str, name: str = "physical") -> Schema:
    """Returns what the formats of a set may say of one of these; which kind a format is, its table does not say."""
    tables = [_object(properties, []) for kind in wire_format_catalog if (properties := _declared(kind, owner))]
    return {name: {"type": "object", "additionalProperties": {"anyOf": tables} if tables else False}}


def _settings(kind: str) -> Schema:
    return _object({"kind": {"const": kind}} | _declared(kind, "settings"), ["kind"])


def _declared(kind: str, owner: str) -> Schema:
    return {declared.name: property_schema(declared) for declared in yaml_reader.declared(kind, owner)[1]}

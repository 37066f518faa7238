"""The JSON Schema of flow files, for editors: flow.schema.json ships, and one with all node types can be made."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from engine.flow.definition import FLOW_PROPERTIES
from engine.node import NodeType, Property, Range

Schema: TypeAlias = dict[str, Any]

NAME: Final = r"^(?!\s)(?!.*->).*\S$"
WIRE: Final = r"^\s*\S.*\.[^.]*\S\s*->\s*\S.*$"
PROMOTED: Final = r"^\S.*\.[^.]*\S$|^\S\.\S$"
SCALAR: Final = ("string", "number", "boolean")
TYPES: Final = {int: "integer", float: "number", bool: "boolean"}


def schema_text(node_types: Iterable[NodeType] = ()) -> str:
    """The schema as the text of its file; with node types it also says which properties each has."""
    return json.dumps(flow_schema(node_types), indent=2, ensure_ascii=False) + "\n"


def flow_schema(node_types: Iterable[NodeType] = ()) -> Schema:
    """The schema of flow and subflow files."""
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
        "$defs": _definitions(tuple(node_types)),
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
            "additionalProperties": {"type": list(SCALAR)},
        },
        "promote": {
            "description": "Names for properties of nodes that are set from outside.",
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string", "pattern": PROMOTED}},
        },
    }


def _definitions(node_types: tuple[NodeType, ...]) -> Schema:
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
    item = {"anyOf": [{"type": list(SCALAR)}, row]}
    value = {"anyOf": [{"type": list(SCALAR)}, {"type": "array", "items": item}]}
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
        found["type"] = list(SCALAR)
    for mark in declared.marks:
        if isinstance(mark, Range):
            found["minimum"] = mark.low
            found |= {} if mark.high == float("inf") else {"maximum": mark.high}
    if isinstance(declared.default, str | int | float) and declared.default != "":
        found["default"] = declared.default
    return found

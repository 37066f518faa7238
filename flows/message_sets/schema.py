"""The JSON Schema of message-set files, for editors: message_set.schema.json ships."""

from __future__ import annotations

import json
from typing import Any, Final, TypeAlias

from engine.node import Property
from flows.message_sets import reader
from flows.schema import property_schema
from parsers.mrm.wire_format import wire_format_catalog

Schema: TypeAlias = dict[str, Any]

_SCALAR: Final = {"type": ["string", "number", "boolean"]}
_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_GROUP: Final = {
    "composition": {"enum": list(reader.COMPOSITIONS)},
    "content": {"enum": list(reader.CONTENTS)},
    "members": {"type": "array", "items": {"$ref": "#/$defs/member"}},
    "documentation": _TEXT,
}


def schema_text() -> str:
    """The schema as the text of its file."""
    return json.dumps(message_set_schema(), indent=2, ensure_ascii=False) + "\n"


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
            "formats": {"type": "object", "additionalProperties": {"oneOf": [_settings(k) for k in _kinds()]}},
            "types": {"type": "object", "additionalProperties": _table(_GROUP | _physical("group"), ["members"])},
            "messages": {"type": "object", "additionalProperties": {"$ref": "#/$defs/message"}},
        },
        "additionalProperties": False,
        "$defs": _definitions(),
    }


def _kinds() -> list[str]:
    return list(wire_format_catalog)


def _definitions() -> Schema:
    said = (
        _GROUP | _physical("message") | _physical("group", name="groupPhysical") | {"type": _TEXT, "namespace": _TEXT}
    )
    message = {**_table(said, []), "oneOf": [{"required": ["type"]}, {"required": ["members"]}]}
    inner = {"group": {"enum": list(reader.COMPOSITIONS)}} | _GROUP | _physical("group")
    inner.pop("composition")
    return {
        "member": {"oneOf": [_table(_field(), ["field"]), _table(inner, ["group", "members"])]},
        "message": message,
    }


def _field() -> Schema:
    facets: Schema = {key: _COUNT if key in reader.COUNTS else _SCALAR for key in reader.FACETS}
    facets["enumeration"] = {"type": "array", "items": _SCALAR}
    return {
        "field": {"description": "The name of the field.", "type": "string"},
        "type": {"description": f"{', '.join(reader.KINDS)}, or one of the set's types.", "type": "string"},
        "namespace": _TEXT,
        "minOccurs": _COUNT,
        "maxOccurs": {"anyOf": [_COUNT, {"const": reader.UNBOUNDED_WORD}]},
        "repeatReference": {"description": "The path of the field that says how often it occurs.", "type": "string"},
        "default": _SCALAR,
        "fixed": {"type": "boolean"},
        "nullable": {"type": "boolean"},
        "interpretValueAs": {"enum": list(reader.INTERPRETATIONS)},
        **facets,
        **_GROUP,
        **_physical("field"),
        **_physical("group", name="groupPhysical"),
    }


def _table(properties: Schema, required: list[str]) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _physical(owner: str, name: str = "physical") -> Schema:
    """Returns what the formats of a set may say of one of these; which kind a format is, its table does not say."""
    tables = [_declared(properties) for kind in _kinds() if (properties := _of(kind, owner))]
    return {name: {"type": "object", "additionalProperties": {"anyOf": tables} if tables else False}}


def _of(kind: str, owner: str) -> tuple[Property, ...]:
    return reader.declared(kind, owner)[1]


def _declared(properties: tuple[Property, ...]) -> Schema:
    return _table({one.name: property_schema(one) for one in properties}, [])


def _settings(kind: str) -> Schema:
    properties = {"kind": {"const": kind}} | {one.name: property_schema(one) for one in _of(kind, "settings")}
    return _table(properties, ["kind"])

"""The JSON Schema of test files, for editors: what the reader of test files knows."""

from __future__ import annotations

import json
from typing import Any, Final, TypeAlias

from engine.flow.definition import FLOW_PROPERTIES
from engine.testing.messages import BODIES, COMPARISONS, EXCEPTION, TEMPLATE
from engine.testing.paths import TREES
from engine.testing.reading import CASE, EXPECT, QUEUE, SETTINGS, THROW

Schema: TypeAlias = dict[str, Any]

_SAID: Final = {
    "flow": "The file of the flow, seen from this file.",
    "properties": "Values for properties of the flow, and for those it promotes.",
    "userProperties": "Values for user-defined properties of the flow.",
    "queues": "Queues that are not as queues are by themselves.",
    "tables": "Tables of data sources, by data source and table: columns with their types, and rows.",
    "expected tables": "All rows of tables in the end, by data source and table, in any order.",
    "stubs": "Nodes that only pretend, by label.",
    "body": "The body as text.",
    "file": "A file with the body, seen from this file.",
    "hex": "The body in hexadecimal digits.",
    "base64": "The body in base64.",
    "name": "What the case shows, in a few words.",
    "input": "The message that goes in, or a list of them.",
    "expect": "What is to come out.",
    "terminals": "What leaves nodes, by Label.terminal.",
    "order": "Label.terminal of what leaves nodes, in order; what leaves others may come between.",
    "exception": "The exception that ends the unit of work, or a list: one for each message that fails.",
}
_TEXT: Final[Schema] = {"type": ["string", "number", "boolean"]}
_NUMBER: Final[Schema] = {"type": "integer"}


def schema_text() -> str:
    """The schema as the text of its file."""
    return json.dumps(schema_of_tests(), indent=2, ensure_ascii=False) + "\n"


def schema_of_tests() -> Schema:
    """The schema of test files."""
    settings = {name: {"description": _SAID[name], **_setting(name)} for name in SETTINGS}
    cases = {"description": "The cases.", "type": "array", "minItems": 1, "items": {"$ref": "#/$defs/case"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Penstock tests of flows",
        "type": "object",
        "properties": settings | {"cases": cases},
        "additionalProperties": False,
        "required": ["cases"],
        "$defs": _definitions(settings),
    }


def _setting(name: str) -> Schema:
    if name == "flow":
        return {"type": "string"}
    if name == "properties":
        known = {declared.name: {"description": declared.description} for declared in FLOW_PROPERTIES}
        return {"type": "object", "properties": known, "additionalProperties": _TEXT}
    if name == "tables":
        return _each_table(_closed({"columns": _named_texts(), "rows": _listed(_row())}))
    inner = {"userProperties": _TEXT, "queues": _queue(), "stubs": {"$ref": "#/$defs/stub"}}
    return {"type": "object", "additionalProperties": inner[name]}


def _each_table(table: Schema) -> Schema:
    """Tables by the names of their data sources and their own."""
    return {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": table}}


def _named_texts() -> Schema:
    return {"type": "object", "additionalProperties": {"type": "string"}}


def _row() -> Schema:
    return {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}}


def _queue() -> Schema:
    kinds = {name: {"type": "string"} if name.endswith("Queue") else _NUMBER for name in QUEUE}
    return {"type": "object", "properties": kinds, "additionalProperties": False}


def _definitions(settings: Schema) -> Schema:
    one_or_many = _or_list({"$ref": "#/$defs/expected"})
    counted = {"anyOf": [{"type": "integer", "minimum": 0}, *one_or_many["anyOf"]]}
    propagations = {"type": "object", "additionalProperties": counted}
    expected = {
        "queues": {"description": "What is on queues in the end, by name; others must be empty.", **propagations},
        "tables": {"description": _SAID["expected tables"], **_each_table(_or_list(_row()))},
        "terminals": {"description": _SAID["terminals"], **propagations},
        "order": {"description": _SAID["order"], "type": "array", "items": {"type": "string"}},
        "exception": {"description": _SAID["exception"], **_or_list({"$ref": "#/$defs/exception"})},
    }
    case = {
        "name": {"description": _SAID["name"], "type": "string"},
        **settings,
        "input": {"description": _SAID["input"], **_or_list({"$ref": "#/$defs/input"})},
        "expect": {"description": _SAID["expect"], "$ref": "#/$defs/expect"},
    }
    return {
        "case": _closed({name: case[name] for name in CASE}) | {"required": ["name", "input", "expect"]},
        "expect": _closed({name: expected[name] for name in EXPECT}) | {"minProperties": 1},
        "input": _message({"queue": {"type": "string"}, "node": {"type": "string"}}),
        "expected": _message({}),
        "sent": _message({"terminal": {"type": "string"}}),
        "exception": {"anyOf": [{"type": "string"}, _exception(EXCEPTION)]},
        "stub": {"anyOf": [{"$ref": "#/$defs/call"}, _closed({"calls": _listed({"$ref": "#/$defs/call"})})]},
        "call": _or_list({"anyOf": [{"$ref": "#/$defs/sent"}, _throw()]}),
    }


def _closed(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _listed(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _or_list(item: Schema) -> Schema:
    return {"anyOf": [item, _listed(item)]}


def _exception(names: tuple[str, ...]) -> Schema:
    kinds = {"number": _NUMBER, "inserts": _listed(_TEXT)}
    return _closed({name: kinds.get(name, {"type": "string"}) for name in names})


def _throw() -> Schema:
    return _closed({"throw": {"anyOf": [{"type": "string"}, _exception(THROW)]}}) | {"required": ["throw"]}


def _message(further: Schema) -> Schema:
    """A message: its own keys, and paths, which begin with a tree or with a header of the message."""
    bodies = {name: {"description": _SAID[name], "type": "string"} for name in BODIES}
    own = {
        **bodies,
        "compare": {"description": "How the body is compared.", "enum": list(COMPARISONS)},
        "ccsid": _NUMBER,
        "encoding": _NUMBER,
        "format": {"type": "string"},
        **{name: {"type": "string"} for name in TEMPLATE},
        "exception": {"$ref": "#/$defs/exception"},
    }
    paths = f"^(?:{'|'.join(TREES)}|Properties|MQ[A-Z0-9]+)(?:[.\\[].*)?$"
    return _closed(own | further) | {"patternProperties": {paths: {}}}

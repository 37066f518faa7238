"""The JSON Schema that ships: it is what the declarations say, and it knows good flow files from bad ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import flows
from engine.flow.definition import FLOW_PROPERTIES
from flows.flow_yaml import KEYS
from tests.flows.json_schemas import NAME, PROMOTED, WIRE, flow_schema, schema_text
from tests.flows.samples import sample_nodes
from tests.flows.test_reader import EVERYTHING

SHIPPED = Path(flows.__file__).with_name("flow.schema.json")


def test_the_shipped_schema_is_what_the_declarations_say(accept: bool) -> None:
    """flow.schema.json is generated; `pytest --accept` writes it anew."""
    if accept:
        SHIPPED.write_text(schema_text(flow_schema()), "utf-8")
    assert SHIPPED.read_text("utf-8") == schema_text(flow_schema())


def test_the_schema_names_every_key_and_flow_property() -> None:
    """What the reader knows, the schema knows."""
    schema = flow_schema()
    assert tuple(schema["properties"]) == KEYS
    assert list(schema["properties"]["properties"]["properties"]) == [p.name for p in FLOW_PROPERTIES]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (NAME, "Check 1", True),
        (NAME, "a", True),
        (NAME, " a", False),
        (NAME, "a -> b", False),
        (WIRE, "In.out -> Check 1.in", True),
        (WIRE, "a.b->c", True),
        (WIRE, "In -> Out", False),
        (WIRE, "In.out", False),
        (PROMOTED, "In.queueName", True),
        (PROMOTED, "a.b", True),
        (PROMOTED, "queueName", False),
    ],
)
def test_patterns(pattern: str, text: str, expected: bool) -> None:
    """The patterns take what the reader takes."""
    assert bool(re.search(pattern, text)) == expected


def validator(schema: dict[str, Any]) -> Any:
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (EVERYTHING.replace("    names: [a, 'null']\n", ""), True),
        ("flow: A", True),
        ("flow: A\nnodes: {In: {type: MQInput, queueName: A, transactionMode: yes}}", True),
        ("flow: A\nnodes: {In: {type: MQInput, queuName: A}}", False),
        ("flow: A\nnodes: {In: {type: MQInput, transactionMode: maybe}}", False),
        ("flow: A\nnodes: {In: {queueName: A}}", False),
        ("flow: A\nproperties: {additionalInstances: 257}", False),
        ("flow: A\nwires: [a -> b]", False),
        ("flow: A\nwire: []", False),
        ("schema: a", False),
    ],
)
def test_validation(text: str, valid: bool) -> None:
    """An editor that has the schema marks what is wrong."""
    schema = flow_schema([sample_nodes.find(name) for name in sample_nodes])
    assert validator(schema).is_valid(yaml.safe_load(text)) == valid


def test_the_shipped_schema_is_a_schema() -> None:
    """It is valid by the standard it names, and takes a whole flow file."""
    assert validator(json.loads(SHIPPED.read_text("utf-8"))).is_valid(yaml.safe_load(EVERYTHING))

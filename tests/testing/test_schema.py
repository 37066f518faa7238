"""The JSON Schema of test files: what ships is what the reader knows."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from engine import testing
from engine.testing.reading import CASE, EXPECT, KEYS
from tests.testing.json_schema import schema_of_tests, schema_text

SHIPPED = Path(testing.__file__).with_name("tests.schema.json")
SAMPLES = sorted((Path(testing.__file__).parents[2] / "flows" / "samples").glob("*/tests/*.yaml"))
GOOD = "flow: f.yaml\ncases: [{name: a, input: {body: x}, expect: {queues: {OUT: 1}}}]"


def test_the_shipped_schema_is_what_the_declarations_say(accept: bool) -> None:
    """tests.schema.json is generated; `pytest --accept` writes it anew."""
    if accept:
        SHIPPED.write_text(schema_text(), "utf-8")
    assert SHIPPED.read_text("utf-8") == schema_text()


def test_the_schema_names_every_key() -> None:
    """What the reader knows, the schema knows."""
    schema = schema_of_tests()
    assert tuple(schema["properties"]) == KEYS
    assert tuple(schema["$defs"]["case"]["properties"]) == CASE
    assert tuple(schema["$defs"]["expect"]["properties"]) == EXPECT


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (GOOD, True),
        (GOOD.replace("body: x", "MQMD: {Priority: 3}, Root.XMLNSC.a: 1, Environment: {x: [1, 2]}"), True),
        (GOOD.replace("body: x", "boddy: x"), False),
        (GOOD.replace("OUT: 1", "OUT: [{exception: {number: 1}}]"), True),
        (GOOD.replace("OUT: 1", "OUT: [{exception: {nummer: 1}}]"), False),
        (GOOD.replace("name: a", "name: a, stubs: {A: {calls: [[], {throw: x}, {terminal: out1, body: y}]}}"), True),
        (GOOD.replace("name: a", "name: a, stubs: {A: {thrw: x}}"), False),
        (GOOD.replace("name: a", "name: a, queues: {IN: {maxDepth: 1}}"), True),
        (GOOD.replace("queues", "queue"), False),
        (GOOD.replace(", expect: {queues: {OUT: 1}}", ""), False),
    ],
)
def test_validation(text: str, valid: bool) -> None:
    """An editor that has the schema marks what is wrong."""
    assert jsonschema.Draft202012Validator(schema_of_tests()).is_valid(yaml.safe_load(text)) == valid


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.stem)
def test_the_samples_are_valid(file: Path) -> None:
    """The test files of the samples are what the shipped schema says."""
    schema = json.loads(SHIPPED.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert jsonschema.Draft202012Validator(schema).is_valid(yaml.safe_load(file.read_text("utf-8")))

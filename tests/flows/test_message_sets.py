"""Message-set files: read, written, their schema, and what is said of those that are wrong."""

import doctest
import importlib
import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

import flows.message_sets
from flows.message_sets import write_message_set
from flows.message_sets.yaml_reader import read_message_set
from tests.flows.json_schemas import message_set_schema, schema_text

EVERYTHING = """\
messageSet: ORDERS
identifier: DH5TB4G002001
documentation: |
  Orders,
  and nothing else
defaultFormat: CWF1
formats:
  CWF1: {kind: CWF, packedDecimalPositiveCode: F, truncateFixedLengthStrings: true}
  TDS1: {kind: TDS, delimiter: '*'}
  XML1: {kind: XML}
types:
  Address:
    content: open
    physical: {CWF1: {byteAlignment: 4}}
    members:
    - {field: street, type: string, maxLength: 30, physical: {CWF1: {length: 30}}}
    - {field: zip, type: int, minInclusive: 1, physical: {TDS1: {tag: Z}}, default: 1}
messages:
  Order:
    namespace: urn:orders
    physical: {XML1: {rootTagName: Orders}}
    groupPhysical: {TDS1: {delimiter: ;}}
    members:
    - {field: count, type: short, nullable: true}
    - {field: home, type: Address, minOccurs: 0, maxOccurs: 9, repeatReference: count}
    - group: choice
      members:
      - {field: text, type: string, enumeration: [a, b]}
      - {field: number, type: int, default: ''}
    - field: inner
      maxOccurs: unbounded
      composition: all
      members:
      - {field: when, type: dateTime}
  Copy: {type: Address}
"""


def test_round_trip() -> None:
    """A set that says everything is written as it was read."""
    reading = read_message_set(EVERYTHING, "set.yaml")
    assert () == reading.problems
    assert reading.message_set is not None
    assert EVERYTHING == write_message_set(reading.message_set)


def test_schema() -> None:
    """The schema that ships is the one that the code makes, and it takes what the reader takes."""
    shipped = Path(flows.message_sets.__path__[0]) / "message_set.schema.json"
    assert schema_text(message_set_schema()) == shipped.read_text("utf-8")
    Draft202012Validator.check_schema(message_set_schema())
    errors = Draft202012Validator(json.loads(schema_text(message_set_schema()))).iter_errors(yaml.safe_load(EVERYTHING))
    assert [] == [error.message for error in errors]


@pytest.mark.parametrize(
    ("old", "new", "place", "text"),
    [
        ("messageSet: ORDERS", "set: ORDERS", "1:1", "a message-set file has no set"),
        ("kind: TDS", "kind: TXT", "9:3", "the kind of TDS1 is one of CWF, TDS, XML, not TXT"),
        ("type: Address, min", "type: Adress, min", "25:27", "there is no type called Adress; did you mean Address?"),
        ("zip, type: int", "zip, kind: int", "17:20", "a field has no kind"),
        ("{length: 30}", "{length: -1}", "16:78", "length is a whole number from 0 to 2147483647, not '-1'"),
        ("{length: 30}", "{lenght: 30}", "16:70", "CWF has no lenght of a field; did you mean length?"),
        ("CWF1: {length", "CWF2: {length", "16:63", "the set has no format called CWF2; did you mean CWF1?"),
        ("group: choice", "group: choise", "26:14", "group is one of sequence, choice"),
        ("- field: inner", "- fields: inner", "30:7", "a member is a table with `field: name`"),
        ("maxOccurs: 9", "maxOccurs: many", "25:61", "maxOccurs is a whole number from 0, not many"),
    ],
)
def test_problems(old: str, new: str, place: str, text: str) -> None:
    """What is wrong with a set is said with its place, and all at once."""
    reading = read_message_set(EVERYTHING.replace(old, new), "set.yaml")
    said = [f"{problem.line}:{problem.column} {problem.text}" for problem in reading.problems]
    assert any(one.startswith(f"{place} {text}") for one in said), said


@pytest.mark.parametrize("name", ["flows.message_sets.yaml_reader", "flows.message_sets", "parsers.mrm.model"])
def test_examples(name: str) -> None:
    """Every example of the module does what it shows, and there is at least one."""
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert found.failed == 0

"""What is known of functions by name: how many arguments they take, and the examples of the checking modules."""

from __future__ import annotations

import doctest
import importlib

import pytest

from esql.compile import compile_sources, problems_in
from esql.names.constants import constants
from esql.names.predefined import find_function

MODULES = (
    "esql.names.predefined",
    "esql.check",
    "esql.scope.types",
    "esql.check.findings",
    "esql.scope",
    "esql.scope.deployed_routines",
)
COUNTS = [
    ("LENGTH", {1}),
    ("left", {2}),
    ("REPLACE", {2, 3}),
    ("RAND", {0, 1}),
    ("COALESCE", {2, 3, 4}),
    ("BITOR", {2, 3, 4}),
    ("UUIDASCHAR", {0, 1}),
    ("NULLIF", {2}),
]


@pytest.mark.parametrize(("name", "expected"), COUNTS)
def test_counts(name: str, expected: set[int]) -> None:
    """A function takes so many arguments, and no others."""
    function = find_function(name)
    assert function is not None
    assert expected == {count for count in range(5) if function.accepts(count)}


def test_unknown() -> None:
    """What is no function is not found, nor what has a form of its own."""
    assert find_function("SUBSTRNG") is None
    assert find_function("CAST") is None


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """The examples in docstrings show what comes out."""
    tried = doctest.testmod(importlib.import_module(name))
    assert tried.attempted > 0
    assert tried.failed == 0


DOMAINS = ("XML", "XMLNS", "XMLNSC", "SOAP", "JSON", "MQRFH2", "MQRFH", "")


@pytest.mark.parametrize(("domain", "constant"), [(domain, name) for domain in DOMAINS for name in constants(domain)])
def test_element_types(domain: str, constant: str) -> None:
    """A constant of an element type is a number, and takes part in paths."""
    title = f"{domain}.{constant}" if domain else constant
    text = f"SET Environment.x = {title};\nSET Environment.({title})y = 1;"
    assert () == tuple(problems_in([("types.esql", text)]))
    assert compile_sources([("types.esql", text)]).entrance().kind == "COMPUTE"


def test_unknown_element_type() -> None:
    """One that the parser does not have is told where it stands, with a close one."""
    problems = problems_in([("types.esql", "SET Environment.(XMLNSC.Atribute)y = 1;")])
    assert ["XMLNSC has no element type Atribute; did you mean Attribute?"] == [one.text for one in problems]

"""The examples in the docstrings of copybooks and records."""

import doctest
import importlib
import pkgutil

import pytest

import parsers.importers.copybook
import parsers.records

MODULES = [
    f"{package.__name__}.{module.name}"
    for package in (parsers.importers.copybook, parsers.records)
    for module in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """What a docstring shows is what happens."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0

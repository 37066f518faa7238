"""The examples in the docstrings of the modules that headers are made of."""

import doctest
import importlib

import pytest

MODULES = ["ccsid", "fields", "layout", "mqmd"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """Each module has examples, and they print what they say."""
    failed, tried = doctest.testmod(importlib.import_module(f"parsers.{name}"))
    assert (failed, tried > 0) == (0, True)

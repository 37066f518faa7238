"""The examples in the docstrings of values, operators and casts."""

import doctest
import importlib

import pytest

MODULES = (
    *("values", "literals", "contents", "failures", "invocation"),
    *("operators.arithmetic", "operators.moments", "operators.comparison", "operators.logic", "operators.strings"),
    *("cast", "cast.job", "cast.strings", "cast.number_patterns"),
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """Every example of the module does what it shows, and there is at least one."""
    found = doctest.testmod(importlib.import_module(f"esql.{name}"))
    assert found.attempted
    assert found.failed == 0

"""The examples in the docstrings of all modules."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "esql", "flows", "nodes", "parsers", "spark_exec")
MODULES = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in PACKAGES
    for file in (ROOT / package).rglob("*.py")
    if ">>> " in file.read_text("utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """What the docstrings of a module show is what happens."""
    found = doctest.testmod(importlib.import_module(name))
    assert (found.attempted > 0, found.failed) == (True, 0)

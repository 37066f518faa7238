"""The generated parser is the grammar's, and only the reader knows it."""

import ast
import doctest
import hashlib
import importlib
from pathlib import Path

import antlr4
import pytest

import esql

ROOT = Path(esql.__file__).parent
GRAMMAR = ROOT / "grammar"
SUMS = (GRAMMAR / "generated" / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
MODULES = [path for path in ROOT.rglob("*.py") if "generated" not in path.parts]


def test_parser_is_generated_from_this_grammar():
    """The sums of the grammar and of every generated file are those that `generate.sh` wrote down."""
    written = {name: digest for digest, name in (line.split("  ") for line in SUMS[1:])}
    generated = {path.name: path for path in (GRAMMAR / "generated").iterdir() if path.suffix in {".py", ".interp"}}
    files = {"ESQL.g4": GRAMMAR / "ESQL.g4", **generated}
    assert written == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def test_parser_is_generated_for_the_runtime_in_use():
    """The tool's version is the runtime's, which refuses any other."""
    assert SUMS[0] == "antlr4 4.13.2"
    assert f'checkVersion("{SUMS[0].split()[1]}")' in (GRAMMAR / "generated" / "ESQLParser.py").read_text(
        encoding="utf-8"
    )
    assert antlr4.__name__ == "antlr4"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_reader_knows_the_parser(path):
    """No module outside esql/read imports the parser's runtime or the generated parser."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    parser = {name for name in imported if name.startswith(("antlr4", "esql.grammar"))}
    assert not parser or path.is_relative_to(ROOT / "read")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_are_short(path):
    """No module is over 400 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("name", ["esql.read", "esql.format"])
def test_examples_are_true(name):
    """The examples in docstrings give what they say."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0

"""Nodes of one's own: loaded from the files that are named, refused in all other cases, and used like any node."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.flow.lint import unknown_type
from engine.node import node_catalog
from tests.cli.command_line import ROOT, penstock

FLOW = """
flow: Shouting
nodes:
  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}
  Loud: {type: Shout, field: a.b}
  Out: {type: MQOutput, queueName: OUT}
wires:
  - In.out -> Loud
  - Loud.out -> Out
"""


def documented() -> str:
    """The file that the document shows."""
    text = (ROOT / "docs" / "own_nodes.md").read_text("utf-8")
    block = re.search(r'(?:^    .*\n|^\n)*?^    """Shout.*\n(?:^    .*\n|^\n)+', text, re.MULTILINE)
    assert block is not None
    return "".join(line[4:] if line.startswith("    ") else line for line in block[0].splitlines(keepends=True))


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """What a test has loaded is unknown to the next."""
    known = set(node_catalog)
    yield
    for name in set(node_catalog) - known:
        del node_catalog._entries[name]
    for name in [name for name in sys.modules if name.startswith("own_nodes_")]:
        del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shout.py").write_text(documented(), "utf-8")
    (tmp_path / "shouting.yaml").write_text(FLOW, "utf-8")
    (tmp_path / "1.xml").write_bytes(b"<a><b>loud</b></a>")
    return tmp_path


def test_the_documented_node(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The node of the document works in a flow whose command names its file."""
    given = (str(folder / "shouting.yaml"), "--input", str(folder / "1.xml"), "--output", str(folder / "out"))
    ended = penstock(capsys, "run", *given, "--nodes", str(folder / "shout.py"))
    assert (ended.code, ended.err) == (0, "")
    assert (folder / "out" / "OUT" / "1.xml").read_bytes() == b"<a><b>LOUD</b></a>"


@pytest.mark.parametrize("command", [("flow", "lint"), ("run",)])
def test_a_file_that_is_not_named(command: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A node of a file that nobody has named is refused, also where the file stands beside the flow."""
    given = () if command[0] == "flow" else ("--input", str(folder / "1.xml"), "--output", str(folder / "out"))
    ended = penstock(capsys, *command, str(folder / "shouting.yaml"), *given)
    assert unknown_type("Shout", []) in ended.out + ended.err
    assert "; a node of your own needs --nodes FILE" in unknown_type("Shout", [])
    assert ended.code == 1


def test_lint_and_describe(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A node of one's own is linted and described like any other; a file that is named twice is loaded once."""
    file = str(folder / "shout.py")
    (folder / "shouting.yaml").write_text(FLOW.replace("field: a.b", "fields: a.b"), "utf-8")
    linted = penstock(capsys, "flow", "lint", str(folder / "shouting.yaml"), "--nodes", file, "--nodes", file)
    assert (linted.code, "Shout has no property fields; did you mean field?" in linted.out) == (1, True)
    described = penstock(capsys, "describe", "node", "Shout", "--nodes", file)
    assert "field: text; mandatory" in described.out


REFUSED = {
    "missing.py": (None, "cannot be read: No such file or directory; name one that exists"),
    "empty.py": ("x = 1\n", "defines no node: put @node on a dataclass in it"),
    "broken.py": ("def\n", "cannot be loaded: SyntaxError: invalid syntax"),
    "raises.py": ("raise ValueError('no')\n", "cannot be loaded: ValueError: no"),
    "compute.py": (
        "from dataclasses import dataclass\nfrom engine.node import node\n\n\n"
        '@node("Compute")\n@dataclass(frozen=True, slots=True)\nclass Mine:\n    pass\n',
        "cannot be loaded: there are two node types called Compute: rename one of them",
    ),
    "shout.txt": ("x = 1\n", "is no Python file: its name ends in .py"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_are_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that defines no node, or cannot be loaded, is an error that names it and says why."""
    content, text = REFUSED[name]
    file = tmp_path / name
    if content is not None:
        file.write_text(content, "utf-8")
    ended = penstock(capsys, "describe", "node", "--nodes", str(file))
    assert ended.code == 1
    assert f"{file}, which is to define nodes, {text}" in ended.err

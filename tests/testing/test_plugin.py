"""The pytest plugin: which files it takes, and what it says of cases that fail."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from engine.testing.suite import is_test_file

ROOT = Path(__file__).resolve().parents[2]
FLOW = """flow: F
nodes:
  In: {type: MQInput, queueName: IN}
  Out: {type: MQOutput, queueName: OUT}
wires: [In.out -> Out]
"""
CASES = """flow: ../f.yaml
cases:
  - {name: passes, input: {body: a}, expect: {queues: {OUT: 1}}}
  - {name: fails, input: {body: a}, expect: {queues: {OUT: [{body: b}]}}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A flow and its tests."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "f.yaml").write_text(FLOW)
    (tmp_path / "tests" / "f.yaml").write_text(CASES)
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """What pytest says, started in a folder with nothing but the plugin."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "engine.testing.plugin",
        *arguments,
    ]
    environment = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": "", "COLUMNS": "100"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout


def test_cases_are_items(folder: Path) -> None:
    """Each case is a test; one that fails says what differs, and nothing of how it was found out."""
    code, said = run(folder)
    assert code == 1
    assert "1 failed, 1 passed" in said
    assert (
        "queue OUT, message 1, body  (tests/f.yaml:4:61)\n  differs from offset 0: expected X'62', found X'61'" in said
    )
    assert "Traceback" not in said
    assert "FAILED tests/f.yaml::fails" in said


def test_one_case(folder: Path) -> None:
    """A case is named as tests are."""
    assert run(folder, "tests/f.yaml::passes")[0] == 0


def test_a_file_that_is_wrong(folder: Path) -> None:
    """What is wrong with a file is shown with its place, and no case of it is run."""
    (folder / "tests" / "f.yaml").write_text(CASES.replace("expect:", "expct:", 1))
    code, said = run(folder)
    assert code == 2
    assert re.search(r"tests/f\.yaml:3:\d+: a case has no expct; did you mean expect\?", said)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("tests/a.yaml", "cases: []", True),
        ("tests/a.yml", "flow: x\n\ncases:\n", True),
        ("tests/a.yaml", "flow: x\nnodes: {}", False),
        ("tests/a.txt", "cases: []", False),
        ("a.yaml", "cases: []", False),
    ],
)
def test_files_that_are_taken(name: str, text: str, expected: bool, tmp_path: Path) -> None:
    """Only YAML files in folders called tests that have cases are taken: other projects have YAML files too."""
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    assert expected == is_test_file(file)


def test_the_entry_point() -> None:
    """What is installed as a plugin of pytest is there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert hasattr(import_module(project["entry-points"]["pytest11"]["penstock"]), "pytest_collect_file")

"""The console blocks of README.md, CONTRIBUTING.md and docs/: what they show is what happens.

A block opens with ```console; a line that begins with `$ ` is a command, the lines beneath it are what it prints. A
line `...` stands for any lines, `...` inside a line for any text. Commands run from the root of the project, with this
interpreter's scripts first on the path, and must succeed. A `make` command would run these tests again, or change the
tree: of it only the target is looked up, and the slow test runs the demo.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]
SECONDS = 600


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block, where it stands, and what the block says it prints."""

    place: str
    line: str
    output: str

    @property
    def target(self) -> str | None:
        """The target of a make command that is not to be run here."""
        words = shlex.split(self.line)
        return words[1] if words[0] == "make" and words[1:] != ["help"] else None


def commands(name: str, text: str) -> Iterator[Command]:
    """The commands of a document's console blocks, in order."""
    for block in re.finditer(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1)) + 1
        assert block[1].startswith("$ "), f"{name}:{first}: a console block begins with a command: `$ `"
        for command in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block[1], re.MULTILINE):
            place = f"{name}:{first + block[1].count(chr(10), 0, command.start())}"
            yield Command(place, command[1], command[2])


def matches(expected: str, actual: str) -> bool:
    """Whether a command's output is what a block shows, white space at line ends aside."""
    pattern = ""
    for line in expected.splitlines():
        parts = [re.escape(part) for part in line.rstrip().split("...")]
        pattern += r"(?:.*\n)*?" if line.strip() == "..." else ".*?".join(parts) + r"\n"
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in actual.rstrip().splitlines())) is not None


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line as a reader would: no terminal, no settings of a make that runs these tests."""
    scripts = Path(sys.executable).parent
    env = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}}
    env |= {"PATH": f"{scripts}{os.pathsep}{env['PATH']}", "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(  # noqa: S602 - the project's own documents
        line,
        shell=True,
        cwd=folder,
        env=env,
        timeout=SECONDS,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


def run(command: Command, folder: Path) -> None:
    done = shell(command.line, folder)
    shown = f"{command.place}: $ {command.line}\n{done.stdout}"
    assert done.returncode == 0, f"{shown}[exit status {done.returncode}]"
    assert matches(command.output, done.stdout), f"{shown}[but the document says]\n{command.output}"


def target_exists(target: str) -> bool:
    """Whether make has rules for a target; a folder of that name is not one."""
    done = shell(f"make -n {shlex.quote(target)}", ROOT)
    return done.returncode == 0 and "Nothing to be done" not in done.stdout


def document_of(command: Command) -> str:
    """Returns the name of the document that a command is in."""
    return command.place.partition(":")[0]


COMMANDS = [c for path in DOCUMENTS for c in commands(path.name, path.read_text("utf-8"))]


@pytest.mark.parametrize("name", dict.fromkeys(document_of(command) for command in COMMANDS))
def test_console_blocks(name: str) -> None:
    """The commands of a document succeed, one after the other, and print what it says; a make target is there."""
    for command in COMMANDS:
        if document_of(command) != name:
            continue
        if command.target:
            assert target_exists(command.target), f"{command.place}: the Makefile has no target {command.target}"
        else:
            run(command, ROOT)


def test_readme_opens_with_the_two_commands() -> None:
    """The first things that a reader of README can do are the demo and the tests."""
    assert [command.line for command in COMMANDS if command.place.startswith("README.md")][:2] == [
        "make demo",
        "make test",
    ]


@pytest.mark.slow
def test_demo_in_a_fresh_clone(tmp_path: Path) -> None:
    """What is committed sets itself up, in a path with a space, and prints what README shows for the demo."""
    clone = tmp_path / "a clone"
    done = shell(f"git clone --quiet {shlex.quote(str(ROOT))} {shlex.quote(str(clone))}", tmp_path)
    assert done.returncode == 0, done.stdout
    run(next(command for command in COMMANDS if command.line == "make demo"), clone)


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ("", "", True),
        ("", "a\n", False),
        ("a\n", "", False),
        ("a\n", "a  \n\n", True),
        ("a\nb\n", "a\n", False),
        ("a\n", "a\nb\n", False),
        ("...\n", "", True),
        ("...\n", "a\nb\n", True),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("a\n...\nd\n", "a\nb\n", False),
        ("...\n... passed in ...s\n", "x.y\n12 passed in 0.31s\n", True),
        ("... passed in ...s\n", "1 failed\n12 passed in 0.31s\n", False),
        ("took ... ms\n", "took 5\n7 ms\n", False),
        ("a.c (1)*\n", "abc (1)*\n", False),
        ("a.c (1)*\n", "a.c (1)*\n", True),
    ],
)
def test_matcher(expected: str, actual: str, same: bool) -> None:
    """`...` matches any lines or any text in a line, everything else only itself."""
    assert same == matches(expected, actual)


def test_commands_of_a_document() -> None:
    """Console blocks are read with their lines, other blocks are not read at all."""
    text = "# Title\n\n```console\n$ one\n1\n\n2\n$ make two\n```\n\n```sh\n$ not this\n```\n"
    text += "```console\n$ make help\n```\n"
    found = [(c.place, c.line, c.output, c.target) for c in commands("x.md", text)]
    expected = [
        ("x.md:4", "one", "1\n\n2\n", None),
        ("x.md:8", "make two", "", "two"),
        ("x.md:15", "make help", "", None),
    ]
    assert expected == found


@pytest.mark.parametrize(
    ("line", "output", "problem"),
    [
        ("echo one", "one\n", None),
        ("echo one", "two\n", "but the document says"),
        ("echo one; exit 3", "one\n", "exit status 3"),
    ],
)
def test_a_block_that_is_wrong(line: str, output: str, problem: str | None) -> None:
    """A command that fails or prints something else is found out."""
    command = Command("x.md:1", line, output)
    if problem is None:
        run(command, ROOT)
    else:
        with pytest.raises(AssertionError, match=problem):
            run(command, ROOT)


@pytest.mark.parametrize(("target", "exists"), [("help", True), ("test", True), ("tests", False), ("teest", False)])
def test_make_target(target: str, exists: bool) -> None:
    """A target is known by its rules, not by a file of its name."""
    assert exists == target_exists(target)

"""The other commands: what they list, as text and as JSON, how they fail, and what starting one costs."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine import cli, costs
from engine.costs.measuring import Measured
from engine.errors import BrokerError
from engine.node import node_catalog
from engine.parser import parser_catalog
from tests.cli.command_line import ROOT, penstock

ORDERS = "flows/samples/orders/orders.yaml"
HEAVY = {
    "lxml",
    "networkx",
    "rich",
    "sqlalchemy",
    "antlr4",
    "yaml",
    "engine.flow.definition",
    "engine.tree.element",
    "logging",
}


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run where the samples are."""
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["describe", "node", "--help"], ["--version"]])
def test_help_starts_light(arguments: list[str]) -> None:
    """Help needs none of the packages that take long to import."""
    program = (
        "import sys, atexit; from engine.cli import main;"
        "atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr)); main()"
    )
    command = [sys.executable, "-c", program, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=True)
    assert set() == HEAVY & set(ended.stderr.split())


def test_commands_are_found_by_name() -> None:
    """All of a command is in modules that have its name in theirs, or in the one that the table says for it."""
    for name, command in cli.commands().commands.items():
        stem, known = f"_{name.replace('-', '_')}_", cli._TOGETHER.get(name)
        found = _modules_of(command)
        assert {known} == found if known else all(stem in f"_{module}_" for module in found), (name, found)


def _modules_of(command: Any) -> set[str]:
    inner = getattr(command, "commands", {}).values()
    own = {inspect.unwrap(command.callback).__module__.rpartition(".")[2]} if command.callback else set()
    return own.union(*map(_modules_of, inner))


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Help names the program and every command in a line of its own."""
    ended = penstock(capsys, "--help")
    assert ended.out.startswith("Usage: penstock [OPTIONS] COMMAND")
    listed = {line.split()[0] for line in ended.out.partition("Commands:")[2].splitlines() if line}
    assert {"run", "flow", "describe", "costs"} <= listed
    assert (ended.code, ended.err) == (0, "")


def test_help_has_an_example() -> None:
    """The help of every command shows it at work, with options that it has and files that are there."""
    missing = []
    for path, command in _leaves(cli.commands(), ("penstock",)):
        example = re.search(rf"Example: (?:.*\| )?{' '.join(path)}(?= |$)(.*)", " ".join((command.help or "").split()))
        if example is None:
            missing.append(" ".join(path))
            continue
        given = shlex.split(example[1].rstrip("&"))
        command.make_context(path[-1], given)
        assert [] == [one for one in given if one.startswith(("flows/", "docs/")) and not Path(one).exists()], path
    assert [] == missing


def _leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The commands that do something, each with the names by which it is called."""
    inner = getattr(command, "commands", {})
    for name, one in inner.items():
        yield from _leaves(one, (*path, name))
    if not inner or command.invoke_without_command:
        yield path, command


MISTAKES = [
    (("nix",), 2, "penstock: no such command 'nix' (see penstock --help)"),
    (("--nix",), 2, "penstock: no such option: --nix (see penstock --help)"),
    (("flow", "show", ORDERS, "--svg"), 2, "penstock: option '--svg' requires an argument (see penstock --help)"),
    (("describe", "node", "MQInputt"), 1, "penstock: BIP2066: no node type called MQInputt; did you mean MQInput?"),
    (
        ("describe", "parser", "nix"),
        1,
        "penstock: BIP2066: no parser called nix: leave the name out for a list of all that there are",
    ),
    (("esql", "check", "-"), 1, "penstock: BIP2066: - does not exist: name a file or a directory"),
    (("decode", "nix", "--copybook", "nix"), 1, "penstock: BIP2066: nix does not exist: name a file"),
    (("mqsc", "nix"), 1, "penstock: BIP2066: nix does not exist: name a file, or - for standard input"),
    (("costs", "kernl"), 1, "penstock: BIP2066: no benchmarks called kernl; did you mean kernel?"),
    (
        ("flow", "show", "nix.yaml"),
        1,
        "penstock: BIP2087 nix.yaml: cannot be read: No such file or directory; name one that exists",
    ),
    (("flow", "show", "flows"), 1, "penstock: BIP2087 flows: cannot be read: Is a directory; name a file in it"),
    (
        ("flow", "show", ORDERS, "--svg", "nix/x.svg"),
        1,
        "penstock: nix/x.svg: No such file or directory; make its folder, or name another",
    ),
]


@pytest.mark.parametrize(("arguments", "code", "text"), MISTAKES, ids=[" ".join(a) for a, *_ in MISTAKES])
def test_mistakes(arguments: tuple[str, ...], code: int, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake is one line on stderr and an exit code that is not zero."""
    assert (code, "", f"{text}\n") == penstock(capsys, *arguments)


def test_a_fault_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What nobody foresaw is told like any failure, with where it was found and how to see all of it."""

    def broken(*_: object) -> None:
        raise ValueError("something\nunforeseen")

    monkeypatch.setattr("flows.files.read_file", broken)
    ended = penstock(capsys, "flow", "show", ORDERS)
    assert (1, "") == (ended.code, ended.out)
    assert ended.err.startswith("penstock: a fault in penstock itself, ValueError at test_commands.py:")
    assert ended.err.endswith(
        ": something unforeseen; report it, with what the same command shows with PYTHONDEVMODE=1\n"
    )


@pytest.mark.parametrize("command", [(), ("flow",), ("describe",)])
def test_nothing_said(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """A command that needs another one shows its help."""
    ended = penstock(capsys, *command)
    assert f"Usage: {' '.join(('penstock', *command))} [OPTIONS] COMMAND" in ended.out + ended.err
    assert ended.code == 2


@pytest.mark.parametrize(("kind", "catalog"), [("node", node_catalog), ("parser", parser_catalog)])
def test_describe(kind: str, catalog: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """All that is in a catalogue is listed, one a line, as JSON whole, and each by its name."""
    names = list(catalog)
    lines = penstock(capsys, "describe", kind).out.splitlines()
    assert names == [line.split()[0] for line in lines]
    listed = json.loads(penstock(capsys, "describe", kind, "--json").out)
    assert names == [each["name"] for each in listed]
    assert all(each["description"] for each in listed)
    for each in listed:
        assert each == json.loads(penstock(capsys, "describe", kind, each["name"], "--json").out)
        text = penstock(capsys, "describe", kind, each["name"]).out
        assert text.startswith(f"{each['name']}\n")
        assert all(p["name"] in text and p["description"] in text for p in each.get("properties", ()))


def test_describe_a_node(capsys: pytest.CaptureFixture[str]) -> None:
    """A node's JSON has its terminals and its properties, with what may be given and what is taken otherwise."""
    data = json.loads(penstock(capsys, "describe", "node", "MQInput", "--json").out)
    assert (data["inputs"], data["outputs"], data["category"]) == ([], ["failure", "out", "catch"], "input")
    properties = {each.pop("name"): each for each in data["properties"]}
    assert properties["queueName"] == {
        "type": "text that is the name of a queue: up to 48 ASCII characters, with no blank and no '*' among them",
        "mandatory": True,
        "default": None,
        "description": "The queue that messages are got from.",
    }
    assert properties["transactionMode"]["type"] == "one of yes, no, automatic"
    assert properties["transactionMode"]["default"] == "yes"


def test_describe_a_node_in_text(capsys: pytest.CaptureFixture[str]) -> None:
    """A node's text says defaults as a flow file would."""
    lines = [line.strip() for line in penstock(capsys, "describe", "node", "MQOutput").out.splitlines()]
    for line in (
        "inputs   in",
        "outputs  failure, out",
        "messageContext: one of passAll, passIdentity, setAll, setIdentity, default, none; default passAll",
        "newMsgId: true or false; default false",
        "transactionMode: one of automatic, yes, no; default automatic",
    ):
        assert line in lines
    assert "  inputs   none\n" in penstock(capsys, "describe", "node", "MQInput").out


def test_flow_show(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A flow is drawn in the terminal, as an SVG file, or given as JSON."""
    text = penstock(capsys, "flow", "show", ORDERS, "--ascii").out
    assert all(label in text for label in ("Orders in", "Look", "Accepted", "Auditors", "Rejected"))
    assert text.isascii()
    svg = tmp_path / "orders.svg"
    ended = penstock(capsys, "flow", "show", ORDERS, "--svg", str(svg))
    assert (0, f"{svg}: 5 nodes, 4 wires\n", "") == ended
    assert svg.read_text("utf-8").startswith("<svg")
    data = json.loads(penstock(capsys, "flow", "show", ORDERS, "--json").out)
    assert (data["name"], len(data["nodes"]), len(data["wires"])) == ("Orders", 5, 4)


def test_flow_lint(capsys: pytest.CaptureFixture[str]) -> None:
    """Lint lists all problems with their places, as text or JSON, and ends with 1 if there are any."""
    assert penstock(capsys, "flow", "lint", ORDERS) == (0, "", "")
    assert penstock(capsys, "flow", "lint", ORDERS, "--json") == (0, "[]\n", "")
    file = "tests/problems/flows/unknown_type.yaml"
    text, data = (penstock(capsys, "flow", "lint", file, *option) for option in ((), ("--json",)))
    problems = json.loads(data.out)
    assert [text.code, data.code] == [1, 1]
    assert problems
    for problem in problems:
        line = f"BIP{problem['number']:04d} {problem['file']}:{problem['line']}:{problem['column']}: {problem['text']}"
        assert line in text.out


def measured(name: str, value: float) -> Measured:
    return Measured("group", name, 12.25, value, 1.6, "x", 1.0, 2.0, 10.0)


def benchmarks() -> Iterator[Measured]:
    yield measured("quick", 1.5)
    yield measured("slow", 1.7)


def quick() -> Iterator[Measured]:
    yield measured("quick", 1.5)


def broken() -> Iterator[Measured]:
    yield measured("quick", 1.5)
    raise BrokerError(2230, "the programs do not write the same")


TABLE = """benchmark    µs  by hand µs  figure     quartiles  bound
quick      12.2        10.0   1.50x  1.00 to 2.00   1.6x      met
slow       12.2        10.0   1.70x  1.00 to 2.00   1.6x  NOT MET
"""
COSTS = [
    ("group", benchmarks, 0, ""),
    ("group --check", benchmarks, 1, ""),
    ("group --check", quick, 0, ""),
    ("group --check", broken, 1, "penstock: BIP2230: the programs do not write the same\n"),
    ("group", broken, 1, "penstock: BIP2230: the programs do not write the same\n"),
]


@pytest.mark.parametrize("case", COSTS)
@pytest.mark.parametrize("as_json", [False, True])
def test_costs(
    case: tuple[str, Any, int, str], as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A group stands beside its bounds; --check fails where one is not met, and a broken program always does."""
    arguments, group, code, err = case
    monkeypatch.setattr(costs, "GROUPS", {"group": group})
    ended = penstock(capsys, "costs", *arguments.split(), *(("--json",) if as_json else ()))
    assert (code, err) == (ended.code, ended.err)
    if err:
        assert ended.out == ""
    elif as_json:
        expected = [{"name": "quick", "met": True}, {"name": "slow", "met": False}][: 1 if group is quick else 2]
        assert expected == [{key: each[key] for key in ("name", "met")} for each in json.loads(ended.out)]
    elif group is benchmarks:
        assert ended.out == TABLE


def test_problems_as_data(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With --json a command that cannot begin says on stdout as data what stderr says in words."""
    flow = tmp_path / "f.yaml"
    flow.write_text("flow: F\nnodes:\n  In: {type: MQInptu}\n  Lone: {type: MQOutput}\n", "utf-8")
    run = ("run", str(flow), "--input", "-", "--output", str(tmp_path / "out"))
    ended, listed = penstock(capsys, *run, "--json"), penstock(capsys, "flow", "lint", str(flow), "--json")
    assert ended.code == 1
    assert json.loads(ended.out) == {"problems": json.loads(listed.out)}
    assert ended.err == penstock(capsys, *run).err
    [unknown] = json.loads(penstock(capsys, "describe", "node", "Nix", "--json").out)["problems"]
    text = "no node type called Nix: leave the name out for a list of all that there are"
    assert (unknown["number"], unknown["text"]) == (2066, text)

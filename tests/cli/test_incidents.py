"""What a run meets: poison messages, errors that flows catch, files that flows write, and people who end it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import ROOT, penstock, process

HEAD = "flow: F\nnodes:\n  In: {type: MQInput, queueName: IN}\n"
CAUGHT = f"""{HEAD}  Try: {{type: TryCatch}}
  Bad: {{type: Throw, messageNumber: 3010, messageText: no such order}}
  Out: {{type: MQOutput, queueName: OUT}}
wires:
  - In.out -> Try
  - Try.try -> Bad
  - Try.catch -> Out
"""
CAUGHT_BY_INPUT = f"""{HEAD}  Bad: {{type: Throw, messageNumber: 3010, messageText: no such order}}
  Out: {{type: MQOutput, queueName: OUT}}
wires:
  - In.out -> Bad
  - In.catch -> Out
"""
DISCARDED = CAUGHT.replace("  - Try.catch -> Out\n", "  - In.failure -> Out\n")
TWICE = CAUGHT.replace("Out: {type: MQOutput, queueName: OUT}", "Out: {type: Throw, messageText: nobody listens}")
PASSED = f"{HEAD}  Out: {{type: MQOutput, queueName: OUT}}\nwires: [In.out -> Out]\n"
ROUND = f"{HEAD}  Out: {{type: MQOutput, queueName: IN}}\nwires: [In.out -> Out]\n"
TRACED = f"{HEAD}  T: {{type: Trace, destination: file, filePath: PLACE, pattern: x}}\nwires: [In.out -> T]\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flows and messages are named by short names."""
    monkeypatch.chdir(tmp_path)


def traced_to(file: str) -> str:
    """A flow that traces to a file."""
    return TRACED.replace("PLACE", file)


def messages(count: int) -> str:
    """A folder of so many messages."""
    Path("in").mkdir()
    for number in range(count):
        Path("in", f"{number:02}.xml").write_text(f"<a>{number}</a>")
    return "in"


def ran(capsys: pytest.CaptureFixture[str], flow: str, *arguments: str) -> Any:
    """How a flow ends over the messages, with what it says as data."""
    Path("f.yaml").write_text(flow)
    ended = penstock(capsys, "run", "f.yaml", "--input", "in", "--output", "out", "--json", *arguments)
    return ended.code, json.loads(ended.out)


@pytest.mark.parametrize("flow", [CAUGHT, CAUGHT_BY_INPUT, DISCARDED], ids=["TryCatch", "input", "discarded"])
def test_what_is_caught_is_counted(flow: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Messages that fail and are caught are no failures, and yet counted by number and node, with the first text."""
    messages(25)
    code, data = ran(capsys, flow)
    text = "BIP3010 F.Bad: no such order"
    expected = [{"kind": "caught", "number": 3010, "node": "F.Bad", "count": 25, "text": text}]
    assert (0, [], expected) == (code, data["failures"], data["by_reason"])
    assert [f"{number:02}.xml" for number in range(25)] == [each["message"] for each in data["incidents"]]
    ended = penstock(capsys, "run", "f.yaml", "--input", "in", "--output", "out")
    assert "0 failed, 25 caught\n" in ended.out
    assert f"\n  25  caught: {text}\n" in ended.out
    by = "In" if flow == CAUGHT_BY_INPUT else "Try"
    assert 20 == ended.err.count(f": caught by F.{by}: {text}\n")


def test_the_first_error_is_not_lost_where_the_catch_path_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """Where what is wired to catch fails too, both errors are told."""
    messages(1)
    code, data = ran(capsys, TWICE)
    found = [(each["kind"], each["error"]) for each in data["incidents"]]
    assert (1, ("caught", "BIP3010 F.Bad: no such order")) == (code, found[0])
    assert ("failed", "BIP3001 F.Out: nobody listens") in found
    assert "put away" in dict(found)


def test_what_is_put_away_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """A message that is put on the dead-letter queue is counted under its error."""
    messages(2)
    unwired = CAUGHT_BY_INPUT.replace("  - In.catch -> Out\n", "").replace(
        "  Out: {type: MQOutput, queueName: OUT}\n", ""
    )
    code, data = ran(capsys, unwired)
    counted = {(each["kind"], each["number"]): each["count"] for each in data["by_reason"]}
    assert (1, {("failed", 3010): 2, ("put away", 3010): 2}) == (code, counted)


def test_a_poison_message_does_not_end_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    """A message over --max-input fails by itself; those behind it are sent."""
    messages(3)
    Path("in", "01.xml").write_bytes(bytes(5000))
    code, data = ran(capsys, PASSED, "--max-input", "4k")
    told = "in/01.xml has more than 4,096 bytes: raise the limit by --max-input"
    assert (1, 3, 2, [f"BIP2066: {told}"]) == (
        *(code, data["messages"], data["queues"]["OUT"]["messages"]),
        [each["error"] for each in data["failures"]],
    )


@pytest.mark.parametrize("size", ["9Z", "0", "-1", "", "1e9"])
def test_sizes_that_are_none(size: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is no size is refused with what to write."""
    Path("f.yaml").write_text(PASSED)
    ended = penstock(capsys, "run", "f.yaml", "--input", "in", "--output", "out", f"--max-input={size}")
    assert (1, True) == (ended.code, "is no size: write bytes, as 4096, or with K, M or G" in ended.err)


def test_a_message_without_end_does_not_end_a_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that feeds its own queue for ever fails, and the next one is sent."""
    monkeypatch.setattr("engine.runtime.file_run.MOST_ROUNDS", 50)
    messages(2)
    code, data = ran(capsys, ROUND)
    assert (1, 2, 2) == (code, data["messages"], len(data["failures"]))


@pytest.mark.parametrize("ends", ["reading", "SIGTERM"])
def test_an_input_without_end(ends: str) -> None:
    """An input that never ends is read as far as the limit, and not even so far when a signal ends the command."""
    Path("f.yaml").write_text(PASSED)
    limit, source = ("1M", "/dev/zero") if ends == "reading" else ("1000G", "-")
    flow, out_folder = (str(Path(name).resolve()) for name in ("f.yaml", "out"))
    running = process("run", flow, "--input", source, "--output", out_folder, "--max-input", limit)
    if ends == "SIGTERM":
        assert running.stdin is not None
        running.stdin.write(bytes(500_000))
        running.stdin.flush()
        running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=60)
    if ends == "reading":
        assert (1, True) == (running.returncode, b"/dev/zero has more than 1,048,576 bytes" in err)
    else:
        assert (143, b"", b"1 of 1 messages were not sent\n") == (running.returncode, out, err)


def test_an_interrupted_run_says_what_was_not_sent() -> None:
    """Ctrl-C leaves the messages that were sent, and says how many were not."""
    folder = Path(messages(3)).resolve()
    Path("f.yaml").write_text(PASSED)
    out = Path("out").resolve()
    given = ("--input", str(folder), "--input", "-")
    running = process("run", str(Path("f.yaml").resolve()), *given, "--output", str(out))
    assert running.stdin is not None
    running.stdin.write(bytes(500_000))  # more than a pipe holds: once it is written, the others have been sent
    running.stdin.flush()
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (130, b"1 of 4 messages were not sent\n") == (running.returncode, err)
    assert ["00.xml", "01.xml", "02.xml"] == sorted(file.name for file in (out / "OUT").iterdir())


ALLOWED = ["traces/t.txt", "{}/traces/t.txt", "./traces/../traces/t.txt"]
ELSEWHERE = ["t.txt", "../t.txt", "/etc/penstock.txt", "traces/../t.txt", "traces", "x" * 300]


@pytest.mark.parametrize("name", ALLOWED)
def test_files_in_allowed_folders_are_written(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A Trace node writes below the folders that the person who runs it allows."""
    messages(2)
    Path("traces").mkdir()
    code, _ = ran(capsys, traced_to(name.format(tmp_path)), "--allow-files", "traces")
    assert (0, "x\nx\n") == (code, Path("traces/t.txt").read_text())


@pytest.mark.parametrize("name", [*ALLOWED[:2], *ELSEWHERE])
def test_other_files_are_not_written(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that lies in no allowed folder is refused at deploy, with its place in the flow."""
    messages(1)
    Path("traces").mkdir()
    Path("f.yaml").write_text(traced_to(name.format(tmp_path)))
    allowed = () if name in ALLOWED else ("--allow-files", "traces")
    ended = penstock(capsys, "run", "f.yaml", "--input", "in", "--output", "out", *allowed)
    assert (1, True) == (ended.code, ended.err.startswith("penstock: BIP2211 f.yaml:4:3: "))
    assert [] == [*Path("traces").iterdir(), *Path("out").iterdir()]


@pytest.mark.parametrize("kind", ["a link to a file", "a link to a folder", "a pipe"])
def test_what_stands_in_an_allowed_folder_is_not_trusted(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A link in an allowed folder is not followed, and a pipe that nobody reads is not waited for."""
    messages(1)
    Path("traces").mkdir()
    Path("secret").mkdir()
    Path("secret/t.txt").touch()
    name = "traces/in/t.txt" if kind == "a link to a folder" else "traces/t.txt"
    if kind == "a link to a file":
        Path("traces/t.txt").symlink_to("../secret/t.txt")
    elif kind == "a link to a folder":
        Path("traces/in").symlink_to("../secret")
    else:
        os.mkfifo("traces/t.txt")
    code, data = ran(capsys, traced_to(name), "--allow-files", "traces")
    assert (1, 2211, "") == (code, data["incidents"][0]["number"], Path("secret/t.txt").read_text())


def test_cases_write_allowed_files(capsys: pytest.CaptureFixture[str]) -> None:
    """The test runner takes the folders too; without them a case says what is not allowed."""
    Path("tests").mkdir()
    Path("f.yaml").write_text(traced_to("traces/t.txt"))
    Path("traces").mkdir()
    case = "flow: ../f.yaml\ncases:\n  - name: a\n    input: {body: x}\n    expect: {order: [T.out]}\n"
    Path("tests/f.yaml").write_text(case)
    assert 0 == penstock(capsys, "test", "tests", "--allow-files", "traces").code
    assert "x\n" == Path("traces/t.txt").read_text()
    ended = penstock(capsys, "test", "tests")
    assert (1, True) == (ended.code, "may not be written" in ended.out)


def test_links_of_copybooks_lead_nowhere_else(capsys: pytest.CaptureFixture[str]) -> None:
    """A link in a copybook's folder to a file outside is not read, unless that folder is allowed."""
    Path("books").mkdir()
    Path("other").mkdir()
    Path("books/c.cpy").write_text("       01 T.\n       COPY INNER.\n")
    Path("other/secret").write_text("          05 A PIC X(4).\n")
    Path("books/inner.cpy").symlink_to("../other/secret")
    refused = penstock(capsys, "messageset", "show", "books/c.cpy")
    assert (1, True, False) == (refused.code, "leads to a file outside" in refused.err, "PIC" in refused.err)
    assert 0 == penstock(capsys, "messageset", "show", "books/c.cpy", "--allow-files", "other").code


def test_who_leaves_the_debugger_ends_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Pdb's q is no failure of a message that a TryCatch could catch: the command ends."""
    messages(2)
    Path("own.py").write_text(
        "import bdb\nfrom dataclasses import dataclass\nfrom engine.node import node\n"
        '@node("Leave", outputs=("out",))\n@dataclass(frozen=True, slots=True)\nclass Leave:\n'
        '    """Leave."""\n    def evaluate(self, message, work):\n        raise bdb.BdbQuit\n        yield\n'
    )
    Path("f.yaml").write_text(CAUGHT.replace("Throw, messageNumber: 3010, messageText: no such order", "Leave"))
    command = ("run", "f.yaml", "--input", "in", "--output", "out", "--nodes", "own.py")
    program = [sys.executable, "-c", "from engine.cli import main; main()", *command]
    around = {**os.environ, "PYTHONPATH": str(ROOT), "PENSTOCK_CACHE": "off"}
    ended = subprocess.run(program, capture_output=True, timeout=120, check=False, env=around)
    assert (130, b"", b"2 of 2 messages were not sent\n") == (ended.returncode, ended.stdout, ended.stderr)


def test_binary_is_one_problem(capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes that are no text are one problem of a program, not one for each of them."""
    for name, data in (("random", bytes(range(256)) * 12), ("zeros", bytes(3000))):
        Path(f"{name}.esql").write_bytes(data)
        ended = penstock(capsys, "esql", "check", f"{name}.esql")
        text = f"BIP2401 {name}.esql:1:1: this is no text, but binary: name a file of ESQL\n"
        assert (1, text, "") == ended
        Path(f"{name}.cpy").write_bytes(data)
        ended = penstock(capsys, "messageset", "show", f"{name}.cpy")
        found = [line for line in (ended.out + ended.err).splitlines() if "BIP" in line]
        assert (1, [f"penstock: BIP2066 {name}.cpy:1:1: is no text, but binary: name a copybook"]) == (
            ended.code,
            found,
        )


def test_entries_without_end(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Entries of ESQL are read from a standard input up to a limit, and one that is closed is said to be so."""
    with Path("/dev/zero").open(encoding="utf-8") as endless:
        monkeypatch.setattr(sys, "stdin", endless)
        ended = penstock(capsys, "esql", "repl", "--max-input", "1M")
    assert (1, True) == (ended.code, "standard input has a line of more than 1,048,576 bytes" in ended.err)
    monkeypatch.setattr(sys, "stdin", None)
    ended = penstock(capsys, "esql", "repl")
    assert (1, True) == (ended.code, "standard input is closed" in ended.err)


LONG = "x" * 300
LONG_NAMES = {
    "esql check": f"esql check {LONG}",
    "decode": f"decode {LONG} --copybook {LONG}",
    "run": f"run f.yaml --input {LONG} --output out",
    "run, its flow": f"run {LONG} --input in --output out",
    "run, its output": f"run f.yaml --input in --output {LONG}",
    "messageset": f"messageset show {LONG}",
    "flow show": f"flow show {LONG}",
    "a picture": f"flow show f.yaml --svg {LONG}",
    "flow lint": f"flow lint {LONG}",
    "lint of a type": "flow lint long.yaml",
    "test": f"test {LONG}",
    "a report": f"test f.yaml --junit {LONG}",
    "nodes": f"describe node --nodes {LONG}.py",
    "results": f"costs nodes --compare {LONG}",
}


@pytest.mark.parametrize("command", LONG_NAMES.values(), ids=LONG_NAMES.keys())
def test_names_that_are_too_long(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A name of 300 characters is refused in words, also where a flow has it, and then with its place."""
    messages(1)
    Path("f.yaml").write_text(PASSED)
    Path("long.yaml").write_text(f"{HEAD}  A: {{type: {LONG}}}\nwires: [In.out -> A]\n")
    ended = penstock(capsys, *command.split())
    assert (1, False) == (ended.code, "fault in penstock" in ended.err)
    assert LONG in ended.out + ended.err or "has no tests" in ended.err
    assert command != LONG_NAMES["lint of a type"] or ended.out.startswith("BIP2241 long.yaml:4:13: ")


ENDLESS = [
    *("esql check {}", "esql show {}", "esql format {}", "esql eval --cases {}", "esql eval 1 --input {}"),
    *("esql run {}", "messageset show {}", "flow lint {}", "flow show {}", "test {}", "decode {} --messageset {}"),
    *("encode x --copybook {}", "describe node --nodes {}", "costs nodes --compare {}"),
]


@pytest.mark.parametrize("command", ENDLESS)
def test_files_without_end(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that never ends is refused by every command, in few words and little memory."""
    began = time.monotonic()
    limit = ["--max-input", "1M"] if command.startswith("esql") else []
    ended = penstock(capsys, *command.replace("{}", "/dev/zero").split(), *limit)
    assert (1, False) == (ended.code, "fault in penstock" in ended.err)
    assert "/dev/zero" in ended.out + ended.err
    assert time.monotonic() - began < 20

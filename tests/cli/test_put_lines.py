"""penstock put with lines of JSON: what they may be, how long they may be, and what is said of them."""

import os
import re
import subprocess
from io import BytesIO, TextIOWrapper

import pytest

from engine.cli.queue_manager_access import served as serving
from engine.mq import QueueManager
from tests.cli.command_line import PROGRAM, penstock
from tests.cli.queues import command, eventually, lines, made


@pytest.fixture
def folder(tmp_path, monkeypatch):
    found = made(tmp_path / "qm", "A", "B")
    monkeypatch.setenv("PENSTOCK_QUEUE_MANAGER", str(found))
    return found


def test_a_bad_line_is_named_with_how_many_are_in(folder):
    """Units before it are committed, its own is not."""
    given = "".join(f'{{"body": "{number}"}}\n' for number in range(5)) + '{"bodyy": "x"}\n'
    ended = command(folder, "put", "A", "-", "--json", "--unit", "2", stdin=given)
    assert (1, ["0", "1", "2", "3"]) == (ended.returncode, [each["body"] for each in lines(ended.stdout)])
    assert "line 6: there is no field bodyy" in ended.stderr
    assert "4 messages are in" in ended.stderr
    assert "0\n1\n2\n3\n" == command(folder, "browse", "A").stdout


@pytest.mark.parametrize(
    ("reason", "fields"), [(2029, '"msg_type": 0'), (2061, '"report": 32768'), (2249, '"msg_flags": 32')]
)
def test_a_line_that_mq_refuses_is_named(folder, reason, fields):
    """Types, report options and flags that there are none of are refused with MQ's reason, and the line is named."""
    given = f'{{"body": "good"}}\n{{"body": "bad", {fields}}}\n'
    ended = command(folder, "put", "A", "-", "--json", stdin=given)
    assert (1, "") == (ended.returncode, ended.stdout)
    assert re.search(f"line 2.*{reason}|{reason}.*line 2", ended.stderr)
    assert "" == command(folder, "browse", "A").stdout


class Endless(BytesIO):
    """A stream of digits without an end, behind what it is given, that counts what is read."""

    read_in_all = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert size > 0
        line = super().readline(size)
        line = line if line.endswith(b"\n") else line.ljust(size, b"7")
        self.read_in_all += len(line)
        return line


@pytest.mark.parametrize(
    ("queue", "begun", "longest"),
    [
        ("SHORT", '{"body": "', 1_000),
        ("TO.SHORT", '{"body": "', 1_000),
        ("SHORT", '{"msg_flags": 1, "body": "', 40_000),
        ("SHORT", '{"msg_flags": 8, "body": "', 1_000),
        ("WIDE", '{"body": "', 40_000),
    ],
)
def test_a_line_is_as_long_as_a_message_may_be(folder, capsys, monkeypatch, queue, begun, longest):
    """A line that holds more than a message of the queue is named and not read on; those before it are in."""
    with QueueManager.open(folder) as manager:
        manager.mqsc(
            "ALTER QMGR MAXMSGL(40000)\nDEF QL(SHORT) MAXMSGL(1000)\nDEF QA(TO.SHORT) TARGET(SHORT)\nDEF QL(WIDE)"
        )
    body = "\\u0000" * 1_000  # the longest of all that a message of so many bytes can be

    def refused() -> None:
        given = Endless(f'{{"body": "{body}"}}\n\n{begun}'.encode())
        monkeypatch.setattr("sys.stdin", TextIOWrapper(given))
        ended = penstock(capsys, "put", queue, "-", "--json", "--unit", "1")
        assert (1, 1) == (ended.code, len(lines(ended.out)))
        assert re.search(rf"BIP2030.*line 3 .* {longest:,} at most.*1 message is in", ended.err)
        assert given.read_in_all < 8 * longest + 70_000 + 7_000

    refused()
    with QueueManager.open(folder) as manager, serving(manager, folder):
        refused()


def test_the_longest_expiry_is_put(folder, capsys):
    """An expiry is as long as 32 bits hold in tenths of seconds."""
    (printed,) = lines(penstock(capsys, "put", "A", "--text", "x", "--expiry", "214748364.7", "--json").out)
    assert 2**31 - 1 == printed["expiry"]


@pytest.mark.parametrize("where", [">&-", ">/dev/full"])
def test_a_put_that_cannot_say_what_it_put_says_how_many_are_in(folder, where):
    """Who cannot read the lines learns that the messages are there, and puts none of them twice."""
    put = ["sh", "-c", f'exec "$0" "$@" {where}', *PROGRAM, "put", "A", "--text", "x", "--count", "3", "--json"]
    environment = os.environ | {"PENSTOCK_QUEUE_MANAGER": str(folder)}
    ended = subprocess.run(put, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert (1, "") == (ended.returncode, ended.stdout)
    assert re.fullmatch(r"penstock: standard output cannot be written: .*; 3 messages are in\n", ended.stderr)
    assert "x\nx\nx\n" == command(folder, "browse", "A").stdout


def test_a_put_goes_on_where_the_command_that_has_the_folder_ends(folder):
    """Units are put over the socket of a command, and then here, each once, as long as lines come."""
    environment, pipe = os.environ | {"PENSTOCK_QUEUE_MANAGER": str(folder)}, subprocess.PIPE
    first = subprocess.Popen([*PROGRAM, "get", "B", "--wait", "2"], env=environment)
    eventually((folder / "socket").exists)
    put = [*PROGRAM, "put", "A", "-", "--json", "--unit", "1"]
    with subprocess.Popen(put, env=environment, stdin=pipe, stdout=pipe, text=True) as second:
        assert second.stdin is not None
        assert second.stdout is not None
        for number in range(3):
            second.stdin.write(f'{{"body": "{number}"}}\n')
            second.stdin.flush()
            assert f'"body": "{number}"' in second.stdout.readline()
            if number == 0:
                assert 0 == first.wait(30)
        second.stdin.close()
        assert 0 == second.wait(30)
    assert "0\n1\n2\n" == command(folder, "get", "A", "--all").stdout

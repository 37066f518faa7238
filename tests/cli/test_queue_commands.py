"""Commands on queues: what they put, get, show and refuse, where a process serves the folder and where none does."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from contextlib import nullcontext
from io import TextIOWrapper

import pytest

from engine.cli.queue_manager_access import served as serving
from engine.descriptor import Descriptor
from engine.mq import QueueManager
from tests.cli.command_line import PROGRAM, ROOT, penstock
from tests.cli.queues import command, eventually, lines, made, running


@pytest.fixture
def folder(tmp_path, monkeypatch):
    found = made(tmp_path / "qm", "A", "B")
    monkeypatch.setenv("PENSTOCK_QUEUE_MANAGER", str(found))
    return found


def test_what_is_put_is_got_in_the_same_form(folder, capsysbinary):
    """Lines of JSON that get prints are lines that put reads; nothing of a message changes on the way."""
    ids = ("--msg-id", "AB12", "--correl-id", "cd", "--group-id", "ef")
    put = penstock(capsysbinary, "put", "A", "--text", "grün", "--json", "--priority", "7", "--expiry", "3600",
                   "--property", "colour=red", "--property", "n=5", *ids)  # fmt: skip
    (done,) = lines(put.out.decode())
    assert done["msg_id"] == "ab12".ljust(48, "0")
    printed = penstock(capsysbinary, "get", "A", "--json").out.decode()
    (message,) = lines(printed)
    assert message["properties"] == {"colour": "red", "n": "5"}
    assert (message["body"], message["priority"], message["persistence"]) == ("grün", 7, 1)
    assert 35_000 < message["expiry"] <= 36_000
    again = command(folder, "put", "B", "-", "--json", stdin=printed)
    assert (0, "") == (again.returncode, again.stderr)
    (other,) = lines(penstock(capsysbinary, "browse", "B", "--json").out.decode())
    assert {**message, "expiry": 0} == {**other, "expiry": 0}


def test_bodies_are_printed_as_they_are(folder, tmp_path, capsysbinary):
    """A body ends its line, bytes stay bytes, and properties are no part of them; an empty queue prints nothing."""
    (tmp_path / "one").write_bytes(b"\xff\0bytes")
    (tmp_path / "two").write_bytes(b"text\n")
    assert 0 == penstock(capsysbinary, "put", "A", str(tmp_path / "one"), str(tmp_path / "two"), "--count", "2").code
    penstock(capsysbinary, "put", "A", "--text", "t", "--property", "a=b")
    first = b"\xff\0bytes\n"
    everything = first * 2 + b"text\n" * 2 + b"t\n"
    assert everything == penstock(capsysbinary, "browse", "A").out
    assert first == penstock(capsysbinary, "get", "A").out
    assert first + b"text\n" == penstock(capsysbinary, "get", "A", "--count", "2").out
    assert b"text\nt\n" == penstock(capsysbinary, "get", "A", "--all").out
    assert (0, b"", b"") == penstock(capsysbinary, "get", "A", "--all")


def test_files_are_written_one_a_message(folder, tmp_path, capsysbinary):
    """Each has its message's id for a name, and takes no other's place."""
    for text in ("1", "2"):
        penstock(capsysbinary, "put", "A", "--text", text, "--msg-id", "aa")
    assert (0, b"", b"") == penstock(capsysbinary, "get", "A", "--all", "--output", str(tmp_path / "out"))
    name = "aa".ljust(48, "0")
    assert {name: b"1", f"{name}-2": b"2"} == {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}


def test_messages_are_chosen(folder, capsysbinary):
    """By ids and by selectors."""
    for number in range(3):
        words = ("--property", f"n={number}", "--correl-id", f"0{number}", "--msg-id", f"1{number}")
        penstock(capsysbinary, "put", "A", "--text", str(number), *words, "--group-id", f"2{number}")
    assert b"1\n" == penstock(capsysbinary, "browse", "A", "--selector", "n = '1'").out
    assert b"2\n" == penstock(capsysbinary, "get", "A", "--correl-id", "02").out
    assert b"0\n" == penstock(capsysbinary, "get", "A", "--msg-id", "10").out
    assert b"" == penstock(capsysbinary, "get", "A", "--group-id", "22").out
    assert b"1\n" == penstock(capsysbinary, "get", "A", "--selector", "n = '1'", "--all").out


REFUSALS = {
    "unknown queue": (("put", "NONE", "--text", "x"), "2085"),
    "get from an unknown queue": (("get", "NONE"), "2085"),
    "browse of an unknown queue": (("browse", "NONE"), "2085"),
    "purge of an unknown queue": (("purge", "NONE"), "2085"),
    "queue full": (("put", "SMALL", "--text", "x", "--count", "3"), "2053"),
    "too long": (("put", "SHORT", "--text", "longer than ten"), "2030"),
    "put inhibited": (("put", "CLOSED", "--text", "x"), "2051"),
    "get inhibited": (("get", "CLOSED"), "2016"),
    "alias of nothing": (("put", "ALIAS", "--text", "x"), "2082"),
    "selector": (("get", "A", "--selector", "n ="), "2459"),
    "nothing to put": (("put", "A"), "name files, or - for standard input, or give --text"),
    "file that is not there": (("put", "A", "none.txt"), "none.txt does not exist"),
    "priority": (("put", "A", "--text", "x", "--priority", "10"), "--priority 10"),
    "expiry": (("put", "A", "--text", "x", "--expiry", "0"), "--expiry 0"),
    "long expiry": (("put", "A", "--text", "x", "--expiry", "214748365"), "more than 0, and 214748364.7 at most"),
    "empty message id": (("get", "A", "--msg-id", ""), "--msg-id is empty"),
    "empty correlation id": (("get", "A", "--correl-id", ""), "--correl-id is empty"),
    "empty group id": (("put", "A", "--text", "x", "--group-id", ""), "--group-id is empty"),
    "empty output": (("get", "A", "--output", ""), "--output is empty"),
    "id": (("get", "A", "--msg-id", "xyz"), "--msg-id xyz is no id"),
    "property": (("put", "A", "--text", "x", "--property", "colour"), "write NAME=VALUE"),
    "name of a property": (("put", "A", "--text", "x", "--property", "Not=x"), "2442"),
    "count and all": (("get", "A", "--count", "2", "--all"), "exclude each other"),
    "wait": (("get", "A", "--wait", "-1"), "--wait -1"),
    "wait of no number": (("get", "A", "--wait", "nan"), "--wait nan"),
    "folder": (("get", "A", "--queue-manager", "nowhere"), "nowhere"),
    "a name that is no UTF-8": (("put", "\udcff", "--text", "x"), "2085"),
    "endless size": (
        ("queue-manager", "create", "{folder}/x", "--max-size", "99999999T"),
        "address space are too many",
    ),
    "no size": (("queue-manager", "create", "x", "--max-size", "0"), "--max-size '0' is no size"),
    "a file": (("get", "A", "--queue-manager", __file__), "there is no queue manager in "),
    "size": (("queue-manager", "create", "x", "--max-size", "many"), "--max-size 'many' is no size"),
    "name": (("queue-manager", "create", "{folder}/x", "--name", "two words"), "'two words' is no name"),
    "no name": (("queue-manager", "create", "{folder}/x", "--name", ""), "2058"),
    "nothing to stop": (("queue-manager", "stop", "nowhere"), "2059"),
    "created twice": (("queue-manager", "create", "{folder}"), "{folder}"),
}


@pytest.mark.parametrize(("arguments", "said"), REFUSALS.values(), ids=REFUSALS.keys())
@pytest.mark.parametrize("served", [False, True])
def test_refusals_are_one_line_with_the_reason(folder, capsys, arguments, said, served):
    """What is refused exits with 1, says MQ's reason where there is one, and shows no traceback."""
    with QueueManager.open(folder) as manager:
        manager.define("QLOCAL", "SMALL", {"MAXDEPTH": 2})
        manager.define("QLOCAL", "SHORT", {"MAXMSGL": 10})
        manager.define("QLOCAL", "CLOSED", {"PUT": "DISABLED", "GET": "DISABLED"})
        manager.define("QALIAS", "ALIAS", {"TARGET": "NOTHING"})
    given = [argument.format(folder=folder) for argument in arguments]
    if served and said != "{folder}":
        with QueueManager.open(folder) as manager, serving(manager, folder):
            ended = penstock(capsys, *given)
    else:
        ended = penstock(capsys, *given)
    assert (1, "") == (ended.code, ended.out)
    assert said.format(folder=folder) in ended.err
    assert 1 == len(ended.err.splitlines())


@pytest.mark.parametrize(
    "arguments", [("put", "A", "--text", "x"), ("queue-manager", "stop", "{folder}")], ids=" ".join
)
def test_a_process_that_does_not_answer_is_not_waited_for(folder, capsys, monkeypatch, arguments):
    """A command is refused with the number of the process, and the process goes on when it is let."""
    for module in ("queue_manager_access", "queue_manager"):
        monkeypatch.setattr(f"engine.cli.{module}.PATIENCE", 0.2)
    with running("queue-manager", "start", str(folder), folder=folder) as process:
        os.kill(process.pid, signal.SIGSTOP)
        try:
            goes_on = threading.Timer(20, os.kill, (process.pid, signal.SIGCONT))
            goes_on.start()
            refused = penstock(capsys, *(argument.format(folder=folder) for argument in arguments))
            goes_on.cancel()
        finally:
            os.kill(process.pid, signal.SIGCONT)
        assert (1, 1) == (refused.code, len(refused.err.splitlines()))
        assert str(process.pid) in refused.err
        assert 0 == command(folder, "put", "A", "--text", "y").returncode


def test_a_dump_shows_a_queue_that_nothing_is_got_from(folder, capsys):
    """A queue with gets inhibited is shown as the others are: nothing is got."""
    penstock(capsys, "put", "A", "--text", "hidden")
    penstock(capsys, "put", "B", "--text", "seen")
    with QueueManager.open(folder) as manager:
        manager.alter("QLOCAL", "A", {"GET": "DISABLED"})
    dumped = penstock(capsys, "queue-manager", "dump", str(folder))
    assert (0, "") == (dumped.code, dumped.err)
    assert ["A (1)", "B (1)"] == [line for line in dumped.out.splitlines() if line[0] in "AB"]
    as_data = lines(penstock(capsys, "queue-manager", "dump", str(folder), "--json").out)
    assert [("A", 6), ("B", 4)] == [(row["queue"], row["length"]) for row in as_data]
    assert all(row["msg_id"] in dumped.out for row in as_data)


def test_a_process_serves_the_folder_until_it_is_told_to_stop(folder):
    """Commands reach it, a second one is refused with the number of the first, and `stop` ends it with 0."""
    with running("queue-manager", "start", str(folder), folder=folder) as process:
        assert 0 == command(folder, "put", "A", "--text", "hello").returncode
        shown = json.loads(command(folder, "queue-manager", "display", str(folder), "--json").stdout)
        assert {"queue": "A", "depth": 1} in shown["queues"]
        (dumped,) = lines(command(folder, "queue-manager", "dump", str(folder), "--json").stdout)
        assert dumped["queue"] == "A"
        assert 0 == command(folder, "mqsc", "-", stdin="ALTER QLOCAL(A) GET(DISABLED)").returncode
        assert "2016" in command(folder, "browse", "A").stderr
        assert [dumped] == lines(command(folder, "queue-manager", "dump", str(folder), "--json").stdout)
        assert 0 == command(folder, "mqsc", "-", stdin="ALTER QLOCAL(A) GET(ENABLED)").returncode
        second = command(folder, "queue-manager", "start", str(folder))
        assert second.returncode == 1
        assert str(process.pid) in second.stderr
        assert "hello\n" == command(folder, "get", "A").stdout
        assert (0, "") == (command(folder, "put", "A", "--text", "stays").returncode, "")
        assert 0 == command(folder, "queue-manager", "stop", str(folder)).returncode
        assert 0 == process.wait(10)
    assert "stays\n" == command(folder, "get", "A").stdout


def test_a_get_that_waits_serves_those_who_put(folder):
    """A command that has opened the folder itself lets others in for as long as it lasts."""
    found = []
    waiting = threading.Thread(target=lambda: found.append(command(folder, "get", "A", "--wait", "30")))
    waiting.start()
    eventually((folder / "socket").exists)
    assert 0 == command(folder, "put", "A", "--text", "came").returncode
    waiting.join()
    assert ["came\n"] == [ended.stdout for ended in found]


@pytest.mark.crash
@pytest.mark.parametrize("served", [False, True])
def test_a_get_that_is_killed_loses_nothing(folder, served):
    """What it has not printed is still on the queue, and so is what was not committed."""
    with QueueManager.open(folder) as manager:
        work = manager.work()
        for number in range(300):
            work.put("A", Descriptor(persistence=1), b"%d" % number)
        work.commit()
    environment = os.environ | {"PENSTOCK_QUEUE_MANAGER": str(folder)}
    around = running("queue-manager", "start", str(folder), folder=folder) if served else nullcontext()
    with around:
        get = [*PROGRAM, "get", "A", "--all"]
        process = subprocess.Popen(get, cwd=ROOT, env=environment, stdout=subprocess.PIPE)
        assert process.stdout is not None
        printed = [process.stdout.readline() for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        printed += process.stdout.readlines()
        process.wait(60)
        process.stdout.close()
        left = command(folder, "get", "A", "--all").stdout.encode().splitlines(keepends=True)
    numbers = [int(line) for line in printed + left]
    assert set(range(300)) == set(numbers)
    assert len(numbers) <= 301  # the one that was printed and not committed comes twice


@pytest.mark.crash
def test_a_server_that_is_killed_keeps_what_was_committed(folder):
    """Persistent messages are there when it is started again; a unit that was open is backed out."""
    with running("queue-manager", "start", str(folder), folder=folder) as process:
        client = QueueManager.connect(folder)
        work = client.work()
        work.put("A", Descriptor(persistence=1), b"kept")
        work.commit()
        work.put("A", Descriptor(persistence=1), b"open")
        other = client.work()
        assert b"kept" == other.get("A").body
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        with pytest.raises(Exception, match="2009"):
            work.commit()
        with running("queue-manager", "start", str(folder), folder=folder):
            work.back_out()
            other.back_out()
            assert b"kept" == other.get("A").body
            assert other.get("A") is None
        client.close()


@pytest.mark.crash
def test_a_get_that_waits_leaves_the_folder_to_a_process_that_is_started_again(folder):
    """Who waits while the queue manager is killed goes on with the next, and does not keep it from its folder."""
    environment = os.environ | {"PENSTOCK_QUEUE_MANAGER": str(folder)}
    with running("queue-manager", "start", str(folder), folder=folder) as process:
        get = [*PROGRAM, "get", "A", "--wait", "30"]
        waits = subprocess.Popen(get, stdout=subprocess.PIPE, env=environment)
        with QueueManager.connect(folder) as client:
            eventually(lambda: client.display("QLOCAL", "A")[0]["IPPROCS"] == 1)
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    time.sleep(0.5)
    with running("queue-manager", "start", str(folder), folder=folder):
        assert 0 == command(folder, "put", "A", "--text", "later").returncode
        assert b"later\n" == waits.communicate(timeout=30)[0]
    assert 0 == waits.returncode


def test_a_backup_is_taken_while_the_queue_manager_runs(folder, tmp_path, capsys):
    """It holds what was committed, is restored in a folder of its own, and both are found whole."""
    backup, again = tmp_path / "backup", tmp_path / "again"
    with running("queue-manager", "start", str(folder), folder=folder):
        assert 0 == command(folder, "put", "A", "--text", "kept").returncode
        assert 0 == command(folder, "queue-manager", "backup", str(folder), str(backup)).returncode
        assert 0 == command(folder, "queue-manager", "check", str(folder)).returncode
        assert 0 == command(folder, "put", "A", "--text", "later").returncode
    assert 1 == command(folder, "queue-manager", "backup", str(folder), str(backup)).returncode
    assert 0 == penstock(capsys, "queue-manager", "restore", str(again), str(backup)).code
    assert "kept\n" == command(again, "get", "A", "--all").stdout
    assert "kept\nlater\n" == command(folder, "get", "A", "--all").stdout
    upgraded = penstock(capsys, "queue-manager", "upgrade", str(again))
    assert (0, f"{again} has the format of this Penstock already\n") == (upgraded.code, upgraded.out)


def test_damage_is_found(folder, capsys):
    """A store with a flipped byte is told, with exit code 1 and no traceback."""
    with QueueManager.open(folder) as manager:
        work = manager.work()
        work.put("A", Descriptor(persistence=1), b"precious" * 200)
        work.commit()
    assert 0 == penstock(capsys, "queue-manager", "check", str(folder)).code
    file = folder / "store" / "data.mdb"
    data = bytearray(file.read_bytes())
    data[data.index(b"preciousprecious") + 5] ^= 1
    file.write_bytes(data)
    ended = penstock(capsys, "queue-manager", "check", str(folder))
    assert (1, "") == (ended.code, ended.out)
    assert ended.err.startswith(f"penstock: {folder}: ")
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("command", ["mqsc {}", "put A {}", "put A -", "publish a/b {}", "mqsc -"])
def test_inputs_without_an_end(folder, command, capsys, monkeypatch):
    """A script, a message or a line of JSON that does not end is refused once it is too long for any queue."""
    with open("/dev/zero", "rb") as endless:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(endless))
        ended = penstock(capsys, *command.format("/dev/zero").split())
    assert (1, "", 1) == (ended.code, ended.out, ended.err.count("\n"))
    assert re.search(r"(/dev/zero|standard input|stdin) has (a line of )?more than [0-9,]+ bytes", ended.err)


@pytest.mark.parametrize(
    "arguments", [("put", "A", "-"), ("put", "A", "-", "--json"), ("publish", "t", "-"), ("mqsc", "-")]
)
def test_a_standard_input_that_is_closed_is_no_empty_one(folder, capsys, monkeypatch, arguments):
    """Nothing is put, published or carried out where there is nothing to read."""
    monkeypatch.setattr("sys.stdin", None)
    ended = penstock(capsys, *arguments)
    assert (1, "") == (ended.code, ended.out)
    assert "standard input is closed" in ended.err

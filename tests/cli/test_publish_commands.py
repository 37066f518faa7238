"""Commands of publish/subscribe and MQSC, with a process that serves the folder and without one."""

import json
import subprocess
import threading
import time
from contextlib import nullcontext

import pytest

from engine.mq import QueueManager, frames
from engine.mq.addresses import owner_name
from engine.mq.connection import Connection
from engine.mq.server import Server
from tests.cli.command_line import ROOT, penstock
from tests.cli.queues import command, lines, made, running
from tests.engine.mq.served import put

PUBLISHING = ROOT / "flows" / "samples" / "publishing"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    found = made(tmp_path / "qm", "A", "B")
    monkeypatch.setenv("PENSTOCK_QUEUE_MANAGER", str(found))
    return found


@pytest.mark.parametrize("is_served", [False, True])
def test_durable(folder, capsysbinary, is_served):
    """Who subscribes durably gets what is published later on a queue, until the subscription is deleted."""
    with running("queue-manager", "start", str(folder), folder=folder) if is_served else nullcontext():
        selector = ("--selector", "colour = 'red'")
        assert (0, b"", b"") == penstock(
            capsysbinary, "subscribe", "n/#", "--queue", "A", "--durable", "mine", *selector
        )
        red = ("--property", "colour=red", "--persistent", "--priority", "7", "--retain")
        assert (0, b"", b"") == penstock(capsysbinary, "publish", "n/x", "--text", "one", *red)
        assert (0, b"", b"") == penstock(capsysbinary, "publish", "n/x", "--text", "two")
        (message,) = lines(penstock(capsysbinary, "get", "A", "--all", "--json").out.decode())
        assert ("one", 7, 1, {"mqps.Top": "n/x", "colour": "red"}, owner_name()) == tuple(
            message[name] for name in ("body", "priority", "persistence", "properties", "user_identifier")
        )
        ended = command(folder, "mqsc", "-", stdin="DELETE SUB(mine)")
        assert (0, "") == (ended.returncode, ended.stderr)
        penstock(capsysbinary, "publish", "n/x", "--text", "three", *red)
        assert (0, b"", b"") == penstock(capsysbinary, "get", "A")


def test_retained(folder, capsysbinary):
    """What is retained comes first; where no more comes in time, the command ends, and its subscription with it."""
    penstock(capsysbinary, "publish", "n/x", "--text", "old", "--retain")
    penstock(capsysbinary, "publish", "n/x", "--text", "kept", "--retain")
    found = penstock(capsysbinary, "subscribe", "n/+", "--json", "--count", "2", "--wait", "0.1")
    (message,) = lines(found.out.decode())
    assert ("n/x", True, "kept", {}) == tuple(message[name] for name in ("topic", "retained", "body", "properties"))
    assert (0, b"kept\n", b"") == penstock(capsysbinary, "subscribe", "#", "--count", "1")
    shown = command(folder, "mqsc", "-", "--json", stdin="DISPLAY SUB(*)\nDISPLAY QLOCAL(SYSTEM.MANAGED*)")
    assert [[], []] == [answer["objects"] for answer in json.loads(shown.stdout)]


def test_as_they_come(folder, capsysbinary):
    """Publications are printed as they come, by a command that begins before them."""
    with running("queue-manager", "start", str(folder), folder=folder):
        found = []
        arguments = ("subscribe", "n/#", "--json", "--count", "3", "--wait", "20", "--selector", "Body.n.v > 1")
        thread = threading.Thread(target=lambda: found.append(command(folder, *arguments)))
        thread.start()
        script, end = str(written(folder, "DISPLAY SUB(*)")), time.monotonic() + 60
        while b"TOPICSTR" not in penstock(capsysbinary, "mqsc", script).out:
            assert time.monotonic() < end
        for number in range(5):
            penstock(capsysbinary, "publish", "n/x", "--text", f"<n><v>{number}</v></n>")
        thread.join()
        assert "" == found[0].stderr
        assert ["<n><v>2</v></n>", "<n><v>3</v></n>", "<n><v>4</v></n>"] == [
            message["body"] for message in lines(found[0].stdout)
        ]


def test_a_subscriber_that_is_killed(folder, capsysbinary):
    """The subscription of a command that is killed ends with its connection."""
    with running("queue-manager", "start", str(folder), folder=folder):
        from tests.cli.queues import PROGRAM  # noqa: PLC0415

        process = subprocess.Popen([*PROGRAM, "subscribe", "n/#"], cwd=ROOT)
        script = str(written(folder, "DISPLAY SUB(*)"))
        shown, end = b"", time.monotonic() + 60
        while b"TOPICSTR(n/#)" not in shown:
            assert time.monotonic() < end
            shown = penstock(capsysbinary, "mqsc", script).out
        process.kill()
        process.wait(60)
        while b"no subscription fits *" not in shown:
            assert time.monotonic() < end
            shown = penstock(capsysbinary, "mqsc", script).out


def written(folder, text):
    script = folder.parent / "script.mqsc"
    script.write_text(text, encoding="utf-8")
    return script


REFUSED = (
    (("publish", "n/#", "--text", "x"), "2425"),
    (("publish", "", "--text", "x"), "2425"),
    (("publish", "n", "missing.xml"), "does not exist"),
    (("publish", "n", "-", "--text", "x"), "leave one of them out"),
    (("publish", "n", "--priority", "10"), "0 to 9"),
    (("publish", "n", "--property", "x"), "NAME=VALUE"),
    (("subscribe", "n", "--queue", "A"), "--durable"),
    (("subscribe", "n", "--queue", "NONE", "--durable", "x"), "2085"),
    (("subscribe", "n", "--queue", "A", "--durable", "x", "--wait", "1"), "ends at once"),
    (("subscribe", "n", "--queue", "A", "--durable", "x", "--selector", "a ="), "2459"),
    (("mqsc", "missing.mqsc"), "does not exist"),
)


@pytest.mark.parametrize(("arguments", "text"), REFUSED)
def test_refused(folder, capsysbinary, arguments, text):
    """What cannot be done is said in one line, with the reason, and the exit code is not zero."""
    ended = penstock(capsysbinary, *arguments)
    assert (True, b"", 1, True) == (ended.code > 0, ended.out, ended.err.count(b"\n"), text.encode() in ended.err)


SCRIPT = """\
* a script with two errors
DEFINE QLOCAL(C) +
       MAXDEPTH(10)
DEFINE QLOCAL(A)
DEFINE QLOCAL(D) MAXDEPTH(ten)
DEFINE QALIAS(E) TARGET(C)
DISPLAY QUEUE(C) MAXDEPTH CURDEPTH
end
DELETE QLOCAL(B)
"""


@pytest.mark.parametrize("is_served", [False, True])
def test_scripts(folder, capsysbinary, is_served):
    """A script goes on behind an error, names its line and exits with 1; what it printed is what runmqsc prints."""
    with running("queue-manager", "start", str(folder), folder=folder) if is_served else nullcontext():
        ended = penstock(capsysbinary, "mqsc", str(written(folder, SCRIPT)))
        assert 1 == ended.code
        assert b"   QUEUE(C)                                TYPE(QLOCAL)\n   MAXDEPTH(10)" in ended.out
        assert [b":4: AMQ8150E", b":5: AMQ8405E"] == [
            line[line.index(b"script.mqsc") + 11 :][:12] for line in ended.err.splitlines()
        ]
        shown = penstock(capsysbinary, "mqsc", str(written(folder, "DISPLAY QUEUE(*)\nPING QMGR")), "--json")
        (queues, ping) = json.loads(shown.out)
        names = [queue["QUEUE"] for queue in queues["objects"]]
        assert ["A", "B", "C", "E"] == [name for name in names if len(name) == 1]
        assert ("AMQ8415I", 0) == (ping["code"], shown.code)


def test_at_a_desk(tmp_path, capsysbinary):
    """Each queue that subscribes at a desk has a folder, with a file for each publication."""
    flow, messages = str(PUBLISHING / "publishing.yaml"), str(PUBLISHING / "messages")
    given = ("--subscribe", "LONDON=prices/LSE/+", "--subscribe", "ALERTS=alerts/#")
    assert 0 == penstock(capsysbinary, "run", flow, "--input", messages, "--output", str(tmp_path), *given).code
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.xml"))
    assert ["ALERTS/2-jump.xml", "LONDON/1-calm.xml"] == found
    wrong = penstock(capsysbinary, "run", flow, "--input", messages, "--output", str(tmp_path), "--subscribe", "X")
    assert (True, True) == (wrong.code > 0, b"QUEUE=TOPIC" in wrong.err)


DONE_ONCE = [
    (("purge", "A"), {"A": 0, "NEWS": 0}, "A: 3 removed\n"),
    (("mqsc", "{script}"), {"A": 3, "NEW": 0}, "AMQ8006I"),
    (("publish", "n/a", "--text", "x", "--persistent", "--retain"), {"A": 3, "NEWS": 1}, ""),
    (("subscribe", "n/+", "--durable", "mine", "--queue", "B"), {"A": 3, "B": 0}, ""),
]


@pytest.mark.parametrize("is_sent", [False, True], ids=["before it is sent", "before it is answered"])
@pytest.mark.parametrize("row", DONE_ONCE, ids=[row[0][0] for row in DONE_ONCE])
def test_a_process_that_ends_in_the_middle(folder, capsys, monkeypatch, row, is_sent):
    """What has not been asked is asked once more of whoever has the folder then; what may be done is not done twice."""
    arguments, depths, printed = row
    script = folder.parent / "script"
    script.write_text("DEFINE QLOCAL(NEW)", "utf-8")
    manager = QueueManager.open(folder)
    manager.mqsc("DEFINE QLOCAL(NEWS) DEFPSIST(YES)\nDEFINE SUB(NEWS) TOPICSTR('n/#') DEST(NEWS)")
    put(manager, "A", b"1", b"2", b"3", persistence=1)
    server = Server(manager, folder, lasting=False)
    thread = threading.Thread(target=server.serve)
    thread.start()
    send, answered = Connection.send, Connection.answer

    def end() -> None:
        server.stop()
        thread.join(10)
        manager.close()

    def sends(connection, pieces):
        kind = frames.HEAD.unpack_from(b"".join(pieces))[1]
        is_last = kind == (frames.COMMIT if arguments[0] == "publish" else frames.CALL)
        if is_last and not is_sent and thread.is_alive():
            end()
        send(connection, pieces)
        if is_last and is_sent and thread.is_alive():
            answered(connection, *range(256))
            end()

    monkeypatch.setattr(Connection, "send", sends)
    ended = penstock(capsys, *(argument.format(script=script) for argument in arguments))
    monkeypatch.undo()
    if is_sent:
        assert 1 == ended.code
        assert "what was asked may be done, or a part of it: look before you ask again" in ended.err
    else:
        assert (0, "") == (ended.code, ended.err)
        assert printed in ended.out
    with QueueManager.open(folder) as left:
        assert depths == {name: left.depth(name) for name in depths}
        assert len(left.display("SUB")) == 1 + (arguments[0] == "subscribe")

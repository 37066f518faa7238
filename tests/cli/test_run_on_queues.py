"""penstock run on queues: flows that go on until they are stopped, lose nothing, and outlive their queue manager."""

import os
import signal
import subprocess
import sys

import pytest

from engine.descriptor import Descriptor
from engine.mq import QueueManager
from tests.cli.command_line import PROGRAM, ROOT, penstock
from tests.cli.queues import command, eventually, made, running, started

FLOW = """\
flow: {name}
properties: {{additionalInstances: 1}}
nodes:
  In: {{type: MQInput, queueName: {entry}}}
  Out: {{type: MQOutput, queueName: {exit}}}
wires:
  - In.out -> Out.in
"""


@pytest.fixture
def folder(tmp_path):
    return made(tmp_path / "qm", "A", "B", "C")


@pytest.fixture
def flows(tmp_path):
    files = []
    for name, entry, exit_ in (("First", "A", "B"), ("Second", "B", "C")):
        file = tmp_path / f"{name}.yaml"
        file.write_text(FLOW.format(name=name, entry=entry, exit=exit_))
        files.append(str(file))
    return files


def numbers(count):
    return "".join(f'{{"body": "{number}"}}\n' for number in range(count))


def depth(folder, queue):
    client = QueueManager.connect(folder)
    try:
        return client.depth(queue)
    finally:
        client.close()


@pytest.mark.parametrize("served", [False, True])
def test_flows_run_until_they_are_stopped(folder, flows, served):
    """Several flows in one process, beside a queue manager's or with its folder open; SIGTERM ends them with 0."""
    server = started("queue-manager", "start", str(folder), folder=folder) if served else None
    try:
        with running("run", *flows, "--queue-manager", str(folder), folder=folder):
            assert 0 == command(folder, "put", "A", "-", "--json", stdin=numbers(30)).returncode
            eventually(lambda: depth(folder, "C") == 30)
    finally:
        if server is not None:
            server.terminate()
            server.communicate(timeout=60)
            assert server.returncode == 0
    found = command(folder, "get", "C", "--all").stdout.split()
    assert sorted(map(str, range(30))) == sorted(found)


def test_a_run_goes_on_when_the_one_that_had_the_folder_ends(folder, flows):
    """It opens the folder itself then, and serves it in its turn."""
    first = started("run", flows[0], folder=folder)
    with running("run", flows[1], folder=folder) as second:
        first.send_signal(signal.SIGTERM)
        assert 0 == first.wait(30)
        first.communicate(timeout=60)
        eventually(lambda: (folder / "lock").read_text().strip() == str(second.pid), 60)
        assert 0 == command(folder, "put", "B", "--text", "later").returncode
        assert "later\n" == command(folder, "get", "C", "--wait", "30").stdout


@pytest.mark.crash
@pytest.mark.parametrize("served", [False, True])
def test_a_stop_ends_whoever_has_the_folder(folder, flows, served):
    """A queue manager's process and a run that has opened the folder end in order, and the folder is free at once."""
    arguments = ("queue-manager", "start", str(folder)) if served else ("run", flows[1])
    with running(*arguments, folder=folder) as process:
        assert 0 == command(folder, "put", "B", "--text", "x").returncode
        assert 0 == command(folder, "queue-manager", "stop", str(folder)).returncode
        with QueueManager.open(folder) as manager:
            assert 1 == manager.depth("B") + manager.depth("C")
        assert 0 == process.wait(10)


# Tells the program to end while the thread that waits for that has the lock of what it waits for.
TOLD_AS_IT_WAITS = """
import os, signal, sys, threading
from engine.cli import main

events = []

def enter(frame, event, _):
    waits = frame.f_code is threading.Event.wait.__code__
    return within if waits and frame.f_back.f_code.co_name == "run_on_queues" else None

def within(frame, event, _):
    events.append(event)
    if events.count("line") == 2:
        os.kill(os.getpid(), signal.SIGTERM)
    return within

sys.settrace(enter)
main()
"""


def test_a_run_that_is_told_to_end_as_it_becomes_ready(folder, flows):
    """It ends in order, at whatever moment of its wait for a signal that comes."""
    command_line = (sys.executable, "-c", TOLD_AS_IT_WAITS, "run", flows[0], "--queue-manager", str(folder))
    with subprocess.Popen(command_line, cwd=ROOT, stdout=subprocess.PIPE) as running:
        try:
            assert b"ready" in running.stdout.readline()
            running.send_signal(signal.SIGTERM)
            assert 0 == running.wait(20)
        finally:
            running.kill()


def test_a_get_that_waits_is_ended_by_a_stop(folder):
    """It gives the folder back, and has taken nothing."""
    environment = os.environ | {"PENSTOCK_QUEUE_MANAGER": str(folder)}
    get = subprocess.Popen([*PROGRAM, "get", "A", "--wait", "30"], env=environment)
    eventually((folder / "socket").exists)
    assert 0 == command(folder, "queue-manager", "stop", str(folder)).returncode
    assert 128 + signal.SIGTERM == get.wait(10)


def test_kills_lose_nothing(folder, flows):
    """The flow and the queue manager are killed while messages go through: each message comes out once."""
    server = started("queue-manager", "start", str(folder), folder=folder)
    flow = started("run", flows[0], folder=folder)
    assert 0 == command(folder, "put", "A", "-", "--json", stdin=numbers(300)).returncode
    eventually(lambda: depth(folder, "B") > 40)
    flow.kill()
    flow.communicate(timeout=60)
    flow = started("run", flows[0], folder=folder)
    eventually(lambda: depth(folder, "B") > 80)
    server.kill()
    server.communicate(timeout=60)
    with running("queue-manager", "start", str(folder), folder=folder):
        eventually(lambda: depth(folder, "B") == 300)  # by the flow that has found its queue manager again
        flow.send_signal(signal.SIGTERM)
        assert 0 == flow.wait(20)
        flow.communicate(timeout=60)
    found = command(folder, "get", "B", "--all").stdout.split()
    assert sorted(map(str, range(300))) == sorted(found)


REFUSALS = {
    "no such queue": (("{flow}", "--queue-manager", "{folder}"), 1, "2085"),
    "no such folder": (("{flow}", "--queue-manager", "nowhere"), 1, "nowhere"),
    "input as well": (("{flow}", "--queue-manager", "{folder}", "--input", "-", "--output", "x"), 1, "--queue-manager"),
    "of the desk": (("{flow}", "--queue-manager", "{folder}", "--ccsid", "850"), 1, "--ccsid"),
    "nothing": (("{flow}",), 2, "--queue-manager"),
}


@pytest.mark.parametrize(("arguments", "code", "said"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(folder, tmp_path, capsys, arguments, code, said):
    """What cannot run says why in one line."""
    file = tmp_path / "other.yaml"
    file.write_text(FLOW.format(name="Other", entry="NONE", exit="B"))
    ended = penstock(capsys, "run", *(argument.format(flow=file, folder=folder) for argument in arguments))
    assert (code, "") == (ended.code, ended.out)
    assert said in ended.err
    assert 1 == len(ended.err.splitlines())


def test_a_flow_that_asks_a_database_is_given_one(folder, tmp_path, capsys):
    """It does not start without a data source, so that no message fails for want of one."""
    file = tmp_path / "asking.yaml"
    nodes = '  Ask: {type: Filter, filterExpression: "EXISTS(SELECT T.ID FROM Database.T AS T)"}\n'
    nodes += "  In: {type: MQInput, queueName: A}\n  Out: {type: MQOutput, queueName: B}\n"
    file.write_text(f"flow: Asking\nnodes:\n{nodes}wires: [In.out -> Ask, Ask.true -> Out]\n")
    ended = penstock(capsys, "run", str(file), "--queue-manager", str(folder))
    assert (1, "", 1) == (ended.code, ended.out, len(ended.err.splitlines()))
    assert "the program of Ask asks a database, and there is none: give --data-source NAME=URL" in ended.err


def test_a_desk_ignores_the_queue_manager_of_the_environment(folder, flows, tmp_path):
    """With --input and --output, PENSTOCK_QUEUE_MANAGER says nothing, and no queue of it is touched."""
    (tmp_path / "message").write_text("hello")
    out = tmp_path / "out"
    ended = command(folder, "run", flows[0], "--input", str(tmp_path / "message"), "--output", str(out))
    assert (0, "") == (ended.returncode, ended.stderr)
    assert "hello" == (out / "B" / "message").read_text()
    with QueueManager.open(folder) as manager:
        assert 0 == manager.depth("B")


def test_a_message_that_fails_is_told(folder, flows):
    """Why a message went to the dead-letter queue is on stderr, and it is counted at the end."""
    with QueueManager.open(folder) as manager:
        manager.alter("QLOCAL", "B", {"PUT": "DISABLED"})
        work = manager.work()
        work.put("A", Descriptor(persistence=1), b"fails")
        work.commit()
    process = started("run", flows[0], folder=folder)
    eventually(lambda: depth(folder, "SYSTEM.DEAD.LETTER.QUEUE") == 1)
    process.terminate()
    output, errors = process.communicate(timeout=60)
    assert 0 == process.returncode
    assert b"2051" in errors or b"inhibited" in errors
    assert b"First: 2 in, 1 failed" in output


def test_commands_at_once_have_the_folder_one_after_the_other(folder):
    """Where no process runs, many commands at once reach each other or wait: each does what it was told."""
    environment = os.environ | {"PENSTOCK_QUEUE_MANAGER": str(folder)}

    def at_once(*commands: tuple[str, ...]) -> list[str]:
        pipe = subprocess.PIPE
        running = [
            subprocess.Popen([*PROGRAM, *each], env=environment, stdout=pipe, stderr=pipe, text=True)
            for each in commands
        ]
        ended = [process.communicate(timeout=120) for process in running]
        assert [""] * len(commands) == [errors for _, errors in ended]
        return sorted(output for output, _ in ended)

    at_once(*(("put", "A", "--text", f"{number:02}") for number in range(12)))
    assert [f"{number:02}\n" for number in range(12)] == at_once(*(("get", "A"),) * 12)

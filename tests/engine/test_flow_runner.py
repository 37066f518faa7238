"""Flows run on queues: instances wait for messages, are stopped at once, and outlive their queue manager's process."""

import gc
import signal
import threading
import time
import weakref
from types import SimpleNamespace

import pytest

from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.runtime import flow_runner
from engine.runtime.deployment import deploy
from engine.runtime.flow_runner import Counts, FlowRunner, Running
from flows.files import load_flow
from flows.programs import binder
from tests.broker.running import until
from tests.engine.mq.served import serving

FLOW = """\
flow: Copy
properties: {additionalInstances: 2}
nodes:
  In: {type: MQInput, queueName: IN}
  Out: {type: MQOutput, queueName: OUT}
wires:
  - In.out -> Out.in
"""


@pytest.fixture
def flow(tmp_path):
    file = tmp_path / "copy.yaml"
    file.write_text(FLOW)
    return load_flow(str(file))


@pytest.fixture
def runner():
    made = FlowRunner()
    yield made
    made.stop()
    made.join()


def running(flow, manager, counts=None):
    bound = binder(flow)
    return Running(lambda: deploy(flow, bind=bound), manager.work, meters=lambda *_: (counts or Counts(),))


def put(manager, *bodies):
    work = manager.work()
    for body in bodies:
        work.put("IN", Descriptor(), body)
    work.commit()


def got(manager, count):
    work = manager.work()
    found = [work.get("OUT", wait=10) for _ in range(count)]
    work.commit()
    return sorted(arrival.body for arrival in found)


@pytest.mark.parametrize("remote", [False, True])
def test_instances_take_messages_until_they_are_stopped(flow, runner, tmp_path, remote):
    """They wait without using the processor, and end at once when they are told to."""
    manager = QueueManager("IN", "OUT")
    with serving(manager, tmp_path) as client:
        counts = Counts()
        assert ["In"] == runner.start(running(flow, client if remote else manager, counts))
        put(client, *(b"%d" % number for number in range(50)))
        assert sorted(b"%d" % number for number in range(50)) == got(client, 50)
        before = time.process_time()
        time.sleep(0.3)
        assert time.process_time() - before < 0.05
        begun = time.monotonic()
        runner.stop()
        runner.join()
        assert time.monotonic() - begun < 2
        assert (50, 0) == (counts.messages, counts.failed)
        put(client, b"after")
        assert (1, 0) == (manager.depth("IN"), manager.depth("OUT"))


class Kept:
    """Something that a message has made."""


def test_a_failed_message_leaves_nothing_behind(flow, runner):
    """What a message has made when it failed is gone before the next one comes, though errors and frames are cycles."""
    manager, made = QueueManager("IN", "OUT"), []

    def fail(*_):
        kept = Kept()
        made.append(weakref.ref(kept))
        raise ValueError("it fails")

    def failing():
        return deploy(flow, bind=binder(flow), stand_ins={"Out": SimpleNamespace(evaluate=fail)})

    counts = Counts()
    gc.disable()
    try:
        runner.start_instance(Running(failing, manager.work, meters=lambda *_: (counts,)), failing(), "In", 1)
        put(manager, b"1", b"2")
        until(lambda: counts.failed == 2 and not any(kept() for kept in made))
    finally:
        gc.enable()


def test_a_queue_manager_that_ends_is_found_again(flow, runner, tmp_path):
    """Instances try again, with pauses, until another process serves its folder."""
    manager = QueueManager("IN", "OUT")
    with serving(manager, tmp_path) as client:
        runner.start(running(flow, client))
        put(client, b"first")
        assert [b"first"] == got(client, 1)
    put(manager, b"meanwhile")
    time.sleep(0.2)
    with serving(manager, tmp_path) as client:
        assert [b"meanwhile"] == got(client, 1)


def test_meters_are_told_of_long_waits(flow, runner, monkeypatch):
    """What was done before a wait is counted though no message ends it."""
    monkeypatch.setattr(flow_runner, "_WAIT", 0.05)
    told = threading.Event()

    class Waits(Counts):
        def done(self, outcome):
            super().done(outcome)
            if outcome is None and self.messages:
                told.set()

    manager = QueueManager("IN", "OUT")
    runner.start(running(flow, manager, Waits()))
    put(manager, b"one")
    assert [b"one"] == got(manager, 1)
    assert told.wait(10)


def test_a_queue_that_cannot_be_read_is_tried_again(flow, runner):
    """A flow whose queue is inhibited goes on when it is not any more."""
    manager = QueueManager("IN", "OUT")
    manager.alter("QLOCAL", "IN", {"GET": "DISABLED"})
    put(manager, b"waits")
    runner.start(running(flow, manager))
    timer = threading.Timer(0.1, manager.alter, ("QLOCAL", "IN", {"GET": "ENABLED"}))
    timer.start()
    assert [b"waits"] == got(manager, 1)
    timer.join()


ENDLESS = "WHILE TRUE DO SET OutputRoot.XMLNSC.a = 'x'; END WHILE;"
HANDLED = f"DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE '%' BEGIN END; {ENDLESS}"
CAUGHT = """\
flow: Caught
nodes:
  In: {{type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}}
  Try: {{type: TryCatch}}
  Tries: {{type: Compute, computeExpression: "{tried}"}}
  Catches: {{type: Compute, computeExpression: "{caught}"}}
  Out: {{type: MQOutput, queueName: OUT}}
wires: [In.out -> Try, Try.try -> Tries, Try.catch -> Catches, Tries.out -> Out, Catches.out -> Out]
"""


@pytest.mark.parametrize(("tried", "caught"), [(ENDLESS, ENDLESS), (HANDLED, "")], ids=["node", "handler"])
def test_who_catches_the_end_of_a_message_does_not_go_on_for_ever(tmp_path, tried, caught):
    """Behind the limit of processor time no handler of a program goes on, and a TryCatch node as long again."""
    file = tmp_path / "caught.yaml"
    file.write_text(CAUGHT.format(tried=tried, caught=caught))
    flow, work = load_flow(str(file)), QueueManager("IN", "OUT").work()
    deployed = deploy(flow, bind=binder(flow))
    work.put("IN", Descriptor(), b"<a/>")
    work.commit()
    before, begun = signal.getsignal(signal.SIGVTALRM), time.process_time()
    flow_runner.fail_when_too_long(0.2)
    try:
        outcome = flow_runner._limited(0.2, deployed.process, deployed.entrances[0], work, None)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert time.process_time() - begun < 10
    assert bool(caught) == ("0.2 s of processor time" in str(outcome.error))

"""Workload management: processing timeouts, and notification thresholds."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.broker import workload_limits
from engine.broker.changes import as_it_ran
from engine.broker.definition import FlowUse
from engine.broker.flow_builds import candidate
from engine.broker.state import BrokerState, DeployedUse
from engine.broker.workload_limits import ABOVE, BELOW, FINISHED, TIMED_OUT, Deadline, Thresholds
from engine.errors import ConfigurationException
from tests.broker.running import Running, broker, flow, until

SLOW = (
    "SET OutputRoot = InputRoot; DECLARE i INTEGER 0;"
    " IF InputRoot.XMLNSC.slow IS NOT NULL THEN CALL SLEEP(1500); END IF;"
    " IF InputRoot.XMLNSC.endless IS NOT NULL THEN WHILE TRUE DO SET i = i + 1; END WHILE; END IF;"
)
TOPIC = "$SYS/Broker/shop/WorkloadManagement/#"


def test_overruns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message that takes too long is told of once while it is in hand, or behind its end, and its end is told."""
    now = 100.0
    monkeypatch.setattr(workload_limits, "monotonic", lambda: now)
    entrance: Any = SimpleNamespace(node=SimpleNamespace(receive=lambda work: work))
    deadline = Deadline(2, entrance)
    found = []

    def step(seconds: float, *, comes: bool = False, ends: bool = False) -> None:
        nonlocal now
        now += seconds
        if comes:
            entrance.node.receive("a message")
        if ends:
            deadline.done(None)
        found.append([(over.kind, round(over.seconds, 3), over.in_hand) for over in deadline.overruns()])

    step(1, comes=True)
    step(2)
    step(0.5)
    step(0.1)
    step(1, ends=True)
    step(1, comes=True)
    step(1.9, ends=True)
    step(1, comes=True)
    step(2.5, ends=True)
    step(9)
    assert [
        [],
        [],
        [(TIMED_OUT, 2.5, True)],
        [],
        [(FINISHED, 3.6, False)],
        [],
        [],
        [],
        [(TIMED_OUT, 2.5, False), (FINISHED, 2.5, False)],
        [],
    ] == found


def test_thresholds() -> None:
    """Going above a threshold is told once, coming back too, and the end of a flow that is above its own."""
    thresholds, use, free = Thresholds(), DeployedUse("F", "", notified_rate=10), DeployedUse("G", "")
    rates: list[list[float]] = [[10, 99], [11, 99], [30, 99], [10, 99], [12, 99], [], []]
    found = [
        [event.kind for event in thresholds.crossed(zip(["g", "g"], [use, free], each, strict=False))] for each in rates
    ]
    assert [[], [ABOVE], [], [BELOW], [ABOVE], [BELOW], []] == found


def _subscribed(made: Running) -> None:
    with closing(made.queues()) as manager:
        manager.define("QLOCAL", "TOLD", {})
        manager.define("SUB", "TELL", {"TOPICSTR": TOPIC, "DEST": "TOLD"})


def test_events_of_a_running_broker(tmp_path: Path) -> None:
    """A slow message and a high rate are logged and published, also where statistics are off; the message goes on."""
    file = flow(tmp_path, "F", program=SLOW)
    said = "properties: {processingTimeoutSec: 1, notificationThresholdMsgsPerSec: 5}\nnodes:"
    file.write_text(file.read_text("utf-8").replace("nodes:", said), "utf-8")
    with broker(tmp_path, file, more="statisticsSeconds: 1\n") as made:
        _subscribed(made)
        made.run("stats", str(made.folder), "F", "--level", "none")
        made.put("IN", b"<slow/>")
        assert [b"<slow/>"] == made.get("OUT", 1)
        told = made.get("TOLD", 2)
        assert [b'<ProcessingTimeout><MessageFlow label="F"', b'<ProcessingFinished><MessageFlow label="F"'] == [
            body[body.index(b"<Processing") :].partition(b' processingTimeoutSec="1"')[0] for body in told
        ]
        made.put("IN", *[b"<a/>"] * 40)
        assert [True, True] == [
            kind in body for kind, body in zip((b"<Above", b"<Below"), made.get("TOLD", 2), strict=True)
        ]
        assert "takes longer than the 1 s of processingTimeoutSec" in made.log()
        assert [] == made.json("stats", str(made.folder))


@pytest.mark.crash
def test_a_group_that_restarts(tmp_path: Path) -> None:
    """With restartExecutionGroup, what takes too long is backed out, the group starts again, and others go on."""
    file = flow(tmp_path, "F", program=SLOW)
    said = "properties: {processingTimeoutSec: 1, processingTimeoutAction: restartExecutionGroup}\nnodes:"
    file.write_text(file.read_text("utf-8").replace("nodes:", said), "utf-8")
    with broker(tmp_path, file) as made:
        before = made.process("default")
        made.put("IN", b"<endless/>", b"<a/>")
        assert [b"<a/>"] == made.get("OUT", 1, seconds=30)
        assert [True] == [body.endswith(b"<endless/>") for body in made.get("SYSTEM.DEAD.LETTER.QUEUE", 1)]
        assert before != made.process("default")
        assert "it is backed out, and the execution group starts again" in made.log()
        until(lambda: bool(made.workers()))


@pytest.mark.parametrize("name", ["wlmPolicy", "securityProfileName", "monitoringProfile"])
def test_policies_are_refused(tmp_path: Path, name: str) -> None:
    """A flow that asks for a policy or profile which cannot be there is refused, with what to do instead."""
    file = flow(tmp_path, "F")
    file.write_text(file.read_text("utf-8").replace("nodes:", f"properties: {{{name}: P}}\nnodes:"), "utf-8")
    with pytest.raises(ConfigurationException, match=f"flow F: there is no {name} P here: "):
        candidate(FlowUse(str(file), "default"), BrokerState("B"))


@pytest.mark.parametrize(
    ("mode", "first", "stopped", "running"),
    [("Maintained", True, False, True), ("Automatic", True, True, True), ("Manual", False, False, False)],
)
def test_start_modes(tmp_path: Path, mode: str, first: bool, stopped: bool, running: bool) -> None:
    """A flow that is deployed runs as its startMode says, and as the one that it replaces did."""
    file = flow(tmp_path, "F")
    file.write_text(file.read_text("utf-8").replace("nodes:", f"properties: {{startMode: {mode}}}\nnodes:"), "utf-8")
    made = candidate(FlowUse(str(file), "default"), BrokerState("B"))
    assert made is not None
    before = [None, replace(made.use, running=False), replace(made.use, running=True)]
    assert [first, stopped, running] == [as_it_ran(made.use, one).running for one in before]


@pytest.mark.crash
def test_start_modes_at_a_start_of_the_broker(tmp_path: Path) -> None:
    """A start runs what is Automatic, not what is Manual, and keeps what is Maintained as it was left."""
    modes = ("Automatic", "Manual", "Maintained")
    files = [flow(tmp_path, mode, reads=f"IN.{mode}") for mode in modes]
    for file, mode in zip(files, modes, strict=True):
        said = f"properties: {{startMode: {mode}}}\nnodes:"
        file.write_text(file.read_text("utf-8").replace("nodes:", said), "utf-8")
    with broker(tmp_path, *files) as made:
        name = str(made.folder)

        def running() -> dict[str, bool]:
            return {one["flow"]: one["state"] == "running" for one in made.json("flow", "list", name)}

        made.run("flow", "stop", name, "Automatic")
        made.run("flow", "stop", name, "Maintained")
        made.run("flow", "start", name, "Manual")
        assert {"Automatic": False, "Manual": True, "Maintained": False} == running()
        made.run("broker", "stop", name)
        made.start()
        assert {"Automatic": True, "Manual": False, "Maintained": False} == running()
        assert "startMode: default/Automatic runs, default/Manual stopped" in made.run("broker", "history", name)


def test_commands_need_not_wait_for_a_message(tmp_path: Path) -> None:
    """-w of IBM's programs ends the wait for a slow message, and -i of mqsistop has it backed out: nothing is lost."""
    slow = "CALL SLEEP(60000); SET OutputRoot = InputRoot;"
    with broker(tmp_path, flow(tmp_path, "F", program=slow)) as made:
        name = str(made.folder)
        made.put("IN", b"<a/>")
        with closing(made.queues()) as queues:
            until(lambda: queues.depth("IN") == 0)
        begun = time.monotonic()
        said = made.named("mqsistopmsgflow", name, "-e", "default", "-m", "F", "-w", "2", code=80)
        assert "BIP2080E: the broker has not answered within 2 seconds" in said
        made.named("mqsistop", name, "-i")
        assert time.monotonic() - begun < 20
        assert "stops the broker at once" in made.log()
        assert made.run("get", "IN", "--broker", name) == "<a/>\n"


GROWING = {
    "a text": "DECLARE c CHARACTER 'xxxxxxxx'; WHILE InputRoot.XMLNSC.big IS NOT NULL DO SET c = c || c; END WHILE;",
    "a tree": (
        "DECLARE i INTEGER 0; WHILE InputRoot.XMLNSC.big IS NOT NULL DO SET i = i + 1;"
        " SET Environment.v[i].x = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'; END WHILE;"
    ),
}
SHARED = (
    "CREATE COMPUTE MODULE S DECLARE n SHARED INTEGER 0; CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN"
    " WHILE InputRoot.XMLNSC.big IS NOT NULL DO SET n = n + 1; END WHILE;"
    " SET OutputRoot = InputRoot; RETURN TRUE; END; END MODULE;"
)
GROUPS = """\
  default: {LIMITS, flows: [../F0.yaml, ../F1.yaml]}
  threads: {limits: {cpuSecondsPerMessage: 1}, flows: [{flow: ../F2.yaml, additionalInstances: 1}]}
"""


def test_messages_over_the_limits_of_their_group(tmp_path: Path) -> None:
    """A message that takes more memory or time than its group's limit fails by itself, also in threads."""
    (tmp_path / "s.esql").write_text(SHARED, encoding="utf-8")
    programs = (*(f"{text} SET OutputRoot = InputRoot;" for text in GROWING.values()), "S")
    files = [flow(tmp_path, f"F{n}", f"IN{n}", program=program) for n, program in enumerate(programs)]
    with broker(tmp_path, *files) as made:
        name, file = str(made.folder), made.folder / "broker.yaml"
        text = file.read_text("utf-8").partition("  default:")[0] + GROUPS
        file.write_text(text.replace("LIMITS", "limits: {memory: 20m}"), encoding="utf-8")
        refused = made.run("deploy", name, str(file), fails=True)
        assert "the limit of 20 MiB of memory of the execution group default is too low for" in refused
        assert {"queue manager": "running", "default": "running"} == {
            one["name"]: one["state"] for one in made.status()["processes"]
        }
        made.put("IN0", b"<a/>")
        assert [b"<a/>"] == made.get("OUT", 1)
        file.write_text(text.replace("LIMITS", "limits: {memory: 150m}"), encoding="utf-8")
        made.run("deploy", name, str(file))
        workers = made.workers() + made.workers("threads")
        for _ in range(2):
            for queue in ("IN0", "IN1", "IN2"):
                made.put(queue, b"<big/>", b"<a/>")
            assert [b"<a/>"] * 3 == made.get("OUT", 3)
        assert 6 == len(made.get("SYSTEM.DEAD.LETTER.QUEUE", 6))
        assert workers == made.workers() + made.workers("threads")
        log = made.log()
        assert (4, 2) == tuple(log.count(said) for said in ("bytes of memory: raise", "1 seconds of processor time"))

"""The desk: a flow over messages, one after the other, each followed until no queue of the flow holds anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.errors import ConfigurationException
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.runtime.file_run import Letter, Passage, files_of, run

IN, OUT = "MQInput", "MQOutput"


def flow_of(nodes: dict[str, tuple[str, dict[str, str]]], *wires: tuple[str, str, str]) -> Flow:
    uses = (NodeUse(n, t, tuple(Setting(k, v) for k, v in settings.items())) for n, (t, settings) in nodes.items())
    return Flow("F", nodes=tuple(uses), wires=tuple(Wire(*wire) for wire in wires))


def passages(flow: Flow, *bodies: bytes, queue: str = "") -> list[Passage]:
    letters = (Letter(f"m{number}", Descriptor(), body) for number, body in enumerate(bodies, 1))
    return list(run(flow, letters, queue=queue))


ONE = flow_of({"In": (IN, {"queueName": "A"}), "Out": (OUT, {"queueName": "B"})}, ("In", "out", "Out"))
CHAIN = flow_of(
    {
        "In": (IN, {"queueName": "A"}),
        "Step": (OUT, {"queueName": "M"}),
        "Next": (IN, {"queueName": "M"}),
        "Out": (OUT, {"queueName": "B"}),
    },
    ("Next", "out", "Out"),
    ("In", "out", "Step"),
)


def test_each_message_by_itself() -> None:
    """Each message is a passage of its own: its name, its wires, what was put, in the order in which they came."""
    first, second = passages(ONE, b"one", b"two")
    assert (first.name, second.name) == ("m1", "m2")
    assert first.wires == second.wires == (("In", "out", "Out"),)
    assert [(sent.queue, sent.arrival.body) for sent in first.sent] == [("B", b"one")]
    assert [(sent.queue, sent.arrival.body) for sent in second.sent] == [("B", b"two")]
    assert first.error is None


def test_a_flow_that_feeds_itself_is_run_to_its_end() -> None:
    """A message is followed over every queue that the flow reads; those queues are not what was sent."""
    (passage,) = passages(CHAIN, b"x", queue="A")
    assert passage.wires == (("In", "out", "Step"), ("Next", "out", "Out"))
    assert [(sent.queue, sent.arrival.body) for sent in passage.sent] == [("B", b"x")]


def test_messages_enter_where_they_are_told() -> None:
    """A flow that reads two queues is entered by the one that is named."""
    (passage,) = passages(CHAIN, b"x", queue="M")
    assert passage.wires == (("Next", "out", "Out"),)


def test_a_failure_is_that_of_its_message() -> None:
    """A message that fails is a dead letter with its error; the next one is as good as before."""
    nodes = {
        "In": (IN, {"queueName": "A", "messageDomainProperty": "XMLNSC"}),
        "Out": (OUT, {"destinationMode": "reply"}),
    }
    flow = flow_of(nodes, ("In", "out", "Out"))
    letters = [Letter("bad", Descriptor(), b"x"), Letter("good", Descriptor(reply_to_q="R"), b"y")]
    bad, good = run(flow, letters)
    assert bad.error is not None
    assert (bad.error.number, bad.error.place.node) == (2635, "Out")
    assert [(sent.queue, sent.arrival.body[172:]) for sent in bad.sent] == [("SYSTEM.DEAD.LETTER.QUEUE", b"x")]
    assert good.error is None
    assert [(sent.queue, sent.arrival.body) for sent in good.sent] == [("R", b"y")]


REFUSALS = [
    (CHAIN, "", "flow F reads A, M: say which by --queue"),
    (CHAIN, "B", "flow F does not read B; it reads A, M"),
    (flow_of({"Out": (OUT, {"queueName": "B"})}), "", "flow F reads no queue: give it an MQInput node"),
]


@pytest.mark.parametrize(("flow", "queue", "text"), REFUSALS)
def test_refusals(flow: Flow, queue: str, text: str) -> None:
    """Where messages are to enter must be clear."""
    with pytest.raises(ConfigurationException) as caught:
        passages(flow, b"x", queue=queue)
    assert text == caught.value.text


def test_a_message_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one queue that feeds itself nor two that feed each other run for ever, and the next message is sent."""
    monkeypatch.setattr("engine.runtime.file_run.MOST_ROUNDS", 30)
    circle = flow_of(
        {
            "In": (IN, {"queueName": "A"}),
            "Step": (OUT, {"queueName": "M"}),
            "Next": (IN, {"queueName": "M"}),
            "Back": (OUT, {"queueName": "A"}),
        },
        ("In", "out", "Step"),
        ("Next", "out", "Back"),
    )
    own = flow_of({"In": (IN, {"queueName": "A"}), "Out": (OUT, {"queueName": "A"})}, ("In", "out", "Out"))
    for flow, queue in ((own, ""), (circle, "A")):
        first, second = passages(flow, b"x", b"y", queue=queue)
        for passage in (first, second):
            assert passage.error is not None
            assert "went round more than 30 times" in passage.error.text


def test_files_of(tmp_path: Path) -> None:
    """A file is itself; a directory is its files by name, without hidden ones and directories; it must hold some."""
    for name in ("b", "a", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "inner").mkdir()
    assert files_of(tmp_path) == [tmp_path / "a", tmp_path / "b"]
    assert files_of(tmp_path / "b") == [tmp_path / "b"]
    with pytest.raises(ConfigurationException, match="inner holds no files"):
        files_of(tmp_path / "inner")

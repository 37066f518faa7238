"""Threads that work on the queues of commands, beside definitions that come at the same time."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from engine.flow.command_answers import Answered
from engine.mq import QueueManager
from engine.mq.topics import commands
from engine.mq.topics.asking import Asked
from engine.mq.topics.commands import CONTROL, STREAM
from engine.mq.unit import Work
from tests.engine.mq.test_commands import OK, REG, ask, manager


@pytest.mark.parametrize("queue", [CONTROL, STREAM])
def test_a_queue_of_commands_is_a_destination(queue: str) -> None:
    """Publications may go to a queue of commands that nothing has been put to before; definitions go on behind that."""
    queues = QueueManager("ANSWERS", name="QM1")

    def define() -> None:
        queues.mqsc(f"DEFINE SUB(S) TOPICSTR(t) DEST({queue})\nDEFINE QLOCAL(LATER)")

    thread = threading.Thread(target=define, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert ["S"] == [one["SUB"] for one in queues.display("SUB")]
    assert {queue, "LATER"} <= set(queues.names())


def test_a_definition_that_comes_as_a_listener_ends_has_it_listen_again() -> None:
    """Gets that are allowed again just as they were found inhibited do not leave commands lie."""
    queues, asked = manager(), [0]
    listener: Any = queues.topics._listeners._found[CONTROL]
    queues.topics.drain()

    class State:
        def __enter__(self, lock: Any = listener._state) -> None:
            asked[0] += threading.current_thread().name == f"commands on {CONTROL}"
            if asked[0] == 2:  # behind the get that failed
                asked[0] += 1
                allow = threading.Thread(target=queues.mqsc, args=(f"ALTER QLOCAL({CONTROL}) GET(ENABLED)",))
                allow.start()
                allow.join(10)
            lock.acquire()

        def __exit__(self, *_: object, lock: Any = listener._state) -> None:
            lock.release()

    listener._state = State()
    queues.mqsc(f"ALTER QLOCAL({CONTROL}) GET(DISABLED)")
    queues.topics.drain()
    assert (OK, True) == (ask(queues, REG), asked[0] > 2)


@pytest.mark.parametrize(("times", "answer", "letters"), [(1, OK, 0), (9, "", 1)])
def test_a_command_that_fails_as_nobody_foresaw_keeps_no_other_from_it(
    monkeypatch: pytest.MonkeyPatch, times: int, answer: str, letters: int
) -> None:
    """It is tried again, as one that met another queue's command by the way, and put away where it fails each time."""
    queues, carry_out, left = manager(), commands.carry_out, [times]

    def fail(manager: QueueManager, work: Work, command: Asked) -> Answered:
        if command.one("Topic") == "odd" and left[0]:
            left[0] -= 1
            raise KeyError("odd")
        return carry_out(manager, work, command)

    monkeypatch.setattr(commands, "carry_out", fail)
    assert [answer, OK] == [ask(queues, REG.replace("n/+", "odd")), ask(queues, REG)]
    assert letters == queues.depth(queues.dead_letter_queue)


def test_listeners_may_come_while_others_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a queue manager waits for commands also where the second queue of commands is used meanwhile."""
    queues, carry_out = QueueManager("Q", "ANSWERS", name="QM1"), commands.carry_out

    def carry_out_with_another(manager: QueueManager, work: Work, command: Asked) -> Answered:
        queues.mqsc(f"DEFINE QLOCAL({STREAM})")
        return carry_out(manager, work, command)

    monkeypatch.setattr(commands, "carry_out", carry_out_with_another)
    assert OK == ask(queues, REG)

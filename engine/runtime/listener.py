"""Listening: a node's work told to someone, message by message, as it leaves the node."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeAlias

from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.work import UnitOfWork

Evaluation: TypeAlias = Generator[tuple[str, Message], bool, None]
Listen: TypeAlias = Callable[[str, str, Message], None]


def heard(
    label: str, evaluate: Callable[[Message, UnitOfWork], Evaluation], listen: Listen
) -> Callable[[Message, UnitOfWork], Evaluation]:
    """Returns the same work, of which each message and its terminal are told before they go on."""

    def work_and_tell(message: Message, work: UnitOfWork) -> Evaluation:
        evaluation = evaluate(message, work)
        try:
            terminal, sent = next(evaluation)
            while True:
                listen(label, terminal, sent)
                try:
                    wired = yield terminal, sent
                except BrokerError as error:
                    terminal, sent = evaluation.throw(error)
                else:
                    terminal, sent = evaluation.send(wired)
        except StopIteration:
            return
        finally:
            evaluation.close()

    return work_and_tell

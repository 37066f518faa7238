"""Programs that work with databases: the connections of a unit of work, and commits at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.databases.session import Access, Session
from engine.errors import BrokerError
from engine.message import Message
from esql.program import Evaluation, Routine

if TYPE_CHECKING:
    from engine.work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Asking:
    """A program and how its node works with databases; a program without statements of databases asks nothing."""

    program: Routine
    access: Access
    asks: bool

    def __call__(self, message: Message, work: UnitOfWork) -> Evaluation:
        """Run the program for a message, with the databases of the unit of work."""
        connection = self.access.connection(work) if self.asks else None
        if connection is None:
            return self.program(message)
        evaluation = self.program(message, connection)
        return _committed(evaluation, connection.session) if self.access.at_once else evaluation


def asking(program: Routine, access: Access) -> Asking:
    """A program with its node's way to databases."""
    return Asking(program, access, program.may_ask_databases)


def _committed(evaluation: Evaluation, session: Session) -> Evaluation:
    """What a program sends, its work in databases committed before that and at its end."""
    try:
        terminal, sent = next(evaluation)
        while True:
            session.commit_at_once()
            try:
                wired = yield terminal, sent
            except BrokerError as error:
                terminal, sent = evaluation.throw(error)
            else:
                terminal, sent = evaluation.send(wired)
    except StopIteration:
        return
    finally:
        session.commit_at_once()

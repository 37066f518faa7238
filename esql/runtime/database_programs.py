"""Programs that work with databases: the connections of a unit of work, and commits at once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, fields
from typing import Annotated, Final, Literal

from engine.databases.session import Access, Session
from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.node import ANY_LABEL, Esql, mandatory, prop
from engine.work import UnitOfWork, sent_on
from esql.runtime.program import Evaluation, Routine, bound

DATA_SOURCE: Final = "The data source of statements that name none; empty: the first that there is."
TRANSACTION: Final = (
    "When work in databases ends: automatic with the flow's unit of work, commit with the node, whatever comes of the"
    " message."
)
WARNINGS: Final = "Whether a warning of the database, such as that UPDATE found no row, is an error."
THROWS: Final = "Whether an error of the database is one of the node; else the program looks at SQLCODE and SQLSTATE."


@dataclass(frozen=True, slots=True)
class Asking:
    """A program and how its node works with databases; a program without statements of databases asks nothing."""

    program: Routine
    access: Access
    asks: bool

    def __call__(self, message: Message, work: UnitOfWork) -> Evaluation:
        """Run the program for a message, with the databases of the unit of work."""
        connection = self.access.connection(work) if self.asks else None
        evaluation = self.program(message, work, connection)
        if self.program.entrance.yields:
            evaluation = _delivered(evaluation)
        if connection is None or not self.access.at_once:
            return evaluation
        return _committed(evaluation, connection.session)


@dataclass(frozen=True, slots=True)
class StatementNode:
    """The properties and the work of nodes that have one program, `statement`, which works with databases."""

    statement: Annotated[Routine, Esql("database")] = mandatory("The program; each node says what it does.")

    data_source: str = prop("", DATA_SOURCE)
    transaction: Literal["automatic", "commit"] = prop("automatic", TRANSACTION)
    treat_warnings_as_errors: bool = prop(False, WARNINGS)
    throw_exception_on_database_error: bool = prop(True, THROWS)

    _program: Routine | Asking = field(init=False, repr=False)

    def __post_init__(self) -> None:
        access = Access(
            self.data_source,
            at_once=self.transaction == "commit",
            warnings_fail=self.treat_warnings_as_errors,
            throws=self.throw_exception_on_database_error,
        )
        program = bound(self.statement, fields(self)[0].metadata["name"] or "statement")
        object.__setattr__(self, "_program", asking(program, access))

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        """Run the program, and send what it sends."""
        return self._program(message, work)


_LABEL: Final = ANY_LABEL.removesuffix("*")
_NOWHERE: Final = "nowhere"
_NO_LABEL: Final = 4245


def asking(program: Routine, access: Access) -> Routine | Asking:
    """A program with its node's way to databases, and with one for what PROPAGATE sends, if it needs any."""
    if not (program.entrance.yields or program.may_ask_databases):
        return program
    return Asking(program, access, program.may_ask_databases)


def _committed(evaluation: Evaluation, session: Session) -> Evaluation:
    """Yields the messages that a program sends; commits its work in databases before each of them and at the end."""
    try:
        yield from sent_on(evaluation, lambda _, __: session.commit_at_once())
    finally:
        session.commit_at_once()


def _delivered(evaluation: Evaluation) -> Evaluation:
    """Yields the messages that PROPAGATE sends to a terminal; an unknown Label raises an error in the statement."""
    try:
        terminal, sent = next(evaluation)
        while True:
            wired = False
            if terminal != _NOWHERE:
                try:
                    wired = yield terminal, sent
                except BrokerError as error:
                    terminal, sent = evaluation.throw(error)
                    continue
            if not wired and terminal.startswith(_LABEL):
                terminal, sent = evaluation.throw(_no_label(terminal.removeprefix(_LABEL)))
            else:
                terminal, sent = evaluation.send(wired)
    except StopIteration:
        return


def _no_label(name: str) -> BrokerError:
    text = f"PROPAGATE TO LABEL {name}: the flow has no Label node of this labelName"
    return BrokerError(_NO_LABEL, text, name)

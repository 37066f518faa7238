"""Compute: new messages made by an ESQL program."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from engine.databases.session import Access
from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.message.validation import ACTION_WORDS, Action, InheritedMaster, Validation, validate_body, wanted_of
from engine.node import ANY_LABEL, FAILURE, Esql, mandatory, node, prop
from esql.runtime.database_programs import DATA_SOURCE, THROWS, TRANSACTION, WARNINGS, Asking, asking
from esql.runtime.program import Evaluation, Routine, bound

if TYPE_CHECKING:
    from engine.tree.element import Element
    from engine.work import UnitOfWork


@node("Compute", outputs=("out", "out1", "out2", "out3", "out4", ANY_LABEL))
@dataclass(frozen=True, slots=True)
class Compute:
    """Run an ESQL program that builds output trees and sends them on, by its end or by PROPAGATE."""

    compute_expression: Annotated[Routine, Esql("compute")] = mandatory(
        "The program: the name of a COMPUTE module of a .esql file, or the statements themselves."
    )
    compute_mode: Literal[
        "message",
        "destination",
        "destinationAndMessage",
        "exception",
        "exceptionAndMessage",
        "exceptionAndDestination",
        "all",
    ] = prop("message", "Which output trees go on: message is Root, destination LocalEnvironment; else the input's do.")

    data_source: str = prop("", DATA_SOURCE)
    transaction: Literal["automatic", "commit"] = prop("automatic", TRANSACTION)
    treat_warnings_as_errors: bool = prop(False, WARNINGS)
    throw_exception_on_database_error: bool = prop(True, THROWS)
    validate_master: InheritedMaster = prop(
        "none",
        "What of the body is validated by its message set when a new Root goes out, but to failure; inherit: what the"
        " input node asked for.",
    )
    validate_failure_action: Action = prop("exception", ACTION_WORDS)

    _program: Routine | Asking = field(init=False, repr=False)

    def __post_init__(self) -> None:
        program = bound(self.compute_expression, "computeExpression")
        access = Access(
            self.data_source,
            at_once=self.transaction == "commit",
            warnings_fail=self.treat_warnings_as_errors,
            throws=self.throw_exception_on_database_error,
        )
        object.__setattr__(self, "_program", asking(program.sending(self.compute_mode), access))

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        program = self._program
        evaluation = program(message, work)
        if self.validate_master == "none":
            return evaluation
        wanted = wanted_of(message.root, self.validate_master, self.validate_failure_action)
        return _validated(evaluation, message.root, wanted)


def _validated(evaluation: Evaluation, given: Element, wanted: Validation) -> Evaluation:
    """Returns what a program sends, if it is valid; what is not fails where it is sent from."""
    try:
        terminal, sent = next(evaluation)
        while True:
            try:
                if terminal != FAILURE and sent.root is not given:
                    validate_body(sent.root, wanted)
                wired = yield terminal, sent
            except BrokerError as error:
                terminal, sent = evaluation.throw(error)
                continue
            terminal, sent = evaluation.send(wired)
    except StopIteration:
        return

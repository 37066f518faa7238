"""TryCatch: catch what fails further down a flow."""

from __future__ import annotations

import logging
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import LOCAL_ERROR, BrokerError
from engine.message.assembly import Message
from engine.node import node
from engine.tree.dump import dump

if TYPE_CHECKING:
    from engine.work import UnitOfWork


@node("TryCatch", outputs=("try", "catch"), failure=False, category="error")
@dataclass(frozen=True, slots=True)
class TryCatch:
    """Send the message to `try` and, where that fails, as it came and with the ExceptionList to `catch`.

    Where nothing is wired to `catch`, the message is discarded as if it had been dealt with, which is what IBM's node
    does; the local error log then says what has failed. An ExceptionList that the message came with is replaced, and
    written to that log as well.
    """

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        try:
            yield "try", message
        except BrokerError as error:
            log = logging.getLogger(LOCAL_ERROR)
            if log.isEnabledFor(logging.INFO) and message.exceptions.first_child is not None:
                log.info("%s", dump(message.exceptions))
            if not (yield "catch", message.failed(error)):
                log.info("discarded by a TryCatch node with nothing wired to catch: %s", error)

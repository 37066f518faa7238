"""Listening to nodes: the messages that leave one told to a function, and the lines of the user trace.

The lines say what messages do, as the product writes them. A flow is traced or not when it is deployed: traced
stations and traced programs write, all others know nothing of it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from datetime import datetime
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from engine.errors import USER_TRACE, BrokerError
from engine.message.assembly import Message
from engine.message.received import Received
from engine.work import UnitOfWork, sent_on

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.errors import Place
    from engine.work import Arrival, Selection


INVOKED: Final = 3904
RECEIVED: Final = 2632
PROPAGATED: Final = 4015
OF_COMPUTE: Final = 4124
PUT: Final = 2638
PARSER: Final = 6060
STATEMENT: Final = 2488
_FAILED: Final = 2230

Level = Literal["normal", "debug"]


class UserTrace:
    """Writes the lines of one flow; at debug level also which nodes run, what parsers are for, and values of ESQL."""

    __slots__ = ("_log", "level")

    def __init__(self, level: Level, log: logging.Logger | None = None) -> None:
        self.level = level
        self._log = logging.getLogger(USER_TRACE) if log is None else log

    def write(self, number: int, text: str, kind: str = "I") -> None:
        """One line; its number, and I for what is normal or E for an error."""
        self._log.info("BIP%04d%s: %s", number, kind, text)

    def invoked(self, place: Place, message: Message, *, enters: bool) -> None:
        """A node starts on a message."""
        if self.level == "debug":
            self.write(
                INVOKED, f"Invoking the evaluate() method of node (class='{place.type}', name='{place.of_node}')."
            )
        if enters:
            self._parsers(place, message)

    def _parsers(self, place: Place, message: Message) -> None:
        source = message.root.source
        if self.level != "debug" or not isinstance(source, Received):
            return
        try:
            parts = source.parts
        except BrokerError:
            return  # the message will fail, and say so
        for part in parts:
            size, at = part.portion.end - part.portion.start, part.portion.start
            self.write(
                PARSER,
                f"Parser type ''{part.parser.name}'' created on behalf of node '{place.of_node}' to handle portion of"
                f" incoming message of length '{size}' bytes beginning at offset '{at}'.",
            )

    def propagated(self, place: Place, terminal: str) -> None:
        """A message goes out of a terminal to a node that is wired to it."""
        label = place.of_node
        if place.type == "ComIbmMQInputNode":
            self.write(
                RECEIVED, f"Message received and propagated to '{terminal}' terminal of MQ Input node '{label}'."
            )
        elif place.type == "ComIbmComputeNode":
            self.write(OF_COMPUTE, f"Message propagated to '{terminal}' terminal of compute node '{label}'.")
        else:
            self.write(PROPAGATED, f"Message propagated to the '{terminal}' terminal of node '{label}'.")

    def failed(self, place: Place, error: BrokerError) -> None:
        """A node has failed by itself."""
        self.write(_FAILED, f"Error detected whilst processing a message in node '{place.of_node}'.", "E")
        for around in takewhile(lambda one: isinstance(one, BrokerError), error.passed):
            self._left(around)
        at: BaseException | None = error
        while isinstance(at, BrokerError):
            where = f" ({at.place})" if at.place.file else ""
            self.write(at.number, f"{at.text}{where}", "E")
            at = at.__cause__

    def _left(self, around: Place | BrokerError) -> None:
        """Returns what was failing around it: a statement by its routine, its position and its text."""
        if isinstance(around, BrokerError) and around.number == STATEMENT:
            routine, position, text = (insert.text for insert in around.inserts)
            said = f" ('{routine}', '{position}') Error detected whilst executing the SQL statement ''{text}''."
            self.write(STATEMENT, said, "E")

    def put(self, place: Place, queue: str, manager: str) -> None:
        """A message has been put."""
        self.write(
            PUT,
            f"The MQ Output node '{place.of_node}' attempted to write a message to queue ''{queue}'' connected to queue"
            f" manager ''{manager}''. The MQCC was '0' and the MQRC was '0'.",
        )


class TracedWork:
    """A unit of work in the hands of a traced node: its puts are written to the trace."""

    __slots__ = ("_place", "_trace", "_work")

    def __init__(self, work: UnitOfWork, trace: UserTrace, place: Place) -> None:
        self._work: UnitOfWork = work.untraced if isinstance(work, TracedWork) else work
        self._trace = trace
        self._place = place

    @property
    def untraced(self) -> UnitOfWork:
        """The unit of work itself."""
        return self._work

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    def get(
        self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True, wait: float = 0.0
    ) -> Arrival | None:
        """Take the next message of a queue."""
        return self._work.get(queue, selection, syncpoint=syncpoint, wait=wait)

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        """Put a message on a queue, and say so."""
        put = self._work.put(queue, descriptor, body, syncpoint=syncpoint)
        self._trace.put(self._place, queue, self._work.queue_manager)
        return put


class TraceFormatter(logging.Formatter):
    """Lines as the product has them: moment, thread, kind of trace, text."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, with the moment in the local zone."""
        moment = datetime.fromtimestamp(record.created).strftime("%Y-%m-%d %H:%M:%S.%f")
        kind = "UserTrace" if record.name == USER_TRACE else "LocalError"
        return f"{moment} {threading.get_native_id():>8}   {kind}   {record.getMessage()}"


Evaluation: TypeAlias = Generator[tuple[str, Message], bool, None]
Listen: TypeAlias = Callable[[str, str, Message], None]


def heard(
    label: str, evaluate: Callable[[Message, UnitOfWork], Evaluation], listen: Listen
) -> Callable[[Message, UnitOfWork], Evaluation]:
    """Returns the same work, of which each message and its terminal are told before they go on."""

    def work_and_tell(message: Message, work: UnitOfWork) -> Evaluation:
        evaluation = evaluate(message, work)
        try:
            yield from sent_on(evaluation, partial(listen, label))
        finally:
            evaluation.close()

    return work_and_tell

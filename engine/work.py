"""The UnitOfWork protocol: the only way into and out of a flow while it carries a message; and what goes on in it.

The last protocols are those of nodes that do more than carry messages: they take them in, or know their wires.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, runtime_checkable

from engine.descriptor import NO_ID
from engine.errors import BrokerError, MessageException

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Generator
    from datetime import datetime

    from engine.descriptor import Descriptor
    from engine.message.assembly import Message

ALL_IN_TURN: Final = b"*"
_WRONG_IDS: Final = {"msg_id": 2206, "correl_id": 2207, "group_id": 2258}  # MQ's reasons


@dataclass(frozen=True, slots=True)
class Order:
    """The order that several instances of a flow keep when they read one queue: data that a broker or Spark plans with.

    `groups` says that the messages of a group stay together as well.

    >>> from engine.descriptor import Descriptor
    >>> Order("byUserID").key(Descriptor(user_identifier="ada"))
    b'ada'
    """

    mode: Literal["default", "byUserID", "byQueueOrder"] = "default"
    groups: bool = False

    @property
    def single(self) -> bool:
        """Returns whether messages go through one by one, so that more instances bring nothing."""
        return self.mode == "byQueueOrder"

    def key(self, descriptor: Descriptor) -> bytes | None:
        """Messages of one key go through one after the other, in the queue's order; those of None at any time."""
        if self.mode == "byQueueOrder":
            return ALL_IN_TURN
        if self.mode == "byUserID":
            return descriptor.user_identifier.encode()
        return descriptor.group_id if self.groups and descriptor.group_id != NO_ID else None


NO_ORDER: Final = Order()


@dataclass(frozen=True, slots=True)
class Selection:
    """The message of a queue that is wanted: the next one, or the next that has these ids.

    `logical` asks for the messages of a group one after the other, a group behind the other; `whole_groups` for groups
    only when all of their messages are there. A message whose key of `order` another unit of work has in hand has to
    wait. Ids that are short are filled with zeros. `browse` leaves messages where they are and goes on to the next;
    after `rewind` seconds without a message it begins anew, if that is not negative. `selector` is a condition on
    properties and descriptor, as JMS writes them.
    """

    msg_id: bytes = b""
    correl_id: bytes = b""
    group_id: bytes = b""
    logical: bool = False
    whole_groups: bool = False
    order: Order = NO_ORDER
    browse: bool = False
    rewind: float = -1.0
    selector: str = ""

    plain: bool = field(init=False, repr=False, compare=False)  # nothing but ids is asked for
    next_in_turn: bool = field(init=False, repr=False, compare=False)  # nothing but logical order is

    def __post_init__(self) -> None:
        otherwise = self.whole_groups or self.browse or bool(self.selector) or self.order.mode != "default"
        by_id = bool(self.msg_id or self.correl_id or self.group_id)
        if by_id:
            for name in ("msg_id", "correl_id", "group_id"):
                if 0 < (length := len(given := getattr(self, name))) < len(NO_ID):
                    object.__setattr__(self, name, given.ljust(len(NO_ID), b"\0"))
                elif length > len(NO_ID):
                    text = f"{name} has {length} bytes: give it {len(NO_ID)} at most"
                    raise MessageException(_WRONG_IDS[name], text, reason=_WRONG_IDS[name])
        object.__setattr__(self, "plain", not (otherwise or self.logical))
        object.__setattr__(self, "next_in_turn", self.logical and not (otherwise or by_id))


class Arrival(NamedTuple):
    """A message that a queue gave."""

    descriptor: Descriptor
    body: bytes


@dataclass(frozen=True, slots=True)
class QueueAttributes:
    """The attributes of a queue that flows ask for."""

    backout_threshold: int = 0
    backout_requeue_queue: str = ""
    default_persistence: int = 0
    default_priority: int = 0


class UnitOfWork(Protocol):
    """A flow's way to the world outside; all that it does happens at commit, or nothing does.

    `syncpoint=False` says that a get or a put is not part of the unit: it happens at once and stays.
    """

    @property
    def patience(self) -> float:
        """The seconds for which a node that begins a flow waits for a message; negative: without end."""
        ...

    def get(
        self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True, wait: float = 0.0
    ) -> Arrival | None:
        """Take the next message of a queue, or None where there is none; syncpoint None: if it is persistent.

        Where there is none, it waits up to so many seconds for one; negative: without end.
        """
        ...

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        """Put a message on a queue; the answer is the descriptor it was given there."""
        ...

    def attributes(self, queue: str) -> QueueAttributes | None:
        """The attributes of a queue, or None where there is no such queue."""
        ...

    def new_id(self) -> bytes:
        """A message or correlation id that no other message has."""
        ...

    @property
    def dead_letter_queue(self) -> str:
        """The queue for what can be delivered nowhere else, or an empty name."""
        ...

    @property
    def queue_manager(self) -> str:
        """The name of the queue manager whose queues these are."""
        ...

    def commit(self) -> None:
        """Make everything done since the last commit last."""
        ...

    def back_out(self) -> None:
        """Undo everything done since the last commit; messages got are back on their queues, their count one higher."""
        ...


def authorise(work: UnitOfWork, user: str, queue: str) -> None:
    """Refuse, by reason 2035, a put that a user may not make, where the unit's queue manager knows what users may do.

    At a desk without authority records, on Spark and at brokers of AMQP all may put.
    """
    check = getattr(work, "authorise", None)
    if check is not None:
        check(user, queue)


def put_as_it_is(
    work: UnitOfWork, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True
) -> Descriptor:
    """Put a message away: where no queue manager has admitted it, as on Spark, no rule of MQPUT holds it."""
    put = getattr(work, "put_as_it_is", work.put)
    own: Descriptor = put(queue, descriptor, body, syncpoint=syncpoint)
    return own


def knows_subscribers(work: UnitOfWork) -> bool:
    """Returns True where a put to the address of a topic can be answered by whether a subscription takes it.

    On Spark publications are rows, and nobody knows who takes them.
    """
    return bool(getattr(work, "knows_subscribers", False))


@runtime_checkable
class Dated(Protocol):
    """A unit of work that says itself when it is, so that what it does again is the same in every byte."""

    @property
    def now(self) -> datetime:
        """The moment of all that it does, in GMT."""
        ...


def sent_on(
    evaluation: Generator[tuple[str, Message], bool, None], before: Callable[[str, Message], None]
) -> Generator[tuple[str, Message], bool, None]:
    """Yields what an evaluation does, each terminal and message told before it goes on."""
    try:
        terminal, message = next(evaluation)
        while True:
            before(terminal, message)
            try:
                wired = yield terminal, message
            except BrokerError as error:
                terminal, message = evaluation.throw(error)
            else:
                terminal, message = evaluation.send(wired)
    except StopIteration:
        return


class Entrance(Protocol):
    """A node at which messages enter a flow: it gets them itself."""

    def receive(self, work: UnitOfWork) -> Message | None:
        """Returns the next message of its queue, or None where there is none."""
        ...


@runtime_checkable
class KnowsWires(Protocol):
    """A node that does less where messages go no further."""

    def wire(self, terminals: Container[str]) -> None:
        """Takes the terminals that are wired, or listened to."""
        ...

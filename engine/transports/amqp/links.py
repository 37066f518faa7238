"""A connection to an AMQP broker with its links: senders and receivers by queue, and transactions."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any, Final, TypeAlias

from proton import (
    ConnectionException,
    Delivery,
    Described,
    Endpoint,
    LinkException,
    Message,
    ProtonException,
    SessionException,
    SSLDomain,
    SSLUnavailable,
    Terminus,
    Timeout,
    symbol,
    ulong,
)
from proton.reactor import Copy, LinkOption, Selector
from proton.utils import BlockingConnection, BlockingReceiver, BlockingSender, LinkDetached, SendException

from engine.errors import MessageException
from engine.transports.amqp.address import Address

UNKNOWN_OBJECT_NAME: Final = 2085
CONNECTION_BROKEN: Final = 2009
NOT_AUTHORIZED: Final = 2035
BACKED_OUT: Final = 2003
PUT_FAILED: Final = 2051
_DECLARE: Final = symbol("amqp:declare:list")
_DISCHARGE: Final = symbol("amqp:discharge:list")
_DECLARED: Final = 0x33
_IN_TRANSACTION: Final = 0x34
_GRACE: Final = 0.25  # seconds in which a message that is there has come, from a broker that answers no drain
_SLICE: Final = 0.5  # seconds of one wait, after which an interruption is seen

Received: TypeAlias = tuple[Message, Delivery]


@dataclass(frozen=True, slots=True)
class Peer:
    """An AMQP broker by the name it gives itself, and the parts of AMQP that it has."""

    product: str
    version: str
    transactions: bool
    selectors: bool
    browsing: bool
    drains: bool
    counts: bool
    queue_prefix: str = ""


class _Queue(LinkOption):  # type: ignore[misc]  # proton has no types
    """Asks for a queue, as opposed to a topic."""

    def apply(self, link: Any) -> None:
        end = link.target if link.is_sender else link.source
        end.capabilities.put_object(symbol("queue"))


class _Coordinator(LinkOption):  # type: ignore[misc]  # proton has no types
    """Makes a sender one that transactions are declared and discharged by."""

    def apply(self, link: Any) -> None:
        link.target.type = Terminus.COORDINATOR
        link.target.capabilities.put_object(symbol("amqp:local-transactions"))


class _Connection(BlockingConnection):  # type: ignore[misc]  # proton has no types
    """A connection that sees at once that the broker has ended its session."""

    def wait(self, condition: Callable[[], Any], timeout: Any = False, msg: str | None = None) -> None:
        super().wait(lambda: self._is_ended() or condition(), timeout, msg)
        if not self.closing and self._is_ended():
            raise SessionException(str(self._session().remote_condition))

    def _session(self) -> Any:
        return self.conn.session_head(Endpoint.LOCAL_ACTIVE) if self.conn else None

    def _is_ended(self) -> bool:
        session = self._session()
        return session is not None and bool(session.state & Endpoint.REMOTE_CLOSED)


class Links:
    """One connection, used by one thread; links are opened when they are first asked for."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._senders: dict[str, BlockingSender] = {}
        self._receivers: dict[tuple[str, str, bool], BlockingReceiver] = {}
        self._coordinator: BlockingSender | None = None
        self._numbers = count()
        self._known: set[str] = set()
        self.interrupted = False
        with _told(address.url, "connecting"):
            self._connection = _connected(address)
            self.peer = self._introduced()

    def close(self) -> None:
        """Closes the connection; messages that are not settled go back to their queues."""
        try:
            self._connection.close()
        except (ProtonException, OSError):
            return

    def sender(self, queue: str) -> BlockingSender:
        """The link that messages are sent to a queue by."""
        sender = self._senders.get(queue)
        if sender is None:
            with _told(self._address.url, f"opening queue {queue}", queue):
                sender = self._connection.create_sender(self._checked(queue), options=_Queue())
            self._senders[queue] = sender
        return sender

    def send(self, queue: str, message: Message, transaction: bytes | None = None) -> Delivery:
        """Sends a message without waiting for what the broker says to it."""
        sender = self.sender(queue)
        with _told(self._address.url, f"putting to {queue}", queue):
            if not sender.link.credit:
                self._until(lambda: bool(sender.link.credit), f"credit for {queue}")
            delivery = sender.link.send(message)
            if transaction is not None:
                delivery.local.data = [transaction]
                delivery.update(_IN_TRANSACTION)
        return delivery

    def confirm(self, deliveries: list[tuple[str, Delivery]]) -> None:
        """Waits until the broker has accepted all of these; the first that it refuses is an error."""
        with _told(self._address.url, "committing"):
            self._until(
                lambda: all(one.remote_state or one.settled for _, one in deliveries), "messages to be accepted"
            )
            for queue, one in deliveries:
                state = one.remote_state
                if state not in (Delivery.ACCEPTED, _IN_TRANSACTION):
                    why = getattr(one.remote, "condition", None)
                    text = f"the AMQP broker has not taken a message for {queue}: {why or state}; see its log"
                    raise MessageException(PUT_FAILED, text, queue, reason=PUT_FAILED)
                one.settle()

    def receive(self, queue: str, wait: float, *, selector: str = "", browse: bool = False) -> Received | None:
        """The next message of a queue; None when none has come in time (a negative wait has no end)."""
        receiver = self._receiver(queue, selector, browse=browse)
        fetcher, window = receiver.fetcher, self._window(selector)
        with _told(self._address.url, f"getting from {queue}", queue):
            if not fetcher.has_message:
                self._await(receiver, wait, window)
            if not fetcher.has_message:
                return None
            message, delivery = fetcher.incoming.popleft()
            spare = window - receiver.link.credit - len(fetcher.incoming)
            if not selector and 2 * spare > window:
                receiver.link.flow(spare)
        return message, delivery

    def has_come(self, queue: str) -> bool:
        """Returns True where a message of a queue was fetched in advance."""
        receiver = self._receivers.get((queue, "", False))
        return receiver is not None and bool(receiver.fetcher.has_message)

    def _window(self, selector: str) -> int:
        """The messages that are fetched in advance; of those that are selected the one that is wanted."""
        return 1 if selector else self._address.prefetch

    def forget(self, queue: str, *, selector: str = "", browse: bool = False) -> None:
        """Closes a receiver, so that the next one begins at the queue's start; what it has fetched goes back."""
        receiver = self._receivers.pop((queue, selector, browse), None)
        if receiver is None:
            return
        with _told(self._address.url, f"closing {queue}", queue):
            while receiver.fetcher.has_message:
                settle(receiver.fetcher.incoming.popleft()[1], Delivery.RELEASED)
            receiver.close()

    def give_back(self, deliveries: list[Delivery]) -> None:
        """Returns messages to their queues; a broker that counts deliveries counts one more."""
        self.settle(deliveries, Delivery.MODIFIED if self.peer.counts else Delivery.RELEASED)

    def settle(self, deliveries: list[Delivery], state: int) -> None:
        """Gives messages that were received their end, and waits until that is sent."""
        for one in deliveries:
            settle(one, state)
        with _told(self._address.url, "settling messages"):
            transport = self._connection.conn.transport
            self._until(lambda: transport.pending() <= 0, "what was settled to be sent")

    def declare(self) -> bytes:
        """Begins a transaction."""
        coordinator = self._coordinator
        with _told(self._address.url, "beginning a transaction"):
            if coordinator is None:
                coordinator = self._coordinator = self._connection.create_sender(None, options=_Coordinator())
            delivery = coordinator.link.send(Message(body=Described(_DECLARE, [None]), inferred=False))
            self._until(lambda: bool(delivery.remote_state), "a transaction to begin")
            if delivery.remote_state != _DECLARED:
                raise MessageException(BACKED_OUT, "the AMQP broker begins no transaction", reason=BACKED_OUT)
            transaction = bytes(delivery.remote.data[0])
            delivery.settle()
        return transaction

    def discharge(self, transaction: bytes, puts: list[tuple[str, Delivery]], gets: list[Delivery]) -> None:
        """Commits a transaction of messages that were sent in it and of messages that were received."""
        coordinator = self._coordinator
        assert coordinator is not None
        with _told(self._address.url, "committing"):
            for one in gets:
                one.local.data = [transaction, Described(ulong(Delivery.ACCEPTED), [])]
                one.update(_IN_TRANSACTION)
            ended = coordinator.link.send(Message(body=Described(_DISCHARGE, [transaction, False]), inferred=False))
            self._until(lambda: bool(ended.remote_state), "a transaction to be committed")
            accepted = ended.remote_state == Delivery.ACCEPTED
            ended.settle()
            for one in (*gets, *(one for _, one in puts)):
                one.settle()
        if not accepted:
            text = "the AMQP broker has rolled the transaction back: its messages come again; see its log"
            raise MessageException(BACKED_OUT, text, reason=BACKED_OUT)

    def _receiver(self, queue: str, selector: str, *, browse: bool) -> BlockingReceiver:
        key = queue, selector, browse
        receiver = self._receivers.get(key)
        if receiver is not None:
            return receiver
        if selector and not browse:
            self._unfetch(queue)  # the message that is selected may be among those fetched
        options: list[Any] = [_Queue(), *([Selector(selector)] if selector else []), *([Copy()] if browse else [])]
        with _told(self._address.url, f"opening queue {queue}", queue):
            address = self._checked(queue)
            name = f"{self._connection.container.container_id}-{next(self._numbers)}"
            receiver = self._connection.create_receiver(address, credit=0, name=name, options=options)
            receiver.link.flow(self._window(selector))  # not proton, whose own flow would end what drains
        self._receivers[key] = receiver
        return receiver

    def _unfetch(self, queue: str) -> None:
        """Gives the messages back that were fetched in advance; those of the unit stay with it."""
        receiver = self._receivers.get((queue, "", False))
        if receiver is None:
            return
        with _told(self._address.url, f"getting from {queue}", queue):
            self._drain(receiver)
            while receiver.fetcher.has_message:
                settle(receiver.fetcher.incoming.popleft()[1], Delivery.RELEASED)

    def _drain(self, receiver: BlockingReceiver) -> None:
        """Asks for what is there and for no more, and waits for the broker's word that this is all."""
        receiver.link.drain(0)
        self._waited(lambda: not receiver.link.credit, self._address.timeout)
        receiver.link.drain_mode = False

    def _await(self, receiver: BlockingReceiver, wait: float, window: int) -> None:
        """Waits for a message; one that is there has come before the queue counts as empty."""
        fetcher, link = receiver.fetcher, receiver.link
        if not link.credit:
            link.flow(window)
        begun = monotonic()
        while not self.interrupted and (wait < 0 or monotonic() < begun + wait):
            left = _SLICE if wait < 0 else min(_SLICE, begun + wait - monotonic())
            if self._waited(lambda: fetcher.has_message, max(0.0, left)):
                return
        if not self.peer.drains:
            self._waited(lambda: fetcher.has_message, max(0.0, begun + _GRACE - monotonic()))
            return
        self._drain(receiver)

    def _waited(self, condition: Callable[[], Any], seconds: float) -> bool:
        try:
            self._connection.wait(condition, timeout=seconds)
        except Timeout:
            return bool(condition())
        return True

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        self._connection.wait(condition, timeout=self._address.timeout, msg=f"waiting for {what}")

    def _checked(self, queue: str) -> str:
        """The address of a queue that is there; a broker that ends the session over one that is not is asked aside."""
        address = f"{self.peer.queue_prefix}{queue}"
        if not self.peer.counts and queue not in self._known:
            aside = _connected(self._address)
            try:
                aside.create_receiver(address, credit=0)
            finally:
                aside.close()
        self._known.add(queue)
        return address

    def _introduced(self) -> Peer:
        """Reads the name of the broker and finds out what it can do."""
        said = {str(name): value for name, value in (self._connection.conn.remote_properties or {}).items()}
        product, version = str(said.get("product", "")), str(said.get("version", ""))
        rabbit = product == "RabbitMQ"
        old = rabbit and version.partition(".")[0] in {"1", "2", "3"}
        return Peer(
            product or "an AMQP broker",
            version,
            transactions=not rabbit and self._has_coordinator(),
            selectors=not rabbit,
            browsing=not rabbit,
            drains=not old,
            counts=not old,
            queue_prefix="/queue/" if rabbit and not old else "/amq/queue/" if rabbit else "",
        )

    def _has_coordinator(self) -> bool:
        try:
            self._coordinator = self._connection.create_sender(None, options=_Coordinator())
        except (LinkException, LinkDetached):
            return False
        return bool(self._coordinator.link.remote_target.type == Terminus.COORDINATOR)


def settle(delivery: Delivery, state: int) -> None:
    """Gives a message its end: accepted, released, or modified, which counts one delivery more."""
    delivery.local.failed = state == Delivery.MODIFIED
    delivery.update(state)
    delivery.settle()


def _connected(address: Address) -> _Connection:
    options: dict[str, Any] = {"allow_insecure_mechs": True}
    if address.user:
        options |= {"user": address.user, "password": address.password, "allowed_mechs": "PLAIN"}
    if address.url.startswith("amqps:"):
        domain = SSLDomain(SSLDomain.MODE_CLIENT)
        authorities = address.authorities or ssl.get_default_verify_paths().cafile
        if authorities:
            domain.set_trusted_ca_db(authorities)
        domain.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
        options |= {"ssl_domain": domain, "allow_insecure_mechs": False}
    return _Connection(address.url, timeout=address.timeout, heartbeat=30, **options)


@contextmanager
def _told(url: str, doing: str, queue: str = "") -> Iterator[None]:
    """Turns an error of the connection or a link into one of MQ's, which names the broker and no password."""
    try:
        yield
    except MessageException:
        raise
    except (LinkDetached, LinkException, SessionException) as error:
        text = f"{doing} at {url} failed: {error}"
        refused = "unauthorized" in str(error) or "access" in str(error)
        absent = any(words in str(error) for words in ("not-found", "invalid_destination"))
        reason = NOT_AUTHORIZED if refused else UNKNOWN_OBJECT_NAME if absent else CONNECTION_BROKEN
        raise MessageException(reason, text, *([queue] if queue else []), reason=reason) from error
    except UnicodeError as error:  # RabbitMQ 3 quotes a name that it does not know in latin-1
        text = f"{doing} at {url} failed, and what the broker says of it is no text: name a queue in ASCII"
        raise MessageException(UNKNOWN_OBJECT_NAME, text, queue, reason=UNKNOWN_OBJECT_NAME) from error
    except (ConnectionException, SendException, SSLUnavailable, Timeout, ProtonException, OSError) as error:
        refused = "unauthorized" in str(error)
        reason, todo = (
            (NOT_AUTHORIZED, "check user and password") if refused else (CONNECTION_BROKEN, "is the broker there?")
        )
        text = f"{doing} at {url} failed: {error or error.__class__.__name__}; {todo}"
        raise MessageException(reason, text, reason=reason) from error


__all__ = ["CONNECTION_BROKEN", "Links", "Peer", "Received", "settle"]

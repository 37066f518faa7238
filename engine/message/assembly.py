"""Message: the assembly that flows along the wires: Root, LocalEnvironment, Environment and ExceptionList."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.message.exception_list import exception_list
from engine.message.finalizer import finalize
from engine.message.received_message import Received
from engine.tree.element import Element
from engine.tree.sharing import read_only
from engine.tree.states import READ_ONLY

if TYPE_CHECKING:
    from engine.errors import BrokerError


class Message:
    """The four trees that a node is given; Environment is one for the whole way, the others belong to each wire.

    The trees are read-only for the nodes that receive them: a node that changes a message sends a new one.
    """

    __slots__ = ("_exceptions", "_local_environment", "_way", "root")

    def __init__(
        self,
        root: Element,
        *,
        environment: Element | None = None,
        local_environment: Element | Callable[[], Element] | None = None,
        exceptions: Element | None = None,
        way: list[Element] | None = None,
    ) -> None:
        """`way` is what all messages of one way hold together: the Environment, once someone has looked at it."""
        self.root = root
        self._way = way if way is not None else [] if environment is None else [environment]
        self._local_environment = local_environment
        self._exceptions = exceptions

    @classmethod
    def received(cls, *args: Any, **facts: Any) -> Message:
        """A message as it came from a queue; see Received for what is to be said of it."""
        return cls(Received(*args, **facts).input_root())

    @property
    def environment(self) -> Element:
        """The Environment: the one tree that every node of the way may change."""
        way = self._way
        if not way:
            way.append(Element("Environment"))
        return way[0]

    @property
    def local_environment(self) -> Element:
        """The LocalEnvironment, which V2.1 calls DestinationList."""
        known = self._local_environment
        if not isinstance(known, Element):
            made = Element("LocalEnvironment") if known is None else known()
            known = self._local_environment = read_only(made)
        return known

    @property
    def exceptions(self) -> Element:
        """The ExceptionList."""
        if self._exceptions is None:
            self._exceptions = read_only(Element("ExceptionList"))
        return self._exceptions

    def replaced(
        self,
        *,
        root: Element | None = None,
        local_environment: Element | Callable[[], Element] | None = None,
        exceptions: Element | None = None,
        as_it_is: bool = False,
    ) -> Message:
        """The same message with other trees, which must not be changed from now on.

        A Root that was built or changed is finalized: it says of itself what its bytes will say, unless it is to be
        sent as it is. A LocalEnvironment may be given by what makes it when it is first looked at.
        """
        if root is not None and not as_it_is and not root.state & READ_ONLY:
            finalize(root)
        if isinstance(local_environment, Element):
            local_environment = read_only(local_environment)
        return Message(
            self.root if root is None else read_only(root),
            local_environment=self._local_environment if local_environment is None else local_environment,
            exceptions=self._exceptions if exceptions is None else read_only(exceptions),
            way=self._way,
        )

    def failed(self, error: BrokerError) -> Message:
        """The same message with the ExceptionList of an error, for a catch or failure terminal."""
        return self.replaced(exceptions=exception_list(error))

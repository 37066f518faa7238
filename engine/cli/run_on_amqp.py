"""penstock run --amqp: the queues of an AMQP 1.0 broker, for flows in the place of a queue manager's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.databases.sources import Sources
    from engine.flow.definition import Flow
    from engine.runtime.deployment import DeployedFlow

_INSTALL = "--amqp needs Qpid Proton: pip install 'penstock[amqp]'"


class AmqpHeld:
    """An AMQP broker whose queues flows read and write; it says at deploy what the broker cannot do."""

    def __init__(self, url: str) -> None:
        try:
            from engine.transports.amqp import AmqpQueues
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in {"proton", "cproton"}:
                raise
            raise ConfigurationException(_INSTALL) from error
        self._queues = AmqpQueues(url)
        self._peer = self._queues.introduce()
        self.name = f"{self._queues.name} ({self._peer.product} {self._peer.version} at {self._queues.address.url})"

    def begin(self) -> Any:
        """Returns a new unit of work with a connection of its own."""
        return self._queues.work()

    def coordinator(self, sources: Sources) -> NoReturn:
        """Refuses to coordinate databases."""
        from engine.transports.amqp.limits import not_coordinated

        raise not_coordinated()

    def check(self, flow: Flow, deployed: DeployedFlow) -> None:
        """Refuses a flow that asks for more than the broker has, and one whose queue is not there."""
        import typer

        from engine.transports.amqp.limits import at_least_once, check_flow

        if said := at_least_once(flow.qualified_name, check_flow(self._queues, deployed)):
            typer.echo(said, err=True)

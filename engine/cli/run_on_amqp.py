"""penstock run --amqp: the queues of an AMQP 1.0 broker, for flows in the place of a queue manager's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from engine.errors import BrokerError, ConfigurationException

if TYPE_CHECKING:
    from engine.databases.sources import Sources
    from engine.flow.definition import Flow
    from engine.runtime.deployment import DeployedFlow

_INSTALL = "--amqp needs Qpid Proton: pip install 'penstock[amqp]'"
NOT_COORDINATED = 2046


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
        raise _not_coordinated()

    def check(self, flow: Flow, deployed: DeployedFlow) -> None:
        """Refuses a flow that asks for more than the broker has, and one whose queue is not there."""
        from engine.transports.amqp.limits import refuse_flow

        refuse_flow(((station.place, station.node) for station in deployed.stations.values()), self._peer)
        if deployed.properties.coordinated_transaction:
            raise _not_coordinated()
        work = self._queues.work()
        try:
            for entrance in deployed.entrances:
                work.find(str(getattr(entrance.node, "queue_name", "")))
        finally:
            work.close()
        if not self._peer.transactions:
            self._warn(flow)

    def _warn(self, flow: Flow) -> None:
        import typer

        typer.echo(
            f"flow {flow.qualified_name}: {self._peer.product} has no transactions over AMQP 1.0: after a failure in"
            " the middle of a unit of work, messages come once more (at least once)",
            err=True,
        )


def _not_coordinated() -> BrokerError:
    text = "no AMQP broker coordinates databases: use the queue manager, or leave coordinatedTransaction away"
    return BrokerError(NOT_COORDINATED, text)

"""Spans: the way of each message through a flow, for OpenTelemetry: one for the message, and one for each node."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine.broker.statistics.metering import Listening
from engine.errors import BrokerError, ConfigurationException
from engine.message.received import Received

if TYPE_CHECKING:
    from engine.message.assembly import Message
    from engine.runtime.deployment import DeployedFlow, Outcome, Station
    from engine.work import UnitOfWork

_NEEDED: Final = "traces need the packages of OpenTelemetry: pip install 'penstock[telemetry]'"


@contextmanager
def tracer_for(traces: str, broker: str, group: str) -> Iterator[Any]:
    """Gives a tracer that sends spans to an OTLP endpoint, or writes them to a file as JSON lines; None for neither."""
    if not traces:
        yield None
        return
    try:
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationException(_NEEDED) from error
    resource = Resource.create({"service.name": broker, "penstock.execution_group": group})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_exporter(traces), schedule_delay_millis=500))
    try:
        yield provider.get_tracer("penstock")
    finally:
        provider.shutdown()


def _exporter(traces: str) -> Any:
    if traces.startswith(("http://", "https://")):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

        return OTLPSpanExporter(endpoint=f"{traces.rstrip('/').removesuffix('/v1/traces')}/v1/traces")
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter  # noqa: PLC0415

    file = Path(traces).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115  # it is open as long as the process
    return ConsoleSpanExporter(out=file, formatter=lambda span: f"{span.to_json(indent=None)}\n")


class Spans:
    """Makes the spans of one thread of a flow."""

    __slots__ = ("_flow", "_spans", "_tracer")

    def __init__(self, tracer: Any, deployed: DeployedFlow, entrance: Station) -> None:
        self._tracer = tracer
        self._flow = deployed.flow.qualified_name
        self._spans: list[Any] = []
        for station in deployed.stations.values():
            station.evaluate = self._spanned(station)
        entrance.node = Listening(entrance.node, self._received)

    def _received(self, message: Message | None) -> None:
        if message is None:
            return
        source = message.root.source
        attributes = {"messaging.system": "penstock", "penstock.flow": self._flow}
        if isinstance(source, Received):
            attributes["messaging.destination.name"] = source.queue
            attributes["messaging.message.id"] = source.descriptor.msg_id.hex()
        self._spans.append(self._tracer.start_span(self._flow, attributes=attributes))

    def done(self, outcome: Outcome | None) -> None:
        """The message is done with."""
        while self._spans:
            span = self._spans.pop()
            if outcome is not None and outcome.error is not None:
                _failed(span, outcome.error)
            span.end()

    def broken(self, error: BaseException) -> None:
        """A get has failed."""
        self.done(None)

    def _spanned(self, station: Station) -> Callable[..., Any]:
        from opentelemetry.trace import set_span_in_context  # noqa: PLC0415

        evaluate, spans, start = station.evaluate, self._spans, self._tracer.start_span
        attributes = {"penstock.node": station.label, "penstock.node_type": station.type.name}

        def traced(message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
            above = set_span_in_context(spans[-1]) if spans else None
            span = start(station.label, context=above, attributes=attributes)
            spans.append(span)
            try:
                yield from evaluate(message, work)
            except BrokerError as error:
                _failed(span, error)
                raise
            finally:
                if span in spans:
                    del spans[spans.index(span) :]
                span.end()

        return traced


def _failed(span: Any, error: BaseException) -> None:
    from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415

    span.set_status(Status(StatusCode.ERROR, f"{type(error).__name__} {getattr(error, 'number', '')}".strip()))

"""Statistics as Prometheus samples: IBM's names in snake case, times in seconds, the flow's name as a label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from engine.broker.statistics.records import ROOT
from engine.broker.statistics.slots import ANONYMOUS
from engine.errors import ConfigurationException

_LABELS: Final = {"broker": "BrokerLabel", "execution_group": "ExecutionGroupName", "flow": "MessageFlowName"}
_OF_ORIGIN: Final = {"accounting_origin": "AccountingOrigin"}
_FLOW: Final = (
    ("penstock_flow_input_messages", "Messages that the flow has taken.", "TotalInputMessages", 1),
    ("penstock_flow_elapsed_seconds", "Time between getting messages and committing.", "TotalElapsedTime", 1e-6),
    ("penstock_flow_cpu_seconds", "Processor time for them.", "TotalCPUTime", 1e-6),
    ("penstock_flow_waiting_seconds", "Time without a message.", "ElapsedTimeWaitingForInputMessage", 1e-6),
    ("penstock_flow_input_bytes", "Bytes of the messages that the flow has taken.", "TotalSizeOfInputMessages", 1),
    ("penstock_flow_messages_with_errors", "Messages that failed.", "TotalNumberOfMessagesWithErrors", 1),
    ("penstock_flow_commits", "Units of work that were committed.", "TotalNumberOfCommits", 1),
    ("penstock_flow_backouts", "Units of work that were backed out.", "TotalNumberOfBackouts", 1),
    ("penstock_flow_mq_errors", "Failures of queues.", "TotalNumberOfMQErrors", 1),
)
_NODE: Final = (
    ("penstock_node_invocations", "Messages that the node was given.", "CountOfInvocations", 1),
    ("penstock_node_elapsed_seconds", "Time in the node.", "TotalElapsedTime", 1e-6),
    ("penstock_node_cpu_seconds", "Processor time in the node.", "TotalCPUTime", 1e-6),
)


def exposition(archives: Iterable[Mapping[str, Any]]) -> str:
    """Returns the text that Prometheus reads, made of archive records."""
    try:
        from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415
    except ImportError as error:
        text = "Prometheus samples need the package prometheus-client: pip install 'penstock[telemetry]'"
        raise ConfigurationException(text) from error
    registry = CollectorRegistry()
    registry.register(_Records(tuple(archives)))
    return generate_latest(registry).decode()


class _Records:
    """A Prometheus collector that yields the samples of archive records."""

    def __init__(self, archives: tuple[Mapping[str, Any], ...]) -> None:
        self._contents = [archive[ROOT] for archive in archives]
        by_origin = any(content["MessageFlow"]["AccountingOrigin"] != ANONYMOUS for content in self._contents)
        self._labels = {**_LABELS, **_OF_ORIGIN} if by_origin else _LABELS

    def collect(self) -> Iterator[Any]:
        """Yields a family of samples for each figure."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415

        for name, text, field, scale in _FLOW:
            family = CounterMetricFamily(name, text, labels=list(self._labels))
            for content in self._contents:
                family.add_metric(self._named(content), max(0, content["MessageFlow"][field]) * scale)
            yield family
        instances = GaugeMetricFamily(
            "penstock_flow_instances", "Messages worked on at a time.", labels=list(self._labels)
        )
        for content in self._contents:
            instances.add_metric(self._named(content), content["MessageFlow"]["NumberOfThreadsInPool"])
        yield instances
        for name, text, field, scale in _NODE:
            family = CounterMetricFamily(name, text, labels=[*self._labels, "node", "type"])
            for content in self._contents:
                for node in content["Nodes"]:
                    labels = [*self._named(content), node["Label"], node["Type"]]
                    family.add_metric(labels, max(0, node[field]) * scale)
            yield family

    def _named(self, content: Mapping[str, Any]) -> list[str]:
        return [content["MessageFlow"][field] for field in self._labels.values()]

"""The accounting and statistics record WMQIStatisticsAccounting, and what it is written as: XML, CSV, Prometheus."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import StringIO
from typing import Any, Final, Literal

from lxml import etree

from engine.broker.statistics import slots
from engine.broker.statistics.slots import ANONYMOUS
from engine.broker.statistics.totals import Extremes, NodeTotals, Totals, added
from engine.errors import ConfigurationException

ROOT: Final = "WMQIStatisticsAccounting"
RecordType = Literal["Archive", "SnapShot"]
RecordCode = Literal["MajorInterval", "Snapshot", "Shutdown", "ReDeploy", "StatsSettingsModified"]
_KINDS: Final = ("Elapsed", "CPU")


@dataclass(frozen=True, slots=True)
class Subject:
    """The flow that a record is about, in the broker and the group that it runs in."""

    broker: str
    broker_uuid: str
    group: str
    group_uuid: str
    flow: str
    threads: int
    origin: str = slots.ANONYMOUS

    def of(self, origin: str) -> Subject:
        """Returns the flow as far as it works for one accounting origin."""
        return replace(self, origin=origin)


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts of a flow between two moments, by the number of each of its threads."""

    begin: float
    end: float
    threads: Mapping[int, Totals]

    @property
    def whole(self) -> Totals:
        """Returns the counts of all threads added up."""
        return added(self.threads.values())


def record(kind: RecordType, code: RecordCode, subject: Subject, counted: Counted) -> dict[str, Any]:
    """Returns the record as JSON has it, with times in microseconds."""
    whole = counted.whole
    nodes = [_node(node) for node in whole.nodes.values()]
    threads = [_thread(number, totals) for number, totals in sorted(counted.threads.items())]
    return {
        ROOT: {
            "RecordType": kind,
            "RecordCode": code,
            "MessageFlow": _flow(subject, counted, whole),
            "NumberOfThreads": len(threads),
            "ThreadStatistics": threads,
            "NumberOfNodes": len(nodes),
            "Nodes": nodes,
        }
    }


def _flow(subject: Subject, counted: Counted, whole: Totals) -> dict[str, Any]:
    counts = whole.counts
    elapsed, cpu, size = whole.extremes
    return {
        "BrokerLabel": subject.broker,
        "BrokerUUID": subject.broker_uuid,
        "ExecutionGroupName": subject.group,
        "ExecutionGroupUUID": subject.group_uuid,
        "MessageFlowName": subject.flow,
        "ApplicationName": "",  # flows are deployed into no application or library here
        "LibraryName": "",
        **_moments("Start", counted.begin),
        **_moments("End", counted.end),
        "TotalElapsedTime": _micro(counts[slots.ELAPSED]),
        **_pair("ElapsedTime", elapsed),
        "TotalCPUTime": _micro(counts[slots.CPU]),
        **_pair("CPUTime", cpu),
        "CPUTimeWaitingForInputMessage": _micro(counts[slots.CPU_WAITING]),
        "ElapsedTimeWaitingForInputMessage": _micro(counts[slots.ELAPSED_WAITING]),
        "TotalInputMessages": counts[slots.MESSAGES],
        "TotalSizeOfInputMessages": counts[slots.SIZE],
        "MaximumSizeOfInputMessages": size.largest,
        "MinimumSizeOfInputMessages": max(0, size.smallest),
        "NumberOfThreadsInPool": subject.threads,
        "TimesMaximumNumberOfThreadsReached": whole.busy,
        "TotalNumberOfMQErrors": counts[slots.MQ_ERRORS],
        "TotalNumberOfMessagesWithErrors": counts[slots.FAILED],
        "TotalNumberOfErrorsProcessingMessages": counts[slots.ERRORS],
        "TotalNumberOfTimeOutsWaitingForRepliesToAggregateMessages": counts[slots.TIMEOUTS],
        "TotalNumberOfCommits": whole.commits,
        "TotalNumberOfBackouts": counts[slots.BACKOUTS],
        "AccountingOrigin": subject.origin,
    }


def _thread(number: int, totals: Totals) -> dict[str, Any]:
    counts, size = totals.counts, totals.extremes[2]
    return {
        "Number": number,
        "TotalNumberOfInputMessages": counts[slots.MESSAGES],
        "TotalElapsedTime": _micro(counts[slots.ELAPSED]),
        "TotalCPUTime": _micro(counts[slots.CPU]),
        "CPUTimeWaitingForInputMessage": _micro(counts[slots.CPU_WAITING]),
        "ElapsedTimeWaitingForInputMessage": _micro(counts[slots.ELAPSED_WAITING]),
        "TotalSizeOfInputMessages": counts[slots.SIZE],
        "MaximumSizeOfInputMessages": size.largest,
        "MinimumSizeOfInputMessages": max(0, size.smallest),
    }


def _node(node: NodeTotals) -> dict[str, Any]:
    shape = node.shape
    terminals = [{"Label": name, "Type": "Input", "CountOfInvocations": node.count} for name in shape.inputs]
    terminals += [{"Label": name, "Type": "Output", "CountOfInvocations": n} for name, n in node.outputs.items()]
    return {
        "Label": shape.label,
        "Type": shape.type,
        "TotalElapsedTime": _micro(node.elapsed),
        **_pair("ElapsedTime", node.extremes[0]),
        "TotalCPUTime": _micro(node.cpu),
        **_pair("CPUTime", node.extremes[1]),
        "CountOfInvocations": node.count,
        "NumberOfInputTerminals": len(shape.inputs),
        "NumberOfOutputTerminals": len(shape.outputs),
        "TerminalStatistics": terminals,
    }


def _micro(nanoseconds: int) -> int:
    return (nanoseconds + 500) // 1000


def _pair(name: str, found: Extremes) -> dict[str, int]:
    return {f"Maximum{name}": _micro(found.largest), f"Minimum{name}": _micro(max(0, found.smallest))}


def _moments(which: str, seconds: float) -> dict[str, str]:
    here, there = datetime.fromtimestamp(seconds).astimezone(), datetime.fromtimestamp(seconds, UTC)
    return {
        f"{which}Date": f"{here:%Y-%m-%d}",
        f"{which}Time": f"{here:%H:%M:%S.%f}",
        f"GMT{which}Time": f"{there:%H:%M:%S.%f}",
    }


def as_xml(found: Mapping[str, Any]) -> bytes:
    """Returns a record as IBM's XML, whose fields are attributes.

    >>> as_xml({ROOT: {"RecordType": "SnapShot", "RecordCode": "Snapshot", "MessageFlow": {"BrokerLabel": "B"},
    ...     "ThreadStatistics": [], "Nodes": []}})[:83]
    b'<WMQIStatisticsAccounting RecordType="SnapShot" RecordCode="Snapshot"><MessageFlow '
    """
    content = found[ROOT]
    root = etree.Element(ROOT, RecordType=content["RecordType"], RecordCode=content["RecordCode"])
    etree.SubElement(root, "MessageFlow", _texts(content["MessageFlow"]))
    threads = etree.SubElement(root, "Threads", Number=str(len(content["ThreadStatistics"])))
    for thread in content["ThreadStatistics"]:
        etree.SubElement(threads, "ThreadStatistics", _texts(thread))
    nodes = etree.SubElement(root, "Nodes", Number=str(len(content["Nodes"])))
    for node in content["Nodes"]:
        element = etree.SubElement(nodes, "NodeStatistics", _texts(node))
        for terminal in node["TerminalStatistics"]:
            etree.SubElement(element, "TerminalStatistics", _texts(terminal))
    return etree.tostring(root)


def _texts(fields: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in fields.items() if not isinstance(value, list)}


def as_csv(found: Iterable[Mapping[str, Any]]) -> str:
    """Returns the flow level of records as CSV: a line of names, then a line a record."""
    rows = [{"RecordType": one[ROOT]["RecordType"], **one[ROOT]["MessageFlow"]} for one in found]
    text = StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()


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
        from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415 - a package that may be missing
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
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415 - as above

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

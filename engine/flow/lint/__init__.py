"""Everything that can be said about flows without running them: all problems, each with its place, and notes.

Numbers are IBM's where it has one: 2210 a property that does not exist, 2211 a value that does not fit, 2241 a node
type that does not exist. All else is 2087, a definition that cannot be processed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from engine.catalog import Catalog, did_you_mean
from engine.errors import Place, Problem
from engine.flow.definition import FLOW_PROPERTIES, INPUT, OUTPUT, Flow, NodeUse, Types
from engine.flow.label_routes import NO_NAMES, Labels
from engine.flow.lint.findings import UNFIT, Finding, Subject
from engine.flow.lint.properties import flow_properties, node_properties, node_rules, promotions
from engine.flow.lint.wiring import (
    cycles,
    sources_and_reach,
    subflow_ends,
    subflow_names,
    subflows_in_themselves,
    wires,
)
from engine.flow.marked_lines import line_of_file, marked
from engine.node import InBrokers, NodeType, Pending, node_catalog

__all__ = ["PASSES", "UNFIT", "lint", "unknown_type"]

UNKNOWN_TYPE: Final = 2241
# IBM's nodes that flows are likeliest to have and that are looked for in vain; one that is built is no longer unknown
NOT_HERE: Final = frozenset(
    [
        "AggregateControl", "AggregateReply", "AggregateRequest", "Collector", "Database", "DatabaseRetrieve",
        "DatabaseRoute", "DataDelete", "DataInsert", "DataUpdate", "Extract", "FileInput", "FileOutput", "FileRead",
        "Group", "HTTPInput", "HTTPReply", "HTTPRequest", "JavaCompute", "JMSInput", "JMSOutput", "Mapping",
        "Publication", "RESTRequest", "Resequence", "Route", "SCADAInput", "SCADAOutput", "Sequence", "SOAPInput",
        "SOAPReply", "SOAPRequest", "TimeoutControl", "TimeoutNotification", "Warehouse", "XSLTransform",
    ]
)  # fmt: skip
NO_SUBFLOWS: Final[Mapping[str, Flow]] = {}
NOTHING_UNREAD: Final[Mapping[str, tuple[str, ...]]] = {}


def lint(
    *flows: Flow,
    subflows: Mapping[str, Flow] = NO_SUBFLOWS,
    catalog: Catalog[NodeType] = node_catalog,
    source_line: Callable[[Place], str] = line_of_file,
    labels: Labels = lambda _: NO_NAMES,
    unread: Mapping[str, tuple[str, ...]] = NOTHING_UNREAD,
) -> tuple[Problem, ...]:
    """All problems of these flows, sorted by place; `subflows` are those they may use, by name and by file.

    `labels` are those that the programs of a flow send to, by their nodes, where that is known. Nothing is said that
    the wires which could not be read might change: the texts of a file's are `unread`, an empty one may be any.
    """
    known = Types(catalog, subflows)
    findings = list(two_of_one_name(flows))
    for flow in flows:
        types = {use.label: known.of(flow, use) for use in flow.nodes}
        subject = Subject(flow, types, known, labels(flow), unread.get(flow.file, ()))
        findings.extend(finding for examine in PASSES for finding in examine(subject))
    return tuple(sorted({marked(f.place, f.text, f.about, f.number, source_line(f.place)) for f in findings}))


def two_of_one_name(flows: Iterable[Flow]) -> Iterator[Finding]:
    """Flows that are deployed under the same name."""
    first: dict[str, Flow] = {}
    for flow in flows:
        known = first.setdefault(flow.qualified_name, flow)
        if known is not flow and flow.name:
            yield Finding(flow.place, f"a flow called {flow.qualified_name} is in {known.place} too", flow.name)


def unknown_types(subject: Subject) -> Iterator[Finding]:
    """Nodes of types that do not exist, and subflows that are not there."""
    for use in subject.flow.nodes:
        if subject.types[use.label] is None and use.subflow:
            text = (
                f"{use.subflow} holds no subflow that can be read: name a file, from here, with `subflow: Name` in it"
            )
            yield Finding(use.type_place, text, use.subflow, UNKNOWN_TYPE)
        elif subject.types[use.label] is None and use.type:
            names = [INPUT, OUTPUT, *subject.known.subflows, *subject.known.catalog]
            yield Finding(use.type_place, unknown_type(use.type, names), use.type, UNKNOWN_TYPE)


def unknown_type(name: str, known: list[str]) -> str:
    """Returns what is said of a type that is none of those that are known.

    >>> unknown_type("Filtre", ["Filter"])
    'there is no node type or subflow Filtre; did you mean Filter?'
    """
    if name in NOT_HERE:
        advice = f"; IBM's {name} is not among the built-in nodes: a node of your own needs --nodes FILE"
    else:
        subflow = f"a subflow {name} is a file {name}.yaml beside this one that begins `subflow: {name}`"
        advice = did_you_mean(name, known) or f"; {subflow}; a node of your own needs --nodes FILE"
    return f"there is no node type or subflow {name}{advice}"


def labels(subject: Subject) -> Iterator[Finding]:
    """Labels that stand for two nodes, or that a wire could take for a terminal of another node."""
    first: dict[str, NodeUse] = {}
    known = {use.label for use in subject.flow.nodes}
    for use in subject.flow.nodes:
        if first.setdefault(use.label, use) is not use:
            line = first[use.label].place.line
            yield Finding(use.place, f"two nodes are labelled {use.label}; the other is on line {line}", use.label)
        head = next((use.label[:i] for i, c in enumerate(use.label) if c == "." and use.label[:i] in known), None)
        if head:
            text = f"label {use.label} can be mistaken for a terminal or an inner node of {head}; rename it"
            yield Finding(use.place, text, use.label)


def label_names(subject: Subject) -> Iterator[Finding]:
    """Names that messages are routed to and that two nodes have."""
    first: dict[str, str] = {}
    for use in subject.flow.nodes:
        found = subject.types[use.label]
        name = found and found.label_property and found.label_property.name
        for setting in use.settings:
            if setting.name == name and isinstance(setting.value, str):
                other = first.setdefault(setting.value, use.label)
                if other != use.label:
                    text = f"{name} {setting.value} is that of {other} too; a message can go to one only"
                    yield Finding(setting.value_place, text, setting.value)


PASSES: Final[tuple[Callable[[Subject], Iterator[Finding]], ...]] = (
    unknown_types,
    node_properties,
    node_rules,
    flow_properties,
    labels,
    label_names,
    wires,
    sources_and_reach,
    cycles,
    subflow_ends,
    subflow_names,
    subflows_in_themselves,
    promotions,
)


def notes(*flows: Flow, catalog: Catalog[NodeType] = node_catalog) -> tuple[Problem, ...]:
    """Properties that are given and have no effect yet, sorted by place."""
    found = []
    for use in (use for flow in flows for use in flow.nodes):
        node_type = catalog.get(use.type) if use.type else None
        pending = (
            {p.name: m for p in node_type.properties for m in p.marks if isinstance(m, Pending)} if node_type else {}
        )
        for setting in use.settings:
            if setting.name in pending:
                text = f"note: {setting.name} has no effect yet; it waits for {pending[setting.name].what}"
                found.append(marked(setting.place, text, setting.name, UNFIT, line_of_file(setting.place)))
    found += [note for flow in flows if not flow.is_subflow for note in _of_flow(flow)]
    return tuple(sorted(set(found)))


def _of_flow(flow: Flow) -> Iterator[Problem]:
    """Yields notes on properties of a flow itself that have no effect, or one in a broker alone."""
    marks = {declared.name: declared.marks for declared in FLOW_PROPERTIES}
    for setting in flow.properties:
        for mark in marks.get(setting.name, ()) if setting.value not in {"", "0", "none"} else ():
            if isinstance(mark, Pending):
                text = f"note: {setting.name} has no effect yet; it waits for {mark.what}"
            elif isinstance(mark, InBrokers):
                text = f"note: {setting.name} counts where a broker runs the flow, not at a desk or on Spark"
            else:
                continue
            yield marked(setting.place, text, setting.name, UNFIT, line_of_file(setting.place))

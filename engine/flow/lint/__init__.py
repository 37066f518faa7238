"""Everything that can be said about flows without running them: all problems, each with its place, and notes.

Numbers are IBM's where it has one: 2210 a property that does not exist, 2211 a value that does not fit, 2241 a node
type that does not exist. All else is 2087, a definition that cannot be processed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Final

from engine.catalog import Catalog, did_you_mean
from engine.errors import ConfigurationException, Place, Problem, line_of_file, marked
from engine.flow.definition import (
    FLOW_PROPERTIES,
    INPUT,
    OUTPUT,
    Flow,
    NodeUse,
    Setting,
    Types,
    Wire,
    expand,
    followers,
    graph,
    subflow_of,
)
from engine.flow.label_routes import NO_NAMES, Labels, label_routes
from engine.flow.lint.properties import (
    UNFIT,
    Finding,
    Subject,
    flow_properties,
    node_properties,
    node_rules,
    promotions,
)
from engine.node import ANY_LABEL, ANY_TERMINAL, InBrokers, NodeType, Pending, Property, node_catalog

__all__ = ["PASSES", "UNFIT", "lint", "unknown_type"]

UNKNOWN_TYPE: Final = 2241
# IBM's nodes that flows are likeliest to have and that are looked for in vain
NOT_HERE: Final = frozenset(
    [
        "AggregateControl", "AggregateReply", "AggregateRequest", "Collector", "FileInput", "FileOutput", "FileRead",
        "Group", "HTTPInput", "HTTPReply", "HTTPRequest", "JavaCompute", "JMSInput", "JMSOutput", "Mapping",
        "RESTRequest", "Resequence", "Route", "SCADAInput", "SCADAOutput", "Sequence", "SOAPInput", "SOAPReply",
        "SOAPRequest", "TimeoutControl", "TimeoutNotification", "XSLTransform",
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
        subject = Subject(flow, _expanded(flow, subflows), types, known, labels(flow), unread.get(flow.file, ()))
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
    """Names that messages are routed to and that two nodes have, those within subflows too."""
    first: dict[str, str] = {}
    own = {use.label: use for use in subject.flow.nodes}
    for use in subject.expanded.nodes:
        found = subject.known.catalog.get(use.type)
        name = found and found.label_property and found.label_property.name
        for setting in use.settings:
            if setting.name == name and isinstance(setting.value, str):
                other = first.setdefault(setting.value, use.label)
                if other != use.label:
                    text = f"{name} {setting.value} is that of {other} too; a message can go to one only"
                    if use.label in own:
                        yield Finding(setting.value_place, text, setting.value)
                    else:
                        sub = next(each for label, each in own.items() if use.label.startswith(f"{label}."))
                        text = f"{use.label}: {text}: promote it, and give each subflow another"
                        yield Finding(sub.place, text, sub.label)


def _expanded(flow: Flow, subflows: Mapping[str, Flow]) -> Flow:
    """Returns a flow with its subflows opened, or as it stands where they cannot be."""
    try:
        return expand(flow, subflows)
    except ConfigurationException:  # which others report
        return flow


def wires(subject: Subject) -> Iterator[Finding]:
    """Wires from or to nothing, and wires that are there twice."""
    first: dict[Wire, Wire] = {}
    for wire in subject.flow.wires:
        if first.setdefault(wire, wire) is not wire:
            line = first[wire].place.line
            yield Finding(wire.place, f"{wire} is here twice; it is on line {line} too", wire.source)
        yield from _wire_end(subject, wire, wire.source, wire.source_terminal, "output")
        yield from _wire_end(subject, wire, wire.target, wire.target_terminal, "input")


def _wire_end(subject: Subject, wire: Wire, label: str, terminal: str, side: str) -> Iterator[Finding]:
    if label not in subject.types:
        yield Finding(wire.place, f"there is no node {label}{did_you_mean(label, list(subject.types))}", label)
        return
    found = subject.types[label]
    if found is None:
        return
    terminals = found.outputs if side == "output" else found.inputs
    if terminal in terminals or ANY_TERMINAL in terminals:
        return
    named = [name for name in terminals if name != ANY_LABEL]
    if not named:
        takes = "send nothing on" if side == "output" else "take no messages from other nodes"
        yield Finding(wire.place, f"{label} cannot be wired so: {found.name} nodes {takes}", label)
        return
    known = did_you_mean(terminal, named) or f"; it has {', '.join(named)}"
    about = f".{terminal}" if side == "output" else terminal
    yield Finding(wire.place, f"{label} has no {side} terminal {terminal}{known}", about)


def sources_and_reach(subject: Subject) -> Iterator[Finding]:
    """Flows that no message enters, and nodes that no message reaches."""
    flow = subject.flow
    if "" in subject.unread:
        return
    if not any(_is_start(subject, use) for use in flow.nodes):
        kind = "subflow" if flow.is_subflow else "flow"
        yield Finding(flow.place, f"{kind} {flow.name} has no input node, so no message enters it", flow.name)
        return
    onward = followers(
        flow, (*label_routes(flow, subject.known.catalog, subject.labels), *_routes_of_subflows(subject))
    )
    waiting = [use.label for use in flow.nodes if _is_start(subject, use)]
    reached: set[str] = set()
    while waiting:
        label = waiting.pop()
        if label not in reached:
            reached.add(label)
            waiting += onward[label]
    for use in flow.nodes:
        found = subject.types[use.label]
        if use.label not in reached and use.type != OUTPUT:
            routed = found is not None and found.label_property
            text = "no node that routes to labels is reached" if routed else "no wire leads to it from an input node"
            yield Finding(use.place, f"{use.label} is never reached: {text}", use.label)


def _routes_of_subflows(subject: Subject) -> Iterator[tuple[str, str]]:
    """The ways from subflows whose nodes route to labels to the flow's own Labels."""
    labels = {label for label, found in subject.types.items() if found and found.label_property}
    subs = [use.label for use in subject.flow.nodes if subflow_of(subject.flow, use, subject.known.subflows)]
    for source, target in label_routes(subject.expanded, subject.known.catalog) if labels and subs else ():
        if target in labels:
            yield from ((sub, target) for sub in subs if source.startswith(f"{sub}."))


def _is_start(subject: Subject, use: NodeUse) -> bool:
    """Returns True where messages may enter: also a node of unknown type, or named by a wire that cannot be read.

    A Label of a subflow may be routed to by the flow that uses it.
    """
    found = subject.types[use.label]
    in_doubt = found is None or any(use.label in text for text in subject.unread)
    routed = subject.flow.is_subflow and found is not None and found.label_property is not None
    return in_doubt or routed or subject.known.starts(subject.flow, use)


def cycles(subject: Subject) -> Iterator[Finding]:
    """Wires that lead back to where they came from; a message would never come out."""
    try:
        TopologicalSorter(followers(subject.expanded)).prepare()
    except CycleError:
        yield from _circles(subject)


def _circles(subject: Subject) -> Iterator[Finding]:
    import networkx  # noqa: PLC0415  # see engine.flow.definition.graph

    made = graph(subject.expanded)
    for together in sorted(networkx.strongly_connected_components(made), key=sorted):
        part = made.subgraph(sorted(together))
        if not part.edges:
            continue
        edges = [edge[:2] for edge in networkx.find_cycle(part, min(together))]
        circle = [next(w for w in subject.expanded.wires if (w.source, w.target) == edge) for edge in edges]
        own = [wire for wire in circle if wire.place.file == subject.flow.file]
        if own:
            text = f"the wires go in a circle: {', '.join(map(str, circle))}"
            yield Finding(max(own, key=lambda wire: wire.place.line).place, text)


def subflow_ends(subject: Subject) -> Iterator[Finding]:
    """Input and Output nodes outside subflows, and terminals of a subflow that nothing is wired to."""
    wired = {wire.source for wire in subject.flow.wires} | {wire.target for wire in subject.flow.wires}
    for use in subject.flow.nodes:
        if use.type not in (INPUT, OUTPUT):
            continue
        if not subject.flow.is_subflow:
            yield Finding(use.type_place, f"{use.type} nodes are the terminals of subflows; this is a flow", use.type)
        elif use.label not in wired:
            yield Finding(use.place, f"nothing is wired to {use.label}, a terminal of the subflow", use.label)
        if "." in use.label:
            yield Finding(use.place, f"{use.label} is the name of a terminal, which has no dots", use.label)


def subflow_names(subject: Subject) -> Iterator[Finding]:
    """Subflows with the name of a node type, which nodes could no longer be of."""
    flow = subject.flow
    if flow.is_subflow and (flow.name in (INPUT, OUTPUT) or subject.known.catalog.get(flow.name)):
        yield Finding(flow.place, f"there is a node type {flow.name}; give the subflow another name", flow.name)


def subflows_in_themselves(subject: Subject) -> Iterator[Finding]:
    """Subflows that hold themselves, at any depth."""
    for use in subject.flow.nodes:
        way = _way_back(subject.flow, use, subject.known.subflows)
        if way:
            text = f"subflow {subject.flow.name} holds itself: {' -> '.join((subject.flow.name, *way))}"
            yield Finding(use.type_place, text, use.subflow or use.type)


def _way_back(flow: Flow, use: NodeUse, subflows: Mapping[str, Flow]) -> tuple[str, ...]:
    """The subflows through which this node of a flow leads to the flow itself, the shortest way."""
    start = subflow_of(flow, use, subflows)
    waiting = [start] if start else []
    ways: dict[str, tuple[str, ...]] = {start.qualified_name: (start.name,)} if start else {}
    for sub in waiting:
        way = ways[sub.qualified_name]
        if sub.qualified_name == flow.qualified_name:
            return way
        for inner in sub.nodes:
            further = subflow_of(sub, inner, subflows)
            if further and further.qualified_name not in ways:
                ways[further.qualified_name] = (*way, further.name)
                waiting.append(further)
    return ()


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


def notes(*flows: Flow) -> tuple[Problem, ...]:
    """Properties that are given and have no effect yet, or one in a broker alone, sorted by place."""
    found: set[Problem] = set()
    for flow in flows:
        for use in flow.nodes:
            node_type = node_catalog.get(use.type) if use.type else None
            found.update(_noted(use.settings, node_type.properties if node_type else ()))
        if not flow.is_subflow:
            given = (setting for setting in flow.properties if setting.value not in {"", "0", "none"})
            found.update(_noted(given, FLOW_PROPERTIES))
    return tuple(sorted(found))


def _noted(settings: Iterable[Setting], properties: Iterable[Property]) -> Iterator[Problem]:
    """Yields a note on each setting of a property that is marked so."""
    marks = {declared.name: declared.marks for declared in properties}
    for setting in settings:
        for mark in marks.get(setting.name, ()):
            if isinstance(mark, Pending):
                text = f"note: {setting.name} has no effect yet; it waits for {mark.what}"
            elif isinstance(mark, InBrokers):
                text = f"note: {setting.name} counts where a broker runs the flow, not at a desk or on Spark"
            else:
                continue
            yield marked(setting.place, text, setting.name, UNFIT, line_of_file(setting.place))

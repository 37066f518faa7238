"""Wiring: wires from or to nothing, nodes that no message reaches, circles, and the terminals and names of subflows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from engine.catalog import did_you_mean
from engine.errors import ConfigurationException
from engine.flow.definition import INPUT, OUTPUT, Flow, NodeUse, Wire, expand, followers, graph, subflow_of
from engine.flow.label_routes import label_routes
from engine.flow.lint.findings import Finding, Subject
from engine.node import ANY_LABEL, ANY_TERMINAL


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
    onward = followers(flow, label_routes(flow, subject.known.catalog, subject.labels))
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


def _is_start(subject: Subject, use: NodeUse) -> bool:
    """Returns True where messages may enter: also a node of unknown type, or named by a wire that cannot be read."""
    in_doubt = subject.types[use.label] is None or any(use.label in text for text in subject.unread)
    return in_doubt or subject.known.starts(subject.flow, use)


def cycles(subject: Subject) -> Iterator[Finding]:
    """Wires that lead back to where they came from; a message would never come out."""
    try:
        flow = expand(subject.flow, subject.known.subflows)
    except ConfigurationException:
        flow = subject.flow
    try:
        TopologicalSorter(followers(flow)).prepare()
    except CycleError:
        yield from _circles(subject, flow)


def _circles(subject: Subject, flow: Flow) -> Iterator[Finding]:
    import networkx  # noqa: PLC0415  # see engine.flow.definition.graph

    made = graph(flow)
    for together in sorted(networkx.strongly_connected_components(made), key=sorted):
        part = made.subgraph(sorted(together))
        if not part.edges:
            continue
        edges = [edge[:2] for edge in networkx.find_cycle(part, min(together))]
        circle = [next(w for w in flow.wires if (w.source, w.target) == edge) for edge in edges]
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

"""Wiring: wires from or to nothing, nodes that no message reaches, and circles."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from engine.catalog import did_you_mean
from engine.errors import ConfigurationException
from engine.flow.definition import OUTPUT, Flow, NodeUse, Wire, expand, followers, graph
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
    """Whether messages enter here; one of unknown type, or that a wire names which cannot be read, may do so."""
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

"""Subflows: their terminals, their names, and those that hold themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.flow.definition import INPUT, OUTPUT, Flow, NodeUse, subflow_of
from engine.flow.lint.findings import Finding, Subject


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

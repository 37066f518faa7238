"""Everything that can be said about flows without running them: all problems, each with its place.

Numbers are IBM's where it has one: 2210 a property that does not exist, 2211 a value that does not fit, 2241 a node
type that does not exist. All else is 2087, a definition that cannot be processed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine.catalog import Catalog, did_you_mean
from engine.errors import BrokerError, ConfigurationException, Place, Problem
from engine.flow import (
    FLOW_PROPERTIES,
    INPUT,
    OUTPUT,
    Flow,
    NodeUse,
    Row,
    Setting,
    Types,
    Wire,
    expand,
    graph,
    plain,
    subflow_of,
)
from engine.marking import line_of_file, marked
from engine.node import (
    ANY_LABEL,
    ANY_TERMINAL,
    Esql,
    NodeType,
    Property,
    build,
    missing_property,
    node_catalog,
    unknown_property,
)
from engine.routes import NO_NAMES, Labels, Names, label_routes

ADVICE: Final = "if it is a node of your own, list the file that defines it: --nodes FILE"
UNFIT: Final = 2087
UNKNOWN_TYPE: Final = 2241
NO_SUBFLOWS: Final[Mapping[str, Flow]] = {}


class Finding(NamedTuple):
    """What a pass has found; `about` is the word of the source line that it is about."""

    place: Place
    text: str
    about: str = ""
    number: int = UNFIT


@dataclass(frozen=True, slots=True)
class Subject:
    """A flow under examination, with all that its nodes turn out to be."""

    flow: Flow
    types: Mapping[str, NodeType | None]
    known: Types
    labels: Names


def lint(
    *flows: Flow,
    subflows: Mapping[str, Flow] = NO_SUBFLOWS,
    catalog: Catalog[NodeType] = node_catalog,
    source_line: Callable[[Place], str] = line_of_file,
    labels: Labels = lambda _: NO_NAMES,
) -> tuple[Problem, ...]:
    """All problems of these flows, sorted by place; `subflows` are those they may use, by name and by file.

    `labels` are those that the programs of a flow send to, by their nodes, where that is known.
    """
    known = Types(catalog, subflows)
    findings = list(two_of_one_name(flows))
    for flow in flows:
        subject = Subject(flow, {use.label: known.of(flow, use) for use in flow.nodes}, known, labels(flow))
        findings.extend(finding for examine in PASSES for finding in examine(subject))
    return tuple(sorted({marked(f.place, f.text, f.about, f.number, source_line(f.place)) for f in findings}))


def two_of_one_name(flows: Iterable[Flow]) -> Iterator[Finding]:
    """Flows that are deployed under the same name."""
    first: dict[str, Flow] = {}
    for flow in flows:
        known = first.setdefault(flow.qualified_name, flow)
        if known is not flow:
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
            advice = did_you_mean(use.type, names) or f"; {ADVICE}"
            text = f"there is no node type or subflow {use.type}{advice}"
            yield Finding(use.type_place, text, use.type, UNKNOWN_TYPE)


def node_properties(subject: Subject) -> Iterator[Finding]:
    """Properties of nodes that do not exist, do not fit, or are missing."""
    promoted = {
        (t.label, t.property) for p in subject.flow.promotions for t in p.targets if _given(subject.flow, p.name)
    }
    for use in subject.flow.nodes:
        found = subject.types[use.label]
        if found is None:
            continue
        yield from _settings(found.name, found.properties, use.settings)
        given = {setting.name for setting in use.settings} | _misspelt(found, use)
        for declared in found.properties:
            if declared.mandatory and declared.name not in given and (use.label, declared.name) not in promoted:
                missing = missing_property(f"{found.name} {use.label}", declared)
                yield Finding(use.place, missing.text, use.label, missing.number)


def _misspelt(found: NodeType, use: NodeUse) -> set[str]:
    """The properties that are probably meant by names that do not exist, and so are not missing as well."""
    known = [declared.name for declared in found.properties]
    phrases = [did_you_mean(setting.name, known) for setting in use.settings if setting.name not in known]
    return {name for name in known for phrase in phrases if phrase.endswith(f" {name}?")}


def _given(flow: Flow, name: str) -> bool:
    """Whether a promoted property has a value as far as this flow can know: a subflow's may come from its user."""
    return flow.is_subflow or any(setting.name == name for setting in flow.properties)


def flow_properties(subject: Subject) -> Iterator[Finding]:
    """Properties of the flow itself, and values for what it promotes."""
    flow = subject.flow
    promoted = {promotion.name: promotion for promotion in flow.promotions}
    own = tuple(setting for setting in flow.properties if setting.name not in promoted)
    named = tuple(Property(name, name, str, default="") for name in promoted)
    declared = named if flow.is_subflow else (*FLOW_PROPERTIES, *named)
    yield from _settings("a subflow" if flow.is_subflow else "a flow", declared, own)
    for setting in flow.properties:
        for target in promoted[setting.name].targets if setting.name in promoted else ():
            found = subject.types.get(target.label)
            for inner in found.properties if found else ():
                if inner.name == target.property:
                    yield from _value(inner, setting)
    for setting in flow.user_properties:
        if not isinstance(setting.value, str):
            yield Finding(setting.value_place, f"user property {setting.name} is one value, not a list")


def _settings(owner: str, properties: tuple[Property, ...], settings: Iterable[Setting]) -> Iterator[Finding]:
    known = {declared.name: declared for declared in properties}
    for setting in settings:
        if setting.name in known:
            yield from _value(known[setting.name], setting)
        else:
            unknown = unknown_property(owner, setting.name, properties)
            yield Finding(setting.place, unknown.text, setting.name, unknown.number)


def _value(declared: Property, setting: Setting) -> Iterator[Finding]:
    if declared.columns and isinstance(setting.value, tuple):
        places = setting.item_places or (setting.value_place,) * len(setting.value)
        for row, place in zip(setting.value, places, strict=True):
            yield from _row(declared, row, place)
        return
    try:
        declared.read(plain([setting])[setting.name])
    except ConfigurationException as unsuitable:
        about = setting.value if isinstance(setting.value, str) else ""
        yield Finding(setting.value_place, unsuitable.text, about, unsuitable.number)


def _row(declared: Property, row: str | Row, place: Place) -> Iterator[Finding]:
    if isinstance(row, str):
        unsuitable = declared.unsuitable(row)
        yield Finding(place, unsuitable.text, row, unsuitable.number)
        return
    yield from _settings(declared.name, declared.columns, row)
    for column in declared.columns:
        if column.mandatory and all(cell.name != column.name for cell in row):
            missing = missing_property(f"each row of {declared.name}", column)
            yield Finding(place, missing.text, number=missing.number)


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
    import networkx  # noqa: PLC0415  # see engine.flow.graph

    flow = subject.flow
    if not any(_is_start(subject, use) for use in flow.nodes):
        kind = "subflow" if flow.is_subflow else "flow"
        yield Finding(flow.place, f"{kind} {flow.name} has no input node, so no message enters it", flow.name)
        return
    reach = graph(flow, label_routes(flow, subject.known.catalog, subject.labels))
    starts = [use.label for use in flow.nodes if _is_start(subject, use)]
    reached = set(starts).union(*(networkx.descendants(reach, start) for start in starts))
    for use in flow.nodes:
        found = subject.types[use.label]
        if use.label not in reached and use.type != OUTPUT:
            routed = found is not None and found.label_property
            text = "no node that routes to labels is reached" if routed else "no wire leads to it from an input node"
            yield Finding(use.place, f"{use.label} is never reached: {text}", use.label)


def _is_start(subject: Subject, use: NodeUse) -> bool:
    """Whether messages enter here; a node of an unknown type gets the benefit of the doubt."""
    return subject.types[use.label] is None or subject.known.starts(subject.flow, use)


def cycles(subject: Subject) -> Iterator[Finding]:
    """Wires that lead back to where they came from; a message would never come out."""
    import networkx  # noqa: PLC0415

    try:
        flow = expand(subject.flow, subject.known.subflows)
    except ConfigurationException:
        flow = subject.flow
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


def promotions(subject: Subject) -> Iterator[Finding]:
    """Promoted properties that lead to nothing or to where another leads, or that hide a property of the flow."""
    own = () if subject.flow.is_subflow else FLOW_PROPERTIES
    first: dict[tuple[str, str], str] = {}
    for promotion in subject.flow.promotions:
        if any(declared.name == promotion.name for declared in own):
            text = f"every flow has a property {promotion.name}; promote under another name"
            yield Finding(promotion.place, text, promotion.name)
        if not promotion.targets:
            yield Finding(promotion.place, f"{promotion.name} sets no property of any node", promotion.name)
        for target in promotion.targets:
            other = first.setdefault((target.label, target.property), promotion.name)
            if other != promotion.name:
                yield Finding(target.place, f"{target} is promoted as {other} too", str(target))
            if target.label not in subject.types:
                close = did_you_mean(target.label, list(subject.types))
                yield Finding(target.place, f"there is no node {target.label}{close}", target.label)
                continue
            found = subject.types[target.label]
            if found and all(declared.name != target.property for declared in found.properties):
                unknown = unknown_property(found.name, target.property, found.properties)
                yield Finding(target.place, unknown.text, target.property, unknown.number)


def node_rules(subject: Subject) -> Iterator[Finding]:
    """What a node says of its properties taken together, once each of them is right by itself."""
    for use in subject.flow.nodes:
        found = subject.types[use.label]
        if (
            found is None
            or found.category == "subflow"
            or any(isinstance(mark, Esql) for declared in found.properties for mark in declared.marks)
        ):
            continue
        try:
            build(found, use.values)
        except ConfigurationException:
            continue  # node_properties has said it
        except BrokerError as error:
            yield Finding(use.place, f"{use.label}: {error.text}", use.label)


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

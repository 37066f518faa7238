"""A flow as frozen data, its graph, and the flat flow that is left when its subflows are put in their places."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from engine.catalog import Catalog
from engine.errors import NOWHERE, ConfigurationException, Place
from engine.node import InBrokers, NodeType, Pending, Property, Range, YesOrNo, prop, properties_of

if TYPE_CHECKING:
    import networkx

    from engine.node import Node

INPUT: Final = "Input"  # the ends of a subflow, by type; their labels are the terminals of the subflow
OUTPUT: Final = "Output"
MOST_NODES: Final = 10_000  # an expanded flow beyond this, or nested deeper than the next, is an attack or a mistake
DEEPEST_NESTING: Final = 50
_PASSED: Final = "end of a subflow"

Row: TypeAlias = "tuple[Setting, ...]"
Value: TypeAlias = "str | tuple[str | Row, ...]"


@dataclass(frozen=True, slots=True)
class Setting:
    """A value given to a property: text, a list of texts, or the rows of a table; its meaning is the property's."""

    name: str
    value: Value
    place: Place = field(default=NOWHERE, compare=False)
    value_place: Place = field(default=NOWHERE, compare=False)
    item_places: tuple[Place, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class NodeUse:
    """A node of a flow: its label, its type (or the file of a subflow), and the properties it is given."""

    label: str
    type: str
    settings: tuple[Setting, ...] = ()
    subflow: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    type_place: Place = field(default=NOWHERE, compare=False)

    @property
    def values(self) -> dict[str, object]:
        """The properties by IBM's names, as engine.node.build wants them."""
        return plain(self.settings)


@dataclass(frozen=True, slots=True)
class Wire:
    """A wire from a terminal of one node to a terminal of another."""

    source: str
    source_terminal: str
    target: str
    target_terminal: str = "in"
    place: Place = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        """The wire as flow files write it."""
        return f"{self.source}.{self.source_terminal} -> {self.target}.{self.target_terminal}"


@dataclass(frozen=True, slots=True)
class Promoted:
    """A property of a node inside a flow that is set from outside."""

    label: str
    property: str
    place: Place = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        """The property as flow files write it."""
        return f"{self.label}.{self.property}"


@dataclass(frozen=True, slots=True)
class Promotion:
    """A name that a flow gives to properties of its nodes, so that its users can set them."""

    name: str
    targets: tuple[Promoted, ...]
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Flow:
    """A message flow or subflow; two flows are equal when they say the same, wherever it is written."""

    name: str
    schema: str = ""
    properties: tuple[Setting, ...] = ()
    user_properties: tuple[Setting, ...] = ()
    promotions: tuple[Promotion, ...] = ()
    nodes: tuple[NodeUse, ...] = ()
    wires: tuple[Wire, ...] = ()
    is_subflow: bool = False
    file: str = field(default="", compare=False)
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def qualified_name(self) -> str:
        """The name with the schema in front."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    def node(self, label: str) -> NodeUse | None:
        """The node of that label, or None."""
        return next((use for use in self.nodes if use.label == label), None)

    def terminals(self, end: str) -> tuple[str, ...]:
        """Returns what a subflow is wired by: the labels of its Input or of its Output nodes."""
        return tuple(use.label for use in self.nodes if use.type == end)


_Limit: TypeAlias = Annotated[int, Range(0), InBrokers()]
_Action: TypeAlias = Annotated[Literal["none", "restartExecutionGroup"], InBrokers()]
_WEB: Final = Pending("nodes of web services")
_SECURITY: Final = Pending("security profiles")


@dataclass(frozen=True, slots=True)
class FlowProperties:
    """The properties of every flow, beside those it promotes."""

    additional_instances: Annotated[int, Range(0, 256)] = prop(0, "How many more threads run the flow.")
    notification_threshold_msgs_per_sec: _Limit = prop(0, "The rate that is worth a notice; 0: none.")
    maximum_rate_msgs_per_sec: _Limit = prop(0, "The rate that is not exceeded; 0: any.")
    processing_timeout_sec: _Limit = prop(0, "How long one message may take; 0: any time.")
    processing_timeout_action: _Action = prop("none", "What happens after that time.")
    wlm_policy: Annotated[str, Pending("workload management policies")] = prop("", "The workload management policy.")
    commit_count: Annotated[int, Range(1)] = prop(1, "How many messages make a unit of work.")
    commit_interval: Annotated[float, Range(0, 60)] = prop(0.0, "Seconds after which a smaller unit is committed.")
    coordinated_transaction: Annotated[bool, YesOrNo()] = prop(False, "Whether queues and databases commit together.")
    consumer_policy_set: Annotated[str, _WEB] = prop("", "The policy set of a web service's consumers.")
    provider_policy_set: Annotated[str, _WEB] = prop("", "The policy set of a web service's providers.")
    consumer_policy_set_bindings: Annotated[str, _WEB] = prop("", "The bindings of the consumer policy set.")
    provider_policy_set_bindings: Annotated[str, _WEB] = prop("", "The bindings of the provider policy set.")
    security_profile_name: Annotated[str, _SECURITY] = prop("", "The security profile of input nodes that name none.")
    monitoring_profile: Annotated[str, Pending("monitoring profiles")] = prop("", "The monitoring profile.")
    start_mode: Literal["Maintained", "Automatic", "Manual"] = prop("Maintained", "Whether it starts with its group.")
    start_instances_when_flow_starts: bool = prop(False, "Whether additional instances start at once.")


FLOW_PROPERTIES: Final[tuple[Property, ...]] = properties_of(FlowProperties)


def plain(settings: Iterable[Setting]) -> dict[str, object]:
    """Settings as names and values, tables as lists of such."""
    return {s.name: s.value if isinstance(s.value, str) else [_plain_item(i) for i in s.value] for s in settings}


def _plain_item(item: str | Row) -> object:
    return item if isinstance(item, str) else plain(item)


def canonical(flow: Flow) -> str:
    """Returns what a flow says, as JSON that is the same wherever and however it is written."""
    content = {
        "name": flow.name,
        "schema": flow.schema,
        "isSubflow": flow.is_subflow,
        "properties": plain(flow.properties),
        "userProperties": plain(flow.user_properties),
        "promote": {promotion.name: sorted(map(str, promotion.targets)) for promotion in flow.promotions},
        "nodes": {use.label: [use.type, use.subflow, plain(use.settings)] for use in flow.nodes},
        "wires": [[w.source, w.source_terminal, w.target, w.target_terminal] for w in flow.wires],
    }
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def content_hash(flow: Flow) -> str:
    """The SHA-256 of what a flow says, for caches; subflows count when they have been expanded."""
    return hashlib.sha256(canonical(flow).encode()).hexdigest()


def subflow_of(flow: Flow, use: NodeUse, subflows: Mapping[str, Flow]) -> Flow | None:
    """The subflow that a node stands for, if it stands for one; they are known by name and by file."""
    return subflows.get(file_of(flow, use) if use.subflow else use.type)


def file_of(flow: Flow, use: NodeUse) -> str:
    """The file of a subflow, named from where the flow that uses it is."""
    return normpath(join(dirname(flow.file), use.subflow))


class Types:
    """The types of a flow's nodes: those of the catalogue, the ends of subflows, and subflows as if they were types."""

    def __init__(self, catalog: Catalog[NodeType], subflows: Mapping[str, Flow]) -> None:
        self.catalog = catalog
        self.subflows = subflows
        self._made: dict[int, tuple[NodeType, bool]] = {}

    def of(self, flow: Flow, use: NodeUse) -> NodeType | None:
        """The type of a node of this flow, or None where there is no such type."""
        return self._of(flow, use, 0)[0]

    def starts(self, flow: Flow, use: NodeUse) -> bool:
        """Returns whether messages enter the flow at this node or inside it."""
        return self._of(flow, use, 0)[1]

    def _of(self, flow: Flow, use: NodeUse, depth: int) -> tuple[NodeType | None, bool]:
        if use.type in (INPUT, OUTPUT):
            inputs, outputs = ((), ("out",)) if use.type == INPUT else (("in",), ())
            return NodeType(use.type, inputs, outputs, (), "", "subflow", _not_a_node), use.type == INPUT
        sub = subflow_of(flow, use, self.subflows)
        if sub is not None:
            return self._of_subflow(sub, depth + 1)
        found = self.catalog.get(use.type) if use.type else None
        return found, found is not None and found.is_source

    def _of_subflow(self, sub: Flow, depth: int) -> tuple[NodeType, bool]:
        if id(sub) not in self._made:
            inputs, outputs = sub.terminals(INPUT), sub.terminals(OUTPUT)
            made = NodeType(sub.name, inputs, outputs, (), "", "subflow", _not_a_node)
            self._made[id(sub)] = made, False  # what a subflow finds when it holds itself
            inner = {use.label: self._of(sub, use, depth) for use in sub.nodes} if depth < DEEPEST_NESTING else {}
            found = (_promoted_property(sub, promotion, inner) for promotion in sub.promotions)
            made = replace(made, properties=tuple(declared for declared in found if declared))
            ends = (*inputs, *outputs)
            self._made[id(sub)] = made, any(starts for label, (_, starts) in inner.items() if label not in ends)
        return self._made[id(sub)]


def _promoted_property(
    sub: Flow, promotion: Promotion, inner: Mapping[str, tuple[NodeType | None, bool]]
) -> Property | None:
    """The property by the name that it has outside; a value inside the subflow is its default."""
    for target in promotion.targets:
        use, (node_type, _) = sub.node(target.label), inner.get(target.label, (None, False))
        if use and node_type is None:  # what it is cannot be read, which is said where it stands
            return Property(promotion.name, promotion.name, str, default="")
        found = next((p for p in node_type.properties if p.name == target.property), None) if node_type else None
        if use and found:
            inside = plain(sub.properties).get(promotion.name, use.values.get(target.property, found.default))
            return replace(found, name=promotion.name, default=inside)
    return None


def _not_a_node(*_: object) -> Node:
    raise ConfigurationException("a subflow is expanded before its nodes are built")


def expand(flow: Flow, subflows: Mapping[str, Flow]) -> Flow:
    """The flow without subflows: their nodes are labelled Sub.Inner, promoted properties are set, wires go through.

    A flow that lint finds fault with may not expand; that is a ConfigurationException.
    """
    opened = _open(flow, flow.properties, subflows, ())
    promoted = {promotion.name for promotion in flow.promotions}
    return replace(
        opened,
        properties=tuple(setting for setting in flow.properties if setting.name not in promoted),
        promotions=(),
        nodes=tuple(use for use in opened.nodes if use.type != _PASSED),
        wires=_at_most(MOST_NODES, _through(opened), flow.name),
    )


def _open(flow: Flow, given: Iterable[Setting], subflows: Mapping[str, Flow], above: tuple[str, ...]) -> Flow:
    """The flow with its subflows opened; their Input and Output nodes are still there, as ends that are passed."""
    if flow.qualified_name in above:
        raise ConfigurationException(f"subflow {flow.name} contains itself: {' -> '.join((*above, flow.name))}")
    if len(above) > DEEPEST_NESTING:
        raise ConfigurationException(f"flow {above[0]} has subflows more than {DEEPEST_NESTING} deep")
    nodes: list[NodeUse] = []
    inner_wires: list[Wire] = []
    user_properties = {setting.name: setting for setting in flow.user_properties}
    subs: dict[str, Flow] = {}
    for use in _promote(flow, given):
        sub = subflow_of(flow, use, subflows)
        if sub is None:
            nodes.append(use)
            continue
        subs[use.label] = sub
        opened = _open(sub, (*sub.properties, *use.settings), subflows, (*above, flow.qualified_name))
        nodes.append(replace(use, type=_PASSED))
        nodes.extend(_inside(use.label, inner) for inner in opened.nodes)
        inner_wires.extend(
            replace(wire, source=f"{use.label}.{wire.source}", target=f"{use.label}.{wire.target}")
            for wire in opened.wires
        )
        user_properties = {setting.name: setting for setting in opened.user_properties} | user_properties
        if max(len(nodes), len(inner_wires)) > MOST_NODES:
            raise ConfigurationException(f"flow {flow.name} has more than {MOST_NODES} nodes or wires in its subflows")
    wires = (*(_into_ends(wire, subs) for wire in flow.wires), *inner_wires)
    return replace(flow, nodes=tuple(nodes), wires=wires, user_properties=tuple(user_properties.values()))


def _at_most(number: int, wires: Iterator[Wire], name: str) -> tuple[Wire, ...]:
    taken = tuple(islice(wires, number + 1))
    if len(taken) > number:
        raise ConfigurationException(f"flow {name} has more than {number} wires through its subflows")
    return taken


def _inside(label: str, inner: NodeUse) -> NodeUse:
    inner_type = _PASSED if inner.type in (INPUT, OUTPUT) else inner.type
    return replace(inner, label=f"{label}.{inner.label}", type=inner_type)


def _promote(flow: Flow, given: Iterable[Setting]) -> Iterator[NodeUse]:
    values = {setting.name: setting for setting in given}
    promoted: dict[str, dict[str, Setting]] = {}
    for promotion in flow.promotions:
        if promotion.name in values:
            for target in promotion.targets:
                setting = replace(values[promotion.name], name=target.property)
                promoted.setdefault(target.label, {})[target.property] = setting
    for use in flow.nodes:
        own = {setting.name: setting for setting in use.settings}
        yield replace(use, settings=tuple((own | promoted.get(use.label, {})).values()))


def _into_ends(wire: Wire, subs: Mapping[str, Flow]) -> Wire:
    """The wire with the terminals of subflows replaced by the Input and Output nodes that they are."""
    if wire.source in subs:
        _demand(wire.source, wire.source_terminal, subs[wire.source].terminals(OUTPUT), wire)
        wire = replace(wire, source=f"{wire.source}.{wire.source_terminal}", source_terminal="out")
    if wire.target in subs:
        _demand(wire.target, wire.target_terminal, subs[wire.target].terminals(INPUT), wire)
        wire = replace(wire, target=f"{wire.target}.{wire.target_terminal}", target_terminal="in")
    return wire


def _demand(label: str, terminal: str, terminals: tuple[str, ...], wire: Wire) -> None:
    if terminal not in terminals:
        raise ConfigurationException(f"{wire.place}: subflow {label} has no terminal {terminal}".removeprefix(": "))


def _through(flow: Flow) -> Iterator[Wire]:
    """Wires between real nodes only, in the order in which messages take them."""
    passed = {use.label for use in flow.nodes if use.type == _PASSED}
    onward: dict[str, list[Wire]] = {}
    for wire in flow.wires:
        onward.setdefault(wire.source, []).append(wire)
    inner = {label: passed.intersection(targets) for label, targets in followers(flow).items() if label in passed}
    ends: dict[str, tuple[Wire, ...]] = {}
    try:
        for label in TopologicalSorter(inner).static_order():  # those behind before those in front
            further = (end for wire in onward.get(label, []) for end in ends.get(wire.target, (wire,)))
            ends[label] = _at_most(MOST_NODES, further, flow.name)
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1][1:]))
        raise ConfigurationException(f"wires go in a circle through {circle}") from None
    for wire in flow.wires:
        if wire.source not in passed:
            for last in ends.get(wire.target, (wire,)):
                yield replace(wire, target=last.target, target_terminal=last.target_terminal)


def followers(flow: Flow, routes: Iterable[tuple[str, str]] = ()) -> dict[str, list[str]]:
    """Returns the nodes of a flow, each with those that it is wired to; wires from or to nothing are left out."""
    found: dict[str, list[str]] = {use.label: [] for use in flow.nodes}
    for source, target in ((wire.source, wire.target) for wire in flow.wires):
        if source in found and target in found:
            found[source].append(target)
    for source, target in routes:
        found[source].append(target)
    return found


def graph(flow: Flow, routes: Iterable[tuple[str, str]] = ()) -> networkx.DiGraph[str]:
    """Returns the nodes of a flow and their wires as a graph."""
    import networkx  # noqa: PLC0415  # a tenth of a second that commands which draw no graph do not wait for

    made: networkx.DiGraph[str] = networkx.DiGraph()
    onward = followers(flow, routes)
    made.add_nodes_from(onward)
    made.add_edges_from((source, target) for source, targets in onward.items() for target in targets)
    return made


def layers(flow: Flow, routes: Iterable[tuple[str, str]] = ()) -> tuple[tuple[str, ...], ...]:
    """The labels by how far from the start they are, for drawing: wires lead to later layers, but for cycles."""
    import networkx  # noqa: PLC0415

    made = graph(flow, routes)
    made.remove_edges_from(list(networkx.selfloop_edges(made)))
    while not networkx.is_directed_acyclic_graph(made):
        made.remove_edge(*networkx.find_cycle(made)[-1][:2])
    order = {use.label: number for number, use in enumerate(flow.nodes)}
    return tuple(tuple(sorted(layer, key=order.__getitem__)) for layer in networkx.topological_generations(made))

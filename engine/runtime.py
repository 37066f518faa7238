"""A deployed flow: nodes bound to their wires; carries a message through, depth first."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from engine.errors import BrokerError, ConfigurationException, Place
from engine.flow import FLOW_PROPERTIES, Flow, FlowProperties, label_routes, plain
from engine.message import Message
from engine.node import FAILURE, Node, NodeType, Property, build, node_catalog, read_values
from engine.work import UnitOfWork

Evaluation: TypeAlias = Generator[tuple[str, Message], bool, None]
Go: TypeAlias = Callable[[Message, UnitOfWork], None]
Watch: TypeAlias = Callable[[str, str, str], None]
Bind: TypeAlias = Callable[[Property, object, Place], object]


class Entrance(Protocol):
    """A node at which messages enter a flow: it gets them itself."""

    def receive(self, work: UnitOfWork) -> Message | None:
        """The next message of its queue, or None where there is none."""
        ...


class Station:
    """A node where it stands in a deployed flow, with what is wired to each of its terminals."""

    __slots__ = ("evaluate", "label", "node", "place", "type", "wires")

    def __init__(self, label: str, node: Node, node_type: NodeType, place: Place) -> None:
        self.label = label
        self.node = node
        self.type = node_type
        self.place = place
        self.evaluate: Callable[[Message, UnitOfWork], Evaluation] = node.evaluate
        self.wires: dict[str, tuple[Go, ...]] = {}

    def carry(self, message: Message, work: UnitOfWork) -> None:
        """Let the node work on a message, and everything behind it on what it sends."""
        wires = self.wires
        evaluation = self.evaluate(message, work)
        try:
            terminal, sent = next(evaluation)
            while True:
                onward = wires.get(terminal, ())
                try:
                    for go in onward:
                        go(sent, work)
                except BrokerError as error:
                    terminal, sent = evaluation.throw(error)
                else:
                    terminal, sent = evaluation.send(bool(onward))
        except StopIteration:
            return
        except BrokerError as error:
            self._fail(error, message, work)
        except RecursionError as error:
            raise BrokerError(2030, "the flow is nested too deeply to run").at(self.place) from error
        except Exception as error:  # a node that breaks its promises is the flow's failure, not the broker's
            broken = BrokerError(2230, f"{self.type.name} failed: {error.__class__.__name__}: {error}")
            broken.__cause__ = error
            self._fail(broken, message, work)

    def _fail(self, error: BrokerError, message: Message, work: UnitOfWork) -> None:
        """The node's own failure goes to its failure terminal; one from behind it has been placed, and goes on up."""
        if error.place.node:
            raise error
        error.at(self.place)
        onward = self.wires.get(FAILURE, ())
        if not onward:
            raise error
        failed = message.failed(error)
        for go in onward:
            go(failed, work)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one message that a flow received."""

    message: Message
    error: BrokerError | None = None


class DeployedFlow:
    """A flow that runs: its stations by label, and those at which messages enter."""

    __slots__ = ("entrances", "flow", "properties", "stations")

    def __init__(self, flow: Flow, stations: Mapping[str, Station]) -> None:
        self.flow = flow
        self.stations = stations
        self.properties = FlowProperties(**_flow_values(flow))
        self.entrances = tuple(s for s in stations.values() if s.type.is_source)

    def process(self, entrance: Station, work: UnitOfWork) -> Outcome | None:
        """Take one message through the flow in a unit of work of its own; None where there is no message.

        A message that fails is backed out; what happens to it then is for the entrance to decide when it sees it again.
        """
        try:
            message: Message | None = entrance.node.receive(work)  # type: ignore[attr-defined]  # an Entrance
            if message is None:
                return None
        except BrokerError as error:
            work.back_out()
            raise error.at(entrance.place) from error.__cause__
        try:
            entrance.carry(message, work)
        except BrokerError as error:
            work.back_out()
            return Outcome(message, error)
        work.commit()
        return Outcome(message)


def deploy(flow: Flow, *, bind: Bind | None = None, watch: Watch | None = None) -> DeployedFlow:
    """Build the nodes of an expanded flow and bind them to its wires.

    `bind` makes what the node works with of a property that is more than its text, such as ESQL; it gets the
    property, the text, and the place of the node that it belongs to. `watch` is called with the label, the terminal
    and the label at the other end for each message on each wire; a flow that nobody watches does not pay for it.
    """
    stations: dict[str, Station] = {}
    for use in flow.nodes:
        node_type = node_catalog.find(use.type)
        place = Place(flow=flow.qualified_name, node=use.label)
        bound = _binder(bind, place)
        stations[use.label] = Station(use.label, build(node_type, use.values, bind=bound), node_type, place)
    for wire in flow.wires:
        source, target = stations[wire.source], stations[wire.target]
        go = target.carry if watch is None else _watched(wire.source, wire.source_terminal, target, watch)
        source.wires[wire.source_terminal] = (*source.wires.get(wire.source_terminal, ()), go)
    for router, label in label_routes(flow, node_catalog):
        target = stations[label]
        declared = target.type.label_property
        assert declared is not None
        name = str(getattr(target.node, declared.attribute))
        go = target.carry if watch is None else _watched(router, name, target, watch)
        stations[router].wires[f"{LABEL}{name}"] = (go,)
    return DeployedFlow(flow, stations)


def _watched(label: str, terminal: str, target: Station, watch: Watch) -> Go:
    def go(message: Message, work: UnitOfWork) -> None:
        watch(label, terminal, target.label)
        target.carry(message, work)

    return go


LABEL: Final = "label "  # how the hidden terminal of a router to a Label is called, before the Label's name


def _binder(bind: Bind | None, place: Place) -> Callable[[Property, object], object]:
    if bind is None:
        return lambda _, value: value
    return lambda declared, value: bind(declared, value, place)


def _flow_values(flow: Flow) -> dict[str, Any]:
    try:
        return read_values(f"flow {flow.name}", FLOW_PROPERTIES, plain(flow.properties))
    except ConfigurationException as error:
        raise error.at(Place(flow=flow.qualified_name)) from error.__cause__

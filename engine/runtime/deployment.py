"""A deployed flow: nodes bound to their wires; carries a message through, depth first."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import GeneratorType, MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, runtime_checkable

from engine.budget import CURRENT, GENEROUS, Allowance, Budget
from engine.errors import LOCAL_ERROR, BrokerError, ConfigurationException, Place, has_left_debugger
from engine.files.allowed_folders import NO_FILES, AllowedFiles, WritesFiles
from engine.flow.definition import FLOW_PROPERTIES, Flow, FlowProperties, NodeUse, Wire, plain
from engine.flow.label_routes import label_routes
from engine.message.assembly import Message
from engine.message.received import ROOT, Received, RootDomain
from engine.node import ANY_TERMINAL, FAILURE, LABEL, Node, NodeType, Property, build, node_catalog, read_values
from engine.parser import Parser
from engine.runtime.batches import Batch
from engine.runtime.user_trace import Evaluation, Listen, TracedWork, UserTrace, heard
from engine.work import NO_ORDER, KnowsWires, Order, UnitOfWork

NODE_FAILED: Final = 2230
_TOO_DEEP: Final = "the flow is nested too deeply: look for a circle or a recursion without end"
NOBODY: Final[Mapping[str, Node]] = MappingProxyType({})
_LOG: Final = logging.getLogger(LOCAL_ERROR)

Go: TypeAlias = Callable[[Message, UnitOfWork], None]
Watch: TypeAlias = Callable[[str, str, str], None]
Caught: TypeAlias = Callable[[Place, BrokerError], None]
Bind: TypeAlias = Callable[[Property, object, Place], object]


@runtime_checkable
class Supplies(Protocol):
    """A `bind` that also brings parsers of the deployment's own, and says what its messages and nodes may use."""

    parsers: Mapping[str, Parser]
    allowance: Allowance
    files: AllowedFiles


class Station:
    """A node where it stands in a deployed flow, with what is wired to each of its terminals.

    A node with a field `_place` is told where it stands: it catches failures of its own.
    """

    __slots__ = ("caught", "ends", "evaluate", "label", "listen", "node", "place", "stray", "type", "wires")

    def __init__(self, label: str, node: Node, node_type: NodeType, place: Place) -> None:
        self.label = label
        self.node = node
        self.type = node_type
        self.place = place
        if hasattr(node, "_place"):
            object.__setattr__(node, "_place", place)
        self.evaluate: Callable[[Message, UnitOfWork], Evaluation] = node.evaluate
        self.listen: Listen | None = None
        self.caught: Caught | None = None
        self.wires: dict[str, tuple[Go, ...]] = {}
        self.ends: dict[str, tuple[str, ...]] = {}  # the labels of the nodes that these lead to
        self.stray: Callable[[str], None] | None = None  # is told of each message that no wire takes, and its terminal

    def connect(self, terminal: str, target: Station, watch: Watch | None) -> None:
        """Have messages from a terminal go to one more node, those to a label to that alone."""
        shown = terminal.removeprefix(LABEL)
        go = self.onward(shown, target.carry if watch is None else _watched(self.label, shown, target, watch))
        joins = shown == terminal
        self.wires[terminal] = (*self.wires.get(terminal, ()), go) if joins else (go,)
        self.ends[terminal] = (*self.ends.get(terminal, ()), target.label) if joins else (target.label,)

    def onward(self, terminal: str, go: Go) -> Go:
        """Returns the wire from a terminal that ends as `go` says."""
        return go

    def carry(self, message: Message, work: UnitOfWork) -> None:
        """Let the node work on a message, and everything behind it on what it sends."""
        wires = self.wires
        evaluation: Evaluation | None = None
        below: BrokerError | None = None
        untold: BrokerError | None = None
        try:
            evaluation = self.evaluate(message, work)
            terminal, sent = next(evaluation)
            while True:
                onward = wires.get(terminal)
                if onward is None:
                    onward = self._unwired(terminal)
                try:
                    for go in onward:
                        go(sent, work)
                except BrokerError as error:
                    below = error
                    terminal, sent = evaluation.throw(error)
                    untold = self._tell_caught(error, terminal)
                else:
                    terminal, sent = evaluation.send(bool(onward))
        except StopIteration:
            if untold is not None:
                self._tell_caught(untold)
        except BaseException as error:
            if error is below:
                below.through(self.place)
                raise
            self._break(error, evaluation, message, work)

    def _tell_caught(self, error: BrokerError, terminal: str = "") -> BrokerError | None:
        """Says that an error goes no further than here; returns it where the terminal that it goes to is not wired."""
        if terminal and not self.wires.get(terminal):
            return error
        if self.caught is not None:
            self.caught(self.place, error)
        return None

    def _unwired(self, terminal: str) -> tuple[Go, ...]:
        """Nothing, for a terminal that the node may send to; a node that sends to another is broken."""
        known = self.type.outputs
        if terminal not in known and ANY_TERMINAL not in known and not terminal.startswith(LABEL):
            text = f"{self.type.name} sent a message to {terminal}, but its terminals are {', '.join(known) or 'none'}"
            raise BrokerError(NODE_FAILED, text)
        if self.stray is not None:
            self.stray(terminal)
        elif terminal in known:
            self.wires[terminal] = ()  # found at once the next time
        return ()

    @staticmethod
    def _end(evaluation: object) -> bool:
        """Have a node that waits at a yield run what it must run in any case; whether it waited there."""
        waited = isinstance(evaluation, GeneratorType) and evaluation.gi_frame is not None
        if waited:
            evaluation.close()  # type: ignore[attr-defined]  # a generator
        return waited

    def _break(self, error: BaseException, evaluation: object, message: Message, work: UnitOfWork) -> None:
        """A node that breaks its promises is the flow's failure, not the broker's; what is no failure goes on up."""
        waited = self._end(evaluation)
        if isinstance(error, BrokerError):
            self._fail(error, message, work)
            return
        if has_left_debugger(error):
            raise KeyboardInterrupt from error
        if not isinstance(error, Exception):
            raise error
        deep = isinstance(error, RecursionError)
        text = _TOO_DEEP if deep else f"{error.__class__.__name__}: {error}"
        broken = BrokerError(NODE_FAILED, f"{self.type.name} failed: {text}")
        broken.__cause__ = error
        if deep and waited:  # what lies below is too deep, not this node
            raise broken.at(self.place).through(self.place)
        self._fail(broken, message, work)

    def _fail(self, error: BrokerError, message: Message, work: UnitOfWork) -> None:
        """The node's own failure goes to its failure terminal; nodes at which messages enter have their own ways."""
        error.at(self.place)
        onward = () if self.type.is_source else self.wires.get(FAILURE, ())
        if not onward:
            raise error.through(self.place)
        if _LOG.isEnabledFor(logging.INFO):
            _LOG.info("%s; the message went to the failure terminal of %s", error, self.label)
        self._tell_caught(error)
        failed = message.failed(error)
        if self.listen is not None:
            self.listen(self.label, FAILURE, failed)
        try:
            for go in onward:
                go(failed, work)
        except BrokerError as later:
            raise later.through(self.place)  # noqa: B904 - it is the same error on its way up


class TracedStation(Station):
    """A station that tells the user trace what its node does."""

    __slots__ = ("trace",)

    def __init__(self, station: Station, trace: UserTrace) -> None:
        super().__init__(station.label, station.node, station.type, station.place)
        self.trace = trace

    def carry(self, message: Message, work: UnitOfWork) -> None:
        """Say that the node is at work, and let it."""
        self.trace.invoked(self.place, message, enters=self.type.is_source)
        super().carry(message, TracedWork(work, self.trace, self.place))

    def _fail(self, error: BrokerError, message: Message, work: UnitOfWork) -> None:
        self.trace.failed(self.place, error)
        super()._fail(error, message, work)

    def onward(self, terminal: str, go: Go) -> Go:
        """The wire from a terminal, which says that a message takes it."""

        def say_and_go(message: Message, work: UnitOfWork) -> None:
            self.trace.propagated(self.place, terminal)
            go(message, work)

        return say_and_go


class Outcome(NamedTuple):
    """The outcome of one message that a flow received."""

    message: Message
    error: BrokerError | None = None


class DeployedFlow:
    """A flow that runs: its stations by label, and those at which messages enter."""

    __slots__ = ("_domain", "allowance", "entrances", "flow", "properties", "stations")

    def __init__(
        self, flow: Flow, stations: Mapping[str, Station], domain: RootDomain = ROOT, allowance: Allowance = GENEROUS
    ) -> None:
        self.flow = flow
        self.allowance: Allowance | Budget = allowance  # of each message
        self._domain = domain
        self.stations = stations
        self.properties = flow_properties(flow)
        self.entrances = tuple(s for s in stations.values() if s.type.is_source)

    def tell_caught(self, caught: Caught) -> None:
        """Have a function called with each error that a node catches or that its failure terminal takes, and where."""
        for station in self.stations.values():
            station.caught = caught

    def batch(self, entrance: Station) -> Batch | None:
        """Returns the batch of an instance of the flow; None where each message has a unit of work to itself."""
        by_group = bool(getattr(entrance.node, "commit_by_message_group", False))
        if self.properties.commit_count == 1 and not by_group:
            return None
        return Batch(self.properties.commit_count, self.properties.commit_interval, by_group=by_group)

    def instances(self, entrance: Station) -> int:
        """Returns how many instances take messages in there: the flow's, or those of a node that has its own pool."""
        node = entrance.node
        own = getattr(node, "component_level", "flow") == "node"
        return 1 + (getattr(node, "additional_instances", 0) if own else self.properties.additional_instances)

    @staticmethod
    def order(entrance: Station) -> Order:
        """Returns what these instances keep in order."""
        found = getattr(entrance.node, "order", NO_ORDER)
        return found if isinstance(found, Order) else NO_ORDER

    def process(
        self, entrance: Station, work: UnitOfWork, batch: Batch | None = None, *, patient: bool = True
    ) -> Outcome | None:
        """Take one message through the flow in a unit of work of its own; None where there is no message.

        A message that fails is backed out, also where it only fails to be committed; what happens to it then is for
        the entrance to decide when it sees it again. With a batch, the unit of work is committed when that says so;
        who is not `patient` has it committed as soon as no message waits.
        """
        message: Message | None = None
        before = CURRENT.set(self.allowance)
        try:
            message = entrance.node.receive(work)  # type: ignore[attr-defined]  # an Entrance
            if message is None:
                if batch is not None:
                    batch.commit(None, work, patient=patient)
                return None
            if self._domain is not ROOT:
                _bind(message, self._domain)
            if batch is not None:
                batch.received(message)
            entrance.carry(message, work)
            if batch is None:
                work.commit()
            else:
                batch.commit(message, work, patient=patient)
        except BrokerError as error:
            failed = error.at(entrance.place)
        except Exception as error:  # a queue or a database that broke: the message must not be lost with it
            failed = BrokerError(NODE_FAILED, f"{error.__class__.__name__}: {error}", place=entrance.place)
            failed.__cause__ = error
        except BaseException:
            work.back_out()
            raise
        else:
            return Outcome(message)
        finally:
            CURRENT.reset(before)
        return _backed_out(message, failed, work, batch)


def deploy(
    flow: Flow,
    *,
    bind: Bind | None = None,
    watch: Watch | None = None,
    trace: UserTrace | None = None,
    listen: Listen | None = None,
    stand_ins: Mapping[str, Node] = NOBODY,
) -> DeployedFlow:
    """Build the nodes of an expanded flow and bind them to its wires.

    `bind` makes what the node works with of a property that is more than its text, such as ESQL; it gets these and the
    node's place. `watch` is called with the label, the terminal and the label at the other end for each message on
    each wire, `listen` with the label, the terminal and the message for all that leaves a node, wired or not; `trace`
    is told what nodes do. A flow that nobody watches or traces does not pay for it. `stand_ins` do the work of the
    nodes with these labels, which are then not built.
    """
    stations: dict[str, Station] = {}
    for use in flow.nodes:
        if use.label in stations:
            raise ConfigurationException(f"there are two nodes called {use.label}: rename one of them").at(use.place)
        station = _station(flow, use, bind, stand_ins.get(use.label))
        stations[use.label] = station = station if trace is None else TracedStation(station, trace)
        if listen is not None:
            station.listen, station.evaluate = listen, heard(use.label, station.evaluate, listen)
    for wire in flow.wires:
        source, target = (_end(stations, label, wire) for label in (wire.source, wire.target))
        source.connect(wire.source_terminal, target, watch)
    for router, label in label_routes(flow, node_catalog):
        target = stations[label]
        declared = target.type.label_property
        assert declared is not None
        stations[router].connect(f"{LABEL}{getattr(target.node, declared.attribute)}", target, watch)
    for station in stations.values():
        if isinstance(station.node, KnowsWires):
            station.node.wire(station.wires if listen is None else station.type.outputs)
    if not isinstance(bind, Supplies):
        return DeployedFlow(flow, stations)
    return DeployedFlow(flow, stations, RootDomain(bind.parsers) if bind.parsers else ROOT, bind.allowance)


def _backed_out(message: Message | None, error: BrokerError, work: UnitOfWork, batch: Batch | None) -> Outcome:
    """Back the unit of work out, and return what became of its message; raises where there was none."""
    work.back_out()
    if batch is not None:
        batch.backed_out()
    if message is None:
        raise error
    return Outcome(message, error)


def _bind(message: Message, domain: RootDomain) -> None:
    """Let a message that has just been received know the parsers of its deployment."""
    source = message.root.source
    message.root.domain = domain
    if isinstance(source, Received):
        source.domain = domain


def _station(flow: Flow, use: NodeUse, bind: Bind | None, stand_in: Node | None) -> Station:
    place = Place(flow=flow.qualified_name, node=use.label, type=f"ComIbm{use.type}Node")
    try:
        node_type = node_catalog.find(use.type)
        node = build(node_type, use.values, bind=_binder(bind, place)) if stand_in is None else stand_in
        if isinstance(node, WritesFiles):
            node.allow(bind.files if isinstance(bind, Supplies) else NO_FILES)
        return Station(use.label, node, node_type, place)
    except BrokerError as error:
        raise error.at(replace(use.place, flow=place.flow, node=place.node)) from error.__cause__


def _end(stations: Mapping[str, Station], label: str, wire: Wire) -> Station:
    try:
        return stations[label]
    except KeyError as error:
        raise ConfigurationException(f"the wire {wire} needs a node called {label}").at(wire.place) from error


def _watched(label: str, terminal: str, target: Station, watch: Watch) -> Go:
    def go(message: Message, work: UnitOfWork) -> None:
        watch(label, terminal, target.label)
        target.carry(message, work)

    return go


def _binder(bind: Bind | None, place: Place) -> Callable[[Property, object], object]:
    return lambda declared, value: value if bind is None else bind(declared, value, place)


def flow_properties(flow: Flow) -> FlowProperties:
    """The properties of a flow; raises with all that is wrong with them."""
    try:
        values: dict[str, Any] = read_values(f"flow {flow.name}", FLOW_PROPERTIES, plain(flow.properties))
    except ConfigurationException as error:
        raise error.at(Place(flow=flow.qualified_name)) from error.__cause__
    return FlowProperties(**values)

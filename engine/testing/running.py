"""A case run: its flow deployed with stubs, its messages carried through, and all that happened written down."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeAlias, cast

from engine.databases.sources import Sources
from engine.databases.work import with_databases
from engine.errors import BrokerError, ConfigurationException, Place, Problem
from engine.files.allowed_folders import NO_FILES, AllowedFiles
from engine.flow.dead_letters import BLOCKED
from engine.flow.definition import Flow, Setting, expand
from engine.flow.lint import UNFIT
from engine.message.assembly import Message
from engine.message.received import ROOT, RootDomain
from engine.mq.definitions import QueueDefinition
from engine.node import ANY_LABEL, ANY_TERMINAL, LABEL, NodeType, node_catalog
from engine.runtime.deployment import DeployedFlow, Outcome, Station, deploy
from engine.runtime.file_run import MOST_ROUNDS
from engine.runtime.incidents import Incident, put_away_heard
from engine.testing.case import Case, Description, Propagations, Send
from engine.testing.databases import FoundTable, databases_of, found_tables
from engine.testing.messages import StubNode, entering, letter, surrounded
from engine.transports.memory import MemoryQueues, subscribe
from engine.tree.sharing import copy
from engine.work import Arrival, Entrance, UnitOfWork
from flows.files import sound_flow
from flows.programs import Binder, binder, check_tables

Key = tuple[str, tuple[Setting, ...], tuple[Setting, ...]]


class Queues(Protocol):
    """The queues that a case is run on."""

    def work(self) -> UnitOfWork:
        """Returns a new unit of work."""

    def names(self) -> list[str]:
        """Returns the names of the queues."""

    def browse(self, queue: str, /) -> Sequence[Arrival]:
        """Returns what stands on a queue, in its order."""


Transport: TypeAlias = Callable[[Sequence[QueueDefinition], Iterable[object]], AbstractContextManager[Queues]]


@contextmanager
def in_memory(definitions: Sequence[QueueDefinition], nodes: Iterable[object]) -> Iterator[Queues]:
    """Gives queues in memory, with others that are made when something is put there, and what publishing nodes need."""
    queues = MemoryQueues(*definitions, open_=True)
    subscribe(queues, nodes)
    yield queues


@dataclass(frozen=True, slots=True)
class Propagated:
    """A message that left a node, wired or not, with its Environment as it was then."""

    label: str
    terminal: str
    message: Message


@dataclass(slots=True)
class Happened:
    """The results of running a case."""

    propagated: list[Propagated] = field(default_factory=list)
    queues: dict[str, list[Arrival]] = field(default_factory=dict)
    errors: list[BrokerError] = field(default_factory=list)
    tables: list[FoundTable] = field(default_factory=list)
    met: list[Incident] = field(default_factory=list)
    domain: RootDomain = ROOT

    def catch(self, place: Place, error: BrokerError) -> None:
        """Write down that a node catches an error."""
        self.met.append(Incident("caught", error, str(place)))

    def incidents(self) -> Iterator[Incident]:
        """Yields what was caught, failed and put away."""
        yield from (incident for incident in self.met if incident.kind == "caught")
        yield from (Incident("failed", error) for error in self.errors)
        yield from (incident for incident in self.met if incident.kind != "caught")

    def listen(self, label: str, terminal: str, message: Message) -> None:
        """Write down that a message leaves a node."""
        then = Message(
            message.root,
            environment=copy(message.environment),
            local_environment=message.local_environment,
            exceptions=message.exceptions,
        )
        self.propagated.append(Propagated(label, terminal, then))


class Flows:
    """The flows of test files, each loaded and its programs compiled once for each set of properties.

    `files` are those that their nodes may write, `sources` the databases that they work with where a case has no own.
    """

    def __init__(self, files: AllowedFiles = NO_FILES, sources: Sources | None = None) -> None:
        self.files = files
        self.sources = sources
        self._known: dict[Key, tuple[Flow, Binder]] = {}

    def of(self, case: Case) -> tuple[Flow, Binder]:
        """The flow of a case, ready to deploy; raises with everything that is wrong with it."""
        key = (case.flow, case.properties, case.user_properties)
        if key not in self._known:
            flow = _load(case)
            self._known[key] = flow, binder(flow)
        flow, programs = self._known[key]
        return flow, programs.afresh().allowing(self.files)

    def binders(self) -> Iterator[Binder]:
        """Everything that has been compiled so far."""
        return (programs for _, programs in self._known.values())


def _load(case: Case) -> Flow:
    main, subflows = sound_flow(case.flow, advice="test a flow that uses it")
    given = replace(
        main,
        properties=_overridden(main.properties, case.properties),
        user_properties=_overridden(main.user_properties, case.user_properties),
    )
    return expand(given, subflows)


def _overridden(own: tuple[Setting, ...], given: tuple[Setting, ...]) -> tuple[Setting, ...]:
    return tuple(({setting.name: setting for setting in own} | {setting.name: setting for setting in given}).values())


def run(case: Case, flows: Flows, transport: Transport = in_memory) -> Happened:
    """Run a case on queues of its own; raises ConfigurationException where it does not fit its flow."""
    flow, programs = flows.of(case)
    problems = tuple(_misfits(case, flow))
    if problems:
        raise ConfigurationException(f"{case.name} does not fit {case.flow}", problems)
    happened = Happened(domain=RootDomain(programs.parsers) if programs.parsers else ROOT)
    with databases_of(case, flows.sources) as sources:
        if sources is not None:
            check_tables(flow, programs.routines, sources)
        _run(case, flow, programs, happened, sources, transport)
        happened.tables = found_tables(sources, case.expected.tables)
    return happened


def _run(
    case: Case, flow: Flow, programs: Binder, happened: Happened, sources: Sources | None, transport: Transport
) -> None:
    """Deploys the flow of a case, and carries its messages through."""
    stand_ins = {stub.label: StubNode(stub) for stub in case.stubs}
    deployed = deploy(flow, bind=programs, listen=happened.listen, stand_ins=stand_ins)
    deployed.tell_caught(happened.catch)
    entries = _entries(deployed)
    defined = {name: QueueDefinition(name) for name in entries} | {queue.name: queue for queue in case.queues}
    nodes = [station.node for station in deployed.stations.values()]
    with transport(list(defined.values()), nodes) as queues:
        work = with_databases(queues.work(), sources, deployed.properties)
        _put(case, deployed, entries, work)
        with put_away_heard() as put_away:
            _carry(case, flow, deployed, work, happened)
            last = happened.errors[-1] if happened.errors else None
            happened.met += (Incident("put away", error) for error in put_away.taken(last))
        happened.queues = {name: list(found) for name in queues.names() if (found := queues.browse(name))}


def _carry(case: Case, flow: Flow, deployed: DeployedFlow, work: UnitOfWork, happened: Happened) -> None:
    """Carries the messages of a case through its flow: those on queues, then those that enter at nodes."""
    happened.errors += _followed(deployed, work)
    for given in case.inputs:
        if given.node:
            domain = next((_domain(flow, station.label) for station in deployed.entrances), "BLOB")
            outcome = deployed.process(_door(deployed.stations[given.node], entering(given.message, domain)), work)
            happened.errors += [outcome.error] if outcome is not None and outcome.error is not None else []
            happened.errors += _followed(deployed, work)


def _entries(deployed: DeployedFlow) -> dict[str, Station]:
    return {str(getattr(station.node, "queue_name", station.label)): station for station in deployed.entrances}


def _domain(flow: Flow, label: str) -> str:
    use = flow.node(label)
    return str(use.values.get("messageDomainProperty", "BLOB")) if use is not None else "BLOB"


def _put(case: Case, deployed: DeployedFlow, entries: dict[str, Station], work: UnitOfWork) -> None:
    """Put the messages that go in by queues; those with trees beside Root get them when they are received."""
    around: dict[bytes, Description] = {}
    for given in case.inputs:
        if not given.node:
            queue = given.queue or next(iter(entries))
            descriptor = work.put(queue, *letter(given.message))
            if any(field.tree not in {"Root", "Body"} for field in given.message.fields):
                around[descriptor.msg_id] = given.message
    work.commit()
    if around:
        for station in deployed.entrances:
            station.node = _Receiving(station, around)


class _Receiving:
    """An input node whose messages get what test files say of the trees beside Root."""

    def __init__(self, station: Station, around: dict[bytes, Description]) -> None:
        self._node = station.node
        self._entrance = cast(Entrance, station.node)
        self._around = around

    def receive(self, work: UnitOfWork) -> Message | None:
        message = self._entrance.receive(work)
        found = None if message is None else self._around.get(message.root.source.descriptor.msg_id)  # type: ignore[attr-defined]  # Received
        return message if message is None or found is None else surrounded(message, found)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        return self._node.evaluate(message, work)


class _Door:
    """An entrance of a flow for one message that comes from no queue."""

    def __init__(self, message: Message) -> None:
        self._message = message

    def receive(self, work: UnitOfWork) -> Message:
        return self._message

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        yield "out", message


def _door(target: Station, message: Message) -> Station:
    """An entrance before a node, through which a message goes to it."""
    own = NodeType("Test", (), ("out",), (), "", "input", _Door)
    door = Station("the test", _Door(message), own, Place(node="the test"))
    door.wires["out"] = (target.carry,)
    return door


def _followed(deployed: DeployedFlow, work: UnitOfWork) -> list[BrokerError]:
    """Run the flow until its queues are empty, or blocked; the first error of each message."""
    errors: dict[bytes, BrokerError] = {}
    rounds, before = 0, -1
    while rounds > before:
        before = rounds
        for entrance in deployed.entrances:
            while (outcome := deployed.process(entrance, work)) is not None:
                rounds += 1
                if outcome.error is not None:
                    errors.setdefault(_id(outcome), outcome.error)
                    if outcome.error.number == BLOCKED:
                        return list(errors.values())
                if rounds > MOST_ROUNDS:
                    raise BrokerError(2230, f"a message went round more than {MOST_ROUNDS:,} times")
    return list(errors.values())


def _id(outcome: Outcome) -> bytes:
    """The id of the message that came in: a retry of it is not another failure."""
    msg_id: bytes = outcome.message.root.source.descriptor.msg_id  # type: ignore[attr-defined]  # Received
    return msg_id


def _misfits(case: Case, flow: Flow) -> Iterator[Problem]:
    """Yields where a case speaks of nodes, terminals or queues that its flow does not have."""
    types = {use.label: node_catalog.get(use.type) for use in flow.nodes}
    sources = [label for label, found in types.items() if found is not None and found.is_source]
    labels = ", ".join(types)
    for given in case.inputs:
        if given.node in sources:
            yield _problem(given.place, f"{given.node} gets its messages from a queue: write queue: and its name")
        elif given.node and given.node not in types:
            yield _problem(given.place, f"{case.flow} has no node {given.node}; it has {labels}")
        elif not given.node and not given.queue and len(sources) != 1:
            yield _problem(given.place, f"say where the message goes in, by queue: or node:; input nodes: {sources}")
    for stub in case.stubs:
        found = types.get(stub.label)
        if found is None:
            yield _problem(stub.place, f"{case.flow} has no node {stub.label} to stub; it has {labels}")
        elif found.is_source or found.label_property is not None:
            yield _problem(
                stub.place, f"{stub.label} is where messages enter, and cannot be stubbed: stub what follows"
            )
        else:
            sent = {deed.terminal: deed.message.place for call in stub.calls for deed in call if isinstance(deed, Send)}
            for terminal in sent:
                if not _has(found, terminal):
                    yield _problem(stub.place, f"{stub.label} has no terminal {terminal}; it has {_listed(found)}")
    yield from _unknown_terminals(case, types)


def _unknown_terminals(case: Case, types: dict[str, NodeType | None]) -> Iterator[Problem]:
    ordered = (Propagations(name, 0, (), case.expected.place) for name in case.expected.order or ())
    for expected in (*case.expected.terminals, *ordered):
        label, terminal = _split(expected.name, types)
        found = types.get(label)
        if found is None:
            text = f"a terminal is written Label.terminal, and {case.flow} has no node of {expected.name}"
            yield _problem(expected.place, f"{text}; it has {', '.join(types)}")
        elif not _has(found, terminal):
            yield _problem(expected.place, f"{label} has no terminal {terminal!r}; it has {_listed(found)}")


def _split(name: str, labels: Iterable[str]) -> tuple[str, str]:
    """Label and terminal of `Label.terminal`; the names of Labels, which are terminals too, may hold dots."""
    known = [label for label in labels if name.startswith(f"{label}.")]
    label = max(known, key=len, default="")
    return label, name[len(label) + 1 :]


def _has(found: NodeType, terminal: str) -> bool:
    labelled = ANY_LABEL in found.outputs and terminal.startswith(LABEL)
    return terminal in found.outputs or ANY_TERMINAL in found.outputs or labelled


def _listed(found: NodeType) -> str:
    return ", ".join(found.outputs) or "none"


def _problem(place: Place, text: str) -> Problem:
    return Problem(place.file or Path().as_posix(), place.line, place.column, UNFIT, text)

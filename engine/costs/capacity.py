"""The capacity planner: what a load needs, worked out of what nodes cost here, as section 3 of the report does by hand.

The nodes of the flow are measured in this process, on the queues of a queue manager in another, as the workers of a
broker are: what waits for another process finds its caches cold, and takes longer than at a desk. The processor time
of the queue manager comes on top.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from engine.broker.administration import Broker
from engine.broker.initial_file import definition_for
from engine.broker.overview import looked
from engine.broker.statistics import slots
from engine.broker.statistics.snapshots import done_by
from engine.costs.broker import broker_with, cpu_of, put, wait_until
from engine.descriptor import Descriptor
from engine.runtime.accounting import AROUND, meter
from engine.runtime.deployment import DeployedFlow, deploy
from flows.files import load_flow
from flows.programs import binder

OVERHEAD: Final = 750  # bytes of the store for each message, beside its body
_INSTANCES_A_GROUP: Final = 8
_ROUNDS: Final = 5  # an odd number
_QUEUE_MANAGER: Final = "queue manager"
_WARM: Final = 300  # messages before those that are measured
_PATIENCE: Final = 0.05  # seconds without a message behind which all have been carried
_NOTHING: Final = """\
flow: Nothing
nodes:
  In: {type: MQInput, queueName: COSTS.IN, messageDomainProperty: BLOB}
  Out: {type: MQOutput, queueName: COSTS.OUT}
wires: [In.out -> Out]
"""


@dataclass(frozen=True, slots=True)
class Load:
    """The load that is planned for; `share` is how busy processors may be, `backlog` seconds of messages that wait."""

    rate: float
    persistent: bool = False
    subscribers: int = 0
    share: float = 0.7
    backlog: float = 3600.0


@dataclass(frozen=True, slots=True)
class NodeCost:
    """The processor time that a node takes for each message of the flow, in microseconds."""

    node: str
    microseconds: float


@dataclass(frozen=True, slots=True)
class Costs:
    """The measured costs of one message of a flow: microseconds, and the number of messages that it puts."""

    nodes: tuple[NodeCost, ...]
    puts: float
    elapsed: float  # with one instance
    queue_cpu: float  # of the queue manager's process

    @property
    def own_cpu(self) -> float:
        """Returns the processor time of the flow itself."""
        return sum(cost.microseconds for cost in self.nodes)

    @property
    def cpu(self) -> float:
        """Returns all processor time."""
        return self.own_cpu + self.queue_cpu


@dataclass(frozen=True, slots=True)
class Estimate:
    """The processors, memory and disk that a load needs."""

    flow: str
    size: int
    nodes: tuple[NodeCost, ...]
    broker_microseconds: float
    cpu_microseconds: float
    processors: float
    instances: int
    groups: int
    memory_mib: float
    disk_mib: float
    disk_mib_a_second: float

    def lines(self, load: Load) -> Iterator[str]:
        """The estimate in words, a line each."""
        kind = "persistent" if load.persistent else "non-persistent"
        yield f"{self.flow}: {load.rate:,.0f} {kind} messages a second of {self.size:,} bytes"
        for cost in self.nodes:
            yield f"  {cost.microseconds:10,.1f} µs  {cost.node}"
        yield f"  {self.broker_microseconds:10,.1f} µs  the queue manager"
        yield f"  {self.cpu_microseconds:10,.1f} µs  of processor time for each message"
        yield f"processors: {self.processors:.2f}, {load.share:.0%} busy"
        yield f"instances: {self.instances}, in {self.groups} execution group{'s' if self.groups > 1 else ''}"
        yield f"memory: {self.memory_mib:,.0f} MiB"
        backlog = f"a backlog of {load.backlog:,.0f} s"
        yield f"disk: {self.disk_mib:,.0f} MiB for {backlog}, {self.disk_mib_a_second:,.2f} MiB written a second"


@contextmanager
def _measuring(flow: str, body: bytes, load: Load) -> Iterator[Callable[[int], tuple[Costs, Estimate]]]:
    """Run a broker; gives what measures the flow on its queues with a number of messages, and what the load needs."""
    with TemporaryDirectory(prefix="penstock-costs-") as place:
        nothing = Path(place) / "nothing.yaml"
        nothing.write_text(_NOTHING, encoding="utf-8")
        names = definition_for(Path(place), [flow], {})[0].queues
        with broker_with(str(nothing), lambda given: [given], *names) as (broker, reached, _):

            def measured(count: int) -> tuple[Costs, Estimate]:
                costs = node_costs(
                    flow, body, count, reached, lambda: cpu_of(broker)[_QUEUE_MANAGER], persistent=load.persistent
                )
                name = load_flow(flow).qualified_name
                return costs, _estimate(name, len(body), load, costs, _memory_of(broker))

            yield measured


def estimate(flow: str, body: bytes, load: Load, *, count: int = 2000) -> Estimate:
    """Work out what a load of a flow needs."""
    with _measuring(flow, body, load) as measured:
        return measured(count)[1]


def checked(flow: str, body: bytes, load: Load, *, count: int = 2000) -> tuple[Estimate, float, float]:
    """Work out what a load needs, the microseconds that a broker takes for a message, and how far the plan is off.

    Both are measured in turns, so that whatever else the machine does is the same for both.
    """
    part = max(1, count // _ROUNDS)
    with _measuring(flow, body, load) as measured, _observing(flow, body, persistent=load.persistent) as observed:
        rounds = [(*measured(part), observed(part)) for _ in range(_ROUNDS)]
    rounds.sort(key=lambda one: one[0].cpu / one[2])
    costs, found, seen = rounds[_ROUNDS // 2]
    return found, seen, costs.cpu / seen - 1


def _estimate(flow: str, size: int, load: Load, costs: Costs, memory: tuple[float, float]) -> Estimate:
    around = costs.queue_cpu * (
        1 + load.subscribers / (2 + costs.puts)
    )  # each message is put and got, and more are put
    cpu = costs.own_cpu + around
    instances = max(1, math.ceil(load.rate * max(costs.own_cpu, costs.elapsed) / 1e6 / load.share))
    groups = math.ceil(instances / _INSTANCES_A_GROUP)
    stored = size + OVERHEAD if load.persistent else 0
    base, worker = memory
    return Estimate(
        flow,
        size,
        costs.nodes,
        around,
        cpu,
        load.rate * cpu / 1e6 / load.share,
        instances,
        groups,
        base + groups * worker + instances * worker + _waiting(load, size),
        load.rate * load.backlog * stored / (1 << 20),
        load.rate * stored * (1 + costs.puts + load.subscribers) / (1 << 20),
    )


def _waiting(load: Load, size: int) -> float:
    """The MiB of memory that messages take which are not persistent and wait."""
    return 0.0 if load.persistent else load.rate * load.backlog * (size + OVERHEAD) / (1 << 20)


def node_costs(
    flow: str, body: bytes, count: int, queues: Any, queue_manager: Callable[[], float] = float, *, persistent: bool
) -> Costs:
    """Measure what each node of a flow takes for a message; `queue_manager` returns the seconds that it has taken."""
    loaded = load_flow(flow)
    deployed = deploy(loaded, bind=binder(loaded))
    name = str(getattr(deployed.entrances[0].node, "queue_name", ""))
    descriptor = Descriptor(format="MQSTR")
    work = queues.work()
    work.patience = _PATIENCE
    put(queues, name, descriptor, body, count // 4, persistent=persistent)
    _run(deployed, work)
    before = sum(queues.depth(queue) for queue in queues.names())
    own, spent = meter(deployed.stations), queue_manager()
    put(queues, name, descriptor, body, count, persistent=persistent)
    own.resume()
    elapsed = _run(deployed, work)
    accounts = own.settled()
    spent = queue_manager() - spent
    work.close()
    puts = (sum(queues.depth(queue) for queue in queues.names()) - before) / count
    nodes = [NodeCost(label or "the runtime", found.nanoseconds / count / 1000) for label, found in accounts.items()]
    taken = tuple(cost for cost in nodes if cost.microseconds or cost.node != AROUND)
    return Costs(taken, puts, elapsed * 1e6 / count, spent * 1e6 / count)


def _run(deployed: DeployedFlow, work: Any) -> float:
    """Carry all messages that wait; returns the seconds until the last of them was done."""
    began = ended = time.monotonic()
    while deployed.process(deployed.entrances[0], work) is not None:
        ended = time.monotonic()
    return ended - began


@contextmanager
def _observing(flow: str, body: bytes, *, persistent: bool) -> Iterator[Callable[[int], float]]:
    """Run a flow on a broker; gives what carries a number of messages, and returns the microseconds each took of it."""
    with broker_with(flow, lambda given: [given]) as (broker, reached, queue):

        def carried(number: int) -> float:
            goal = _taken(broker) + number
            before = cpu_of(broker)
            put(reached, queue, Descriptor(format="MQSTR"), body, number, persistent=persistent)
            wait_until(lambda: _taken(broker) >= goal, number)
            spent = (seconds - before.get(name, 0.0) for name, seconds in cpu_of(broker).items())
            return sum(spent) * 1e6 / number

        carried(_WARM)
        yield carried


def _memory_of(broker: Broker) -> tuple[float, float]:
    """Returns the MiB that supervisor, queue manager and groups hold, and that each worker shares with no other."""
    found = looked(broker)["processes"]
    memory = {one["name"]: one["memoryMiB"] for one in found}
    workers = [one["memoryMiB"] for one in found if "/" in one["name"]]
    return sum(size for name, size in memory.items() if "/" not in name), sum(workers) / max(1, len(workers))


def _taken(broker: Broker) -> int:
    state = broker.repository.load()
    return sum(
        done_by(broker.folder, group.name, use).counts[slots.MESSAGES] for group in state.groups for use in group.flows
    )

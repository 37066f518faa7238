"""The capacity planner: what a load needs, worked out of what nodes cost here, as section 3 of the report does by hand.

The nodes of the flow are measured at a desk. What a broker adds to each message is measured with a flow that does
nothing, on a broker and at a desk; it grows with what the flow puts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from engine.costs.broker_runs import Observed, observed
from engine.descriptor import Descriptor
from engine.runtime.accounting import AROUND, meter
from engine.runtime.deployment import DeployedFlow, deploy
from engine.transports.memory import MemoryQueues
from flows.files import load_flow
from flows.programs import binder

OVERHEAD: Final = 750  # bytes of the store for each message, beside its body
_INSTANCES_A_GROUP: Final = 8
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

    def as_data(self) -> dict[str, Any]:
        """The estimate as JSON has it."""
        return asdict(self)

    def lines(self, load: Load) -> Iterator[str]:
        """The estimate in words, a line each."""
        kind = "persistent" if load.persistent else "non-persistent"
        yield f"{self.flow}: {load.rate:,.0f} {kind} messages a second of {self.size:,} bytes"
        for cost in self.nodes:
            yield f"  {cost.microseconds:10,.1f} µs  {cost.node}"
        yield f"  {self.broker_microseconds:10,.1f} µs  the broker around them"
        yield f"  {self.cpu_microseconds:10,.1f} µs  of processor time for each message"
        yield f"processors: {self.processors:.2f}, {load.share:.0%} busy"
        yield f"instances: {self.instances}, in {self.groups} execution group{'s' if self.groups > 1 else ''}"
        yield f"memory: {self.memory_mib:,.0f} MiB"
        backlog = f"a backlog of {load.backlog:,.0f} s"
        yield f"disk: {self.disk_mib:,.0f} MiB for {backlog}, {self.disk_mib_a_second:,.2f} MiB written a second"


def estimate(flow: str, body: bytes, load: Load, *, count: int = 2000) -> Estimate:
    """Work out what a load of a flow needs."""
    nodes, puts = desk_costs(flow, body, count)
    with TemporaryDirectory(prefix="penstock-costs-") as place:
        nothing = Path(place) / "nothing.yaml"
        nothing.write_text(_NOTHING, encoding="utf-8")
        bare, _ = desk_costs(str(nothing), body, count)
        base = observed(str(nothing), body, persistent=load.persistent, count=count)
    around = base.cpu * 1e6 - sum(cost.microseconds for cost in bare)
    share_of_puts = base.queue_cpu * 1e6 / 2  # a message of the base is put and got twice
    broker = around + share_of_puts * (puts - 1) + share_of_puts * load.subscribers
    cpu = sum(cost.microseconds for cost in nodes) + broker
    return _estimate(flow, len(body), nodes, (broker, cpu), (load, base, puts))


def _estimate(
    flow: str, size: int, nodes: tuple[NodeCost, ...], costs: tuple[float, float], around: tuple[Load, Observed, float]
) -> Estimate:
    (broker, cpu), (load, base, puts) = costs, around
    waits = max(0.0, base.elapsed * 1e6 - base.cpu * 1e6)  # for disks and for each other
    instances = max(1, math.ceil(load.rate * (cpu + waits) / 1e6 / load.share))
    groups = math.ceil(instances / _INSTANCES_A_GROUP)
    stored = size + OVERHEAD if load.persistent else 0
    return Estimate(
        load_flow(flow).qualified_name,
        size,
        nodes,
        broker,
        cpu,
        load.rate * cpu / 1e6 / load.share,
        instances,
        groups,
        base.base_memory + groups * base.worker_memory + instances * base.worker_memory + _waiting(load, size),
        load.rate * load.backlog * stored / (1 << 20),
        load.rate * stored * (1 + puts + load.subscribers) / (1 << 20),
    )


def _waiting(load: Load, size: int) -> float:
    """The MiB of memory that messages take which are not persistent and wait."""
    return 0.0 if load.persistent else load.rate * load.backlog * (size + OVERHEAD) / (1 << 20)


def desk_costs(flow: str, body: bytes, count: int) -> tuple[tuple[NodeCost, ...], float]:
    """Returns what each node of a flow takes for a message at a desk, and how many messages it puts for each."""
    loaded = load_flow(flow)
    deployed = deploy(loaded, bind=binder(loaded))
    entrance = deployed.entrances[0]
    name = str(getattr(entrance.node, "queue_name", ""))
    queues = MemoryQueues(name, open_=True)
    work = queues.work()
    _run(deployed, work, name, body, count // 4)
    before = sum(queues.depth(queue) for queue in queues.names())
    own = meter(deployed.stations)
    for _ in range(count):
        work.put(name, Descriptor(format="MQSTR"), body)
    work.commit()
    own.resume()
    while deployed.process(entrance, work) is not None:
        continue
    accounts = own.settled()
    puts = (sum(queues.depth(queue) for queue in queues.names()) - before) / count
    costs = [NodeCost(label or "the runtime", spent.nanoseconds / count / 1000) for label, spent in accounts.items()]
    return tuple(cost for cost in costs if cost.microseconds or cost.node != AROUND), puts


def _run(deployed: DeployedFlow, work: Any, queue: str, body: bytes, count: int) -> None:
    for _ in range(count):
        work.put(queue, Descriptor(format="MQSTR"), body)
    work.commit()
    while deployed.process(deployed.entrances[0], work) is not None:
        continue

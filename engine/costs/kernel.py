"""The kernel's benchmarks: trees beside lxml, messages passed through, nodes in a row, a whole flow, a budget."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import flows
from engine.budget import Unpaid
from engine.costs.hand_written import change_one_field, complex_path_by_hand
from engine.costs.measuring import BROKEN, Measured, Program, Row, cost_beside, cpu, made_ready, side_by_side
from engine.costs.messages import SIZES, Sample, complex_path, simple
from engine.costs.results import Key, published
from engine.costs.scenarios import deployed as deployed_of
from engine.costs.scenarios import (
    hindrance,
    own_folders,
    queues,
    round_trip,
    scenarios,
    subscriptions,
)
from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import Message
from engine.message.received import Part
from engine.parser import Follow, Form, Portion, Template, parser_catalog
from engine.runtime.deployment import Station, deploy
from engine.runtime.user_trace import UserTrace
from engine.transports.memory import MemoryQueues
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.source import NAME
from engine.tree.step import step
from flows.files import load_flow
from flows.programs import binder

GROUP: Final = "kernel"
HOPS_GROUP: Final = "hops"
FLOW_GROUP: Final = "compute"
REPEATS: Final = 5_000
HOPS: Final = 20
_IN: Final = NodeUse("In", "MQInput", (Setting("queueName", "IN"), Setting("messageDomainProperty", "XMLNSC")))
_PROGRAM: Final = "SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.Order.Status = 'DONE';"
_FLOW_SIZE: Final = 4096
_COMPLEX_QUEUES: Final = ("COMPLEX.IN", "COMPLEX.OUT")


def benchmarks() -> Iterator[Measured]:
    """Trees and passes."""
    for size in SIZES:  # small ones first: large documents leave memory in pieces that small ones are slow to get
        for domain in ("XML", "XMLNSC"):
            yield change(domain, size)
    yield pass_through()
    name = f"subscripts, {2 * REPEATS:,} repeats beside {REPEATS:,}"
    yield cost_beside(Row(GROUP, name, 2.3), _loop(REPEATS), _loop(2 * REPEATS), rounds=7)


def hops() -> Iterator[Measured]:
    """Nodes in a row, and a trace that is off."""
    yield each_hop()
    yield trace_off()


def whole_flow() -> Iterator[Measured]:
    """Put, MQInput, Compute with the report's complex program, MQOutput, get: beside the same change by hand."""
    body, name, queues = complex_path(_FLOW_SIZE), f"complex as a whole flow, {_FLOW_SIZE // 1024} KiB", _COMPLEX_QUEUES
    flow = load_flow(str(Path(flows.__path__[0]) / "samples" / "complex_compute" / "complex_compute.yaml"))
    deployed, work = deploy(flow, bind=binder(flow)), MemoryQueues(*queues).work()
    own = round_trip(deployed, work, Sample(Descriptor(), body), *queues)
    # its bound has room for what queues, two nodes more and a unit of work add
    yield cost_beside(Row(FLOW_GROUP, name, 2.5), partial(complex_path_by_hand, body), own, alike=name)


def change(domain: str, size: int) -> Measured:
    """Read a body lazily, change one field of a shared copy, write it: beside lxml by hand."""
    body, name = simple(size), f"one field changed, {domain}, {size // 1024} KiB"
    by_hand, own = partial(change_one_field, body), changed_tree(domain, body)
    return cost_beside(Row(GROUP, name, 1.6), by_hand, own, alike=f"{domain}, {size} bytes")


def changed_tree(domain: str, body: bytes) -> Callable[[], bytes]:
    """Returns a program that changes one field of a document and writes it."""
    parser = parser_catalog.find(domain)
    order, status, follow, form = step("Order"), step("Status"), Follow(), Form()

    def run() -> bytes:
        read = Element(domain, "", NAME, Part(parser, Portion(body, 0, len(body), follow)))
        read.domain = parser
        changed = copy(read)
        changed.ensure(order).ensure(status).value = "DONE"
        return parser.write(changed, form)

    return run


def pass_through() -> Measured:
    """A message that no one looks into: get, MQInput, MQOutput, put, commit."""
    out = NodeUse("Out", "MQOutput", (Setting("queueName", "IN"),))
    deployed = deploy(Flow("Pass", nodes=(_IN, out), wires=(Wire("In", "out", "Out"),)))
    queues, body = MemoryQueues("IN"), simple(1024)
    work, entrance = queues.work(), deployed.entrances[0]
    work.put("IN", Descriptor(), body)
    work.commit()
    own = side_by_side({"pass": lambda: deployed.process(entrance, work)}).timings["pass"]
    if [body] != [arrival.body for arrival in queues.browse("IN")]:
        raise BrokerError(BROKEN, "the message does not come round any more, so its passes cost nothing")
    return Measured(GROUP, "pass through, 1 KiB", own.median, own.median, 10.0, "µs", own.low, own.high)


def _loop(count: int) -> Callable[[], int]:
    """Returns WHILE i <= CARDINALITY(Item[]) over Item[i]: twice as many repeats take twice as long."""
    body = b"<List>" + b"".join(b"<Item>%d</Item>" % n for n in range(1, count + 1)) + b"</List>"
    parser, item = parser_catalog.find("XMLNSC"), step("Item")

    def run() -> int:
        top = Element("XMLNSC", "", NAME, Part(parser, Portion(body, 0, len(body), Follow())))
        items = top.child(step("List"))
        assert items is not None
        total, number = 0, 1
        while number <= items.count(item):
            found = items.nth(item, number)
            assert found is not None
            total += int(str(found.value))
            number += 1
        return total

    if run() != count * (count + 1) // 2:
        raise BrokerError(BROKEN, "the loop does not see every repeat, so its cost says nothing")
    return run


def each_hop() -> Measured:
    """Twenty nodes in a row, beside the work of their generators called one by one by hand."""
    nodes = tuple(NodeUse(f"N{number}", "Passthrough") for number in range(HOPS))
    wires = tuple(Wire(f"N{number}", "out", f"N{number + 1}") for number in range(HOPS - 1))
    stations = list(deploy(Flow("Hops", nodes=nodes, wires=wires)).stations.values())
    message, work = Message.received(Descriptor(), simple(1024), template=Template("XMLNSC")), MemoryQueues().work()
    first = stations[0]
    programs = {"hand": lambda: _by_hand(stations, message, work), "flow": lambda: first.carry(message, work)}
    seen = side_by_side(programs, rounds=15).timings
    hand, own = seen["hand"].median, seen["flow"]
    value, low, high = ((each - hand) / HOPS for each in (own.median, own.low, own.high))
    return Measured(HOPS_GROUP, f"each of {HOPS} hops", own.median, value, 1.0, "µs", low, high, hand)


def _by_hand(stations: list[Station], message: Message, work: Any) -> None:
    """Start each generator with what the one before sent, then let each end, the last first."""
    waiting = []
    for station in stations:
        evaluation = station.evaluate(message, work)
        _, message = next(evaluation)
        waiting.append(evaluation)
    for evaluation in reversed(waiting):
        try:
            evaluation.send(True)
        except StopIteration:
            continue


def trace_off() -> Measured:
    """A flow with a Compute node, deployed without a trace beside one with it, and before there was any."""
    without = _traced_flow(None)
    _traced_flow(UserTrace("debug"))()
    off = _traced_flow(None)
    return cost_beside(Row(HOPS_GROUP, "a flow with its trace off", 1.02), without, off, rounds=25)


def _traced_flow(trace: UserTrace | None) -> Program:
    compute = NodeUse("Change", "Compute", (Setting("computeExpression", _PROGRAM),))
    out = NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),))
    wires = (Wire("In", "out", "Change"), Wire("Change", "out", "Out"))
    flow = Flow("Trace", nodes=(_IN, compute, out), wires=wires)
    deployed = deploy(flow, bind=binder(flow, trace=trace), trace=trace)
    if trace is None and {type(station) for station in deployed.stations.values()} != {Station}:
        raise BrokerError(BROKEN, "a flow without a trace has traced stations, so what it costs says nothing")
    return round_trip(deployed, MemoryQueues("IN", "OUT").work(), Sample(Descriptor(), simple(1024)), "IN", "OUT")


BUDGET_GROUP: Final = "budget"
ROWS: Final = 10
PAIRS: Final = 40
# Of so many ordered values those with 95 % confidence about the median: the binomial's 2.5 % from either end.
_LOWER: Final = 13
_UPPER: Final = 26
_SECONDS: Final = 0.02  # that one run lasts


def paying() -> Iterator[Measured]:
    """The ten dearest rows, the dearest first."""
    folders = own_folders()
    known = {(key.scenario, key.message_bytes): key for key in published() if not key.persistent}
    # without further copies, and without a database, whose time is not that of a flow
    keys = [key for key in known.values() if (one := scenarios()[key.scenario]).copies == 1 and not one.on_database]
    alone = [key for key in keys if not hindrance(scenarios()[key.scenario], folders)]
    with made_ready():
        costs = {key: cpu(partial(_paid_program(key), True)) for key in alone}
        for key in sorted(alone, key=lambda key: -costs[key])[:ROWS]:
            yield _row(key)


def _row(key: Key) -> Measured:
    program = _paid_program(key)
    paying, free = partial(program, True), partial(program, False)
    count = max(1, round(_SECONDS / max(cpu(paying, 3), 1e-6)))
    pairs = [_pair(paying, free, count, is_first=bool(number % 2)) for number in range(PAIRS)]
    ratios = sorted(on / off for on, off in pairs)
    low, high = ratios[_LOWER], ratios[_UPPER]
    own, beside = (statistics.median_high(each) * 1e6 for each in zip(*pairs, strict=True))
    name = f"{key.scenario}, {key.message_bytes} bytes, 95 % {low:.3f} to {high:.3f}"
    return Measured(BUDGET_GROUP, name, own, statistics.median(ratios), 1.02, "x", low, high, beside)


def _pair(paying: Program, free: Program, count: int, *, is_first: bool) -> tuple[float, float]:
    """Returns the processor seconds of a run with the budget and of one without, taken in either order."""
    if is_first:
        return cpu(paying, count), cpu(free, count)
    off = cpu(free, count)
    return cpu(paying, count), off


def _paid_program(key: Key) -> Callable[[bool], None]:
    """One message put, carried through the scenario's flow, and taken."""
    scenario = scenarios()[key.scenario]
    flow, work, others = deployed_of(scenario, own_folders())[0], queues(scenario).work(), subscriptions(scenario)
    carry = round_trip(flow, work, scenario.message(key.message_bytes))
    allowance, unpaid = flow.allowance, Unpaid()

    def run(pays: bool) -> None:
        flow.allowance = allowance if pays else unpaid
        carry()
        for queue in others:
            work.get(queue, syncpoint=False)

    return run

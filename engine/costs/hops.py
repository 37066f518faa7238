"""The hops' benchmarks: what the engine adds to the work of nodes in a row, and what a trace that is off costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from engine.costs.measuring import Measured, side_by_side
from engine.costs.messages import simple
from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import Message
from engine.parser import Template
from engine.runtime.deployment import Station, deploy
from engine.runtime.user_trace import UserTrace
from engine.transports.memory import MemoryQueues
from flows.programs import binder

GROUP: Final = "hops"
HOPS: Final = 20
MOST_FOR_A_HOP: Final = 1.0
MOST_WITH_THE_TRACE_OFF: Final = 1.02
BROKEN: Final = 2230
_PROGRAM: Final = "SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.Order.Status = 'DONE';"


def benchmarks() -> Iterator[Measured]:
    """All of them."""
    yield hops()
    yield trace_off()


def hops() -> Measured:
    """Twenty nodes in a row, beside the work of their generators called one by one by hand."""
    nodes = tuple(NodeUse(f"N{number}", "Passthrough") for number in range(HOPS))
    wires = tuple(Wire(f"N{number}", "out", f"N{number + 1}") for number in range(HOPS - 1))
    deployed = deploy(Flow("Hops", nodes=nodes, wires=wires))
    stations = list(deployed.stations.values())
    message, work = Message.received(Descriptor(), simple(1024), template=Template("XMLNSC")), MemoryQueues().work()
    first = stations[0]
    seen = side_by_side(
        {"hand": lambda: _by_hand(stations, message, work), "flow": lambda: first.carry(message, work)}, rounds=15
    )
    hand, own = seen.timings["hand"], seen.timings["flow"]
    each = [(timing - hand.median) / HOPS for timing in (own.median, own.low, own.high)]
    name = f"each of {HOPS} hops"
    return Measured(GROUP, name, own.median, each[0], MOST_FOR_A_HOP, "µs", each[1], each[2], hand.median)


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
    without = _flow(None)
    _flow(UserTrace("debug"))()
    seen = side_by_side({"without": without, "off": _flow(None)}, rounds=25)
    ratio, own, before = seen.ratios["off"], seen.timings["off"], seen.timings["without"].median
    name = "a flow with its trace off"
    bound = MOST_WITH_THE_TRACE_OFF
    return Measured(GROUP, name, own.median, ratio.median, bound, "x", ratio.low, ratio.high, before)


def _flow(trace: UserTrace | None) -> Callable[[], None]:
    flow = Flow(
        "Trace",
        nodes=(
            NodeUse("In", "MQInput", (Setting("queueName", "IN"), Setting("messageDomainProperty", "XMLNSC"))),
            NodeUse("Change", "Compute", (Setting("computeExpression", _PROGRAM),)),
            NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),)),
        ),
        wires=(Wire("In", "out", "Change"), Wire("Change", "out", "Out")),
    )
    deployed = deploy(flow, bind=binder(flow, trace=trace), trace=trace)
    if trace is None and {type(station) for station in deployed.stations.values()} != {Station}:
        raise BrokerError(BROKEN, "a flow without a trace has traced stations, so what it costs says nothing")
    work, body, descriptor = MemoryQueues("IN", "OUT").work(), simple(1024), Descriptor()

    def run() -> None:
        work.put("IN", descriptor, body, syncpoint=False)
        deployed.process(deployed.entrances[0], work)
        work.get("OUT", syncpoint=False)

    return run

"""The Compute node's benchmark: the sample with the WMQI report's complex program as a whole flow, beside lxml."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import flows
from engine.costs.limits import complex_path_by_hand
from engine.costs.measuring import Measured, side_by_side
from engine.costs.messages import complex_path
from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.files import load_flow
from flows.programs import binder

GROUP: Final = "compute"
MOST_AS_FLOW: Final = 2.5  # with what queues, two nodes more and a unit of work add
SIZE: Final = 4096
BROKEN: Final = 2230  # a program that does not do its work


def benchmarks() -> Iterator[Measured]:
    """All of them."""
    yield whole_flow()


def whole_flow() -> Measured:
    """Put, MQInput, Compute, MQOutput, get: beside the same change to the same bytes by hand."""
    body = complex_path(SIZE)
    programs = {"hand": lambda: complex_path_by_hand(body), "flow": _flow(body)}
    if len({program() for program in programs.values()}) != 1:
        raise BrokerError(BROKEN, "the flow does not write what the program by hand does, so its cost says nothing")
    seen = side_by_side(programs)
    ratio, own, hand = seen.ratios["flow"], seen.timings["flow"], seen.timings["hand"].median
    name = f"complex as a whole flow, {SIZE // 1024} KiB"
    return Measured(GROUP, name, own.median, ratio.median, MOST_AS_FLOW, "x", ratio.low, ratio.high, hand)


def _flow(body: bytes) -> Callable[[], bytes]:
    sample = Path(flows.__path__[0]) / "samples" / "complex_compute" / "complex_compute.yaml"
    flow = load_flow(str(sample))
    deployed, descriptor = deploy(flow, bind=binder(flow)), Descriptor()
    work, entrance = MemoryQueues("COMPLEX.IN", "COMPLEX.OUT").work(), deployed.entrances[0]

    def run() -> bytes:
        work.put("COMPLEX.IN", descriptor, body, syncpoint=False)
        deployed.process(entrance, work)
        arrival = work.get("COMPLEX.OUT", syncpoint=False)
        return b"" if arrival is None else arrival.body

    return run

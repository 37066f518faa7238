"""The kernel's benchmarks: one field of a document changed, a message passed through, repeating fields by subscript."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from engine.costs.limits import change_one_field
from engine.costs.measuring import Measured, side_by_side
from engine.costs.messages import SIZES, simple
from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import Part
from engine.parser import Follow, Form, Portion, parser_catalog
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.source import NAME
from engine.tree.step import step

GROUP: Final = "kernel"
MOST_BESIDE_LXML: Final = 1.6
MOST_FOR_A_PASS: Final = 10.0
MOST_FOR_TWICE_AS_MANY: Final = 2.3  # linear, and a little for what else a processor does
REPEATS: Final = 5_000
BROKEN: Final = 2230  # a program that does not do its work


def benchmarks() -> Iterator[Measured]:
    """All of them."""
    for size in SIZES:  # small ones first: large documents leave memory in pieces that small ones are slow to get
        for domain in ("XML", "XMLNSC"):
            yield change(domain, size)
    yield pass_through()
    yield subscripts()


def change(domain: str, size: int) -> Measured:
    """Read a body lazily, change one field of a shared copy, write it: beside lxml by hand."""
    body = simple(size)
    programs = {"hand": lambda: change_one_field(body), "tree": _changed_tree(domain, body)}
    if len({program() for program in programs.values()}) != 1:
        raise BrokerError(
            BROKEN, f"{domain}, {size} bytes: the programs do not write the same, so their cost says nothing"
        )
    seen = side_by_side(programs)
    ratio, own = seen.ratios["tree"], seen.timings["tree"]
    name = f"one field changed, {domain}, {size // 1024} KiB"
    hand = seen.timings["hand"].median
    return Measured(GROUP, name, own.median, ratio.median, MOST_BESIDE_LXML, "x", ratio.low, ratio.high, hand)


def _changed_tree(domain: str, body: bytes) -> Callable[[], bytes]:
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
    flow = Flow(
        "Pass",
        nodes=(
            NodeUse("In", "MQInput", (Setting("queueName", "IN"), Setting("messageDomainProperty", "XMLNSC"))),
            NodeUse("Out", "MQOutput", (Setting("queueName", "IN"),)),
        ),
        wires=(Wire("In", "out", "Out"),),
    )
    deployed, queues, body = deploy(flow), MemoryQueues("IN"), simple(1024)
    work, entrance = queues.work(), deployed.entrances[0]
    work.put("IN", Descriptor(), body)
    work.commit()
    own = side_by_side({"pass": lambda: deployed.process(entrance, work)}).timings["pass"]
    if [body] != [arrival.body for arrival in queues.browse("IN")]:
        raise BrokerError(BROKEN, "the message does not come round any more, so its passes cost nothing")
    return Measured(GROUP, "pass through, 1 KiB", own.median, own.median, MOST_FOR_A_PASS, "µs", own.low, own.high)


def subscripts() -> Measured:
    """WHILE i <= CARDINALITY(Item[]) over Item[i]: twice as many repeats take twice as long."""
    seen = side_by_side({"half": _loop(REPEATS), "whole": _loop(2 * REPEATS)}, rounds=7)
    ratio, own = seen.ratios["whole"], seen.timings["whole"]
    name = f"subscripts, {2 * REPEATS:,} repeats beside {REPEATS:,}"
    bound = MOST_FOR_TWICE_AS_MANY
    half = seen.timings["half"].median
    return Measured(GROUP, name, own.median, ratio.median, bound, "x", ratio.low, ratio.high, half)


def _loop(count: int) -> Callable[[], int]:
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

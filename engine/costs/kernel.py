"""The kernel's benchmarks: trees and records beside programs by hand, passes, nodes in a row, a flow, a budget."""

from __future__ import annotations

import statistics
import struct
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Final

import flows
from engine.budget import Unpaid
from engine.costs.hand_written import change_one_field, complex_path_by_hand
from engine.costs.measuring import (
    BROKEN,
    Measured,
    Program,
    Row,
    by_turns,
    cost_beside,
    cpu,
    figure,
    made_ready,
    side_by_side,
)
from engine.costs.results import Key, published
from engine.costs.sample_messages import SIZES, Sample, complex_path, simple
from engine.costs.scenarios import (
    INPUT,
    OUTPUT,
    deployed,
    in_a_row,
    queues,
    round_trip,
    scenarios,
    subscriptions,
)
from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.flow.definition import NodeUse, Setting
from engine.message.assembly import Message
from engine.message.received import Part, part_element
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
from parsers.mrm import Library, Mrm
from parsers.mrm.cwf.properties import CwfField
from parsers.mrm.model import Field, Group, MessageSet, SimpleType, WireFormatUse
from parsers.mrm.model import Message as RecordType

REPEATS: Final = 5_000
HOPS: Final = 20
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
    yield cost_beside(Row(name, 2.3), _loop(REPEATS), _loop(2 * REPEATS), rounds=7)


def hops() -> Iterator[Measured]:
    """Nodes in a row, and a trace that is off."""
    yield each_hop()
    yield trace_off()


def whole_flow() -> Iterator[Measured]:
    """Put, MQInput, Compute with the report's complex program, MQOutput, get: beside the same change by hand."""
    body, name, queues = complex_path(_FLOW_SIZE), f"complex as a whole flow, {_FLOW_SIZE // 1024} KiB", _COMPLEX_QUEUES
    flow = load_flow(str(Path(flows.__path__[0]) / "samples" / "complex_compute" / "complex_compute.yaml"))
    ready, work = deploy(flow, bind=binder(flow)), MemoryQueues(*queues).work()
    own = round_trip(ready, work, Sample(Descriptor(), body), *queues)
    # its bound has room for what queues, two nodes more and a unit of work add
    yield cost_beside(Row(name, 2.5), partial(complex_path_by_hand, body), own, alike=name)


def change(domain: str, size: int) -> Measured:
    """Read a body lazily, change one field of a shared copy, write it: beside lxml by hand."""
    body, name = simple(size), f"one field changed, {domain}, {size // 1024} KiB"
    by_hand, own = partial(change_one_field, body), changed_tree(domain, body)
    return cost_beside(Row(name, 1.6), by_hand, own, alike=f"{domain}, {size} bytes")


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
    ready = deploy(in_a_row("Pass", INPUT, out))
    queues, body = MemoryQueues("IN"), simple(1024)
    work, entrance = queues.work(), ready.entrances[0]
    work.put("IN", Descriptor(), body)
    work.commit()
    taken = side_by_side({"pass": lambda: ready.process(entrance, work)})["pass"]
    if [body] != [arrival.body for arrival in queues.browse("IN")]:
        raise BrokerError(BROKEN, "the message does not come round any more, so its passes cost nothing")
    return figure(Row("pass through, 1 KiB", 10.0, "µs"), taken, microseconds=statistics.median(taken))


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
    nodes = (NodeUse(f"N{number}", "Passthrough") for number in range(HOPS))
    stations = list(deploy(in_a_row("Hops", *nodes)).stations.values())
    message, work = Message.received(Descriptor(), simple(1024), template=Template("XMLNSC")), MemoryQueues().work()
    first = stations[0]
    programs = {"hand": lambda: _by_hand(stations, message, work), "flow": lambda: first.carry(message, work)}
    seen = side_by_side(programs, rounds=15)
    hand, own = statistics.median(seen["hand"]), seen["flow"]
    each = [(taken - hand) / HOPS for taken in own]
    return figure(Row(f"each of {HOPS} hops", 1.0, "µs"), each, hand, microseconds=statistics.median(own))


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
    return cost_beside(Row("a flow with its trace off", 1.02), without, off, rounds=25)


def _traced_flow(trace: UserTrace | None) -> Program:
    compute = NodeUse("Change", "Compute", (Setting("computeExpression", _PROGRAM),))
    flow = in_a_row("Trace", INPUT, compute, OUTPUT)
    ready = deploy(flow, bind=binder(flow, trace=trace), trace=trace)
    if trace is None and {type(station) for station in ready.stations.values()} != {Station}:
        raise BrokerError(BROKEN, "a flow without a trace has traced stations, so what it costs says nothing")
    return round_trip(ready, MemoryQueues("IN", "OUT").work(), Sample(Descriptor(), simple(1024)), "IN", "OUT")


ROWS: Final = 10
PAIRS: Final = 40
# Of so many ordered values those with 95 % confidence about the median: the binomial's 2.5 % from either end.
_LOWER: Final = 13
_UPPER: Final = 26
_SECONDS: Final = 0.02  # that one run lasts


def paying() -> Iterator[Measured]:
    """The ten dearest rows, the dearest first."""
    known = {(key.scenario, key.message_bytes): key for key in published() if not key.persistent}
    # without further copies or groups, and without a database, whose time is not that of a flow
    each = [(key, scenarios()[key.scenario]) for key in known.values()]
    alone = [key for key, one in each if one.copies == one.groups == 1 and not one.on_database]
    with made_ready():
        costs = {key: cpu(partial(_paid_program(key), True)) for key in alone}
        for key in sorted(alone, key=lambda key: -costs[key])[:ROWS]:
            yield _row(key)


def _row(key: Key) -> Measured:
    program = _paid_program(key)
    paying, free = partial(program, True), partial(program, False)
    count = max(1, round(_SECONDS / max(cpu(paying, 3), 1e-6)))
    pairs = by_turns(partial(cpu, free, count), partial(cpu, paying, count), PAIRS)
    ratios = sorted(on / off for off, on in zip(*pairs, strict=True))
    low, high = ratios[_LOWER], ratios[_UPPER]
    beside, own = (statistics.median_high(each) * 1e6 for each in pairs)
    name = f"{key.scenario}, {key.message_bytes} bytes, 95 % {low:.3f} to {high:.3f}"
    return Measured("", name, own, statistics.median(ratios), 1.02, "x", low, high, beside)


def _paid_program(key: Key) -> Callable[[bool], None]:
    """One message put, carried through the scenario's flow, and taken."""
    scenario = scenarios()[key.scenario]
    flow, work, others = deployed(scenario), queues(scenario).work(), subscriptions(scenario)
    carry = round_trip(flow, work, scenario.message(key.message_bytes))
    allowance, unpaid = flow.allowance, Unpaid()

    def run(pays: bool) -> None:
        flow.allowance = allowance if pays else unpaid
        carry()
        for queue in others:
            work.get(queue, syncpoint=False)

    return run


_THREE: Final = 3, 80, 160  # fields
_MORE: Final = 1670  # that nobody reads
EBCDIC: Final = 37
BIG_ENDIAN: Final = 785

# What the fields are, over and over: a name for the kind, the logical type, what CWF says, the struct code.
_TEXT: Final = ("T", SimpleType("string"), CwfField(length=12), "12s")
_ZONED: Final = ("Z", SimpleType("integer"), CwfField(physical_type="externalDecimal", length=7), "7s")
_PACKED: Final = (
    "P",
    SimpleType("decimal"),
    CwfField(physical_type="packedDecimal", length=5, virtual_decimal_point=2),
    "5s",
)
_BINARY: Final = ("B", SimpleType("int"), CwfField(), "i")
_LONG_TEXT: Final = ("L", SimpleType("string"), CwfField(length=18), "18s")
_COUNTS: Final = ((_TEXT, 60), (_ZONED, 40), (_PACKED, 45), (_BINARY, 20), (_LONG_TEXT, 2))


def _kinds() -> list[Any]:
    """The 167 fields, the kinds among each other."""
    return [kind for turn in range(60) for kind, count in _COUNTS if turn < count]


def message_set(more: int = 0) -> MessageSet:
    """The record as a message of a set; with so many fields more that nobody reads."""
    fields = tuple(
        Field(f"{name}{number:03d}", type_, physical={"CWF": cwf})
        for number, (name, type_, cwf, _) in enumerate([*_kinds(), *[_TEXT] * more])
    )
    message = RecordType("Record", Group(fields))
    return MessageSet("COSTS", formats={"CWF": WireFormatUse("CWF", "CWF")}, messages={"Record": message})


def record(more: int = 0) -> bytes:
    """The bytes of such a record.

    >>> len(record())
    1341
    """
    values = {
        "T": "SOME TEXT   ".encode("cp037"),
        "Z": bytes.fromhex("f0f0f1f2f3f4c5"),
        "P": bytes.fromhex("001234567c"),
        "B": struct.pack(">i", 123456),
        "L": "LONGER TEXT HERE  ".encode("cp037"),
    }
    return b"".join(values[name] for name, *_ in [*_kinds(), *[_TEXT] * more])


def tree(data: bytes, more: int = 0) -> Callable[[], Element]:
    """Returns what makes a new tree over a record."""
    parser = Mrm(Library([message_set(more)]))
    portion = Portion(data, 0, len(data), Follow("", BIG_ENDIAN, EBCDIC), Template("MRM", "COSTS", "Record", "CWF"))
    return lambda: part_element(Part(parser, portion))


_DIGITS: Final = bytes.maketrans(bytes(range(0xF0, 0xFA)) + bytes(range(0xC0, 0xCA)), b"0123456789" * 2)


def _zoned(raw: bytes) -> int:
    number = int(raw.translate(_DIGITS))
    return -number if raw[-1] >> 4 == 0xD else number


def _packed(raw: bytes) -> Decimal:
    text = raw.hex()
    return Decimal(("-" if text[-1] in "bd" else "") + text[:-3] + "." + text[-3:-1])


def _text(raw: bytes) -> str:
    return raw.decode("cp037")


def _read_by_hand() -> Callable[[bytes], dict[str, Any]]:
    """Struct cuts the record, codecs and short functions read its pieces."""
    kinds = _kinds()
    names = [f"{kind[0]}{number:03d}" for number, kind in enumerate(kinds)]
    cut = struct.Struct(">" + "".join(kind[3] for kind in kinds)).unpack
    functions: dict[str, Callable[[Any], Any]] = {"T": _text, "L": _text, "Z": _zoned, "P": _packed, "B": int}
    readers: list[Callable[[Any], Any]] = [functions[kind[0]] for kind in kinds]

    def read(data: bytes) -> dict[str, Any]:
        return {name: reader(raw) for name, reader, raw in zip(names, readers, cut(data), strict=True)}

    return read


def _all(made: Callable[[], Element]) -> dict[str, object]:
    return {child.name: child.value for child in made()}


def _some(made: Callable[[], Element], names: tuple[str, ...]) -> list[object]:
    top = made()
    return [child.value for name in names if (child := top.child(step(name))) is not None]


def parsers() -> Iterator[Measured]:
    """Measures a COBOL record of 167 fields, read whole and in part, beside struct and codecs by hand."""
    data, hand, kinds = record(), _read_by_hand(), _kinds()
    made, names = tree(data), tuple(f"{kinds[at][0]}{at:03d}" for at in _THREE)
    every, three = partial(_all, made), partial(_some, made, names)
    if len(three()) != len(_THREE):
        raise BrokerError(BROKEN, "the three fields are not found")
    whole = "167 fields of a record of 1,341 bytes"
    yield cost_beside(Row(whole, 3.0), partial(hand, data), every, alike=whole)
    yield cost_beside(Row("3 of the 167 beside all", 0.1), every, three)
    unread = partial(_some, tree(record(_MORE), _MORE), names)
    yield cost_beside(Row(f"3 fields, {_MORE:,} more unread", 1.2), three, unread)
    changed = Row("one field changed beside all read", 0.25)
    yield cost_beside(changed, every, _changing(data, names[1]))


def _changing(data: bytes, name: str) -> Callable[[], bytes]:
    """Returns a program that changes one field and writes the record."""
    made, field = tree(data), step(name)
    parser = made().owner
    assert isinstance(parser, Mrm)
    form = Form(BIG_ENDIAN, EBCDIC, Template("MRM", "COSTS", "Record", "CWF"))

    def change() -> bytes:
        changed = copy(made())
        changed.ensure(field).value = 7
        return parser.write(changed, form)

    if len(change()) != len(data) or change() == data:
        raise BrokerError(BROKEN, "the record is not written as it was changed")
    return change

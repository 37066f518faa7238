"""The databases' benchmarks: flows that work with tables beside SQLAlchemy Core by hand, with the same statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
from lxml import etree

from engine.costs.bounds import Measured
from engine.costs.measuring import side_by_side
from engine.costs.messages import simple
from engine.databases.definitions import Definition
from engine.databases.session import Access, Connection, Session
from engine.databases.sources import Sources
from engine.databases.statements import Passthru
from engine.databases.work import with_databases
from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.programs import binder

GROUP: Final = "databases"
MOST: Final = 1.5
MOST_FOR_MANY_ROWS: Final = 1.2
ROWS: Final = (1, 100, 10_000)
_KIB: Final = 1_024
_ITEMS: Final = sa.Table(
    "items",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(40)),
    sa.Column("price", sa.Integer),
)
_INSERT_DELETE: Final = """INSERT INTO Database.items(id, name) VALUES(-1, Body.Order.Status);
    DELETE FROM Database.items AS I WHERE I.id = -1;"""
_UPDATE: Final = "UPDATE Database.items AS I SET name = Body.Order.Status WHERE I.id = CAST(Body.Order.Id AS INTEGER);"
_LOOKUP: Final = """SET Environment.found =
    THE(SELECT ITEM I.name FROM Database.items AS I WHERE I.id = CAST(Body.Order.Id AS INTEGER));"""
_SELECT: Final = """SET Environment.rows = NULL;
    SET Environment.rows.row[] = (SELECT I.id, I.name, I.price FROM Database.items AS I WHERE I.price = {});"""


def benchmarks() -> Iterator[Measured]:
    """All of them."""
    yield _beside("insert and delete, a message (7.3)", _INSERT_DELETE, _insert_and_delete)
    yield _beside("update, a message (7.10)", _UPDATE, _update)
    yield _beside("lookup, a message", _LOOKUP, _look_up)
    for count in ROWS:
        bound = MOST_FOR_MANY_ROWS if count > 100 else MOST
        yield _beside(f"{count:,} rows into a tree", _SELECT.format(count), partial(_rows, count), bound)


def _beside(
    name: str, program: str, by_hand: Callable[[sa.Engine], Callable[[], object]], bound: float = MOST
) -> Measured:
    """A flow of a Database node beside the same work by hand, each on a database in memory of its own."""
    sources = Sources([Definition("DB", "sqlite://")])
    _fill(sources)
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    with engine.begin() as connection:
        _ITEMS.create(connection)
        connection.execute(sa.insert(_ITEMS), _content())
    seen = side_by_side({"hand": _on_queues(by_hand(engine)), "flow": _flow(sources, program)})
    sources.close()
    engine.dispose()
    ratio, own = seen.ratios["flow"], seen.timings["flow"]
    return Measured(
        GROUP, name, own.median, ratio.median, bound, "x", ratio.low, ratio.high, seen.timings["hand"].median
    )


def _content() -> list[dict[str, Any]]:
    """Items of which so many have each price."""
    prices = [count for count in ROWS for _ in range(count)]
    return [{"id": number, "name": f"item {number}", "price": price} for number, price in enumerate(prices, 1)]


def _fill(sources: Sources) -> None:
    session = Session(sources)
    connection = Connection(Access(), session)
    connection.execute(
        Passthru(), (), ("CREATE TABLE items (id INTEGER PRIMARY KEY, name VARCHAR(40), price INTEGER)",)
    )
    for one in _content():
        connection.execute(Passthru(), (), ("INSERT INTO items VALUES (?, ?, ?)", *one.values()))
    session.commit()


def _flow(sources: Sources, program: str) -> Callable[[], None]:
    flow = Flow(
        "Databases",
        nodes=(
            NodeUse("In", "MQInput", (Setting("queueName", "IN"), Setting("messageDomainProperty", "XMLNSC"))),
            NodeUse("Work", "Database", (Setting("statement", program),)),
            NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),)),
        ),
        wires=(Wire("In", "out", "Work"), Wire("Work", "out", "Out")),
    )
    deployed = deploy(flow, bind=binder(flow, sources=sources))
    queues = MemoryQueues("IN", "OUT").work()
    work, body, descriptor = with_databases(queues, sources, deployed.properties), simple(_KIB), Descriptor()

    def run() -> None:
        queues.put("IN", descriptor, body, syncpoint=False)
        outcome = deployed.process(deployed.entrances[0], work)
        if outcome is None or outcome.error is not None:
            raise BrokerError(2230, f"the flow that is measured failed: {outcome}")
        queues.get("OUT", syncpoint=False)

    return run


# by hand


def _on_queues(program: Callable[[], object]) -> Callable[[], None]:
    """The program for a message that it gets from a queue and puts on another, as the flow does."""
    work, body, descriptor = MemoryQueues("IN", "OUT").work(), simple(_KIB), Descriptor()

    def run() -> None:
        work.put("IN", descriptor, body, syncpoint=False)
        arrival = work.get("IN")
        assert arrival is not None  # it has just been put
        program()
        work.put("OUT", arrival.descriptor, arrival.body)
        work.commit()
        work.get("OUT", syncpoint=False)

    return run


def _order(body: bytes) -> tuple[int, str | None]:
    root = etree.fromstring(body)
    return int(root.findtext("Id") or 0), root.findtext("Status")


def _insert_and_delete(engine: sa.Engine) -> Callable[[], object]:
    insert, body = sa.insert(_ITEMS), simple(_KIB)
    delete = sa.delete(_ITEMS).where(_ITEMS.c.id == sa.bindparam("key"))

    def run() -> None:
        _, status = _order(body)
        with engine.begin() as connection:
            connection.execute(insert, {"id": -1, "name": status})
            connection.execute(delete, {"key": -1})

    return run


def _update(engine: sa.Engine) -> Callable[[], object]:
    update, body = sa.update(_ITEMS).where(_ITEMS.c.id == sa.bindparam("key")), simple(_KIB)

    def run() -> None:
        number, status = _order(body)
        with engine.begin() as connection:
            connection.execute(update, {"key": number, "name": status})

    return run


def _look_up(engine: sa.Engine) -> Callable[[], object]:
    select, body = sa.select(_ITEMS.c.name).where(_ITEMS.c.id == sa.bindparam("key")), simple(_KIB)

    def run() -> object:
        number, _ = _order(body)
        with engine.connect() as connection:
            return connection.execute(select, {"key": number}).scalar_one()

    return run


def _rows(count: int, engine: sa.Engine) -> Callable[[], object]:
    columns = (_ITEMS.c.id, _ITEMS.c.name, _ITEMS.c.price)
    select, body = sa.select(*columns).where(_ITEMS.c.price == sa.bindparam("key")), simple(_KIB)

    def run() -> object:
        _order(body)
        rows = etree.Element("rows")
        with engine.connect() as connection:
            for row in connection.execute(select, {"key": count}):
                at = etree.SubElement(rows, "row")
                for name, value in zip(("id", "name", "price"), row, strict=True):
                    etree.SubElement(at, name).text = str(value)
        return rows

    return run

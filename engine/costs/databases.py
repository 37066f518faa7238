"""The databases' benchmarks: flows beside SQLAlchemy Core, with the same statements; and a PostgreSQL server."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final, Self, TypeAlias
from urllib.parse import quote

import sqlalchemy as sa
from lxml import etree

from engine.costs.measuring import Measured, Program, Row, cost_beside
from engine.costs.sample_messages import Sample, simple
from engine.costs.scenarios import INPUT, OUTPUT, in_a_row, round_trip, with_data_sources
from engine.databases.definitions import Definition
from engine.databases.session import Access, Connection, Session
from engine.databases.sources import Sources
from engine.databases.statements import Passthru
from engine.descriptor import Descriptor
from engine.errors import ConfigurationException
from engine.flow.definition import NodeUse, Setting
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.programs import binder

MOST: Final = 1.5
MOST_FOR_MANY_ROWS: Final = 1.2
ROWS: Final = (1, 100, 10_000)
_KIB: Final = 1_024

PassOn: TypeAlias = Callable[[], None]  # puts the message on the queue for what comes out, and commits that
ByHand: TypeAlias = Callable[[sa.Engine, PassOn], object]
# executes statements for an order: its id, its status
Statements: TypeAlias = Callable[[sa.Connection, int, str | None], object]

_ITEMS: Final = sa.Table(
    "items",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(40)),
    sa.Column("price", sa.Integer),
)
_WITH_ID: Final = _ITEMS.c.id == sa.bindparam("key")
_INSERTED: Final = sa.insert(_ITEMS)
_DELETED: Final = sa.delete(_ITEMS).where(_WITH_ID)
_UPDATED: Final = sa.update(_ITEMS).where(_WITH_ID)
_LOOKED_UP: Final = sa.select(_ITEMS.c.name).where(_WITH_ID)
_SELECTED: Final = sa.select(_ITEMS).where(_ITEMS.c.price == sa.bindparam("key"))
_BODY: Final = simple(_KIB)
_NUMBERS: Final = itertools.count()  # of transactions in two phases

_INSERT_DELETE: Final = """INSERT INTO Database.items(id, name) VALUES(-1, Body.Order.Status);
    DELETE FROM Database.items AS I WHERE I.id = -1;"""
_UPDATE: Final = "UPDATE Database.items AS I SET name = Body.Order.Status WHERE I.id = CAST(Body.Order.Id AS INTEGER);"
_LOOKUP: Final = """SET Environment.found =
    THE(SELECT ITEM I.name FROM Database.items AS I WHERE I.id = CAST(Body.Order.Id AS INTEGER));"""
_SELECT: Final = """SET Environment.rows = NULL;
    SET Environment.rows.row[] = (SELECT I.id, I.name, I.price FROM Database.items AS I WHERE I.price = {});"""


def benchmarks() -> Iterator[Measured]:
    """All of them on SQLite, and on PostgreSQL where that is installed."""
    with TemporaryDirectory(prefix="penstock-costs-") as place:
        yield from _on("SQLite", f"sqlite:///{place}/items.db")
    if binaries() is None:
        return
    with Server.running(max_prepared_transactions="8") as server:
        url = server.url()
        yield from _on("PostgreSQL", url)
        yield _beside("PostgreSQL: update, coordinated (7.10)", url, _UPDATE, _in_two_phases, coordinated=True)


def _on(database: str, url: str) -> Iterator[Measured]:
    with closing(Sources([Definition("DB", url)])) as sources:
        _fill(sources)
    for name, program, statements in (
        ("insert and delete, a message (7.3)", _INSERT_DELETE, _insert_and_delete),
        ("update, a message (7.10)", _UPDATE, _update),
        ("lookup, a message", _LOOKUP, _look_up),
    ):
        yield _beside(f"{database}: {name}", url, program, partial(_in_a_transaction, statements))
    for count in ROWS:
        bound = MOST_FOR_MANY_ROWS if count > 100 else MOST
        by_hand = partial(_in_a_transaction, partial(_read_rows, count))
        yield _beside(f"{database}: {count:,} rows into a tree", url, _SELECT.format(count), by_hand, bound)


def _beside(
    name: str, url: str, program: str, by_hand: ByHand, bound: float = MOST, *, coordinated: bool = False
) -> Measured:
    """A flow of a Database node beside the same work by hand, with the same table."""
    engine = sa.create_engine(url)
    with closing(Sources([Definition("DB", url)])) as sources:
        try:
            flow = _flow(sources, program, coordinated=coordinated)
            return cost_beside(Row(name, bound), _on_queues(partial(by_hand, engine)), flow)
        finally:
            engine.dispose()


def _content() -> list[dict[str, Any]]:
    """Items of which so many have each price."""
    prices = [count for count in ROWS for _ in range(count)]
    return [{"id": number, "name": f"item {number}", "price": price} for number, price in enumerate(prices, 1)]


def _fill(sources: Sources) -> None:
    session = Session(sources)
    connection = Connection(Access(), session)
    table = "CREATE TABLE items (id INTEGER PRIMARY KEY, name VARCHAR(40), price INTEGER)"
    for statement in (table, "CREATE INDEX prices ON items(price)"):
        connection.execute(Passthru(), (), (statement,))
    for one in _content():
        connection.execute(Passthru(), (), ("INSERT INTO items VALUES (?, ?, ?)", *one.values()))
    session.commit()


def _flow(sources: Sources, program: str, *, coordinated: bool) -> Program:
    node = NodeUse("Work", "Database", (Setting("statement", program),))
    properties = (Setting("coordinatedTransaction", "yes"),) if coordinated else ()
    flow = in_a_row("Databases", INPUT, node, OUTPUT, properties=properties)
    deployed = deploy(flow, bind=binder(flow, sources=sources))
    manager = MemoryQueues("IN", "OUT")
    queues = manager.work()
    work = with_data_sources(manager, queues, sources, deployed)
    return round_trip(deployed, work, Sample(Descriptor(), simple(_KIB)), "IN", "OUT", queues)


def _on_queues(program: Callable[[PassOn], object]) -> Program:
    """The program for a message that it gets from a queue and puts on another, as the flow does."""
    work, body, descriptor = MemoryQueues("IN", "OUT").work(), simple(_KIB), Descriptor()

    def run() -> None:
        work.put("IN", descriptor, body, syncpoint=False)
        arrival = work.get("IN")
        assert arrival is not None  # it has just been put

        def pass_on() -> None:
            work.put("OUT", arrival.descriptor, arrival.body)
            work.commit()

        program(pass_on)
        work.get("OUT", syncpoint=False)

    return run


def _order(body: bytes) -> tuple[int, str | None]:
    root = etree.fromstring(body)
    return int(root.findtext("Id") or 0), root.findtext("Status")


def _in_a_transaction(statements: Statements, engine: sa.Engine, pass_on: PassOn) -> None:
    order = _order(_BODY)
    with engine.begin() as connection:
        statements(connection, *order)
    pass_on()


def _in_two_phases(engine: sa.Engine, pass_on: PassOn) -> None:
    order = _order(_BODY)
    with engine.connect() as connection:
        transaction = connection.begin_twophase(f"costs:{next(_NUMBERS)}")
        _update(connection, *order)
        transaction.prepare()
        pass_on()
        transaction.commit()


def _insert_and_delete(connection: sa.Connection, _: int, status: str | None) -> None:
    connection.execute(_INSERTED, {"id": -1, "name": status})
    connection.execute(_DELETED, {"key": -1})


def _update(connection: sa.Connection, number: int, status: str | None) -> None:
    connection.execute(_UPDATED, {"key": number, "name": status})


def _look_up(connection: sa.Connection, number: int, _: str | None) -> object:
    return connection.execute(_LOOKED_UP, {"key": number}).scalar_one()


def _read_rows(count: int, connection: sa.Connection, _: int, __: str | None) -> object:
    rows = etree.Element("rows")
    for row in connection.execute(_SELECTED, {"key": count}):
        at = etree.SubElement(rows, "row")
        for name, value in zip(("id", "name", "price"), row, strict=True):
            etree.SubElement(at, name).text = str(value)
    return rows


_SETTINGS: Final = MappingProxyType(
    {
        "fsync": "off",
        "listen_addresses": "",
        "max_prepared_transactions": "64",
        "max_connections": "100",
        "shared_buffers": "16MB",
        "log_min_messages": "fatal",
        "timezone": "Europe/Berlin",
    }
)


def binaries() -> Path | None:
    """The folder of the newest PostgreSQL, as Debian installs it; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    return found[-1] if found else None


@dataclass
class Server:
    """A server that runs, or is started again."""

    bin: Path
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @classmethod
    @contextmanager
    def running(cls, **settings: str) -> Iterator[Self]:
        """A server with these settings, as long as it is needed; none of its data lasts."""
        found = binaries()
        if found is None:
            raise ConfigurationException("PostgreSQL is not installed: apt-get install postgresql")
        folder = Path(tempfile.mkdtemp(prefix="pg"))
        if not os.geteuid():
            os.chown(folder, _user().pw_uid, _user().pw_gid)
        folder.chmod(0o755)
        server = cls(found, folder, settings)
        try:
            server.initialize()
            server.start()
            yield server
        finally:
            server.stop()
            shutil.rmtree(folder, ignore_errors=True)

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """The URL of a database, for which nobody is asked for a password."""
        return f"postgresql+psycopg://{user}@/{database}?host={quote(str(self.folder), safe='/')}"

    def initialize(self) -> None:
        """Make the files of an empty server."""
        data = str(self.folder / "data")
        options = ("--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8", "--username=postgres")
        subprocess.run([*_as_another(), self.bin / "initdb", "-D", data, *options], check=True, capture_output=True)  # noqa: S603 - as installed

    def start(self) -> None:
        """Start it, and wait until it answers."""
        given = {**_SETTINGS, **self.settings, "unix_socket_directories": str(self.folder)}
        options = [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
        log = (self.folder / "log").open("ab")
        command = [*_as_another(), str(self.bin / "postgres"), "-D", str(self.folder / "data"), *options]
        self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)  # noqa: S603 - as installed
        log.close()
        ends = time.monotonic() + 30
        asking = [str(self.bin / "pg_isready"), "-q", "-h", str(self.folder)]
        while subprocess.run(asking, check=False).returncode:  # noqa: S603 - as installed
            if time.monotonic() > ends or self.process.poll() is not None:
                raise ConfigurationException(f"PostgreSQL does not start: {(self.folder / 'log').read_text()}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it: at once, as if the machine had lost its power."""
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(30)
            self.process = None


def _as_another() -> list[str]:
    """The beginning of a command that runs as a user other than root, which PostgreSQL asks for."""
    return (
        [] if os.geteuid() else ["setpriv", f"--reuid={_user().pw_uid}", f"--regid={_user().pw_gid}", "--clear-groups"]
    )


def _user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")

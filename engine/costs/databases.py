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
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import sqlalchemy as sa
from lxml import etree

from engine.costs.measuring import Measured, Program, Row, cost_beside
from engine.costs.sample_messages import Sample, simple
from engine.costs.scenarios import in_a_row, round_trip
from engine.databases.coordination import Coordinator
from engine.databases.definitions import Definition
from engine.databases.session import Access, Connection, Session
from engine.databases.sources import Sources
from engine.databases.statements import Passthru
from engine.databases.work import with_databases
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

Decide: TypeAlias = Callable[[], None]
ByHand: TypeAlias = Callable[[Decide], object]
MadeByHand: TypeAlias = Callable[[sa.Engine], ByHand]

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
    """All of them on SQLite, and on PostgreSQL where that is installed."""
    with TemporaryDirectory(prefix="penstock-costs-") as place:
        yield from _on("SQLite", f"sqlite:///{place}/items.db")
    if binaries() is None:
        return
    with running(max_prepared_transactions="8") as server:
        url = server.url()
        yield from _on("PostgreSQL", url)
        yield _beside("PostgreSQL: update, coordinated (7.10)", url, _UPDATE, _update_in_two_phases, coordinated=True)


def _on(database: str, url: str) -> Iterator[Measured]:
    with closing(Sources([Definition("DB", url)])) as sources:
        _fill(sources)
    yield _beside(f"{database}: insert and delete, a message (7.3)", url, _INSERT_DELETE, _insert_and_delete)
    yield _beside(f"{database}: update, a message (7.10)", url, _UPDATE, _update)
    yield _beside(f"{database}: lookup, a message", url, _LOOKUP, _look_up)
    for count in ROWS:
        bound = MOST_FOR_MANY_ROWS if count > 100 else MOST
        program = _SELECT.format(count)
        yield _beside(f"{database}: {count:,} rows into a tree", url, program, partial(_rows, count), bound)


def _beside(
    name: str, url: str, program: str, made_by_hand: MadeByHand, bound: float = MOST, *, coordinated: bool = False
) -> Measured:
    """A flow of a Database node beside the same work by hand, with the same table."""
    engine = sa.create_engine(url)
    with closing(Sources([Definition("DB", url)])) as sources:
        by_hand = _on_queues(made_by_hand(engine), coordinated=coordinated)
        try:
            return cost_beside(Row(name, bound), by_hand, _flow(sources, program, coordinated=coordinated))
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
    flow = in_a_row(
        "Databases",
        NodeUse("In", "MQInput", (Setting("queueName", "IN"), Setting("messageDomainProperty", "XMLNSC"))),
        NodeUse("Work", "Database", (Setting("statement", program),)),
        NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),)),
        properties=(Setting("coordinatedTransaction", "yes"),) if coordinated else (),
    )
    deployed = deploy(flow, bind=binder(flow, sources=sources))
    manager = MemoryQueues("IN", "OUT")
    queues = manager.work()
    work = with_databases(queues, sources, deployed.properties, Coordinator(manager) if coordinated else None)
    return round_trip(deployed, work, Sample(Descriptor(), simple(_KIB)), "IN", "OUT", queues)


def _on_queues(program: ByHand, *, coordinated: bool) -> Callable[[], None]:
    """The program for a message that it gets from a queue and puts on another, as the flow does.

    Where it is coordinated it commits them itself, in the middle of its own two phases.
    """
    work, body, descriptor = MemoryQueues("IN", "OUT").work(), simple(_KIB), Descriptor()

    def run() -> None:
        work.put("IN", descriptor, body, syncpoint=False)
        arrival = work.get("IN")
        assert arrival is not None  # it has just been put
        if coordinated:
            program(lambda: _passed_on(work, arrival))
        else:
            program(_nothing)
            _passed_on(work, arrival)
        work.get("OUT", syncpoint=False)

    return run


def _passed_on(work: Any, arrival: Any) -> None:
    work.put("OUT", arrival.descriptor, arrival.body)
    work.commit()


def _nothing() -> None:
    """There is nothing to commit between two phases."""


def _order(body: bytes) -> tuple[int, str | None]:
    root = etree.fromstring(body)
    return int(root.findtext("Id") or 0), root.findtext("Status")


def _insert_and_delete(engine: sa.Engine) -> ByHand:
    insert, body = sa.insert(_ITEMS), simple(_KIB)
    delete = sa.delete(_ITEMS).where(_ITEMS.c.id == sa.bindparam("key"))

    def run(decide: Decide) -> None:
        _, status = _order(body)
        with engine.begin() as connection:
            connection.execute(insert, {"id": -1, "name": status})
            connection.execute(delete, {"key": -1})

    return run


def _update(engine: sa.Engine) -> ByHand:
    update, body = sa.update(_ITEMS).where(_ITEMS.c.id == sa.bindparam("key")), simple(_KIB)

    def run(decide: Decide) -> None:
        number, status = _order(body)
        with engine.begin() as connection:
            connection.execute(update, {"key": number, "name": status})

    return run


def _update_in_two_phases(engine: sa.Engine) -> ByHand:
    update, body = sa.update(_ITEMS).where(_ITEMS.c.id == sa.bindparam("key")), simple(_KIB)
    numbers = itertools.count()

    def run(decide: Decide) -> None:
        number, status = _order(body)
        with engine.connect() as connection:
            transaction = connection.begin_twophase(f"costs:{next(numbers)}")
            connection.execute(update, {"key": number, "name": status})
            transaction.prepare()
            decide()
            transaction.commit()

    return run


def _look_up(engine: sa.Engine) -> ByHand:
    select, body = sa.select(_ITEMS.c.name).where(_ITEMS.c.id == sa.bindparam("key")), simple(_KIB)

    def run(decide: Decide) -> object:
        number, _ = _order(body)
        with engine.connect() as connection:
            return connection.execute(select, {"key": number}).scalar_one()

    return run


def _rows(count: int, engine: sa.Engine) -> ByHand:
    columns = (_ITEMS.c.id, _ITEMS.c.name, _ITEMS.c.price)
    select, body = sa.select(*columns).where(_ITEMS.c.price == sa.bindparam("key")), simple(_KIB)

    def run(decide: Decide) -> object:
        _order(body)
        rows = etree.Element("rows")
        with engine.connect() as connection:
            for row in connection.execute(select, {"key": count}):
                at = etree.SubElement(rows, "row")
                for name, value in zip(("id", "name", "price"), row, strict=True):
                    etree.SubElement(at, name).text = str(value)
        return rows

    return run


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

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End it: at once, as if the machine had lost its power."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(30)
            self.process = None

    def kill(self) -> None:
        """End all of its processes by SIGKILL, as what runs out of memory is ended."""
        if self.process is not None:
            own = self.process.pid
            os.kill(own, signal.SIGSTOP)  # it would start anew what is killed
            for child in Path(f"/proc/{own}/task/{own}/children").read_text("ascii").split():
                os.kill(int(child), signal.SIGKILL)
            self.stop(signal.SIGKILL)

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Execute a statement by a connection of its own."""
        import psycopg  # noqa: PLC0415 - most benchmarks do without

        with psycopg.connect(f"host={self.folder} user=postgres dbname={database}", autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []


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


@contextmanager
def running(**settings: str) -> Iterator[Server]:
    """A server with these settings, as long as it is needed; none of its data lasts."""
    found = binaries()
    if found is None:
        raise ConfigurationException("PostgreSQL is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if not os.geteuid():
        os.chown(folder, _user().pw_uid, _user().pw_gid)
    folder.chmod(0o755)
    server = Server(found, folder, settings)
    try:
        server.initialize()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)

"""The repository as it is opened: a broker's state read and written in one transaction each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, Engine, Table, create_engine, delete, event, insert, select, update
from sqlalchemy.exc import ArgumentError, IntegrityError, SQLAlchemyError

from engine.broker.definition import Executors, Grant, Limits, Settings
from engine.broker.repository import tables
from engine.broker.state import BrokerState, DeployedUse, GroupState, use_of_data
from engine.broker.user_rights import system_user
from engine.errors import ConfigurationException

BROKEN: Final = 8081
_NAMED: Final = (
    ("queues", tables.QUEUES),
    ("data_sources", tables.DATA_SOURCES),
    ("topics", tables.TOPICS),
    ("subscriptions", tables.SUBSCRIPTIONS),
)


class Entry(NamedTuple):
    """A line of the log of changes."""

    at: str
    user: str
    action: str
    what: str
    digest: str


class Change(NamedTuple):
    """The entry in the log of changes for a state that is saved."""

    action: str
    what: str


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository of one broker, in the database that its URL names."""

    engine: Engine
    broker: str
    url: str

    def load(self) -> BrokerState:
        """Returns the state of the broker."""
        with self._told("read"), self.engine.connect() as connection:
            row = connection.execute(select(tables.BROKERS).where(tables.BROKERS.c.name == self.broker)).first()
            if row is None:
                raise ConfigurationException(
                    f"{self.url} knows no broker {self.broker}: create it with penstock broker create", number=8013
                )
            named = {name: self._named(connection, table) for name, table in _NAMED}
            rights = [
                Grant(r.user, tuple(r.may), r.execution_group, r.flow, r.is_group)
                for r in self._rows(connection, tables.RIGHTS, "place")
            ]
            return BrokerState(
                row.name,
                row.uuid,
                row.generation,
                row.queue_manager,
                row.dead_letter_queue,
                tuple(self._groups(connection)),
                rights=tuple(rights),
                settings=Settings(**row.settings),
                **named,
            )

    def create(self, state: BrokerState) -> None:
        """Write a broker that is not there yet."""
        with self._told("written"), self.engine.begin() as connection:
            tables.METADATA.create_all(connection)
            if connection.execute(select(tables.REPOSITORY)).first() is None:
                connection.execute(insert(tables.REPOSITORY).values(format=tables.FORMAT))
            row = {**_broker_row(state), "name": state.name, "uuid": state.uuid, "created": now()}
            try:
                connection.execute(insert(tables.BROKERS).values(**row))
            except IntegrityError as error:
                text = f"{self.url} has a broker {state.name} already: give yours another name"
                raise ConfigurationException(text, number=8087) from error
            self._write(connection, state)

    def save(self, state: BrokerState, change: Change, contents: Mapping[str, tuple[str, bytes]] | None = None) -> None:
        """Write a state that was made from one that was loaded, with the content that is new in it.

        It is refused where someone else has saved one since; either all of it is written or nothing is.
        """
        with self._told("written"), self.engine.begin() as connection:
            table = tables.BROKERS
            mine = (table.c.name == self.broker) & (table.c.generation == state.generation)
            row = {**_broker_row(state), "generation": state.generation + 1}
            if not connection.execute(update(table).where(mine).values(**row)).rowcount:
                raise ConfigurationException(
                    f"the broker {self.broker} has been changed by someone else meanwhile: look at it and try again"
                )
            self._write(connection, state, contents or {})
            entry = {"broker": self.broker, "at": now(), "user": system_user(), "digest": state.digest}
            connection.execute(insert(tables.HISTORY).values(**entry, action=change.action, what=change.what))

    def delete(self) -> None:
        """Take the broker out of the repository."""
        with self._told("written"), self.engine.begin() as connection:
            connection.execute(delete(tables.BROKERS).where(tables.BROKERS.c.name == self.broker))
            for table in (table for table in tables.METADATA.sorted_tables if "broker" in table.c):
                connection.execute(delete(table).where(table.c.broker == self.broker))

    def contents(self, hashes: Iterable[str]) -> dict[str, bytes]:
        """Returns content by its hash."""
        wanted = list(hashes)
        with self._told("read"), self.engine.connect() as connection:
            found = connection.execute(select(tables.CONTENTS).where(tables.CONTENTS.c.hash.in_(wanted)))
            kept = {row.hash: bytes(row.data) for row in found}
        for known in wanted:
            if known not in kept or _hash_of(kept[known]) != known:
                what = "damaged" if known in kept else "not there"
                text = f"the content {known} is {what} in the repository {self.url}: deploy its flow anew"
                raise ConfigurationException(text, number=BROKEN)
        return kept

    def history(self) -> list[Entry]:
        """Returns the log of changes, oldest first."""
        table = tables.HISTORY
        with self._told("read"), self.engine.connect() as connection:
            found = connection.execute(select(table).where(table.c.broker == self.broker).order_by(table.c.id))
            return [Entry(row.at, row.user, row.action, row.what, row.digest) for row in found]

    def members(self, collective: str) -> list[str]:
        """Returns the names of the brokers that a collective has, this one among them."""
        table = tables.BROKERS
        with self._told("read"), self.engine.connect() as connection:
            rows = connection.execute(select(table.c.name, table.c.settings).order_by(table.c.name)).all()
        return [row.name for row in rows if (row.settings.get("collective") or {}).get("name") == collective]

    def version(self, group: str, number: int) -> tuple[int, tuple[DeployedUse, ...]] | None:
        """Returns a version of a group's deployment: the number of the one before it, and its flows."""
        with self._told("read"), self.engine.connect() as connection:
            row = self._version(connection, group, number)
            return (row.parent, tuple(use_of_data(use) for use in row.flows)) if row else None

    def next_number(self, group: str) -> int:
        """Returns the number of the next version of a group's deployment."""
        table = tables.VERSIONS
        with self._told("read"), self.engine.connect() as connection:
            mine = (table.c.broker == self.broker) & (table.c.execution_group == group)
            found = connection.execute(select(table.c.number).where(mine).order_by(table.c.number.desc())).first()
        return found.number + 1 if found else 1

    def _version(self, connection: Connection, group: str, number: int) -> Any:
        table = tables.VERSIONS
        mine = (table.c.broker == self.broker) & (table.c.execution_group == group) & (table.c.number == number)
        return connection.execute(select(table).where(mine)).first()

    def _rows(self, connection: Connection, table: Table, order: str) -> Iterable[Any]:
        return connection.execute(select(table).where(table.c.broker == self.broker).order_by(table.c[order]))

    def _named(self, connection: Connection, table: Table) -> dict[str, Any]:
        return {row.name: row.definition for row in self._rows(connection, table, "name")}

    def _groups(self, connection: Connection) -> Iterator[GroupState]:
        flows: dict[str, list[DeployedUse]] = {}
        for row in self._rows(connection, tables.FLOWS, "place"):
            flows.setdefault(row.execution_group, []).append(use_of_data({**row.use, "running": row.running}))
        for row in self._rows(connection, tables.GROUPS, "place"):
            executors = Executors(**row.executors) if row.executors else None
            own = tuple(flows.get(row.name, ()))
            numbers = row.number, row.parent
            yield GroupState(row.name, row.uuid, row.running, *numbers, own, Limits(**row.limits), executors)

    def _write(
        self, connection: Connection, state: BrokerState, contents: Mapping[str, tuple[str, bytes]] | None = None
    ) -> None:
        self._write_contents(connection, contents or {})
        for table, rows in _rows_of(state):
            connection.execute(delete(table).where(table.c.broker == state.name))
            _insert(connection, table, [{"broker": state.name, **row} for row in rows])
        for group in state.groups:
            if group.number and self._version(connection, group.name, group.number) is None:
                row = {"execution_group": group.name, "number": group.number, "parent": group.parent}
                _insert(connection, tables.VERSIONS, [{"broker": state.name, **row, "flows": group.deployed}])

    def _write_contents(self, connection: Connection, contents: Mapping[str, tuple[str, bytes]]) -> None:
        """Write the content that is not there, or is damaged."""
        table = tables.CONTENTS
        found = connection.execute(select(table).where(table.c.hash.in_(list(contents)))).all()
        damaged = [row.hash for row in found if _hash_of(bytes(row.data)) != row.hash]
        connection.execute(delete(table).where(table.c.hash.in_(damaged)))
        whole = {row.hash for row in found}.difference(damaged)
        new = [{"hash": key, "name": n, "data": data} for key, (n, data) in contents.items() if key not in whole]
        _insert(connection, table, new)

    @contextmanager
    def _told(self, done: str) -> Iterator[None]:
        """Turn what a database says into one line that names the repository."""
        try:
            yield
        except (SQLAlchemyError, ValueError, TypeError, KeyError) as error:  # or data that is no text, or no JSON
            said = str(getattr(error, "orig", None) or error).partition("\n")[0]
            lacks_room = "full" in said or (done == "written" and "disk I/O error" in said)
            advice = "make room and try again" if lacks_room else "restore it from a copy, or mend its database"
            if "locked" in said:
                advice = "another process holds it: try again when that is done"
            text = f"the repository {self.url} cannot be {done}: {said:.200}; {advice}"
            raise ConfigurationException(text, number=BROKEN) from error


def _hash_of(content: bytes) -> str:
    """Returns the hash of a flow's content, or nothing where it is none."""
    from flows.files import Shipped  # noqa: PLC0415  # most commands need no flow

    try:
        return Shipped.of_data(json.loads(content)).content_hash
    except (ValueError, KeyError, TypeError):
        return ""


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _broker_row(state: BrokerState) -> dict[str, Any]:
    return {
        "generation": state.generation,
        "queue_manager": state.queue_manager,
        "dead_letter_queue": state.dead_letter_queue,
        "settings": asdict(state.settings),
    }


def _rows_of(state: BrokerState) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
    """The rows of each table that says what a broker is now."""
    yield (
        tables.GROUPS,
        [
            {
                "place": place,
                "name": group.name,
                "uuid": group.uuid or str(uuid4()),
                "running": group.running,
                "number": group.number,
                "parent": group.parent,
                "limits": asdict(group.limits),
                "executors": asdict(group.executors) if group.executors else None,
            }
            for place, group in enumerate(state.groups)
        ],
    )
    placed = [(group.name, use) for group in state.groups for use in group.flows]
    yield (
        tables.FLOWS,
        [
            {
                "place": place,
                "execution_group": group,
                "name": use.name,
                "content": use.content,
                "running": use.running,
                "use": {name: value for name, value in asdict(use).items() if name != "running"},
            }
            for place, (group, use) in enumerate(placed)
        ],
    )
    yield (
        tables.MESSAGE_SETS,
        [
            {"execution_group": group, "flow": use.name, "name": name}
            for group, use in placed
            for name in use.message_sets
        ],
    )
    for name, table in _NAMED:
        yield table, [{"name": key, "definition": dict(value)} for key, value in getattr(state, name).items()]
    yield (
        tables.RIGHTS,
        [
            {
                "place": place,
                "user": grant.user,
                "is_group": grant.is_group,
                "may": list(grant.may),
                "execution_group": grant.group,
                "flow": grant.flow,
            }
            for place, grant in enumerate(state.rights)
        ],
    )


def now() -> str:
    """Returns the moment in ISO form, in GMT."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def opened(url: str, broker: str) -> Repository:
    """Returns the repository in the database of a URL; nothing is read yet."""
    try:
        engine = create_engine(url)
    except (ArgumentError, ImportError) as error:
        text = f"{_without_password(url)} is no repository: {error}; write sqlite:///FILE or postgresql+psycopg://HOST/NAME"
        raise ConfigurationException(text) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _careful)
        event.listen(engine, "begin", _at_once)
    return Repository(engine, broker, engine.url.render_as_string(hide_password=True))


def _without_password(url: str) -> str:
    head, at, rest = url.rpartition("@")
    return f"{head.partition('://')[0]}://…@{rest}" if at else url


def _careful(connection: Any, _: object) -> None:
    """SQLite's connection is told to sync each commit, and to leave the start of transactions to `_at_once`."""
    connection.isolation_level = None
    connection.execute("PRAGMA busy_timeout=10000")
    connection.execute("PRAGMA synchronous=FULL")


def _at_once(connection: Connection) -> None:
    """A transaction takes its lock when it begins, so that two that write never wait for each other."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")

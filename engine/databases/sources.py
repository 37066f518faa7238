"""Data sources of a process: their drivers and pools of connections, and what their tables look like."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import quote, quote_plus
from weakref import WeakSet

from engine.catalog import did_you_mean
from engine.databases.definitions import Definition
from engine.databases.errors import NO_TABLE, DatabaseException, refusal
from engine.databases.sql import Plan
from engine.databases.tables import NotFoundError, Table, reflected
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.databases.driver import Driver, State
    from engine.databases.statements import Names

_POOL: Final = 16  # connections that stay open; more are made while they are needed
_MOST_PLANS: Final = 10_000
_VERSIONS: Final = MappingProxyType(
    {
        "sqlite": "SELECT sqlite_version() FROM (SELECT COUNT(*) FROM sqlite_master)",  # which reads the file
        "postgresql": "SHOW server_version",
    }
)


class Closing(Protocol):
    """A holder of a connection."""

    def close(self) -> None:
        """Give it back."""
        ...


class Source:
    """A data source that is open: connections, and tables as they were first looked up."""

    def __init__(self, definition: Definition) -> None:
        self.name = definition.name
        self.version = 0
        self._secrets: tuple[str, ...] = ()
        self._lock = threading.RLock()
        self._tables: dict[Names, Table] = {}
        self._links: WeakSet[Closing] = WeakSet()
        self._engine = self._opened(definition)

    driver: Driver

    def _opened(self, definition: Definition) -> Any:
        from sqlalchemy import create_engine, event
        from sqlalchemy.exc import ArgumentError, NoSuchModuleError

        try:
            url = self._url(definition)
            dialect = url.get_dialect()
            loaded = dialect.import_dbapi()
        except (NoSuchModuleError, ArgumentError):
            text = (
                f"data source {self.name}: there is no dialect {definition.scheme}: sqlite and postgresql+psycopg are"
            )
            raise ConfigurationException(text) from None
        except ModuleNotFoundError as error:
            text = f"data source {self.name}: {definition.scheme} needs the Python package {error.name}: install it"
            raise ConfigurationException(text) from None
        self.driver = _driver(url, dialect, loaded)
        arguments = self.driver.arguments(url)
        if "creator" not in arguments or arguments.get("poolclass") is not None:
            arguments.update(pool_size=_POOL, max_overflow=-1)
        arguments.setdefault("pool_pre_ping", not self.driver.single_writer)  # what broke in the pool is replaced
        engine = create_engine(url.set(query={}) if self.driver.single_writer else url, **arguments)
        event.listen(engine, "connect", lambda connection, _: self.driver.opened(connection))
        return engine

    def _url(self, definition: Definition) -> Any:
        from sqlalchemy.engine import make_url

        url = make_url(definition.url)
        if url.drivername in {"postgresql", "postgres"}:
            url = url.set(drivername="postgresql+psycopg")
        if definition.user:
            url = url.set(username=definition.user)
        if definition.password is not None:
            url = url.set(password=definition.password.read(f"data source {self.name}"))
        said = [str(url.password or ""), *(str(v) for key, v in url.query.items() if "pass" in key.lower())]
        spelled = (form for one in said if one for form in (one, quote(one, safe=""), quote_plus(one)))
        self._secrets = tuple(sorted(dict.fromkeys(spelled), key=len, reverse=True))
        return url

    def connect(self) -> Any:
        """A connection out of the pool; raises a DatabaseException where there is none to be had."""
        try:
            return self._engine.raw_connection()
        except Exception as error:  # drivers raise what they like while they connect
            raise self.failure(getattr(error, "orig", None) or error) from None

    def lent(self, link: Closing) -> None:
        """Remember who has a connection, for who has them has to give them back in the end."""
        with self._lock:
            self._links.add(link)

    def failure(self, error: BaseException) -> DatabaseException:
        """An error of the database's driver as flows see it, without the password."""
        state: State = self.driver.state(error)
        if state.state == NO_TABLE:
            self.forget()
        return refusal(self.name, self.driver.name, state.state, state.native, self.scrubbed(state.text))

    def probe(self) -> str:
        """Connect and ask for a row; returns the version of the database. A file that is not there is not made."""
        file = self._engine.url.database or "" if self.driver.single_writer else ""
        if file not in {"", ":memory:"} and not file.startswith("file:") and not Path(file).exists():
            text = f"data source {self.name}: there is no file {file}: make it, with its tables, or name another"
            raise ConfigurationException(text)
        held = self.connect()
        try:
            cursor = self.driver.cursor(held.dbapi_connection)
            cursor.execute(_VERSIONS.get(self.driver.name, "SELECT 1"))
            ((found,),) = cursor.fetchall()
        except self.driver.errors as error:
            raise self.failure(error) from None
        finally:
            held.close()
        return str(found) if self.driver.name in _VERSIONS else ""

    def can_prepare(self) -> bool:
        """Returns True if units of work can be prepared here, which PostgreSQL has to be set up for."""
        if not self.driver.prepares:
            return False
        return self.room() > 0

    def room(self) -> int:
        """Returns the number of units of work that can still be prepared here."""
        return int(self._by(self.driver.room)) if self.driver.prepares else 0

    def prepared(self, prefix: str) -> list[str]:
        """The gids under which units of work are prepared here, by how they begin."""
        if not self.driver.prepares:
            return []
        return list(self._by(lambda connection: self.driver.prepared(connection, prefix)))

    def end_prepared(self, gid: str, *, commits: bool) -> bool:
        """Commit or roll back what is prepared under a gid; False where nothing is."""
        return bool(self._by(lambda connection: self.driver.resolve(connection, gid, commits=commits)))

    @contextmanager
    def locked(self, name: str, *, is_shared: bool = False) -> Iterator[None]:
        """Have the lock of a name in the database: alone, or with all others who share it."""
        held = self.connect()
        try:
            self.driver.lock(held.dbapi_connection, name, is_shared=is_shared)
        except self.driver.errors as error:
            held.invalidate()
            held.close()
            raise self.failure(error) from None
        try:
            yield
        finally:
            try:
                self.driver.unlock(held.dbapi_connection)
            except self.driver.errors:  # the lock is gone with its connection
                held.invalidate()
            held.close()

    def _by(self, ask: Callable[[Any], Any], *, again: bool = True) -> Any:
        """Returns an answer by a connection of the pool; one that broke while nobody used it is replaced, once."""
        held = self.connect()
        try:
            return ask(held.dbapi_connection)
        except self.driver.errors as error:
            is_broken = self.driver.is_broken(held.dbapi_connection, error)
            held.invalidate()
            if not (is_broken and again):
                raise self.failure(error) from None
        finally:
            held.close()
        return self._by(ask, again=False)

    def scrubbed(self, text: str) -> str:
        """A text without the password of this data source."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def table(self, place: Names, within: Any = None) -> Table:
        """The table of `(table,)`, `(schema, table)` or `(datasource, schema, table)`; raises NotFoundError.

        `within` is the connection of a unit of work, which may have made the table.
        """
        schema, name = names = ("", *place)[-2:]
        found = self._tables.get(names)
        if found is None:
            with self._lock:
                found = self._tables[names] = self._reflected(schema, name, within)
        return found

    def _reflected(self, schema: str, name: str, within: Any) -> Table:
        from sqlalchemy import create_engine, inspect
        from sqlalchemy.exc import SQLAlchemyError
        from sqlalchemy.pool import StaticPool

        engine = self._engine
        if within is not None:
            lent = _Lent(within)
            more = {"use_native_hstore": False} if self.driver.prepares else {}
            engine = create_engine(
                f"{self._engine.url.drivername}://", creator=lambda: lent, poolclass=StaticPool, **more
            )
        try:
            return reflected(inspect(engine), schema, name)
        except SQLAlchemyError as error:
            raise self.failure(getattr(error, "orig", None) or error) from None

    def forget(self) -> None:
        """Look tables up anew when they are next asked for: they have changed."""
        self.version += 1
        self._tables.clear()

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            links = list(self._links)
        for link in links:
            link.close()
        self._engine.dispose()


def place_of(definition: Definition) -> str:
    """The host and the database that a URL leads to, and nothing else of it.

    >>> place_of(Definition("DB", "postgresql://me:secret@host:5433/stock?sslmode=require"))
    'host:5433/stock'
    """
    from sqlalchemy.engine import make_url

    url = make_url(definition.url)
    host = url.host or str(url.query.get("host", ""))
    port = f":{url.port}" if url.port else ""
    return f"{host}{port}/{url.database or ''}" if host else url.database or "in memory"


class _Lent:
    """A connection in the middle of a unit of work, which whoever looks tables up does not end."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def rollback(self) -> None:
        """Leave the unit as it is."""

    def commit(self) -> None:
        """Leave the unit as it is."""

    def close(self) -> None:
        """Leave the connection open."""


def _driver(url: Any, dialect: Any, loaded: Any) -> Driver:
    if url.get_backend_name() == "sqlite":
        from engine.databases.sqlite import SQLite

        return SQLite()
    if url.drivername == "postgresql+psycopg":
        from engine.databases.postgresql import PostgreSQL

        return PostgreSQL()
    from engine.databases.other_drivers import AnyDatabase

    made = dialect(dbapi=loaded)
    return AnyDatabase(made)


class Planned:
    """A statement's plan, with the source that it is for and the version of its tables."""

    __slots__ = ("plan", "source", "version")

    def __init__(self, source: Source, plan: Plan) -> None:
        self.source = source
        self.plan = plan
        self.version = source.version


class Sources:
    """All data sources that flows of this process may work with; the first is the default one."""

    def __init__(self, definitions: Iterable[Definition] = (), *, stand_in: bool = False) -> None:
        """Data sources that stand in for others, in tests of flows, may be of a kind that prepares nothing."""
        self.definitions = tuple(definitions)
        self.stand_in = stand_in
        self.plans: dict[tuple[str, int, Names], Planned] = {}
        self._lock = threading.RLock()
        self._open: dict[str, Source] = {}

    def definition(self, name: str) -> Definition:
        """A data source by its name, else the only one that differs in case; without a name the default one."""
        if not name and self.definitions:
            return self.definitions[0]
        names = [one.name for one in self.definitions]
        alike = [one for one in self.definitions if one.name == name]
        alike = alike or [one for one in self.definitions if one.name.lower() == name.lower()]
        if len(alike) == 1:
            return alike[0]
        known = did_you_mean(name, names) or (f"; there are {', '.join(names)}" if names else "")
        raise ConfigurationException(f"there is no data source {name or 'at all'}{known}: give --data-source NAME=URL")

    def find(self, name: str) -> Source:
        """The open data source of a name."""
        known = self._open.get(name)
        if known is not None:
            return known
        definition = self.definition(name)
        with self._lock:
            found = self._open.get(definition.name)
            if found is None:
                found = Source(definition)
            self._open[definition.name] = self._open[name] = found
            return found

    def keep(self, key: tuple[str, int, Names], planned: Planned) -> None:
        """Remember what a statement has become, unless it is a long one; programs that EVAL makes may be many."""
        if not planned.plan.prepared:
            return
        if len(self.plans) >= _MOST_PLANS:
            self.plans.clear()
        self.plans[key] = planned

    def close(self) -> None:
        """Close all data sources."""
        for source in dict.fromkeys(self._open.values()):
            source.close()
        self._open.clear()


__all__ = ["NotFoundError", "Planned", "Source", "Sources"]

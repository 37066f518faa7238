"""Sessions: the databases of a unit of work, one unit behind the other; how nodes ask them, and call procedures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from engine.catalog import did_you_mean
from engine.databases.driver import ColumnType
from engine.databases.errors import NO_COLUMN, NO_TABLE, NOT_NOW, DatabaseException, refusal
from engine.databases.link import HeldLink, Link
from engine.databases.sources import NotFoundError, Planned, Source, Sources
from engine.databases.sql import Plan, binders_of, further_tables, plan_of
from engine.databases.statements import (
    NOTHING,
    Answer,
    Commit,
    Delete,
    Insert,
    Names,
    OfTable,
    Passthru,
    Procedure,
    Rollback,
    Select,
    Statement,
    Update,
)
from engine.databases.tables import found_name

if TYPE_CHECKING:
    from engine.work import UnitOfWork

_OF_TABLES: Final = frozenset((Select, Insert, Update, Delete))
_DEFINES: Final = re.compile(r"\s*(create|alter|drop|rename)\b", re.IGNORECASE)
_READS: Final = re.compile(r"\s*(select|values|explain|pragma)\b", re.IGNORECASE)
_UNKNOWN: Final = ColumnType()


class Session:
    """The links of one unit of work: those of nodes with transaction `automatic`, and those that commit at once."""

    __slots__ = ("_at_once", "_held", "_links", "coordinated", "sources")

    def __init__(self, sources: Sources, *, coordinated: bool = False, held: bool = False) -> None:
        """`held` makes its units of work parts of one transaction a source, which `prepare` ends."""
        self.sources = sources
        self.coordinated = coordinated or held
        self._held = held
        self._links: dict[str, Link] = {}
        self._at_once: dict[str, Link] = {}

    def link(self, source: Source, *, at_once: bool) -> Link:
        """The link to a source, made when it is first asked for."""
        links = self._at_once if at_once else self._links
        found = links.get(source.name)
        if found is None:
            found = links[source.name] = HeldLink(source, writes=not at_once) if self._held else Link(source)
        if source.driver.single_writer and not found.opened:
            self._check_alone(source, self._links if at_once else self._at_once)
        return found

    @staticmethod
    def _check_alone(source: Source, others: dict[str, Link]) -> None:
        other = others.get(source.name)
        if other is not None and other.opened:
            text = (
                "this database has one writer at a time, and a node with another value of transaction has written to it"
                " in this unit of work: give both nodes the same"
            )
            raise refusal(source.name, source.driver.name, NOT_NOW, 0, text)

    @property
    def written(self) -> list[Link]:
        """The links of the unit that have something to commit, or to be refused a commit."""
        return [link for link in self._links.values() if link.opened or link.lost]

    def commit_at_once(self) -> None:
        """End what nodes with transaction `commit` have done."""
        for link in self._at_once.values():
            link.commit()

    def commit(self) -> None:
        """Commit one source behind the other."""
        for link in self._ordered():
            link.commit()

    def _ordered(self) -> Iterator[Link]:
        """All links; those that are lost first, so that nothing is committed where not all can be."""
        yield from sorted(self._links.values(), key=lambda link: not link.lost)

    def prepare(self, gid_in: Callable[[str], str]) -> dict[str, str]:
        """Prepare all that was written since a held session began; returns the gids by the names of the sources."""
        begun = [link for link in self._links.values() if isinstance(link, HeldLink) and link.begun]
        gids = {link.source.name: gid_in(link.source.name) for link in begun}
        for link in begun:
            link.prepare(gids[link.source.name])
        return gids

    def check_kept(self) -> None:
        """Raise a DatabaseException if what earlier units of a held session have written is lost."""
        for link in self._links.values():
            link.check_kept()

    def close(self) -> None:
        """Close all connections; what is neither committed nor prepared is gone."""
        for link in (*self._links.values(), *self._at_once.values()):
            link.discard()

    def back_out(self) -> None:
        """Undo what is not committed."""
        for link in (*self._links.values(), *self._at_once.values()):
            link.back_out()


class Access:
    """The database settings of one node: its data source, and the treatment of warnings and errors."""

    __slots__ = ("at_once", "data_source", "throws", "warnings_fail")

    def __init__(
        self, data_source: str = "", *, at_once: bool = False, warnings_fail: bool = False, throws: bool = True
    ) -> None:
        self.data_source = data_source
        self.at_once = at_once
        self.warnings_fail = warnings_fail
        self.throws = throws

    def connection(self, work: UnitOfWork) -> Connection | None:
        """Returns the node's connection while it carries a message, or None where the unit of work has no databases."""
        session = getattr(work, "databases", None)
        return None if session is None else Connection(self, session)


class Connection:
    """The databases of a unit of work as one node has them."""

    __slots__ = ("_access", "session", "throws")

    def __init__(self, access: Access, session: Session) -> None:
        self._access = access
        self.session = session
        self.throws = access.throws

    def execute(self, statement: Statement, place: Names, values: tuple[Any, ...]) -> Answer:
        """Execute a statement; `place` are the names behind Database, of which the last is the table's."""
        if type(statement) not in _OF_TABLES:
            return self._other(statement, place, values)
        access = self._access
        key = (access.data_source, id(statement), place)
        planned = self.session.sources.plans.get(key)
        if planned is None or planned.version != planned.source.version:
            planned = self._planned(key, statement)  # type: ignore[arg-type]  # it is of tables
        link = self.session.link(planned.source, at_once=access.at_once)
        if type(statement) is Insert and len(values) != len(planned.plan.types):
            raise self._miscounted(planned, len(values))
        answer = link.execute(planned.plan, values)
        return self._warned(planned.source, answer) if answer.warning is not None else answer

    def _warned(self, source: Source, answer: Answer) -> Answer:
        """An answer with a warning, which may be an error for the node."""
        warning = answer.warning
        if warning is None or not self._access.warnings_fail:
            return answer
        failed = refusal(
            source.name, source.driver.name, warning.state, warning.native, warning.text, code=warning.code
        )
        raise failed from failed.__cause__

    def _planned(self, key: tuple[str, int, Names], statement: OfTable) -> Planned:
        place = key[2]
        source = self._source(place[0] if len(place) == 3 else "")
        try:
            link = self.session.link(source, at_once=self._access.at_once)
            within = link.connection if link.opened else None
            planned = Planned(source, planned_for(source, statement, place, within))
        except NotFoundError as error:
            state = NO_COLUMN if "column" in str(error) else NO_TABLE
            failed = refusal(source.name, source.driver.name, state, 0, str(error))
            raise failed from failed.__cause__
        self.session.sources.keep(key, planned)
        return planned

    def _miscounted(self, planned: Planned, given: int) -> DatabaseException:
        source, wanted = planned.source, len(planned.plan.types)
        text = f"{given} values are given for {wanted} columns: INSERT as many"
        return refusal(source.name, source.driver.name, "21S01", 0, text)

    def _source(self, name: str) -> Source:
        return self.session.sources.find(name or self._access.data_source)

    def _other(self, statement: Statement, place: Names, values: tuple[Any, ...]) -> Answer:
        source = self._source(place[0] if place else "")
        link = self.session.link(source, at_once=self._access.at_once)
        if isinstance(statement, Passthru):
            return self._warned(source, self._passed(source, link, values))
        if isinstance(statement, Procedure):
            return call_procedure(link, statement, place[1] if len(place) > 1 else "", values)
        if self.session.coordinated and not self._access.at_once:
            text = "COMMIT and ROLLBACK cannot end a unit of work that is coordinated: take them out, or give the node"
            raise refusal(source.name, source.driver.name, NOT_NOW, 0, f"{text} transaction commit")
        if isinstance(statement, Commit):
            link.commit()
        elif isinstance(statement, Rollback):
            link.back_out()
        return NOTHING

    @staticmethod
    def _passed(source: Source, link: Link, values: tuple[Any, ...]) -> Answer:
        sql, *parameters = values
        if not isinstance(sql, str):
            raise refusal(source.name, source.driver.name, "42000", 0, "PASSTHRU needs a CHARACTER with SQL")
        driver = source.driver
        made = driver.passthru(sql, has_values=bool(parameters))
        reads = driver.single_writer and bool(_READS.match(sql))
        binders = binders_of((_UNKNOWN,) * len(parameters), driver)
        plan = Plan(None, made, binders=binders, writes=not reads, prepared=False, in_order=True)
        answer = link.execute(plan, parameters)
        if _DEFINES.match(sql):
            source.forget()
        return answer


def planned_for(source: Source, statement: OfTable, place: Names, within: Any = None) -> Plan:
    """Returns the plan of a statement for a source; raises NotFoundError."""
    tables = [source.table(one, within) for one in (place, *further_tables(statement))]
    return plan_of(statement, tables, source.driver)


# Stored procedures

_NO_ROUTINE: Final = "42883"
_NOT_HERE: Final = "0A000"
_NAMES: Final = """SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE $1 = '' OR lower(n.nspname) = lower($1)"""
_KNOWN: Final = """SELECT n.nspname, p.proname, p.prokind, p.pronargs, p.proretset,
    COALESCE(p.proargmodes::text, ''), p.prorettype = 'refcursor'::regtype
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE lower(p.proname) = lower($1) AND ($2 = '' OR lower(n.nspname) = lower($2))
    AND ($2 <> '' OR n.nspname = ANY (current_schemas(false)))"""


def call_procedure(link: Link, procedure: Procedure, schema: str, values: tuple[Any, ...]) -> Answer:
    """Call a stored procedure: what it returns, its OUT and INOUT parameters and its result sets, as one row."""
    source = link.source
    if source.driver.name != "postgresql":
        text = f"{procedure.name} cannot be called: stored procedures are called in PostgreSQL only: use PASSTHRU here"
        raise refusal(source.name, source.driver.name, _NOT_HERE, 0, text)
    *given, name = procedure.name.split(".")
    if given and given[-1] != "%":  # which leaves it to EXTERNAL SCHEMA of the call
        schema = given[-1]
    rows = _asked(link, _KNOWN, (name, schema), writes=False).rows
    exact = found_name(name, list(dict.fromkeys(row[1] for row in rows)))
    known = [row for row in rows if row[1] == exact]
    if not known:
        near = did_you_mean(name, [row[0] for row in _asked(link, _NAMES, (schema,), writes=False).rows])
        text = f"there is no stored procedure {schema}{'.' if schema else ''}{name}{near}"
        raise refusal(source.name, source.driver.name, _NO_ROUTINE, 0, text)
    return _called(link, procedure, known[0], values)


def _called(link: Link, procedure: Procedure, known: Sequence[Any], values: tuple[Any, ...]) -> Answer:
    schema, name, kind, _, is_set, *_ = known
    driver = link.source.driver
    title = f"{driver.quoted(schema)}.{driver.quoted(name)}"
    outputs = sum(direction != "IN" for direction in procedure.directions)
    if kind == "p":
        arguments = _arguments(procedure, with_out=True) + ["NULL"] * procedure.result_sets
        answer = _asked(link, f"CALL {title}({', '.join(arguments)})", values)
        row = tuple(answer.rows[0]) if answer.rows else ()
        return _row(row[:outputs], [_fetched(link, cursor) for cursor in row[outputs:]])
    answer = _asked(link, f"SELECT * FROM {title}({', '.join(_arguments(procedure, with_out=False))})", values)  # noqa: S608 - names are quoted, values bound
    if procedure.result_sets and not (outputs or procedure.returns):
        if is_set and known[6]:  # each row is a cursor
            return _row((), [_fetched(link, cursor) for (cursor,) in answer.rows])
        return _row((), [answer])
    row = tuple(answer.rows[0]) if answer.rows else (None,) * (outputs + procedure.returns)
    count = outputs + procedure.returns
    return _row(row[:count], [_fetched(link, cursor) for cursor in row[count:]])


def _row(values: Sequence[Any], sets: list[Answer]) -> Answer:
    return Answer(("",) * (len(values) + len(sets)), [(*values, *sets)])


def _arguments(procedure: Procedure, *, with_out: bool) -> list[str]:
    """Markers for what goes in; a procedure has a place for what comes out, a function has none."""
    found: list[str] = []
    number = 0
    for direction in procedure.directions:
        if direction != "OUT":
            number += 1
            found.append(f"${number}")
        elif with_out:
            found.append("NULL")
    return found


def _fetched(link: Link, cursor: Any) -> Answer:
    """The rows of a cursor that a procedure has opened."""
    return _asked(link, f"FETCH ALL FROM {link.source.driver.quoted(str(cursor))}", ())


def _asked(link: Link, sql: str, values: tuple[Any, ...], *, writes: bool = True) -> Answer:
    return link.execute(Plan(None, sql, writes=writes, prepared=False, in_order=True), values)

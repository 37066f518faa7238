"""Stored procedures: their calls, and their parameters and result sets as one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from engine.catalog import did_you_mean
from engine.databases.errors import refusal
from engine.databases.sql import Plan
from engine.databases.statements import Answer, Procedure
from engine.databases.tables import found_name

if TYPE_CHECKING:
    from engine.databases.link import Link

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
    schema = given[-1] if given else schema
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
    answer = _asked(link, f"SELECT * FROM {title}({', '.join(_arguments(procedure, with_out=False))})", values)  # noqa: S608 - quoted
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

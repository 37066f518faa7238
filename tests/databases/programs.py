"""Programs over databases, run in a unit of work: what they send, and what stands in tables afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.databases.session import Access, Connection, Session
from engine.databases.sources import Sources
from engine.databases.statements import Passthru
from engine.errors import BrokerError
from esql.compile import compile_text
from esql.database import rows_of
from esql.runtime.activation import Surroundings
from esql.runtime.interactive_session import message_of, outcomes

INPUT = b"<m><id>7</id><name>O'Brien</name><i><id>1</id></i><i><id>2</id></i></m>"


def run(sources: Sources, text: str, access: Access | None = None, body: bytes = INPUT) -> list[str]:
    """What a Compute node sends; its unit of work is committed if it ends well, else rolled back."""
    session = Session(sources)
    around = replace(Surroundings(), database=Connection(access or Access(), session))
    try:
        sent = list(outcomes(compile_text(text, "COMPUTE"), message_of(body, "XMLNSC"), "", around))
        session.commit()
    except BrokerError:
        session.back_out()
        raise
    finally:
        session.commit_at_once()
    return sent


def define(sources: Sources, *statements: str, source: str = "DB") -> None:
    """Execute statements that define or fill tables."""
    raw = sources.find(source).connect()
    try:
        for statement in statements:
            raw.cursor().execute(statement)
    finally:
        raw.close()


def rows(sources: Sources, sql: str, source: str = "DB") -> list[tuple[Any, ...]]:
    """What stands in tables now, as ESQL would see it."""
    session = Session(sources)
    answer = Connection(Access(source), session).execute(Passthru(), (), (sql,))
    found = [tuple(field.value for field in row) for row in rows_of(answer)]
    session.back_out()
    return found

"""Limits of databases: the same statements and commits by hand, with lxml and SQLAlchemy Core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import sqlalchemy as sa
from lxml import etree

_PARSER = etree.XMLParser(resolve_entities=False, no_network=True)
_ITEM: Final = sa.Table(
    "ITEM",
    sa.MetaData(),
    sa.Column("ID", sa.Integer, primary_key=True),
    sa.Column("STATUS", sa.String(40)),
    sa.Column("TIMES", sa.Integer),  # that it was updated: SQLite writes nothing where nothing has changed
)


def fill(engine: sa.Engine) -> None:
    """Create the table that the flows work with, and a row for the order to update."""
    with engine.begin() as connection:
        _ITEM.create(connection)
        connection.execute(sa.insert(_ITEM), {"ID": 1, "STATUS": "OPEN", "TIMES": 0})


def insert_and_delete(engine: sa.Engine) -> Callable[[bytes], bytes]:
    """Returns a program that inserts the status of an order and deletes it again, in one transaction."""
    insert, delete = sa.insert(_ITEM), sa.delete(_ITEM).where(_ITEM.c.ID == sa.bindparam("key"))

    def program(body: bytes) -> bytes:
        root = etree.fromstring(body, _PARSER)
        with engine.begin() as connection:
            connection.execute(insert, {"ID": -1, "STATUS": root.findtext("Status")})
            connection.execute(delete, {"key": -1})
        return body

    return program


def update(engine: sa.Engine) -> Callable[[bytes], bytes]:
    """Returns a program that gives the row of an order its status, in a transaction."""
    statement = sa.update(_ITEM).where(_ITEM.c.ID == sa.bindparam("key")).values(TIMES=_ITEM.c.TIMES + 1)

    def program(body: bytes) -> bytes:
        root = etree.fromstring(body, _PARSER)
        with engine.begin() as connection:
            connection.execute(statement, {"key": int(root.findtext("Id") or 0), "STATUS": root.findtext("Status")})
        return body

    return program

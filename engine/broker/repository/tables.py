"""The tables of the repository."""

from __future__ import annotations

from typing import Final

from sqlalchemy import JSON, Boolean, Column, Index, Integer, LargeBinary, MetaData, String, Table, Text

FORMAT: Final = 1

METADATA: Final = MetaData()
BROKER: Final = String(200)
NAME: Final = String(400)


def _named(table: str, *columns: Column[object]) -> Table:
    """Makes a table of things that belong to a broker and have a name."""
    return Table(
        table, METADATA, Column("broker", BROKER, primary_key=True), Column("name", NAME, primary_key=True), *columns
    )


REPOSITORY: Final = Table("repository", METADATA, Column("format", Integer, primary_key=True))
BROKERS: Final = Table(
    "brokers",
    METADATA,
    Column("name", BROKER, primary_key=True),
    Column("uuid", String(36), nullable=False),
    Column("generation", Integer, nullable=False),
    Column("queue_manager", String(48), nullable=False),
    Column("dead_letter_queue", String(48), nullable=False),
    Column("settings", JSON, nullable=False),
    Column("created", String(40), nullable=False),
)
GROUPS: Final = _named(
    "execution_groups",
    Column("place", Integer, nullable=False),
    Column("uuid", String(36), nullable=False),
    Column("running", Boolean, nullable=False),
    Column("number", Integer, nullable=False),
    Column("parent", Integer, nullable=False),
    Column("limits", JSON, nullable=False),
    Column("executors", JSON),
)
FLOWS: Final = Table(
    "flows",
    METADATA,
    Column("broker", BROKER, primary_key=True),
    Column("execution_group", NAME, primary_key=True),
    Column("name", NAME, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("content", String(64), nullable=False),
    Column("running", Boolean, nullable=False),
    Column("use", JSON, nullable=False),
)
CONTENTS: Final = Table(
    "contents",
    METADATA,
    Column("hash", String(64), primary_key=True),
    Column("name", NAME, nullable=False),
    Column("data", LargeBinary(1 << 30), nullable=False),
)
MESSAGE_SETS: Final = Table(
    "message_sets",
    METADATA,
    Column("broker", BROKER, primary_key=True),
    Column("execution_group", NAME, primary_key=True),
    Column("flow", NAME, primary_key=True),
    Column("name", NAME, primary_key=True),
)
VERSIONS: Final = Table(
    "versions",
    METADATA,
    Column("broker", BROKER, primary_key=True),
    Column("execution_group", NAME, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("parent", Integer, nullable=False),
    Column("flows", JSON, nullable=False),
)
QUEUES: Final = _named("queues", Column("definition", JSON, nullable=False))
DATA_SOURCES: Final = _named("data_sources", Column("definition", JSON, nullable=False))
TOPICS: Final = _named("topics", Column("definition", JSON, nullable=False))
SUBSCRIPTIONS: Final = _named("subscriptions", Column("definition", JSON, nullable=False))
RIGHTS: Final = Table(
    "rights",
    METADATA,
    Column("broker", BROKER, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("user", String(200), nullable=False),
    Column("is_group", Boolean, nullable=False),
    Column("may", JSON, nullable=False),
    Column("execution_group", NAME, nullable=False),
    Column("flow", NAME, nullable=False),
)
HISTORY: Final = Table(
    "history",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("broker", BROKER, nullable=False),
    Column("at", String(40), nullable=False),
    Column("user", String(200), nullable=False),
    Column("action", String(40), nullable=False),
    Column("what", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Index("history_of_broker", "broker", "id"),
)

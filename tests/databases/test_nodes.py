"""The nodes that work with databases: what each sends where, and what stands in the tables."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from engine.databases.definitions import Definition
from engine.databases.session import Session
from engine.databases.sources import Sources
from engine.databases.work import DatabaseWork
from engine.errors import BrokerError, ConfigurationException
from engine.flow.definition import Flow, NodeUse, Setting
from engine.message.assembly import Message
from engine.message.writer import write_message
from engine.node import node_catalog
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.programs import binder
from tests.databases.programs import define, rows
from tests.nodes.bench import message_of

ITEMS = (
    "CREATE TABLE items (id INTEGER PRIMARY KEY, name VARCHAR(40), price DECIMAL(8,2))",
    "INSERT INTO items VALUES (1, 'one', 1.50)",
    "INSERT INTO items VALUES (2, 'two', 2.50)",
)
BODY = b"<m><id>1</id><low>2</low></m>"
ALL = "SELECT id, name, price FROM items ORDER BY id"
ONE, TWO = (1, "one", Decimal("1.50")), (2, "two", Decimal("2.50"))


def carried(sources: Sources, kind: str, body: bytes = BODY, **settings: Any) -> list[tuple[str, Message]]:
    """What a node sends out of all of its terminals; its unit of work is committed, or backed out where it fails."""
    use = NodeUse("N", kind, tuple(Setting(name, as_given(value)) for name, value in settings.items()))
    flow = Flow("F", nodes=(use,))
    station = deploy(flow, bind=binder(flow, sources=sources)).stations["N"]
    sent: list[tuple[str, Message]] = []
    for terminal in (*node_catalog.find(kind).outputs, "cheap", "dear"):
        station.wires[terminal] = (lambda message, _, name=terminal: sent.append((name, message)),)  # type: ignore[misc]
    work = DatabaseWork(MemoryQueues("IN").work(), Session(sources))
    try:
        station.carry(message_of(body), work)
        work.commit()
    except BrokerError:
        work.back_out()
        raise
    return sent


def as_given(value: Any) -> Any:
    """A property as a flow file gives it; a table is rows of settings."""
    if isinstance(value, str):
        return value
    return tuple(tuple(Setting(name, text) for name, text in row.items()) for row in value)


def body(message: Message) -> bytes:
    return write_message(message.root)[1]


PROGRAMS = [
    ("Database", "UPDATE Database.items AS I SET NAME = 'x' WHERE I.ID = Body.m.id;", "out", [(1, "x", ONE[2]), TWO]),
    ("Database", "DELETE FROM Database.items AS I WHERE I.ID = 1; PROPAGATE TO TERMINAL 'out1'; RETURN FALSE;", "out1",
     [TWO]),
    ("Database", "PROPAGATE TO TERMINAL 'out2'; PROPAGATE TO TERMINAL 'out3'; PROPAGATE TO TERMINAL 'out4';"
     " RETURN FALSE;", "out2 out3 out4", [ONE, TWO]),
    ("DataInsert", "INSERT INTO Database.items(ID, NAME) VALUES(9, Body.m.low);", "out", [ONE, TWO, (9, "2", None)]),
    ("DataUpdate", "UPDATE Database.items SET PRICE = 7;", "out", [(1, "one", Decimal(7)), (2, "two", Decimal(7))]),
    ("DataDelete", "DELETE FROM Database.items AS I WHERE I.ID = Body.m.id;", "out", [TWO]),
    ("Warehouse", "INSERT INTO Database.items(ID, NAME) VALUES(3, CAST(BITSTREAM(Body) AS CHARACTER CCSID 1208));",
     "out", [ONE, TWO, (3, BODY.decode(), None)]),
    ("Extract", "SET OutputRoot.XMLNSC.found = THE(SELECT ITEM I.NAME FROM Database.items AS I WHERE I.ID = 1"
     ");", "out", [ONE, TWO]),
    ("Database", "INSERT INTO Database.items(ID) VALUES(5); INSERT INTO Database.items(ID) VALUES(1);", "failure",
     [ONE, TWO, (5, None, None)]),
    ("DataInsert", "INSERT INTO Database.items(ID) VALUES(1);", "failure", [ONE, TWO]),
    ("Extract", "PASSTHRU('nonsense');", "failure", [ONE, TWO]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "statement", "terminals", "left"), PROGRAMS)
def test_one_program(sources: Sources, kind: str, statement: str, terminals: str, left: list[tuple[Any, ...]]) -> None:
    """DataUpdate, Warehouse and their kin run their statement; only Extract sends another message on."""
    define(sources, *ITEMS)
    sent = carried(sources, kind, statement=statement)
    assert " ".join(terminal for terminal, _ in sent) == terminals
    extracted = kind == "Extract" and terminals == "out"
    assert {body(message) for _, message in sent} == {b"<found>one</found>" if extracted else BODY}
    assert rows(sources, ALL) == left


def query(column: str, operator: str, value: str = "", value_type: str = "Constant", table: str = "ITEMS") -> Any:
    return {"tableName": table, "columnName": column, "operator": operator, "value": value, "valueType": value_type}


def data(column: str, field: str, table: str = "") -> dict[str, str]:
    return {"columnName": column, "messageElement": field, "tableName": table}


OF_TWO = ("CREATE TABLE owners (id INTEGER, name VARCHAR(40))", "INSERT INTO owners VALUES (1, 'ann')")

RETRIEVED: list[tuple[dict[str, Any], str, bytes]] = [
    ({"queryElements": [query("ID", "=", "$Body/m/id", "Element")],
      "dataElements": [data("NAME", "$OutputRoot/XMLNSC/m/name")]}, "out",
     b"<m><id>1</id><low>2</low><name>one</name></m>"),
    ({"queryElements": [query("ID", ">=", "/m/low", "Element")], "dataElements": [data("PRICE", "$Body/m/low")]}, "out",
     b"<m><id>1</id><low>2.50</low></m>"),
    ({"queryElements": [query("ID", "IN", "1, 2"), query("ID", "DESC")],
      "dataElements": [data("NAME", "$OutputRoot/XMLNSC/m/n")], "allRows": "true"}, "out",
     b"<m><id>1</id><low>2</low><n>two</n><n>one</n></m>"),
    ({"queryElements": [query("ID", "BETWEEN", "7, 9")], "dataElements": []}, "keyNotFound", BODY),
    ({"queryElements": [query("NAME", "LIKE", "'t%'"), query("PRICE", "IS NOT NULL")], "copyMessage": "true",
      "nsMappingTable": [{"nsPrefix": "a", "namespace": "urn:a"}],
      "dataElements": [data("ID", "$OutputRoot/XMLNSC/m/a:id")]}, "out",
     b'<m><id>1</id><low>2</low><NS1:id xmlns:NS1="urn:a">2</NS1:id></m>'),
    ({"sqlQuery": "SELECT name FROM items WHERE id = 2", "dataSourceName": "DB",
      "dataElements": [data("NAME", "$OutputRoot/XMLNSC/m/id")]}, "out", b"<m><id>two</id><low>2</low></m>"),
    ({"queryElements": [query("ID", "=", "1")], "copyMessage": "false",
      "dataElements": [data("NAME", "$OutputLocalEnvironment/Variables/name"), data("ID", "$Environment/id")]},
     "out", BODY),
    ({"sqlQuery": "nonsense"}, "failure", BODY),
    ({"queryElements": [query("ID", "=", "1"), query("ID", "=", "1", table="OWNERS")],
      "dataElements": [data("NAME", "$Body/m/id", "ITEMS"), data("NAME", "$Body/m/low", "OWNERS")]}, "out",
     b"<m><id>one</id><low>ann</low></m>"),
    ({"queryElements": [query("ID", "=", "1")],
      "dataElements": [data("NAME", "$OutputRoot/XMLNSC/m/@name"), data("ID", "$Body/m/id")]}, "out",
     b'<m name="one"><id>1</id><low>2</low></m>'),
    ({"queryElements": [query("NAME", "<>", "number('x')", "Element")],
      "dataElements": [data("NAME", "$Body/m/id")]}, "out", b"<m><id>one</id><low>2</low></m>"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "terminal", "expected"), RETRIEVED)
def test_retrieve(sources: Sources, settings: dict[str, Any], terminal: str, expected: bytes) -> None:
    """DatabaseRetrieve gives fields the values of the row that it finds, or says that it found none."""
    define(sources, *ITEMS, *OF_TWO)
    ((found, message),) = carried(sources, "DatabaseRetrieve", **settings)
    assert (found, body(message)) == (terminal, expected)


def test_retrieve_of_a_column_that_sql_does_not_give(sources: Sources) -> None:
    """A column that sqlQuery does not give is an error that names it."""
    define(sources, *ITEMS)
    settings = {"sqlQuery": "SELECT name FROM items", "dataElements": [data("PRICE", "$Body/m/low")]}
    ((terminal, message),) = carried(sources, "DatabaseRetrieve", **settings)
    thrown = message.exceptions.at("RecoverableException", "RecoverableException", "Text")
    assert thrown is not None
    assert (terminal, str(thrown.value).casefold()) == (
        "failure",
        "sqlquery gives no column price, but name: correct one of the two",
    )


CHEAP = {"filterPattern": "$ITEMS_PRICE < 2", "routingOutputTerminal": "OutTerminal.cheap"}
DEAR = {"filterPattern": "$ITEMS_PRICE > $Body/m/low", "routingOutputTerminal": "dear"}
ANY = {"filterPattern": "$ITEMS_ID", "routingOutputTerminal": "match"}
PRICED = [query("PRICE", "")]
ROUTED: list[tuple[dict[str, Any], list[str]]] = [
    ({"queryElements": [query("ID", "=", "1"), *PRICED], "filterTable": [CHEAP, DEAR]}, ["cheap"]),
    ({"queryElements": [query("ID", "=", "2"), *PRICED], "filterTable": [CHEAP, DEAR, ANY]}, ["dear", "match"]),
    (
        {"queryElements": [query("ID", "=", "2"), *PRICED], "filterTable": [DEAR, ANY], "distributionMode": "first"},
        ["dear"],
    ),
    ({"queryElements": [query("ID", "=", "1"), *PRICED], "filterTable": [DEAR]}, ["default"]),
    (
        {"queryElements": [query("ID", "=", "3"), *PRICED], "filterTable": [DEAR], "dataSourceName": "DB"},
        ["keyNotFound"],
    ),
    ({"queryElements": [query("ID", "=", "1")], "filterTable": [CHEAP, DEAR]}, ["cheap"]),
    ({"queryElements": [query("ID", "=", "$Nowhere/x", "Element")]}, ["failure"]),
    (
        {
            "queryElements": [query("ID", "=", "1")],
            "nsMappingTable": [{"nsPrefix": "n", "namespace": "urn:n"}],
            "filterTable": [{"filterPattern": "count(/n:m) = 0", "routingOutputTerminal": "match"}],
        },
        ["match"],
    ),
]


@pytest.mark.parametrize(("settings", "terminals"), ROUTED)
def test_route(sources: Sources, settings: dict[str, Any], terminals: list[str]) -> None:
    """DatabaseRoute (outputs match, default and any * that a flow names) sends by conditions on the row it finds."""
    define(sources, *ITEMS)
    assert [terminal for terminal, _ in carried(sources, "DatabaseRoute", **settings)] == terminals


REFUSED = [
    ("DatabaseRetrieve", {}, "DatabaseRetrieve needs queryElements"),
    ("DatabaseRoute", {}, "DatabaseRoute needs queryElements"),
    ("DatabaseRoute", {"queryElements": [query("ID", "~")]}, "operator ~ is none of ="),
    ("DatabaseRoute", {"queryElements": [query("ID", "BETWEEN", "1")]}, "BETWEEN has two values"),
    ("DatabaseRoute", {"queryElements": [query("ID", "=", "//[", "Element")]}, "'//[' is no XPath"),
    ("DatabaseRoute", {"queryElements": [query("ID", "=", "1", table="ITEM")]}, "there is no table ITEM"),
    ("DatabaseRoute", {"queryElements": [query("ID", "=", "1")], "filterTable": [{"filterPattern": "$PRICE > 1"}]},
     "filterPattern: $PRICE is no column: write $ITEMS_PRICE"),
    ("DatabaseRetrieve", {"queryElements": [query("ID", "=", "1")], "dataElements": [data("ID", "a//b[x=1]")]},
     "is no path to a field"),
    ("DatabaseRetrieve", {"queryElements": [query("ID", "=", "1")], "dataElements": [data("ID", "$Root/XMLNSC/m/id")],
                          "copyMessage": "false"}, "copyMessage false leaves the message as it is"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "settings", "expected"), REFUSED)
def test_what_is_refused_at_deploy(sources: Sources, kind: str, settings: dict[str, Any], expected: str) -> None:
    """What cannot be asked of a database is found before a message comes."""
    define(sources, *ITEMS)
    with pytest.raises(ConfigurationException) as caught:
        carried(sources, kind, **settings)
    assert expected in str(caught.value)


UPDATED = "UPDATE Database.items AS I SET NAME = 'x' WHERE I.ID = 77; SET Environment.x = 1;"
TWICE = "INSERT INTO Database.items(ID) VALUES(1); SET Environment.x = SQLSTATE || CAST(SQLCODE AS CHARACTER);"
PROPERTIES: list[tuple[str, dict[str, str], str, object]] = [
    (UPDATED, {"treatWarningsAsErrors": "true"}, "failure", None),
    (UPDATED, {"treatWarningsAsErrors": "false"}, "out", 1),
    (TWICE, {"throwExceptionOnDatabaseError": "true"}, "failure", None),
    (TWICE, {"throwExceptionOnDatabaseError": "false"}, "out", "D23505-1"),
    (TWICE, {"dataSource": "OTHER", "transaction": "commit"}, "out", "000000"),
]


@pytest.mark.parametrize("kind", ["Compute", "Database"])
@pytest.mark.parametrize(("program", "settings", "terminal", "expected"), PROPERTIES)
def test_properties(  # noqa: PLR0913, PLR0917 - a case has so many parts
    tmp_path: Path, url: str, kind: str, program: str, settings: dict[str, str], terminal: str, expected: object
) -> None:
    """The properties say which data source is meant, when work is committed, and what warnings and errors are."""
    sources = Sources([Definition("DB", url), Definition("OTHER", f"sqlite:///{tmp_path}/other.db")])
    define(sources, *ITEMS)
    define(sources, ITEMS[0], source="OTHER")
    name = {"Compute": "computeExpression", "Database": "statement"}[kind]
    ((found, message),) = carried(sources, kind, **{name: program, **settings})
    said = message.environment.at("x")
    assert (found, None if said is None else said.value) == (terminal, expected)
    assert rows(sources, ALL) == [ONE, TWO]
    assert rows(sources, "SELECT id FROM items", "OTHER") == ([(1,)] if "dataSource" in settings else [])
    sources.close()

"""SHARED rows that are filled from databases: read once, for all messages and instances of a flow."""

from __future__ import annotations

import threading
from pathlib import Path

from engine.databases.sources import Sources
from engine.databases.work import with_databases
from engine.descriptor import Descriptor
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.programs import binder
from tests.databases.programs import define, rows, run

CACHE = """
DECLARE cache SHARED ROW;
CREATE COMPUTE MODULE Cached
CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
  BEGIN ATOMIC
    IF NOT EXISTS(cache.item[]) THEN
      SET cache.item[] = (SELECT I.ID, I.NAME FROM Database.ITEMS AS I);
      INSERT INTO Database.READS(N) VALUES(1);
    END IF;
  END;
  SET OutputRoot.XMLNSC.name = THE(SELECT ITEM C.NAME FROM cache.item[] AS C WHERE C.ID = 2);
  RETURN TRUE;
END;
END MODULE;
"""


def test_a_cache_is_filled_once(tmp_path: Path, url: str, sources: Sources) -> None:
    """Several instances of a flow fill a SHARED row once, under BEGIN ATOMIC, and find in it what they look for."""
    define(sources, "CREATE TABLE items (id INTEGER, name TEXT)", "CREATE TABLE reads (n INTEGER)")
    define(sources, "INSERT INTO items VALUES (1, 'one')", "INSERT INTO items VALUES (2, 'two')")
    nodes = (
        NodeUse("In", "MQInput", (Setting("queueName", "IN"), Setting("messageDomainProperty", "XMLNSC"))),
        NodeUse("Cached", "Compute", (Setting("computeExpression", "Cached"),)),
        NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),)),
    )
    flow = Flow("Caches", nodes=nodes, wires=(Wire("In", "out", "Cached"), Wire("Cached", "out", "Out")))
    bound = binder(flow, sources=sources, files=[("cached.esql", CACHE.encode())])
    queues = MemoryQueues("IN", "OUT")
    posting = queues.work()
    for _ in range(40):
        posting.put("IN", Descriptor(), b"<m/>")
    posting.commit()

    def instance() -> None:
        deployed = deploy(flow, bind=bound)
        work = with_databases(queues.work(), sources, deployed.properties)
        while deployed.process(deployed.entrances[0], work) is not None:
            continue

    threads = [threading.Thread(target=instance) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert {arrival.body for arrival in queues.browse("OUT")} == {b"<name>two</name>"}
    assert queues.depth("OUT") == 40
    assert rows(sources, "SELECT count(*) FROM reads") == [(1,)]


def test_long_lists_are_not_kept(sources: Sources) -> None:
    """Statements with lists of few items are kept, and shared by lists about as long; those with many are not kept."""
    define(
        sources, "CREATE TABLE items (id INTEGER)", "INSERT INTO items VALUES (0)", "INSERT INTO items VALUES (5000)"
    )
    text = "DELETE FROM Database.ITEMS AS I WHERE I.ID IN (SELECT ITEM CAST(V AS INTEGER) FROM InputBody.m.v[] AS V);"
    kept = []
    for count in (3, 4, 2000, 2001, 4097, 4098):
        run(sources, text, body=b"<m>" + b"".join(b"<v>%d</v>" % number for number in range(1, count + 1)) + b"</m>")
        kept.append(len(sources.plans))
    assert [kept[0] + more for more in (0, 0, 1, 1, 1, 1)] == kept
    assert rows(sources, "SELECT id FROM items ORDER BY id") == [(0,), (5000,)]

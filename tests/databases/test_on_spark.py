"""Databases of flows on Spark: what a worker reads and writes, and what is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.databases.sources import Sources
from engine.errors import ConfigurationException
from flows.files import load_flow, ship
from spark_exec.deployment import Databases, built, deployment_of, with_sources
from spark_exec.plan import plan
from tests.databases.programs import define, rows
from tests.databases.test_flows import INSERT, ITEMS, flow_in

READ = "SET OutputRoot.XMLNSC.n = SELECT COUNT(*) FROM Database.ITEMS AS I;"


def test_what_is_refused(tmp_path: Path, url: str, sources: Sources) -> None:
    """A flow that asks databases needs a data source; one that changes them, a database that prepares."""
    define(sources, ITEMS)
    file = str(flow_in(tmp_path, READ, "SET OutputRoot = InputRoot;"))
    with pytest.raises(ConfigurationException, match="asks a database, and none is named: give --data-source"):
        plan(deployment_of(file))
    plan(with_sources(deployment_of(file), [f"DB={url}"], ""))
    cases = [
        (INSERT.format(1), "automatic"),
        (INSERT.format(1), "commit"),
        (INSERT.format(1) + " COMMIT;", "automatic"),
    ]
    for number, (first, transaction) in enumerate(cases):
        file = str(flow_in(tmp_path, first, READ, transaction))
        assert plan(with_sources(deployment_of(file), [f"DB={url}"], "at-least-once")).flows[0].changes == ()
        if number == 0 and url.startswith("postgresql"):
            assert plan(with_sources(deployment_of(file), [f"DB={url}"], "")).flows[0].changes == ("DB",)
            continue
        with pytest.raises(ConfigurationException, match="--effects at-least-once allows that"):
            plan(with_sources(deployment_of(file), [f"DB={url}"], ""))
    with pytest.raises(ConfigurationException, match="--effects twice is none of at-least-once"):
        with_sources(deployment_of(file), [f"DB={url}"], "twice")


def test_a_plan_reads_no_secret(tmp_path: Path, url: str) -> None:
    """A broker file's passwords are not looked for, nor its databases, before something runs."""
    flow_in(tmp_path, READ, "SET OutputRoot = InputRoot;")
    broker = tmp_path / "broker.yaml"
    broker.write_text(
        "broker: B\nexecutionGroups: {default: {flows: [{flow: stock.yaml}]}}\n"
        "dataSources: {DB: {url: 'postgresql://nowhere/db', user: u, password: {env: NOT_SET_ANYWHERE}}}\n"
    )
    found = deployment_of(str(broker))
    assert [one.name for one in found.databases.definitions] == ["DB"]
    plan(found)


def test_a_worker_looks_names_up(tmp_path: Path, url: str, sources: Sources) -> None:
    """A worker process deploys the flow with connections of its own."""
    define(sources, ITEMS)
    flow = load_flow(str(flow_in(tmp_path, READ, "SET OutputRoot = InputRoot;")))
    databases = Databases(sources.definitions)
    assert built(ship(flow), databases).flow.entrances
    missing = load_flow(str(flow_in(tmp_path, READ.replace("ITEMS", "ITEM"), "SET OutputRoot = InputRoot;")))
    with pytest.raises(ConfigurationException, match="there is no table ITEM"):
        built(ship(missing), databases)
    assert rows(sources, "SELECT id FROM items") == []

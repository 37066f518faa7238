"""The capacity planner: what a load needs follows from what nodes and the broker around them take."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.costs.capacity import Costs, Load, NodeCost, _estimate, node_costs
from engine.transports.memory import MemoryQueues
from tests.broker.running import Running
from tests.cli.command_line import ROOT, penstock

ORDERS = str(ROOT / "flows/samples/orders/orders.yaml")


def test_what_a_load_needs() -> None:
    """Processors and instances follow from the rate and how busy they may be, disk from persistence and backlog."""
    costs = Costs((NodeCost("A", 300.0), NodeCost("B", 100.0)), puts=2.0, elapsed=520.0, queue_cpu=100.0)
    load = Load(1400, persistent=True, share=0.7, backlog=1000)
    found = _estimate("F", 274, load, costs, (60.0, 12.0))
    assert (1.0, 2, 1) == (round(found.processors, 9), found.instances, found.groups)
    assert 1400 * 1000 * 1024 / 2**20 == found.disk_mib
    assert 60 + 12 + 2 * 12 == found.memory_mib
    lasting = _estimate("F", 274, replace(load, persistent=False), costs, (60.0, 12.0))
    assert (0.0, 96 + found.disk_mib) == (lasting.disk_mib, lasting.memory_mib)
    published = _estimate("F", 274, replace(load, subscribers=4), costs, (60.0, 12.0))
    assert (200.0, 600.0) == (published.broker_microseconds, published.cpu_microseconds)


def test_costs_of_nodes() -> None:
    """Each node of the flow has a cost, and what the flow puts for a message is counted."""
    spent = iter((1.0, 1.002))
    costs = node_costs(
        ORDERS, b"<Order><Id>1</Id></Order>", 40, MemoryQueues(open_=True), lambda: next(spent), persistent=False
    )
    assert {"Orders in", "Look", "Accepted", "Auditors"} <= {cost.node for cost in costs.nodes if cost.microseconds}
    assert (2.0, 50.0) == (costs.puts, round(costs.queue_cpu, 6))


def test_command_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    """`costs plan` is a command of its own, with its own options."""
    assert "what a load needs" in penstock(capsys, "costs", "plan", "--help").out
    assert "--rate" in penstock(capsys, "costs", "plan", ORDERS).err


@pytest.mark.slow
def test_plan_beside_a_broker(tmp_path: Path) -> None:
    """What is planned is within a fifth of what a broker takes."""
    arguments = ("costs", "plan", ORDERS, "--rate", "100", "--messages", "1000", "--check", "--json")
    said = json.loads(Running(tmp_path).run(*arguments, timeout=300))
    assert abs(said["off"]) <= 0.2

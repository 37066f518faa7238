"""Flows that executors build from data, once for each process."""

from __future__ import annotations

from functools import lru_cache

from engine.runtime import DeployedFlow, deploy
from flows.programs import binder
from flows.shipped import OwnNodes, Shipped, own_nodes, ship
from spark_exec.databases import NONE, Databases, check_effects, opened

__all__ = ["OwnNodes", "Shipped", "built", "own_nodes", "shares", "ship"]


def built(shipped: Shipped, databases: Databases = NONE, *, looked_up: bool = True) -> DeployedFlow:
    """The flow, deployed in this process; `looked_up` asks its databases for the tables that it names."""
    return _built(shipped, databases, looked_up)[0]


def shares(shipped: Shipped, databases: Databases = NONE) -> bool:
    """True where a program of the flow declares SHARED variables, which all of its messages see."""
    return _built(shipped, databases, False)[1]


@lru_cache(maxsize=64)
def _built(shipped: Shipped, databases: Databases, looked_up: bool) -> tuple[DeployedFlow, bool]:
    flow = shipped.flow()
    sources = opened(databases) if looked_up else None
    bound = binder(flow, files=shipped.files, given=dict(shipped.given), sources=sources)
    check_effects(flow, bound, databases)
    return deploy(flow, bind=bound), any(routine.entrance.shares for routine in bound.routines.values())

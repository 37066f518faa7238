"""Flows that executors build from data, once for each process."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from engine.runtime.deployment import DeployedFlow, deploy
from flows.programs import binder
from flows.shipped import OwnNodes, Shipped, own_nodes, ship
from spark_exec.databases import NONE, Databases, checked_effects, opened

__all__ = ["OwnNodes", "Shipped", "built", "changes", "own_nodes", "shares", "ship"]


def built(shipped: Shipped, databases: Databases = NONE, *, looked_up: bool = True) -> DeployedFlow:
    """The flow, deployed in this process; `looked_up` asks its databases for the tables that it names."""
    return _built(shipped, databases, looked_up).flow


def shares(shipped: Shipped, databases: Databases = NONE) -> bool:
    """True where a program of the flow declares SHARED variables, which all of its messages see."""
    return _built(shipped, databases, False).shares


def changes(shipped: Shipped, databases: Databases = NONE) -> tuple[str, ...]:
    """The data sources that the flow may change, where its changes are prepared."""
    return _built(shipped, databases, False).changes


class _Built(NamedTuple):
    flow: DeployedFlow
    shares: bool
    changes: tuple[str, ...]


@lru_cache(maxsize=64)
def _built(shipped: Shipped, databases: Databases, looked_up: bool) -> _Built:
    flow = shipped.flow()
    sources = opened(databases) if looked_up else None
    bound = binder(flow, files=shipped.files, given=dict(shipped.given), sources=sources)
    changed = checked_effects(flow, bound, databases)
    shared = any(routine.entrance.shares for routine in bound.routines.values())
    return _Built(deploy(flow, bind=bound), shared, changed)

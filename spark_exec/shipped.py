"""Flows that executors build from data, once for each process."""

from __future__ import annotations

from functools import lru_cache

from engine.errors import ConfigurationException
from engine.runtime import DeployedFlow, deploy
from flows.programs import binder
from flows.shipped import OwnNodes, Shipped, own_nodes, ship

__all__ = ["OwnNodes", "Shipped", "built", "own_nodes", "shares", "ship"]


def built(shipped: Shipped) -> DeployedFlow:
    """The flow, deployed in this process."""
    return _built(shipped)[0]


def shares(shipped: Shipped) -> bool:
    """True where a program of the flow declares SHARED variables, which all of its messages see."""
    return _built(shipped)[1]


@lru_cache(maxsize=64)
def _built(shipped: Shipped) -> tuple[DeployedFlow, bool]:
    flow = shipped.flow()
    bound = binder(flow, files=shipped.files, given=dict(shipped.given))
    for label in bound.asking_databases:
        text = f"the program of {label} asks a database, which does not run on Spark: executors are connected to none"
        raise ConfigurationException(text).at(next(use.place for use in flow.nodes if use.label == label))
    return deploy(flow, bind=bound), any(routine.entrance.shares for routine in bound.routines.values())

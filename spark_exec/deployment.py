"""Deployments: the flows of each execution group, the queues, and flows built from data, once in each process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from engine.broker.definition import DEAD_LETTER_QUEUE, DEFAULT_GROUP, Executors, FlowUse, queue_attributes
from engine.broker.file_reader import definition_of
from engine.databases.definitions import definitions_in, definitions_of
from engine.errors import ConfigurationException, Problem
from engine.flow.lint import UNFIT
from engine.runtime.deployment import DeployedFlow, deploy
from engine.work import QueueAttributes
from flows.programs import binder
from flows.shipped import Shipped
from spark_exec.databases import EFFECTS, EXACTLY_ONCE, NONE, Databases, checked_effects, opened

Use = FlowUse


@dataclass(frozen=True, slots=True)
class Deployment:
    """The parts of a broker that run on Spark."""

    uses: tuple[FlowUse, ...]
    broker: str = "PENSTOCK"
    queue_manager: str = "QM"
    dead_letter_queue: str = DEAD_LETTER_QUEUE
    queues: Mapping[str, QueueAttributes] = field(default_factory=dict)
    executors: Mapping[str, Executors] = field(default_factory=dict)  # by group, where a group says it
    databases: Databases = NONE


def deployment_of(*files: str) -> Deployment:
    """The deployment that files say: one broker file, or flow files for one execution group."""
    if not files:
        raise ConfigurationException("nothing is to be deployed: name a broker file, or flow files")
    defined = definition_of(files[0]) if len(files) == 1 else None
    if defined is None:
        return Deployment(tuple(FlowUse(file, DEFAULT_GROUP) for file in files))
    if not defined.flows:
        raise _without_flows(files[0])
    return Deployment(
        defined.flows,
        defined.broker,
        defined.queue_manager,
        defined.dead_letter_queue,
        {name: queue_attributes(attributes) for name, attributes in defined.queues.items()},
        defined.executors,
        Databases(definitions_in(defined.data_sources)),
    )


def with_sources(deployment: Deployment, options: Sequence[str], effects: str) -> Deployment:
    """The deployment with the data sources of options in front of its own, and what becomes of effects on them."""
    if effects and effects not in EFFECTS:
        raise ConfigurationException(f"--effects {effects} is none of {', '.join(EFFECTS)}")
    found = definitions_of(options, deployment.databases.definitions)
    return replace(deployment, databases=Databases(found, effects or EXACTLY_ONCE))


def _without_flows(file: str) -> ConfigurationException:
    text = "the broker has no flows: list them under executionGroups"
    return ConfigurationException(f"{file} cannot be deployed: {text}", (Problem(file, 1, 1, UNFIT, text),))


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

"""Deployments: which flows Spark runs in which execution groups, and what queues there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.broker.definition import DEAD_LETTER_QUEUE, DEFAULT_GROUP, Executors, FlowUse, queue_attributes
from engine.broker.file import definition_of
from engine.errors import ConfigurationException, Problem
from engine.lint import UNFIT
from engine.work import QueueAttributes

Use = FlowUse


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a broker runs on Spark."""

    uses: tuple[FlowUse, ...]
    broker: str = "PENSTOCK"
    queue_manager: str = "QM"
    dead_letter_queue: str = DEAD_LETTER_QUEUE
    queues: Mapping[str, QueueAttributes] = field(default_factory=dict)
    executors: Mapping[str, Executors] = field(default_factory=dict)  # by group, where a group says it


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
    )


def _without_flows(file: str) -> ConfigurationException:
    text = "the broker has no flows: list them under executionGroups"
    return ConfigurationException(f"{file} cannot be deployed: {text}", (Problem(file, 1, 1, UNFIT, text),))

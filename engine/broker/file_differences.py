"""Differences between what a broker's file says and what its repository has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from engine.broker.definition import SETTINGS, Definition, FlowUse, Limits
from engine.broker.file_reader import definition_of
from engine.broker.folder import Folder
from engine.broker.state import BrokerState, DeployedUse
from engine.errors import BrokerError

_PARTS: Final = {
    "queue_manager": "another queueManager",
    "dead_letter_queue": "another deadLetterQueue",
    "data_sources": "other dataSources",
    "topics": "other topics",
    "subscriptions": "other subscriptions",
    "rights": "other rights",
}
_WORDS: Final = {"settings.amqp": "other AMQP brokers"}


def differences(folder: Folder, state: BrokerState) -> list[str]:
    """Returns where the broker.yaml in a broker's folder says otherwise than its repository, which counts."""
    if not folder.file.is_file():
        return []
    try:
        said = definition_of(str(folder.file))
    except BrokerError as error:
        return [f"broker.yaml cannot be read: {error.text}"]
    if said is None:
        return [f"{folder.file} is no broker file"]
    parts = [*_PARTS.items(), *((f"settings.{name}", f"another {key}") for name, key in SETTINGS.items())]
    found = [
        f"broker.yaml gives {_WORDS.get(part, what)} than the repository"
        for part, what in parts
        if part != "settings.repository" and attrgetter(part)(said) != attrgetter(part)(state)
    ]
    found += [*_of_queues(said, state), *_of_groups(said, state)]
    there = {(group.name, os.path.normpath(use.file)): use for group in state.groups for use in group.flows}
    listed = {(use.group, os.path.abspath(use.file)): use for use in said.flows}
    found += [
        f"broker.yaml has {group}/{file}, which is not deployed" for group, file in listed if (group, file) not in there
    ]
    found += [
        f"{g}/{use.name} is deployed, but not in broker.yaml" for (g, f), use in there.items() if (g, f) not in listed
    ]
    for key, use in listed.items():
        if key in there and _differs(use, there[key]):
            found.append(f"{use.group}/{there[key].name} has other properties than broker.yaml gives it")
    return found


def _of_queues(said: Definition, state: BrokerState) -> Iterator[str]:
    if more := sorted(set(said.queues).difference(state.queues)):
        yield f"broker.yaml has more queues: {', '.join(more)}"
    if others := sorted(name for name in said.queues if said.queues[name] != state.queues.get(name, said.queues[name])):
        yield f"broker.yaml gives other attributes than the repository to {', '.join(others)}"


def _of_groups(said: Definition, state: BrokerState) -> Iterator[str]:
    for group in state.groups:
        if group.name in said.groups:
            if said.limits.get(group.name, Limits()) != group.limits:
                yield f"broker.yaml gives {group.name} other limits than the repository"
            if said.executors.get(group.name) != group.executors:
                yield f"broker.yaml gives {group.name} other executors than the repository"


def _differs(use: FlowUse, deployed: DeployedUse) -> bool:
    is_said = deployed.instances_said or use.additional_instances is not None
    instances = (deployed.additional_instances if is_said else None) != use.additional_instances
    return instances or use.copies != deployed.copies or dict(use.properties) != deployed.properties

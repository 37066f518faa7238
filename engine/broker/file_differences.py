"""Differences between what a broker's file says and what its repository has."""

from __future__ import annotations

import os

from engine.broker.definition import FlowUse
from engine.broker.file_reader import definition_of
from engine.broker.folder import Folder
from engine.broker.state import BrokerState
from engine.errors import BrokerError


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
    found = []
    if said.rights != state.rights:
        found.append("broker.yaml gives other rights than the repository")
    if said.settings.collective != state.settings.collective:
        found.append("broker.yaml names another collective than the repository")
    if said.settings.amqp != state.settings.amqp:
        found.append("broker.yaml names other AMQP brokers than the repository")
    if set(said.queues).difference(state.queues):
        found.append(f"broker.yaml has more queues: {', '.join(sorted(set(said.queues).difference(state.queues)))}")
    there = {(group.name, os.path.normpath(use.file)): use for group in state.groups for use in group.flows}
    listed = {(use.group, os.path.abspath(use.file)): use for use in said.flows}
    found += [
        f"broker.yaml has {group}/{file}, which is not deployed" for group, file in listed if (group, file) not in there
    ]
    found += [
        f"{g}/{use.name} is deployed, but not in broker.yaml" for (g, f), use in there.items() if (g, f) not in listed
    ]
    for key, use in listed.items():
        if key in there and _differs(use, there[key].additional_instances, there[key].copies, there[key].properties):
            found.append(f"{use.group}/{there[key].name} has other properties than broker.yaml gives it")
    return found


def _differs(use: FlowUse, additional: int, copies: int, properties: object) -> bool:
    instances = use.additional_instances is not None and use.additional_instances != additional
    return instances or use.copies != copies or dict(use.properties) != properties

"""Writes broker files, as YAML that reads back as it is, and what a broker runs with the files of its flows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import quote

import yaml

from engine.broker.definition import SETTINGS, Definition, FlowUse, Grant, Limits, Settings
from engine.broker.deployment import shipped_of
from engine.broker.state import BrokerState
from engine.files.output_files import OutputFolder, Way
from flows.files import Shipped


def broker_text(definition: Definition) -> str:
    """Returns a definition as the text of a broker file."""
    return yaml.safe_dump(as_data(definition), sort_keys=False, allow_unicode=True, width=120)


def as_data(definition: Definition) -> dict[str, Any]:
    """Returns a definition as a broker file has it."""
    plain = Settings()
    settings = {
        SETTINGS[f.name]: value
        for f in fields(Settings)
        if (value := getattr(definition.settings, f.name)) != getattr(plain, f.name)
    }
    rest = {
        "dataSources": {name: dict(said) for name, said in definition.data_sources.items()},
        "topics": {name: dict(said) for name, said in definition.topics.items()},
        "subscriptions": {name: dict(said) for name, said in definition.subscriptions.items()},
        "rights": [_right(grant) for grant in definition.rights],
    }
    return {
        "broker": definition.broker,
        "queueManager": definition.queue_manager,
        "deadLetterQueue": definition.dead_letter_queue,
        **settings,
        "queues": {name: dict(attributes) for name, attributes in definition.queues.items()},
        **{name: said for name, said in rest.items() if said},
        "executionGroups": {name: _group(definition, name) for name in definition.groups},
    }


def _right(grant: Grant) -> dict[str, Any]:
    said = {"userGroup" if grant.is_group else "user": grant.user, "may": list(grant.may)}
    part = {"executionGroup": grant.group, "flow": grant.flow}
    return said | {name: value for name, value in part.items() if value}


def _group(definition: Definition, name: str) -> Any:
    flows = [_flow(use) for use in definition.flows if use.group == name]
    executors, limits = definition.executors.get(name), definition.limits.get(name, Limits())
    said: dict[str, Any] = {}
    if executors is not None:
        said["executors"] = {"cores": executors.cores, "memory": executors.memory, "taskCpus": executors.task_cpus}
    taken = {
        "memory": f"{limits.memory}",
        "cpuSecondsPerMessage": limits.cpu_seconds,
        "messagesPerSecond": limits.rate,
    }
    if limits != Limits():
        said["limits"] = {key: value for key, value in taken.items() if value not in {"0", 0}}
    return {**said, "flows": flows} if said else flows


def _flow(use: FlowUse) -> Any:
    said: dict[str, Any] = {"flow": use.file}
    if use.additional_instances is not None:
        said["additionalInstances"] = use.additional_instances
    if use.copies != 1:
        said["copies"] = use.copies
    if use.properties:
        said["properties"] = dict(use.properties)
    return said if len(said) > 1 else use.file


def definition_of_state(state: BrokerState, files: dict[tuple[str, str], str]) -> Definition:
    """Returns what a broker runs as a definition; `files` says where the file of each group's flow is now."""
    uses = [
        FlowUse(
            files[group.name, use.name],
            group.name,
            use.additional_instances if use.instances_said else None,
            use.copies,
            dict(use.properties),
        )
        for group in state.groups
        for use in group.flows
    ]
    return Definition(
        tuple(uses),
        state.name,
        state.queue_manager,
        state.dead_letter_queue,
        state.queues,
        {group.name: group.executors for group in state.groups if group.executors is not None},
        {group.name: group.limits for group in state.groups if group.limits != Limits()},
        tuple(group.name for group in state.groups),
        state.data_sources,
        state.topics,
        state.subscriptions,
        state.rights,
        state.settings,
    )


FLOWS: Final = "flows"  # the folder of flows beside an exported broker file


def export(state: BrokerState, contents: Mapping[str, bytes], folder: OutputFolder, written: str = "") -> str:
    """Writes the flows of a broker into a folder with the broker file that names them; returns the text of that.

    The file is named `written` and names them from where it is; without it they are named by their whole paths.
    """
    files: dict[tuple[str, str], str] = {}
    flows = (FLOWS,) if written else ()
    gathered: dict[Way, bytes] = {}
    for group in state.groups:
        for use in group.flows:
            way = (*flows, quote(group.name, safe=" "), quote(use.name, safe=" "))
            own = add_flow(shipped_of(contents[use.content]), way, gathered)
            files[group.name, use.name] = "/".join(own) if written else str(folder.folder.joinpath(*own).resolve())
    text = broker_text(definition_of_state(state, files))
    if written:
        gathered[written,] = text.encode()
    for way, data in gathered.items():
        folder.add(way, data)
    folder.publish()
    return text


def add_flow(shipped: Shipped, place: Way, gathered: dict[Way, bytes]) -> Way:
    """Adds a flow and the files that it needs, as they lay to each other; returns the way to the flow's file."""
    names = [name for name, _ in shipped.files]
    own = os.path.abspath(shipped.file or "flow.yaml")
    base = os.path.commonpath([os.path.dirname(path) for path in (own, *map(os.path.abspath, names))])

    def way(name: str) -> Way:
        return (*place, *Path(os.path.relpath(os.path.abspath(name), base)).parts)

    gathered[way(own)] = shipped.text.encode()
    gathered.update((way(name), data) for name, data in shipped.files)
    gathered.update(((*place, PurePosixPath(nodes.name).name), nodes.text) for nodes in shipped.own_nodes)
    return way(own)

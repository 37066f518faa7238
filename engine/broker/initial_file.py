"""Broker files for flows that are to be deployed: with the queues and data sources that they name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from engine.broker.definition import Definition, FlowUse
from engine.broker.file_values import placed
from engine.broker.flow_builds import Candidate, candidate, flow_files
from engine.broker.state import BrokerState
from engine.databases.definitions import definitions_in
from engine.errors import ConfigurationException
from flows.files import OwnNodes


def definition_for(
    folder: Path, flows: Iterable[str], data_sources: Mapping[str, str], own: tuple[OwnNodes, ...] = ()
) -> tuple[Definition, list[Candidate]]:
    """Returns the definition of a broker in a folder that runs these flows in its default group."""
    name = folder.resolve().name
    sources: dict[str, dict[str, Any]] = {name: placed({"url": url}, "") for name, url in data_sources.items()}
    definitions_in(sources)
    state = BrokerState(name, data_sources=sources)
    found = []
    for file in flow_files(flows):
        made = candidate(FlowUse(file, "default"), state, own)
        if made is not None:
            found.append(made)
    if not found:
        raise ConfigurationException("no flow is named: give the files of flows, or folders of them")
    lacking = sorted({source for one in found for source in one.data_sources}.difference(data_sources))
    if lacking:
        raise ConfigurationException(f"the flows name the data source {lacking[0]}: add --data-source {lacking[0]}=URL")
    uses = tuple(FlowUse(os.path.relpath(one.use.file, folder), "default") for one in found)
    queues: dict[str, dict[str, str | int]] = {queue: {} for one in found for queue in one.queues}
    return Definition(uses, name, queues=queues, data_sources=sources, groups=("default",)), found

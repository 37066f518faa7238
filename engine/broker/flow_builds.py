"""Flows made ready for deployment: read, examined, compiled and built, so that what is broken is broken here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import normpath
from typing import Any, Final

from engine.broker.definition import FlowUse
from engine.broker.overrides import overridden, promoted
from engine.broker.state import BrokerState, DeployedUse
from engine.databases.definitions import definitions_in
from engine.databases.sources import Sources
from engine.errors import ConfigurationException
from engine.files.allowed_folders import AllowedFiles
from engine.flow.definition import Flow, FlowProperties, expand
from engine.flow.queue_options import QUEUE_NAME, QUEUE_NAME_OR_NONE
from engine.node import Property, node_catalog
from engine.runtime.deployment import deploy
from flows.files import OwnNodes, Shipped, flow_files_in, load, ship
from flows.programs import binder

_ORDERS: Final = ("default", "byUserID", "byQueueOrder")
_MESSAGE_SET: Final = ".set.yaml"
_ANY_FILE: Final = AllowedFiles((Path("/"),))
_DATA_SOURCE: Final = "dataSource"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A flow that can be deployed: how it would run, its content, and the queues and data sources that it names."""

    use: DeployedUse
    shipped: Shipped
    queues: tuple[str, ...]
    data_sources: tuple[str, ...]


@contextmanager
def sources_of(data_sources: Mapping[str, Any]) -> Iterator[Sources | None]:
    """Opens the data sources of a broker, if it has any."""
    if not data_sources:
        yield None
        return
    sources = Sources(definitions_in(data_sources))
    try:
        yield sources
    finally:
        sources.close()


def flow_files(paths: Iterable[str]) -> list[str]:
    """Returns the files of flows among files and folders; raises where a folder has none."""
    found: list[str] = []
    for path in paths:
        inside = flow_files_in(Path(path)) if Path(path).is_dir() else [path]
        if not inside:
            raise ConfigurationException(f"{path} holds no flow file: name one, or a folder of them")
        found += inside
    return list(dict.fromkeys(found))


def given_to(broker: str, group: str) -> dict[str, str]:
    """Returns what programs may ask of the broker around them."""
    return {"BrokerName": broker, "ExecutionGroupLabel": group, "ExecutionGroupName": group}


def laid_over(use: DeployedUse) -> dict[str, str]:
    """Returns the property values that a broker lays over a flow, additionalInstances among them."""
    return {**use.properties, "additionalInstances": str(use.additional_instances)}


def candidate(use: FlowUse, broker: BrokerState, own: tuple[OwnNodes, ...] = ()) -> Candidate | None:
    """Make the flow of a file ready to deploy, or None for a subflow; raises with all that is wrong with it."""
    loaded = load(use.file)
    if problems := loaded.lint():
        raise ConfigurationException(f"{use.file} cannot be deployed: {problems[0].text}", problems)
    main = next((flow for flow in loaded.flows if flow.file == normpath(use.file)), None)
    if main is None:  # a subflow, which is deployed with the flows that use it
        return None
    flow = expand(main, loaded.subflows)
    types = {node.type for node in flow.nodes}
    shipped = ship(flow, own_nodes=[file for file in own if types.intersection(file.types)])
    plain = DeployedUse(main.qualified_name, shipped.content_hash, str(Path(use.file).absolute()), copies=use.copies)
    made = replace(plain, properties=dict(use.properties), promotions=promoted(main, loaded.subflows))
    return ready(made, shipped, broker, use.group, use.additional_instances)


def ready(
    use: DeployedUse, shipped: Shipped, broker: BrokerState, group: str, additional: int | None = None
) -> Candidate:
    """Build a flow once, and tell from it how it runs: its queues, its instances, their order, what they share."""
    own = dict(use.properties)
    if additional is not None:
        own["additionalInstances"] = str(additional)
    flow = overridden(shipped.flow(), own, use.promotions)
    with sources_of(broker.data_sources) as sources:
        bound = binder(flow, files=shipped.files, given=given_to(broker.name, group), sources=sources)
    if bound.asking_databases and not broker.data_sources:
        text = f"the program of {bound.asking_databases[0]} asks a database, and {broker.name} has no data source"
        advice = "say its url under dataSources in broker.yaml, or to broker init by --data-source"
        raise ConfigurationException(f"{use.name}: {text}: {advice}")
    deployed = deploy(flow, bind=bound.allowing(_ANY_FILE))  # which files it may write is for the broker's process
    _refuse_policies(use.name, deployed.properties)
    if not deployed.entrances:
        raise ConfigurationException(f"flow {use.name} reads no queue: give it an MQInput node")
    reads = tuple(str(getattr(e.node, "queue_name", e.label)) for e in deployed.entrances)
    asked = {deployed.order(entrance).mode for entrance in deployed.entrances}
    is_said = own.pop("additionalInstances", None) is not None
    made = replace(
        use,
        instances_said=is_said,
        properties=own,
        additional_instances=deployed.properties.additional_instances,
        start_mode=deployed.properties.start_mode,
        notified_rate=deployed.properties.notification_threshold_msgs_per_sec,
        reads=tuple(dict.fromkeys(reads)),
        order=max(asked, key=_ORDERS.index),
        shares=any(routine.entrance.shares for routine in bound.routines.values()),
        message_sets=tuple(sorted({Path(name).name for name, _ in shipped.files if name.endswith(_MESSAGE_SET)})),
    )
    queues = () if group in broker.settings.amqp else queues_of(flow, broker.queue_manager)
    return Candidate(made, shipped, queues, data_sources_of(flow))


def _refuse_policies(name: str, properties: FlowProperties) -> None:
    """Raise for a policy or profile that would change how the flow runs, and that a broker here cannot have."""
    given = {
        "wlmPolicy": (properties.wlm_policy, "say its values as properties of the flow"),
        "securityProfileName": (properties.security_profile_name, "say who may put by rights of its queues"),
        "monitoringProfile": (properties.monitoring_profile, "use statistics or traces"),
    }
    for declared, (value, instead) in given.items():
        if value:
            raise ConfigurationException(f"flow {name}: there is no {declared} {value:.80} here: {instead}")


def queues_of(flow: Flow, queue_manager: str) -> tuple[str, ...]:
    """Returns the queues of this queue manager that the nodes of an expanded flow name."""
    found: list[str] = []
    for use in flow.nodes:
        values = use.values
        elsewhere = str(values.get("queueManagerName", "")) not in {"", queue_manager}
        if elsewhere or values.get("destinationMode", "fixed") != "fixed":
            continue
        found += [str(values.get(p.name, "")) for p in node_catalog.find(use.type).properties if _is_queue(p)]
    return tuple(dict.fromkeys(name for name in found if name))


def data_sources_of(flow: Flow) -> tuple[str, ...]:
    """Returns the data sources that the nodes of an expanded flow name."""
    named = (str(use.values.get(_DATA_SOURCE, "")) for use in flow.nodes)
    return tuple(dict.fromkeys(name for name in named if name))


def _is_queue(declared: Property) -> bool:
    return declared.name == "queueName" and any(mark in (QUEUE_NAME, QUEUE_NAME_OR_NONE) for mark in declared.marks)

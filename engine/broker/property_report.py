"""Reports: the properties that a deployed flow and its nodes have, with what the broker lays over them."""

from __future__ import annotations

from typing import Any

from engine.broker.deployment import shipped_of
from engine.broker.flow_builds import laid_over
from engine.broker.overrides import overridden
from engine.broker.state import DeployedUse, GroupState
from engine.flow.definition import FLOW_PROPERTIES, plain
from engine.node import node_catalog


def report(group: GroupState, use: DeployedUse, content: bytes) -> dict[str, Any]:
    """Returns the properties of a flow by name, those of nodes as Node.property."""
    flow = overridden(shipped_of(content).flow(), laid_over(use), use.promotions)
    given = plain(flow.properties)
    values: dict[str, Any] = {declared.name: given.get(declared.name, declared.default) for declared in FLOW_PROPERTIES}
    values["copies"] = use.copies
    values |= plain(flow.user_properties)
    for node in flow.nodes:
        own = node.values
        for declared in node_catalog.find(node.type).properties:
            if declared.name in own or not declared.mandatory:
                values[f"{node.label}.{declared.name}"] = own.get(declared.name, declared.default)
    return {
        "group": group.name,
        "flow": use.name,
        "content": use.content,
        "running": use.running,
        "instances": use.how,
        "instanceCount": use.instances,
        "traceLevel": use.trace,
        "statisticsLevel": use.statistics,
        "statisticsByOrigin": use.by_origin,
        "properties": {name: _shown(value) for name, value in values.items()},
    }


def _shown(value: object) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, list) else str(value)

"""Property values that a broker lays over a flow: `NAME` for the flow, `Node.property` for one of its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from posixpath import normpath

from engine.catalog import did_you_mean
from engine.errors import ConfigurationException
from engine.flow.definition import FLOW_PROPERTIES, Flow, NodeUse, Setting, subflow_of
from engine.node import node_catalog
from flows.files import load, load_flow

FLOW_NAMES = tuple(declared.name for declared in FLOW_PROPERTIES)


def promoted(flow: Flow, subflows: Mapping[str, Flow]) -> dict[str, tuple[str, ...]]:
    """Returns, for each property that a flow promotes, those of its expanded nodes that it stands for."""
    return {
        promotion.name: tuple(
            inner for target in promotion.targets for inner in _reached(flow, target.label, target.property, subflows)
        )
        for promotion in flow.promotions
    }


def _reached(flow: Flow, label: str, name: str, subflows: Mapping[str, Flow]) -> Iterator[str]:
    use = flow.node(label)
    sub = subflow_of(flow, use, subflows) if use else None
    if sub is None:
        yield f"{label}.{name}"
        return
    for promotion in sub.promotions:
        if promotion.name == name:
            for target in promotion.targets:
                yield from (f"{label}.{inner}" for inner in _reached(sub, target.label, target.property, subflows))


def overridden(flow: Flow, values: Mapping[str, str], promotions: Mapping[str, tuple[str, ...]] | None = None) -> Flow:
    """Returns an expanded flow with these values in place of its own; raises where it has no such property."""
    known = promotions or {}
    for name, value in values.items():
        for target in known.get(name, (name,)):
            flow = _with(flow, target, value)
    return flow


def flow_of_file(file: str, values: Mapping[str, str]) -> Flow:
    """Returns the expanded flow of a file with these values in place of its own."""
    flow = load_flow(file)
    if not values:
        return flow
    loaded = load(file)
    main = next(own for own in loaded.flows if own.file == normpath(file))
    return overridden(flow, values, promoted(main, loaded.subflows))


def _with(flow: Flow, name: str, value: str) -> Flow:
    label, dot, own = name.rpartition(".")
    if dot:
        nodes = tuple(_of_node(use, own, value) if use.label == label else use for use in flow.nodes)
        if flow.node(label) is None:
            labels = [use.label for use in flow.nodes]
            raise ConfigurationException(f"{flow.name} has no node {label}{did_you_mean(label, labels)}")
        return replace(flow, nodes=nodes)
    if name in FLOW_NAMES:
        return replace(flow, properties=_set(flow.properties, name, value))
    user = [setting.name for setting in flow.user_properties]
    if name in user:
        return replace(flow, user_properties=_set(flow.user_properties, name, value))
    advice = did_you_mean(name, [*FLOW_NAMES, *user]) or "; those of nodes are written Node.property"
    raise ConfigurationException(f"{flow.name} has no property {name}{advice}")


def _of_node(use: NodeUse, name: str, value: str) -> NodeUse:
    names = [declared.name for declared in node_catalog.find(use.type).properties]
    if name not in names:
        raise ConfigurationException(f"{use.label}, a {use.type} node, has no {name}{did_you_mean(name, names)}")
    return replace(use, settings=_set(use.settings, name, value))


def _set(settings: tuple[Setting, ...], name: str, value: str) -> tuple[Setting, ...]:
    return (*(setting for setting in settings if setting.name != name), Setting(name, value))

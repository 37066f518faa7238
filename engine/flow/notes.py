"""Notes: what is no problem of a flow but good to know before it runs."""

from __future__ import annotations

from engine.catalog import Catalog
from engine.errors import Problem
from engine.flow.definition import Flow
from engine.flow.lint import UNFIT
from engine.flow.marked_lines import line_of_file, marked
from engine.node import NodeType, Pending, node_catalog


def notes(*flows: Flow, catalog: Catalog[NodeType] = node_catalog) -> tuple[Problem, ...]:
    """Properties that are given and have no effect yet, sorted by place."""
    found = []
    for use in (use for flow in flows for use in flow.nodes):
        node_type = catalog.get(use.type) if use.type else None
        pending = (
            {p.name: m for p in node_type.properties for m in p.marks if isinstance(m, Pending)} if node_type else {}
        )
        for setting in use.settings:
            if setting.name in pending:
                text = f"note: {setting.name} has no effect yet; it waits for {pending[setting.name].what}"
                found.append(marked(setting.place, text, setting.name, UNFIT, line_of_file(setting.place)))
    return tuple(sorted(set(found)))

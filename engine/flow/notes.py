"""Notes: what is no problem of a flow but good to know before it runs."""

from __future__ import annotations

from collections.abc import Iterator

from engine.catalog import Catalog
from engine.errors import Problem
from engine.flow.definition import FLOW_PROPERTIES, Flow
from engine.flow.lint import UNFIT
from engine.flow.marked_lines import line_of_file, marked
from engine.node import InBrokers, NodeType, Pending, node_catalog


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
    found += [note for flow in flows if not flow.is_subflow for note in _of_flow(flow)]
    return tuple(sorted(set(found)))


def _of_flow(flow: Flow) -> Iterator[Problem]:
    """Yields notes on properties of a flow itself that have no effect, or one in a broker alone."""
    marks = {declared.name: declared.marks for declared in FLOW_PROPERTIES}
    for setting in flow.properties:
        for mark in marks.get(setting.name, ()) if setting.value not in {"", "0", "none"} else ():
            if isinstance(mark, Pending):
                text = f"note: {setting.name} has no effect yet; it waits for {mark.what}"
            elif isinstance(mark, InBrokers):
                text = f"note: {setting.name} counts where a broker runs the flow, not at a desk or on Spark"
            else:
                continue
            yield marked(setting.place, text, setting.name, UNFIT, line_of_file(setting.place))

"""The ways of messages that no wire shows: from nodes that route to labels to the Labels that they may reach."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from engine.catalog import Catalog
from engine.flow.definition import Flow, NodeUse
from engine.node import Esql, NodeType

Names: TypeAlias = Mapping[str, frozenset[str]]
Labels: TypeAlias = Callable[[Flow], Names]
NO_NAMES: Final[Names] = {}


def label_routes(flow: Flow, catalog: Catalog[NodeType], names: Names = NO_NAMES) -> Iterator[tuple[str, str]]:
    """The ways that no wire shows: from each node that routes to labels to each node that has one.

    `names` are the labels that a node is known to send to, by the node; one that is not there may send to any.
    """
    types = [(use, found) for use in flow.nodes if (found := catalog.get(use.type))]
    targets = [(use, found.label_property.name) for use, found in types if found.label_property]
    promoted = {(target.label, target.property) for p in flow.promotions for target in p.targets}
    routers = [use.label for use, found in types if found.routes_to_labels and _may_route(use, found)]
    for label in routers:
        known = names.get(label)
        for target, declared in targets:
            named = None if (target.label, declared) in promoted else target.values.get(declared)
            if known is None or named is None or named in known:
                yield label, target.label


def _may_route(use: NodeUse, found: NodeType) -> bool:
    """Returns True for a node that can send to Labels; a program in the flow itself has to speak of one."""
    programs = {p.name for p in found.properties if any(isinstance(mark, Esql) for mark in p.marks)}
    texts = [s.value for s in use.settings if s.name in programs and isinstance(s.value, str)]
    is_name = [re.fullmatch(r"[\w.:/#]+", text.strip()) is not None for text in texts]
    return not texts or any(is_name) or any(re.search(r"\bLABEL\b", text, re.IGNORECASE) for text in texts)

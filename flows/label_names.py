"""Names of Labels that the programs of a flow send to, read from their PROPAGATE statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from engine.catalog import Catalog
from engine.flow.definition import Flow
from engine.node import NodeType, node_catalog
from esql import syntax
from esql.compile import read_program
from esql.read import read_statements
from esql.syntax.node import children
from esql.text import SyntaxProblems
from flows.programs import programs_of

Names: TypeAlias = "frozenset[str] | None"


def label_names(flow: Flow, catalog: Catalog[NodeType] = node_catalog) -> Mapping[str, frozenset[str]]:
    """For each node with programs, the labels that they name; nodes whose programs compute one are left out.

    >>> from engine.flow.definition import NodeUse, Setting
    >>> send = NodeUse("Send", "Compute", (Setting("computeExpression", "PROPAGATE TO LABEL 'a';"),))
    >>> dict(label_names(Flow("F", nodes=(send,))))
    {'Send': frozenset({'a'})}
    """
    uses, sources = programs_of(flow, catalog)
    by_module, everywhere = _modules(sources)
    found: dict[str, Names] = {}
    for label, module, text in uses:
        names = _of_text(text) if module is None else _of_module(module, by_module, everywhere)
        found[label] = _both(found.get(label, frozenset()), names)
    return {label: names for label, names in found.items() if names is not None}


def _modules(sources: Sequence[tuple[str, bytes]]) -> tuple[dict[str, Names], Names]:
    """The labels of each module by its own name, and of routines that stand outside modules, which any may call."""
    by_module: dict[str, Names] = {}
    everywhere: Names = frozenset()
    for name, data in sources:
        try:
            program = read_program(data, name)
        except SyntaxProblems:
            return {}, None
        for statement in program.statements:
            if isinstance(statement, syntax.Module):
                key = statement.name.lower()
                by_module[key] = _both(by_module.get(key, frozenset()), _named(statement))
            else:
                everywhere = _both(everywhere, _named(statement))
    return by_module, everywhere


def _of_module(name: str, by_module: Mapping[str, Names], everywhere: Names) -> Names:
    parts = name.lower().removesuffix(".main").split(".")
    return _both(by_module.get(parts[-1]), everywhere)


def _of_text(text: str) -> Names:
    try:
        return _named(read_statements(text, "ESQL"))
    except SyntaxProblems:
        return frozenset()  # an expression, which sends nothing, or what cannot be deployed


def _named(node: syntax.Node) -> Names:
    """The labels that what stands here names; None where one is computed."""
    names = set[str]()
    for one in _all(node):
        match one:
            case syntax.Propagate(label=syntax.String(value=name)):
                names.add(name)
            case syntax.Propagate(label=label) if label is not None:
                return None
            case syntax.Eval():
                return None
            case syntax.Call(name=(title,)) if title.upper() == "EVAL":
                return None
    return frozenset(names)


def _all(node: syntax.Node) -> Iterator[syntax.Node]:
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(children(one))


def _both(one: Names, other: Names) -> Names:
    return None if one is None or other is None else one | other

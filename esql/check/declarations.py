"""Declarations that cannot be as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from esql import syntax
from esql.check.finding import Finding, a

if TYPE_CHECKING:
    from collections.abc import Iterator

    from esql.scope import Place, Resolution

_NAMES = ("NAMESPACE", "NAME")


def lifetimes(found: Resolution) -> Iterator[Finding]:
    """SHARED and EXTERNAL where, and on what, they cannot be."""
    outermost = {id(statement) for statement in found.program.statements}
    for visit in found.each(syntax.Declare):
        node = visit.node
        assert isinstance(node, syntax.Declare)
        if node.lifetime is None:
            continue
        if not _is_outermost(node, visit.place, outermost):
            text = f"{node.lifetime} is for declarations of a module or schema: move this one out of the routine"
            yield Finding(node, "flow", text, word=node.lifetime)
        elif node.type.name == "REFERENCE":
            advice = "declare a ROW, or a REFERENCE in the routine that uses it"
            yield Finding(node, "type", f"a REFERENCE cannot be {node.lifetime}: {advice}", word=node.lifetime)
        elif node.lifetime == "EXTERNAL" and node.type.name == "ROW":
            text = "a ROW cannot be EXTERNAL: a property of a flow is a single value"
            yield Finding(node, "type", text, word="EXTERNAL")


def _is_outermost(node: syntax.Declare, place: Place, outermost: set[int]) -> bool:
    return place.is_outermost and (place.module is not None or id(node) in outermost)


def constants(found: Resolution) -> Iterator[Finding]:
    """Constants and names without their value."""
    for visit in found.each(syntax.Declare):
        node = visit.node
        assert isinstance(node, syntax.Declare)
        if node.initial is not None or node.lifetime == "EXTERNAL":
            continue
        if node.constant or node.type.name in _NAMES:
            what = "a CONSTANT" if node.constant else a(node.type.name)
            text = f"{what} is given its value where it is declared: write the value behind its type"
            yield Finding(node, "type", text, word=node.names[0])


def bodies(found: Resolution) -> Iterator[Finding]:
    """Routines whose language and body do not go together."""
    for routine in found.routines:
        node = routine.node
        if node.language not in (None, "ESQL") and not routine.is_external:
            text = f"a routine of LANGUAGE {node.language} has EXTERNAL NAME and its name there in place of a body"
            yield Finding(node, "flow", text, word=node.name)
        elif node.language == "ESQL" and routine.is_external:
            text = "a routine of LANGUAGE ESQL has a body in place of EXTERNAL NAME"
            yield Finding(node, "flow", text, word=node.name)
        elif node.result_sets and node.language not in (None, "DATABASE"):
            text = "only a routine of LANGUAGE DATABASE has DYNAMIC RESULT SETS"
            yield Finding(node, "flow", text, word=node.name)

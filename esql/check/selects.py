"""SELECT: where aggregates stand, and what it goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from esql import syntax
from esql.check.casts import SCALARS
from esql.check.finding import Finding, a

if TYPE_CHECKING:
    from collections.abc import Iterator

    from esql.scope import Resolution


def aggregates(found: Resolution) -> Iterator[Finding]:
    """Aggregates outside the clause of a SELECT, or beside other columns."""
    placed: set[int] = set()
    for visit in found.each(syntax.Select):
        node = visit.node
        assert isinstance(node, syntax.Select)
        columns = [item.expression for item in node.columns if isinstance(item, syntax.Column)]
        inside = [item for item in (*columns, node.item) if isinstance(item, syntax.Aggregate)]
        placed.update(map(id, inside))
        if inside and len(node.columns) > 1:
            text = f"{inside[0].function} stands alone in its SELECT: make a SELECT of its own for each value"
            yield Finding(inside[0], "type", text)
    for visit in found.each(syntax.Aggregate):
        if id(visit.node) not in placed:
            function = getattr(visit.node, "function", "")
            text = f"{function} stands in the SELECT clause of a SELECT only, alone or with AS"
            yield Finding(visit.node, "name", text)


def sources(found: Resolution) -> Iterator[Finding]:
    """FROM, FOR and quantified predicates that go through something that is no list."""
    for visit in found.each(syntax.FromItem, syntax.For, syntax.Quantified):
        source: syntax.Expression = visit.node.source  # type: ignore[attr-defined]  # all three have one
        given = found.type_of(source)
        if given in SCALARS:
            where = {"FromItem": "FROM", "For": "FOR"}.get(type(visit.node).__name__, "a quantified predicate")
            yield Finding(source, "type", f"{where} goes through a list, and this is {a(given)}: write a field with []")

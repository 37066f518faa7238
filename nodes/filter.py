"""Filter: send a message one of three ways by an ESQL condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from engine.node import Esql, mandatory, node
from esql.runtime.database_programs import StatementNode
from esql.runtime.program import Routine


@node("Filter", outputs=("true", "false", "unknown"), category="routing")
@dataclass(frozen=True, slots=True)
class Filter(StatementNode):
    """Evaluate a condition; NULL goes to `unknown`."""

    statement: Annotated[Routine, Esql("filter")] = mandatory(
        "The condition: the name of a FILTER module of a .esql file, an expression, or statements that RETURN one.",
        name="filterExpression",
    )

"""Extract: a new message of parts of the one that came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from engine.node import Esql, mandatory, node
from esql.runtime.database_programs import StatementNode
from esql.runtime.program import Routine


@node("Extract", outputs=("out",), category="transformation")
@dataclass(frozen=True, slots=True)
class Extract(StatementNode):
    """Run ESQL that builds OutputRoot of parts of the message, and send that on."""

    statement: Annotated[Routine, Esql("compute")] = mandatory(
        "The name of a COMPUTE module of a .esql file, or the statements themselves, which build OutputRoot."
    )

"""Stored procedures: their calls, and their parameters and result sets as one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.databases.errors import refusal
from engine.databases.statements import Answer, Procedure

if TYPE_CHECKING:
    from engine.databases.link import Link


def call_procedure(link: Link, procedure: Procedure, schema: str, values: tuple[Any, ...]) -> Answer:
    """Call a stored procedure."""
    source = link.source
    raise refusal(source.name, source.driver.name, "0A000", 0, f"there are no stored procedures: {procedure.name}")

"""Places: where the fields of a message stand in its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from parsers.mrm.tds.plan import FieldPlan

Stops: TypeAlias = tuple[str, ...]  # markup at which data ends


class Place:
    """The place of a field in the text; a field that the model does not know has a name and no plan.

    It is `bare` where only its tag stands there, with nothing that separates it from data.
    """

    __slots__ = ("bare", "children", "end", "fixed", "name", "plan", "start")

    def __init__(self, name: str, plan: FieldPlan | None, start: int) -> None:
        self.name = name
        self.plan = plan
        self.start = start
        self.end = start
        self.fixed = False
        self.bare = False
        self.children: list[Place] | None = None


def last_called(places: list[Place], name: str) -> Place | None:
    """The last place of that name."""
    return next((one for one in reversed(places) if one.name == name), None)

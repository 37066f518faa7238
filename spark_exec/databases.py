"""Databases of flows on Spark: connections of each worker process, and effects that are refused or allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from engine.databases.definitions import Definition
from engine.databases.sources import Sources
from engine.databases.statements import Select
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.flow import Flow
    from flows.programs import Binder

AT_LEAST_ONCE: Final = "at-least-once"
EFFECTS: Final = ("", AT_LEAST_ONCE)


@dataclass(frozen=True, slots=True)
class Databases:
    """The data sources of a run, and what may become of effects on them: nothing, or that they happen at least once."""

    definitions: tuple[Definition, ...] = ()
    effects: str = ""


NONE: Final = Databases()


@lru_cache(maxsize=4)
def opened(databases: Databases) -> Sources | None:
    """The data sources, opened once in each process; None where there are none."""
    return Sources(databases.definitions) if databases.definitions else None


def check_effects(flow: Flow, bound: Binder, databases: Databases) -> None:
    """Refuse a flow whose programs ask databases that are not named, or change them and may not."""
    for label in bound.asking_databases:
        place = next(use.place for use in flow.nodes if use.label == label)
        if not databases.definitions:
            text = f"the program of {label} asks a database, and none is named: give --data-source NAME=URL"
            raise ConfigurationException(text).at(place)
        if databases.effects != AT_LEAST_ONCE and _changes(bound, label):
            text = (
                f"the program of {label} may change a database: a task that Spark tries again would do so again;"
                f" --effects {AT_LEAST_ONCE} allows that"
            )
            raise ConfigurationException(text).at(place)


def _changes(bound: Binder, label: str) -> bool:
    statements: Iterable[object] = (
        statement
        for (owner, _), routine in bound.routines.items()
        if owner == label
        for statement in routine.statements()
    )
    return any(not isinstance(statement, Select) for statement in statements)

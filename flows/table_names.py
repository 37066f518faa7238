"""Tables, columns and data sources that the programs of a flow name, looked up once when it is deployed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.databases.errors import DatabaseException
from engine.databases.session import planned_for
from engine.databases.sources import NotFoundError, Planned, Sources
from engine.databases.statements import Delete, Insert, OfTable, Select, Update
from engine.errors import ConfigurationException, Place, Problem
from engine.flow.lint import UNFIT
from engine.flow.marked_lines import line_of_file, marked
from engine.node import build, node_catalog

if TYPE_CHECKING:
    from engine.flow.definition import Flow, NodeUse
    from esql.runtime.program import Routine

DATA_SOURCE: Final = "dataSource"
OF_TABLES: Final = (Select, Insert, Update, Delete)


def unknown_tables(flow: Flow, routines: Mapping[tuple[str, str], Routine], sources: Sources) -> tuple[Problem, ...]:
    """Everything that no data source has of what statements name; what is there is planned now, once."""
    found: list[Problem] = []
    for use in flow.nodes:
        if "queryElements" in use.values:
            node_type = node_catalog.find(use.type)
            query = getattr(build(node_type, use.values), "_query", None)
            statement = getattr(query, "statement", None)
            if query is not None and isinstance(statement, Select):
                place = (flow.file, use.place.line, use.place.column)
                found += _of_node(flow, use, query.source, [replace(statement, at=place)], sources)
        own = [routine for (label, _), routine in routines.items() if label == use.label]
        asked = [statement for routine in own for statement in routine.statements()]
        if asked:
            named = str(use.values.get(DATA_SOURCE, "") or "")
            found += _of_node(flow, use, named, [one for one in asked if isinstance(one, OF_TABLES)], sources)
    return tuple(dict.fromkeys(found))


def _of_node(flow: Flow, use: NodeUse, named: str, statements: list[OfTable], sources: Sources) -> Iterator[Problem]:
    try:
        sources.find(named)
    except ConfigurationException as error:
        setting = next((one for one in use.settings if one.name == DATA_SOURCE), None)
        place = use.place if setting is None else setting.value_place
        yield marked(place, error.text, named or use.label, UNFIT, line_of_file(place))
        return
    yield from problems_of_tables(statements, named, sources, flow.file)


def problems_of_tables(
    statements: Iterable[OfTable], named: str, sources: Sources, file: str = ""
) -> Iterator[Problem]:
    """Finds the names of statements that no data source has; statements that name none are for the one that is named.

    What is there is planned, and its plan kept.
    """
    for statement in statements:
        text = _missing(statement, named, sources)
        if text:
            own, line, column = statement.at
            place = Place(file=own or file, line=line, column=column)
            problem = marked(place, text, statement.table[-1], UNFIT, line_of_file(place))
            yield replace(problem, column=column, width=1) if not problem.source_line else problem


def _missing(statement: OfTable, named: str, sources: Sources) -> str:
    """Returns the fault in the names of a statement, or an empty text, also where some names are computed."""
    place = statement.table
    joined = statement.joined if isinstance(statement, Select) else ()
    if not all(all(one) for one in (place, *joined)):
        return ""
    try:
        source = sources.find((place[0] if len(place) == 3 else "") or named)
        plan = planned_for(source, statement, place)
    except (ConfigurationException, NotFoundError) as error:
        return error.text if isinstance(error, ConfigurationException) else f"data source {source.name}: {error}"
    except DatabaseException as error:
        return error.text
    if isinstance(statement, Insert) and not statement.columns:
        return ""  # how many values it has is known when it is executed
    sources.keep((named, id(statement), place), Planned(source, plan))
    return ""

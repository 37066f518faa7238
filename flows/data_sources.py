"""Databases as the programs of a flow name them, looked up once when it is deployed.

Problems are tables, columns and data sources that are missing, drivers that are missing, and data sources that
two-phase commit cannot be had from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.databases.errors import DatabaseException
from engine.databases.session import planned_for
from engine.databases.sources import NotFoundError, Planned, Sources
from engine.databases.statements import Delete, Insert, OfTable, Passthru, Procedure, Select, Statement, Update
from engine.errors import ConfigurationException, Place, Problem, line_of_file, marked
from engine.flow.lint import UNFIT
from engine.node import build, node_catalog
from engine.runtime.deployment import flow_properties

if TYPE_CHECKING:
    from engine.databases.sources import Source
    from engine.databases.statements import Names
    from engine.flow.definition import Flow, NodeUse
    from esql.runtime.program import Routine

    Kinds = tuple[type[Statement], ...]
    Routines = Mapping[tuple[str, str], Routine]


COORDINATED: Final = "coordinatedTransaction"
DATA_SOURCE: Final = "dataSource"
OF_TABLES: Final = (Select, Insert, Update, Delete)
_WRITES: Final = (Insert, Update, Delete)
_MAY_WRITE: Final = (*_WRITES, Passthru, Procedure)


def missing_drivers(sources: Sources) -> Iterator[Problem]:
    """Finds the data sources whose dialects or drivers are not installed, without connecting to any."""
    for definition in sources.definitions:
        try:
            sources.find(definition.name)
        except ConfigurationException as error:
            yield marked(Place(file="dataSources"), error.text, "", UNFIT, "")


def uncoordinated(flow: Flow, routines: Routines, sources: Sources) -> tuple[Problem, ...]:
    """Returns the data sources that are one too many in a coordinated unit of work: one at most may not prepare.

    What PASSTHRU and procedures do is not known before they run; the coordinator refuses them then.
    """
    unable = _unable(flow, routines, sources, _WRITES)
    if not unable or sources.stand_in:
        return ()
    first, *others = unable
    text = f"nor can {first.name}: {COORDINATED} commits one such data source behind the first phase of all others, and"
    advice = "two could disagree: write to one of them in another flow, or give its nodes transaction commit"
    return tuple(_problem(flow, f"data source {_named(one)}, {text} {advice}") for one in others)


def notes_of(flow: Flow, routines: Routines, sources: Sources) -> tuple[Problem, ...]:
    """Returns a note for each data source that a coordinated flow writes to and that has no first phase of commit."""
    text = "note: data source {}: it is committed before the queues are, and when the process dies in between its rows"
    text += " stay and the message is carried through again"
    unable = _unable(flow, routines, sources, _MAY_WRITE)
    return tuple(_problem(flow, text.format(_named(one))) for one in unable)


def _named(source: Source) -> str:
    return f"{source.name} ({source.driver.name}) cannot prepare a unit of work"


def _problem(flow: Flow, text: str) -> Problem:
    place = next((one.place for one in flow.properties if one.name == COORDINATED), Place(file=flow.file))
    return marked(place, text, COORDINATED, UNFIT, line_of_file(place))


def _unable(flow: Flow, routines: Routines, sources: Sources, kinds: Kinds) -> list[Source]:
    """The data sources that the flow's unit of work writes to and that cannot prepare, in the order of the nodes."""
    if not flow_properties(flow).coordinated_transaction:
        return []
    found: dict[str, Source] = {}
    for name in _written(flow, routines, kinds):
        try:
            source = sources.find(name)
        except ConfigurationException:  # lint and deploy say that themselves
            continue
        if not source.driver.prepares:
            found[source.name] = source
    return list(found.values())


def _written(flow: Flow, routines: Routines, kinds: Kinds) -> Iterator[str]:
    """The names of the data sources that nodes with transaction automatic write to."""
    uses = {use.label: use for use in flow.nodes if use.values.get("transaction", "automatic") == "automatic"}
    for (label, _), routine in routines.items():
        if label in uses:
            statements = (one for one in routine.statements() if isinstance(one, kinds))
            yield from (name for one in statements if (name := _named_by(uses[label], one)) is not None)


def _named_by(use: NodeUse, statement: Statement) -> str | None:
    """The data source of a statement; None where the program computes its name."""
    table: Names = getattr(statement, "table", ())
    return str(use.values.get("dataSource", "") or "") if len(table) < 3 else next(iter(table)) or None


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

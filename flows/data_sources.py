"""Data sources of flows: drivers that are missing, and those that two-phase commit cannot be had from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from engine.databases.statements import Delete, Insert, Passthru, Procedure, Statement, Update
from engine.errors import ConfigurationException, Place, Problem
from engine.flow.lint import UNFIT
from engine.flow.marked_lines import line_of_file, marked
from engine.runtime.deployment import flow_properties

if TYPE_CHECKING:
    from engine.databases.sources import Source, Sources
    from engine.databases.statements import Names
    from engine.flow.definition import Flow, NodeUse
    from esql.runtime.program import Routine

    Kinds = tuple[type[Statement], ...]
    Routines = Mapping[tuple[str, str], Routine]

COORDINATED: Final = "coordinatedTransaction"
_NOTHING: Final[tuple[Problem, ...]] = ()
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
        return _NOTHING
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

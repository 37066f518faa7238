"""Deployments: flows of execution groups, queues, databases, and flows built from data, once in each process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.broker.definition import DEAD_LETTER_QUEUE, DEFAULT_GROUP, Executors, FlowUse, queue_attributes
from engine.broker.file_reader import definition_of
from engine.databases.definitions import Definition, definitions_in, definitions_of
from engine.databases.sources import Sources
from engine.databases.statements import Commit, Rollback, Select
from engine.errors import ConfigurationException, Problem
from engine.flow.lint import UNFIT
from engine.runtime.deployment import DeployedFlow, deploy
from engine.work import QueueAttributes
from flows.files import Shipped
from flows.programs import binder

if TYPE_CHECKING:
    from engine.flow.definition import Flow, NodeUse
    from flows.programs import Binder


AT_LEAST_ONCE: Final = "at-least-once"
EXACTLY_ONCE: Final = "exactly-once"
NO_EFFECTS: Final = ""
EFFECTS: Final = (AT_LEAST_ONCE, EXACTLY_ONCE)


@dataclass(frozen=True, slots=True)
class Databases:
    """The data sources of a run, and what may become of effects on them: nothing, or as one of EFFECTS says."""

    definitions: tuple[Definition, ...] = ()
    effects: str = NO_EFFECTS


NONE: Final = Databases()


@lru_cache(maxsize=4)
def opened(databases: Databases) -> Sources | None:
    """The data sources, opened once in each process; None where there are none."""
    return Sources(databases.definitions) if databases.definitions else None


def checked_effects(flow: Flow, bound: Binder, databases: Databases) -> tuple[str, ...]:
    """The data sources that a flow may change and whose changes are prepared, by name.

    Refuses a flow whose programs ask databases that are not named, or change them and may not.
    """
    changed: dict[str, None] = {}
    uses = {use.label: use for use in flow.nodes}
    for label in bound.asking_databases:
        if not databases.definitions:
            text = f"the program of {label} asks a database, and none is named: give --data-source NAME=URL"
            raise ConfigurationException(text).at(uses[label].place)
        if databases.effects != AT_LEAST_ONCE:
            changed |= dict.fromkeys(_changed(uses[label], bound, databases))
    if databases.effects == EXACTLY_ONCE and databases.definitions:
        labels = (label for (label, _), routine in bound.routines.items() if routine.may_ask_databases)
        evaluating = (uses[label] for label in labels if label not in bound.asking_databases)
        changed |= dict.fromkeys(_source_of(use, databases).name for use in evaluating)
    return tuple(changed)


def _changed(use: NodeUse, bound: Binder, databases: Databases) -> Iterator[str]:
    """The data sources that the programs of a node may change; raises where that may not be."""
    for statement in _statements(bound, use.label):
        if isinstance(statement, Select):
            continue
        source = _source_of(use, databases, getattr(statement, "table", ()))
        if (why := _refusal(use, statement, source, databases)) is not None:
            text = f"the program of {use.label} may change a database: {why}; --effects {AT_LEAST_ONCE} allows that"
            raise ConfigurationException(text).at(use.place)
        yield source.name


def _refusal(use: NodeUse, statement: object, source: Definition, databases: Databases) -> str | None:
    """Says why a statement cannot have its effect exactly once."""
    if databases.effects == NO_EFFECTS:
        return "a task that Spark tries again would do so again"
    if not source.prepares:
        return f"a task that Spark tries again would do so again, as {source.scheme} cannot prepare what a task does"
    if use.values.get("transaction") == "commit":
        return "with transaction commit it would do so at once, and again when Spark tries a task again"
    if isinstance(statement, Commit | Rollback):
        return "COMMIT and ROLLBACK would end what is prepared for all messages of a task"
    return None


def _statements(bound: Binder, label: str) -> Iterator[Any]:
    for (owner, _), routine in bound.routines.items():
        if owner == label:
            yield from routine.statements()


def _source_of(use: NodeUse, databases: Databases, table: tuple[str, ...] = ()) -> Definition:
    """The data source that a statement names, else that of its node, else the default one."""
    named = table[0] if len(table) == 3 else str(use.values.get("dataSource", ""))
    return Sources(databases.definitions).definition(named)


@dataclass(frozen=True, slots=True)
class Deployment:
    """The parts of a broker that run on Spark."""

    uses: tuple[FlowUse, ...]
    broker: str = "PENSTOCK"
    queue_manager: str = "QM"
    dead_letter_queue: str = DEAD_LETTER_QUEUE
    queues: Mapping[str, QueueAttributes] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)  # the queue that each of them stands for
    executors: Mapping[str, Executors] = field(default_factory=dict)  # by group, where a group says it
    databases: Databases = NONE


def deployment_of(*files: str) -> Deployment:
    """The deployment that files say: one broker file, or flow files for one execution group."""
    if not files:
        raise ConfigurationException("nothing is to be deployed: name a broker file, or flow files")
    defined = definition_of(files[0]) if len(files) == 1 else None
    if defined is None:
        return Deployment(tuple(FlowUse(file, DEFAULT_GROUP) for file in files))
    if not defined.flows:
        text = "the broker has no flows: list them under executionGroups"
        problems = (Problem(files[0], 1, 1, UNFIT, text),)
        raise ConfigurationException(f"{files[0]} cannot be deployed: {text}", problems)
    return Deployment(
        defined.flows,
        defined.broker,
        defined.queue_manager,
        defined.dead_letter_queue,
        {name: queue_attributes(attributes) for name, attributes in defined.queues.items()},
        {name: str(has["TARGET"]) for name, has in defined.queues.items() if _is_alias(has)},
        defined.executors,
        Databases(definitions_in(defined.data_sources)),
    )


def _is_alias(has: Mapping[str, str | int]) -> bool:
    """Returns whether attributes are those of a queue that stands for another queue, and not for a topic."""
    return "TARGET" in has and has.get("TARGTYPE", "QUEUE") == "QUEUE"


def with_sources(deployment: Deployment, options: Sequence[str], effects: str) -> Deployment:
    """The deployment with the data sources of options in front of its own, and what becomes of effects on them."""
    if effects and effects not in EFFECTS:
        raise ConfigurationException(f"--effects {effects} is none of {', '.join(EFFECTS)}")
    found = definitions_of(options, deployment.databases.definitions)
    return replace(deployment, databases=Databases(found, effects or EXACTLY_ONCE))


class Built(NamedTuple):
    """A flow, deployed in this process.

    `shares` says that a program of it declares SHARED variables, which all of its messages see; `changes` are the data
    sources that it may change, where its changes are prepared.
    """

    flow: DeployedFlow
    shares: bool
    changes: tuple[str, ...]


@lru_cache(maxsize=64)
def built(shipped: Shipped, databases: Databases = NONE, *, looked_up: bool = True) -> Built:
    """The flow, deployed once in each process; `looked_up` asks its databases for the tables that it names."""
    flow = shipped.flow()
    sources = opened(databases) if looked_up else None
    bound = binder(flow, files=shipped.files, given=dict(shipped.given), sources=sources)
    changed = checked_effects(flow, bound, databases)
    shared = any(routine.entrance.shares for routine in bound.routines.values())
    return Built(deploy(flow, bind=bound), shared, changed)

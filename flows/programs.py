"""The ESQL of flows: found in .esql files and in properties, examined, compiled, and bound to nodes at deploy.

A property that is ESQL holds either the name of a module or the program itself. It is a name if it is one dotted name
and nothing else: `Module`, `schema.Module`, either with `.Main` behind it, or `esql://routine/schema#Module.Main`. Of
a Filter's, names that begin with a tree of the message (`Body.Urgent`) and the words TRUE, FALSE, UNKNOWN and NULL are
conditions. All else is the program.

Modules are looked for in the .esql files beside the flow, and in the folders of the schemas that the names and these
files speak of, which lie below the flow's own folder or below the one that its own schema starts from. They are
compiled together, once for each binder.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from engine.budget import GENEROUS, Allowance
from engine.catalog import Catalog, did_you_mean
from engine.errors import LOCAL_ERROR, LONGEST_SHOWN_LINE, USER_TRACE, ConfigurationException, Place, Problem, marked
from engine.files.allowed_folders import NO_FILES, AllowedFiles
from engine.flow.definition import FLOW_PROPERTIES, Flow, FlowProperties, NodeUse, Setting, plain
from engine.flow.lint import UNFIT
from engine.node import Esql, Inserts, NodeType, Property, node_catalog, read_values
from engine.parser import Parser
from engine.runtime.user_trace import UserTrace
from esql.cache import Cache, users_cache
from esql.runtime.activation import Shared, Surroundings
from esql.runtime.limits import limits_around
from esql.runtime.program import Compiled, Entrance, Routine
from esql.runtime.trace_patterns import Bound, Expression, pieces
from esql.text import SyntaxProblems
from esql.values.types import Value
from flows.esql_files import find_sources, line_of, name_of, text_in_place
from flows.message_sets import MODEL_ENDINGS, model_files_of, model_parsers

if TYPE_CHECKING:
    from engine.databases.sources import Sources as DataSources

Key = tuple[str, str]
Sources = Sequence[tuple[str, bytes]]
NOTHING: Final[Mapping[str, Value]] = {}
INSERT: Final = "INSERT"  # the kind of an expression within a text


@dataclass(frozen=True, slots=True)
class Binder:
    """The binder of programs that `deploy(flow, bind=...)` asks for those of a flow's nodes.

    Instances of a flow that are deployed with one binder have their SHARED variables in common. `files` are those that
    its nodes may write.
    """

    routines: Mapping[Key, Routine]
    parsers: Mapping[str, Parser] = field(default_factory=dict)
    files: AllowedFiles = NO_FILES
    allowance: Allowance = GENEROUS

    def __call__(self, declared: Property, value: object, place: Place) -> object:
        """The program of a property that is ESQL; other properties stay what they are."""
        if isinstance(value, str) and any(isinstance(mark, Inserts) for mark in declared.marks):
            inside = [piece.text for piece in pieces(value) if isinstance(piece, Expression)]
            known = {text: self.routines.get((place.node, _insert(text))) for text in inside}
            return Bound(value, {text: routine for text, routine in known.items() if routine}) if inside else value
        return self.routines.get((place.node, declared.name), value)

    @property
    def asking_databases(self) -> tuple[str, ...]:
        """The labels of the nodes whose programs have statements of databases."""
        return tuple(dict.fromkeys(label for (label, _), routine in self.routines.items() if routine.statements()))

    def afresh(self) -> Binder:
        """The same programs, their SHARED variables as they are when a flow is first deployed."""
        programs = {id(r.program): replace(r.program, shared=Shared(r.program.places)) for r in self.routines.values()}
        routines = {key: replace(r, program=programs[id(r.program)]) for key, r in self.routines.items()}
        return replace(self, routines=routines)

    def allowing(self, files: AllowedFiles) -> Binder:
        """Returns the same programs for nodes that may write these files."""
        return replace(self, files=files)


def binder(  # noqa: PLR0913 - what is around a deployment
    flow: Flow,
    *,
    given: Mapping[str, Value] = NOTHING,
    files: Sources | None = None,
    catalog: Catalog[NodeType] = node_catalog,
    trace: UserTrace | None = None,
    cache: Cache | None = None,
    sources: DataSources | None = None,
) -> Binder:
    """Compile the programs of an expanded flow; raises with all that is wrong with them.

    With `trace` they are compiled to write to it what they do; without it there is nothing of that in them.

    `given` are properties that the broker around the flow knows, such as BrokerName and ExecutionGroupLabel; `files`
    are its .esql files and message sets, by name, where they are not to be looked for beside the flow. Without a
    `cache` it is the user's. In `sources` the tables and columns that the programs name are looked up.
    """
    kept = cache or users_cache()
    programs = None if files is None else [file for file in files if not file[0].endswith(MODEL_ENDINGS)]
    examined = _Examination(flow, catalog, programs, kept, trace.level if trace else "").examined()
    parsers, wrong = model_parsers(flow, files)
    if examined.problems or wrong:
        problems = tuple(sorted({*examined.problems, *wrong}))
        raise ConfigurationException(f"{flow.file or flow.name} cannot be deployed: {problems[0].text}", problems)

    def around(use: NodeUse) -> Surroundings:
        known = _surroundings(flow, use, given)
        return replace(known, trace=trace.write) if trace else known

    uses = [use for use in examined.uses() if use.key in examined.programs]
    routines = {use.key: Routine(*examined.programs[use.key], around(use.node)) for use in uses}
    if sources is not None:
        check_tables(flow, routines, sources)
    return Binder(routines, parsers, allowance=limits_around().allowance)


def check_tables(flow: Flow, routines: Mapping[Key, Routine], sources: DataSources) -> None:
    """Raise with every table, column and data source that is not there, or that cannot be coordinated with another."""
    from flows.data_sources import (
        uncoordinated,
        unknown_tables,  # it brings what databases need, which most flows do without
    )

    problems = (*unknown_tables(flow, routines, sources), *uncoordinated(flow, routines, sources))
    if problems:
        raise ConfigurationException(f"{flow.file or flow.name} cannot be deployed: {problems[0].text}", problems)


def files_of(flow: Flow, catalog: Catalog[NodeType] = node_catalog) -> Sources:
    """The .esql files, message sets and schemas that an expanded flow needs: what `binder` is given elsewhere."""
    return [*_Examination(flow, catalog, None, Cache()).found()[0], *model_files_of(flow)]


def files_read(*flows: Flow) -> list[str]:
    """The files that flows were read from, and the .esql files, message sets and schemas that they need."""
    own = [file for flow in flows for file in (flow.file, *(use.place.file for use in flow.nodes))]
    needed = [name for flow in flows for name, _ in files_of(flow)]
    return list(dict.fromkeys(file for file in (*own, *needed) if file))


def programs_of(flow: Flow, catalog: Catalog[NodeType]) -> tuple[list[tuple[str, str | None, str]], Sources]:
    """Each program of a flow by its node, the module that it is or None, and its text; and the .esql files."""
    examination = _Examination(flow, catalog, None, Cache())
    return [(use.node.label, use.module, use.text) for use in examination.uses()], examination.found()[0]


def problems_of(*flows: Flow, catalog: Catalog[NodeType] = node_catalog) -> tuple[Problem, ...]:
    """Everything that is wrong with the programs of flows, sorted by place."""
    cache = users_cache()
    found = {one for flow in flows for one in _Examination(flow, catalog, None, cache).examined().problems}
    return tuple(sorted(found | {one for flow in flows for one in model_parsers(flow)[1]}))


def _surroundings(flow: Flow, use: NodeUse, given: Mapping[str, Value]) -> Surroundings:
    own = FlowProperties(**read_values(f"flow {flow.name}", FLOW_PROPERTIES, plain(flow.properties)))  # type: ignore[arg-type]
    properties: dict[str, Value] = {
        **given,
        "MessageFlowLabel": flow.name,
        "MessageFlowName": flow.qualified_name,
        "NodeLabel": use.label,
        "NodeName": use.label,
        "NodeType": f"ComIbm{use.type}Node",
        "AdditionalInstances": own.additional_instances,
        "CoordinatedTransaction": own.coordinated_transaction,
        "ProcessId": os.getpid(),
        "DataSource": str(use.values.get("dataSource", "")) or None,
    }
    external: dict[str, Value] = {s.name: s.value for s in flow.user_properties if isinstance(s.value, str)}
    return Surroundings(external=external, properties=properties, log=_log, limits=limits_around())


def _log(trace: bool, text: str) -> None:
    """LOG: to the user trace, or to the log of the system."""
    logging.getLogger(USER_TRACE if trace else LOCAL_ERROR).info("%s", text)


@dataclass(frozen=True, slots=True)
class _Use:
    """A property of a node that is ESQL, and what it was given."""

    node: NodeUse
    setting: Setting
    text: str
    kind: str

    @property
    def key(self) -> Key:
        return self.node.label, self.setting.name

    @property
    def module(self) -> str | None:
        return None if self.kind == INSERT else name_of(self.text, self.kind)


@dataclass(slots=True)
class _Examination:
    """Looks at all programs of one flow."""

    flow: Flow
    catalog: Catalog[NodeType]
    sources: Sources | None
    cache: Cache
    trace: str = ""
    programs: dict[Key, tuple[Compiled, Entrance]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def examined(self) -> _Examination:
        """Compile everything, and note what is wrong."""
        uses = list(self.uses())
        references = [use for use in uses if use.module is not None]
        if references:
            self._refer(references)
        for use in uses:
            if use.module is None:
                self._compile(use)
        return self

    def found(self) -> tuple[Sources, list[Problem]]:
        """The .esql files that the flow needs, and those that cannot be read."""
        if self.sources is not None:
            return self.sources, []
        references = [use for use in self.uses() if use.module is not None]
        files = dict.fromkeys(file for use in references if (file := use.setting.value_place.file or self.flow.file))
        return find_sources(list(files), self.flow.schema, [use.module or "" for use in references])

    def uses(self) -> Iterator[_Use]:
        """Every property of the flow's nodes that is ESQL."""
        for use in self.flow.nodes:
            node_type = self.catalog.get(use.type) if use.type else None
            known = {declared.name: declared for declared in node_type.properties} if node_type else {}
            for setting in use.settings:
                marks = known[setting.name].marks if setting.name in known else ()
                if isinstance(setting.value, str) and any(isinstance(mark, Inserts) for mark in marks):
                    yield from _inserts(use, setting, setting.value)
                kind = next((mark.kind.upper() for mark in marks if isinstance(mark, Esql)), "")
                if kind and isinstance(setting.value, str):
                    yield _Use(use, setting, setting.value, kind)

    def _refer(self, uses: list[_Use]) -> None:
        sources, unreadable = self.found()
        self.problems += unreadable
        try:
            compiled = self.cache.sources(sources, trace=self.trace)
        except SyntaxProblems:
            from esql.compile import problems_in  # it brings the reader of ESQL, which a program from the cache spares

            self.problems += (_problem(found) for found in problems_in(sources))
            return
        for use in uses:
            entrance = self._entrance(compiled, use)
            if entrance is not None:
                self.programs[use.key] = compiled, entrance

    def _entrance(self, compiled: Compiled, use: _Use) -> Entrance | None:
        name = use.module or ""
        module = name[: -len(".Main")] if name.lower().endswith(".main") else name
        modules = {known: one for known, one in compiled.entrances.items() if known}
        found = _module(modules, name, self.flow.schema) or _module(modules, module, self.flow.schema)
        if not name:
            self._complain(use, f"{use.text.strip()} names no module: write esql://routine/schema#Module.Main")
        elif found is None:
            advice = did_you_mean(module, [*modules, *(known.rpartition(".")[2] for known in modules)])
            advice = advice or f"; {_listed(list(modules))}"
            self._complain(use, f"no .esql file here has a module {module}{advice}")
        elif found.kind != use.kind:
            self._complain(use, f"{found.name} is a {found.kind} module; {use.setting.name} needs a {use.kind} module")
            return None
        return found

    def _complain(self, use: _Use, text: str) -> None:
        place = use.setting.value_place
        if not place.file:
            place = Place(file=".".join((self.flow.qualified_name, *use.key)))
        self.problems.append(marked(place, text, use.text.strip(), UNFIT, line_of(place)))

    def _compile(self, use: _Use) -> None:
        """Compile the text of a property; its lines and columns are those of the flow's file where it stands so."""
        place = use.setting.value_place
        in_place = None if use.kind == INSERT else text_in_place(use.text, place)
        name = ".".join((self.flow.qualified_name, *use.key)) if in_place is None else place.file
        try:
            text = use.text if in_place is None else in_place
            if use.kind == INSERT:
                compiled = self.cache.expression(text, name)
            else:
                compiled = self.cache.text(text, use.kind, name, trace=self.trace)
        except SyntaxProblems as found:
            for one in found.problems:
                if in_place is not None or not place.file:
                    self.problems.append(_problem(one))
                else:
                    at = f"line {one.line} of {use.setting.name}, column {one.column}"
                    self._complain(use, f"{one.text} ({at})")
            return
        self.programs[use.key] = compiled, compiled.entrance()


def _inserts(use: NodeUse, setting: Setting, text: str) -> Iterator[_Use]:
    """The expressions in a text that has some, each as if it were a property of its own."""
    for piece in pieces(text):
        if isinstance(piece, Expression):
            yield _Use(use, replace(setting, name=_insert(piece.text)), piece.text, INSERT)


def _insert(text: str) -> str:
    return f"${{{text}}}"


def _module(modules: Mapping[str, Entrance], name: str, schema: str) -> Entrance | None:
    """The module of a name: as it stands, of the flow's schema, or the only one that is called so in any schema."""
    tests: tuple[Callable[[str], bool], ...] = (
        lambda known: known == name,
        lambda known: bool(schema) and known == f"{schema}.{name}",
        lambda known: known.endswith(f".{name}"),
        lambda known: f".{known}".lower().endswith(f".{name}".lower()),
    )
    for test in tests:
        found = [one for known, one in modules.items() if test(known)]
        if len(found) == 1:
            return found[0]
    return None


def _listed(modules: list[str]) -> str:
    return f"the modules are {', '.join(modules)}" if modules else "there are no modules"


def _problem(found: Problem) -> Problem:
    """A problem of ESQL without a source line that is too long to be shown."""
    return found if len(found.source_line) <= LONGEST_SHOWN_LINE else replace(found, source_line="")

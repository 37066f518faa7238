"""Syntax -> a syntax tree of Python, which says where each piece of it comes from: routines, and what is outside."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from engine.errors import Problem
from esql import syntax
from esql.emit import (
    assignments,
    cached_elements,
    calls,
    conditions,
    control_flow,
    databases,
    emitted_code,
    eval_scope,
    functions,
    operations,
    paths,
    selects,
    tree_statements,
)
from esql.emit.assignments import initialize
from esql.emit.calls import parameter_variable, with_outputs
from esql.emit.emitted_code import Constants, EmitError, EmittedRoutine, Unit
from esql.emit.function_body import Body, Tables, called
from esql.emit.integer_formulas import settled
from esql.emit.python_nodes import attribute, compare, constant, do, function, group, method, name, when
from esql.emit.variable_analysis import given_by_calls, is_shared_tree, never_null, sends, walk
from esql.runtime.linker import EntryPoint
from esql.scope import Resolution, RoutineFacts, body_may_propagate
from esql.scope.references import DeclaredRoutine, Variable

__all__ = ["Deployment", "Emitted"]

TABLES: Final = Tables(
    expressions={
        **emitted_code.EXPRESSIONS,
        **operations.EXPRESSIONS,
        **conditions.EXPRESSIONS,
        **paths.EXPRESSIONS,
        **functions.EXPRESSIONS,
        **calls.EXPRESSIONS,
        **selects.EXPRESSIONS,
        **databases.EXPRESSIONS,
    },
    conditions={**operations.CONDITIONS, **conditions.CONDITIONS},
    lists={**paths.LISTS, **selects.LISTS, **databases.LISTS},
    statements={
        **assignments.STATEMENTS,
        **control_flow.STATEMENTS,
        **tree_statements.STATEMENTS,
        **calls.STATEMENTS,
        **databases.STATEMENTS,
    },
    plan=cached_elements.plan,
    forgotten=cached_elements.forgotten,
    scope=control_flow.scope,
)


class Deployment:
    """Programs that are emitted together: their constants, routines and variables have names that no other has."""

    __slots__ = ("_count", "_facts", "_seen", "_trace", "constants", "places", "routines")

    def __init__(
        self, facts: Mapping[int, RoutineFacts], resolutions: Iterable[Resolution], *, trace: str = ""
    ) -> None:
        """`trace` has statements (normal), or values as well (debug), written to the user trace; empty: nothing."""
        self._facts = facts
        self._trace = trace
        # what one file declares may be used in others alone, or in a text of EVAL alone
        every = list(resolutions)
        found = (reference for one in every for reference in one.references.values())
        self._seen = [variable for one in every for variable in eval_scope.given_to_texts(one)]
        self._seen += [reference for reference in found if isinstance(reference, Variable)]
        self._count = 0
        self.constants = Constants()
        self.routines: dict[DeclaredRoutine, EmittedRoutine] = {}
        self.places: dict[tuple[Variable, str], int] = {}
        for number, known in enumerate(facts.values()):
            self.routines[known.routine] = EmittedRoutine(f"r{number}", known.may_propagate)

    def emit(self, resolution: Resolution, file: str, lines: tuple[str, ...]) -> Emitted:
        """Emit one program."""
        return self._emitter(resolution, file, lines).program(resolution.program)

    def emit_text(self, resolution: Resolution, given: GivenDeclarations, *, is_expression: bool) -> Emitted:
        """Emit a text of EVAL, with the declarations of the variables that it is given."""
        emitter = self._emitter(resolution, "EVAL", ())
        return emitter.text_with(resolution.program, given, is_expression=is_expression)

    def _emitter(self, resolution: Resolution, file: str, lines: tuple[str, ...]) -> Emitter:
        unit = Unit(resolution, file, lines, self.constants, self.routines, self.places, self._trace)
        unit.learn(self._seen)
        unit.shares_trees = any(is_shared_tree(variable) for variable in (*self._seen, *unit.named.values()))
        self._count += 1
        return Emitter(unit, TABLES, self._facts, f"p{self._count}_")


# The declarations of variables that a text of EVAL is handed, and the numbers of those that it uses where they are.
GivenDeclarations: TypeAlias = tuple[Sequence[syntax.Declare], Sequence[eval_scope.StoredVariable]]
HERE = "here"
DEPTH = "depth"


@dataclass(slots=True)
class Emitted:
    """A program in Python: its functions, and which of them are entered from outside."""

    tree: ast.Module
    entrances: list[EntryPoint] = field(default_factory=list)
    starts: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Emitter:
    """The emission of one program."""

    unit: Unit
    tables: Tables
    facts: Mapping[int, RoutineFacts]
    prefix: str
    functions: list[ast.stmt] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def text_with(self, node: syntax.Program, given: GivenDeclarations, *, is_expression: bool) -> Emitted:
        """A text that is given routines and variables, and gives these back; an expression gives its value."""
        self.unit.text_is_local = True
        body = Body(self.unit, self.tables, self.unit.resolution.kind)
        contents: list[ast.expr] = []
        handed, stored = given
        self._place_stored(stored)
        for declared in handed:
            variable = self.unit.named.get((id(declared), declared.names[0]))
            variable = variable or Variable(declared.names[0], declared.type, "text", declared)
            contents += [body.load(variable)] + ([body.load(variable, "moved")] if variable.is_reference else [])
        slots = [slot for slot in dict.fromkeys(one.slot for one in self.unit.routines.values()) if slot]
        slots += [one.id for one in contents if isinstance(one, ast.Name)]
        kept = {id(one) for one in (*handed, *(one.declaration for one in stored))}
        statements = [one for one in node.statements if id(one) not in kept and not isinstance(one, syntax.Routine)]
        last = constant(None) if is_expression else group(contents)
        emitted = EmittedRoutine(f"{self.prefix}text", yields=False)
        self._finish(body, emitted, slots, statements, last, node)
        entrance = EntryPoint(self.unit.resolution.kind, "", emitted.slot, body.yields)
        return Emitted(ast.Module(self.functions, []), [entrance], problems=self.problems)

    def _place_stored(self, stored: Sequence[eval_scope.StoredVariable]) -> None:
        """Find the variables of a text that live outside functions where the program around it keeps them."""
        for one in stored:
            variable = self.unit.named.get((id(one.declaration), one.declaration.names[0]))
            if variable is not None:
                self.unit.stored.add(variable)
                self.unit.places[variable, ""] = one.place
                if one.moved is not None:
                    self.unit.places[variable, "moved"] = one.moved

    def program(self, node: syntax.Program) -> Emitted:
        """All functions of a program."""
        for routine in self.unit.resolution.routines:
            if not isinstance(routine.node.body, syntax.External):
                self._routine(routine)
        made = Emitted(ast.Module(self.functions, []), problems=self.problems)
        modules = [one for one in node.statements if isinstance(one, syntax.Module)]
        declared = [one for one in node.statements if isinstance(one, syntax.Declare)]
        if modules or not (self.unit.resolution.kind or self._is_text(node)):
            made.starts, made.shares = self._variables("schema", declared)
            made.entrances = [self._module(one) for one in modules]
        else:
            made.entrances = [self._text(node)]
        return made

    def _is_text(self, node: syntax.Program) -> bool:
        return any(not isinstance(one, syntax.Declare | syntax.Routine | syntax.Module) for one in node.statements)

    def _module(self, node: syntax.Module) -> EntryPoint:
        main = self._main(node)
        declared = [one for one in node.statements if isinstance(one, syntax.Declare)]
        starts, shares = self._variables(node.name, declared, node.kind)
        if main is None and node.kind == "DATABASEEVENT":  # it has ReadEvents, BuildMessage and EndEvent instead
            return EntryPoint(node.kind, node.name, "", yields=False)
        if main is None:
            error = EmitError(node, f"{node.name} has no function Main, where it would start")
            self.problems.append(self.unit.problem(error))
            return EntryPoint(node.kind, node.name, "", yields=False)
        emitted = self.unit.routines[main]
        return EntryPoint(node.kind, node.name, emitted.slot, emitted.yields, starts, shares)

    def _main(self, node: syntax.Module) -> DeclaredRoutine | None:
        mains = [one for one in self.unit.resolution.routines if one.module is node]
        return next((one for one in mains if one.node.name.lower() == "main"), None)

    # functions

    def _routine(self, routine: DeclaredRoutine) -> None:
        facts, emitted = self.facts[id(routine.node)], self.unit.routines[routine]
        kind = "" if routine.module is None else routine.module.kind
        body = Body(self.unit, self.tables, kind, routine, yields=emitted.yields)
        parameters = [parameter_variable(body, one) for one in routine.node.parameters]
        slots = [body.slot(variable) for variable in parameters]
        moved = [body.moved(variable) for variable in parameters if variable.is_reference]
        if facts.is_recursive:
            body.emit(_depth_test())
        body.emit(*called())
        body.emit(*(one for variable in parameters for one in _entered(body, variable)))
        statement = routine.node.body
        assert not isinstance(statement, syntax.External)
        is_main = routine.node.name.lower() == "main" and routine.module is not None
        last = constant(True if is_main else None)
        made = self._finish(body, emitted, [*slots, *moved], [statement], last, routine.node)
        made.args.defaults = [ast.copy_location(constant(True), made) for _ in moved]

    def _text(self, node: syntax.Program) -> EntryPoint:
        yields = body_may_propagate(self.unit.resolution, self.facts)
        emitted = EmittedRoutine(f"{self.prefix}main", yields)
        body = Body(self.unit, self.tables, self.unit.resolution.kind, yields=yields)
        statements = [one for one in node.statements if not isinstance(one, syntax.Routine)]
        self._finish(body, emitted, [], statements, constant(True), node)
        kind = self.unit.resolution.kind
        shared = [one for one in statements if isinstance(one, syntax.Declare) and one.lifetime == "SHARED"]
        self._start_alone(shared)
        return EntryPoint(kind, "", emitted.slot, yields, shares=self._starting(shared, "share", "", kind))

    def _finish(
        self,
        body: Body,
        emitted: EmittedRoutine,
        slots: list[str],
        statements: Iterable[syntax.Statement],
        last: ast.expr,
        node: syntax.Node,
    ) -> ast.FunctionDef:
        listed = list(statements)
        nodes = list(walk(listed))
        body.given_by_calls = frozenset(given_by_calls(body, nodes))
        try:
            body.memory = self.tables.plan(body, () if self.unit.shares_trees else listed)
        except EmitError:  # the statement that it is about says so, with all others
            body.memory = {}
        body.never_null = never_null(body, nodes)
        body.settled = settled(body, nodes)
        body.has_handlers = any(isinstance(one, syntax.DeclareHandler) for one in nodes)
        has_scope = any(isinstance(one, syntax.DeclareHandler) for one in listed)
        for together in [listed] if has_scope else [[one] for one in listed]:
            self._guarded(body, together)
        inside = [*body.opening(), *body.statements]
        if not body.statements or not isinstance(body.statements[-1], ast.Return | ast.Raise):
            inside.append(ast.Return(with_outputs(body, last)))
        made = function(emitted.slot, [HERE, DEPTH, *slots], inside)
        if emitted.yields and not sends([made]):
            made.body.insert(0, when(constant(False), [do(ast.Yield(constant(None)))]))
        body.locate(made, node)
        self.functions.append(made)
        return made

    def _guarded(self, body: Body, statements: Sequence[syntax.Statement]) -> None:
        try:
            self.tables.scope(body, statements)
        except EmitError as error:
            self.problems.append(self.unit.problem(error))

    # variables that live outside routines

    def _variables(
        self, title: str, declared: list[syntax.Declare], kind: str = ""
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Functions that start variables: those of an invocation, and those that the flow shares."""
        own = [one for one in declared if one.lifetime != "SHARED"]
        shared = [one for one in declared if one.lifetime == "SHARED"]
        return self._starting(own, "start", title, kind), self._starting(shared, "share", title, kind)

    def _starting(self, declared: list[syntax.Declare], what: str, title: str, kind: str) -> tuple[str, ...]:
        body = Body(self.unit, self.tables, kind)
        for node in declared:
            for variable_name in node.names:
                variable = self.unit.named.get((id(node), variable_name))
                if variable is not None:
                    self._initialized(body, node, variable)
        if not body.statements:
            return ()
        slot = f"{self.prefix}{what}{len(self.functions)}"
        made = function(slot, [HERE, DEPTH], [*body.opening(), *body.statements])
        body.locate(made, declared[0])
        self.functions.append(made)
        return (slot,)

    def _start_alone(self, shared: list[syntax.Declare]) -> None:
        """Refuse what a SHARED variable of a text cannot start with, which starts before all other variables."""
        for node in shared:
            for one in walk([] if node.initial is None else [node.initial]):
                variable = self.unit.resolution.variable(one) if isinstance(one, syntax.Path) else None
                if variable is not None and variable.role == "text" and not (variable.is_fixed or variable.lifetime):
                    text = f"a SHARED variable starts before {variable.name} has a value: use constants and SHARED ones"
                    self.problems.append(self.unit.problem(EmitError(one, text)))

    def _initialized(self, body: Body, node: syntax.Declare, variable: Variable) -> None:
        try:
            with body.block() as inside:
                initialize(body, node, variable)
        except EmitError as error:
            self.problems.append(self.unit.problem(error))
            return
        body.locate(inside, node)
        body.emit(*inside)


def _depth_test() -> ast.stmt:
    test = compare(name(DEPTH), ast.Gt(), attribute(HERE, "deepest"))
    return when(test, [do(method(HERE, "too_deep", name(DEPTH)))])


def _entered(body: Body, variable: Variable) -> list[ast.stmt]:
    """Returns what is done with a parameter when the routine is entered."""
    declared = variable.declaration
    if variable.type_name == "ROW" and getattr(declared, "direction", None) == "OUT":
        return [do(method(body.load(variable), "clear"))]
    return []

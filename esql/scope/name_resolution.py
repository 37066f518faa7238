"""The walk through a program in the order of its text, which gives every name its meaning.

It keeps its own stack: however deep a program nests, Python's stack does not grow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from esql import syntax
from esql.names.constants import constants
from esql.names.predefined import XML_PREFIXES
from esql.scope.deployed_routines import Library, Routines, declared, schema_of
from esql.scope.references import (
    Callables,
    DeclaredRoutine,
    Duplicate,
    Label,
    Missing,
    Place,
    Reference,
    Scope,
    Variable,
    Visit,
    find_label,
    find_name,
    find_qualified,
    find_terminal,
    scalar_behind,
)
from esql.syntax.node import children

_CALLS = syntax.Call | syntax.CallStatement
Action = Callable[[Any, Place], None]
_WORD = re.compile(r"[^\W\d]\w*")
_DEFAULT_CORRELATION = "I"
REMEMBERED = 200


class Walk:
    """A walk under way: what is still to visit, and what has been found."""

    def __init__(self, program: syntax.Program, kind: str, library: Library, *, is_file: bool) -> None:
        self.program = program
        self.is_file = is_file
        self.kind = kind
        self.library = library
        self.references: dict[int, Reference] = {}
        self.visits: list[Visit] = []
        self.missing: list[Missing] = []
        self.duplicates: list[Duplicate] = []
        self.routines: list[DeclaredRoutine] = []
        path = () if program.prologue is None else program.prologue.path
        self.callables = Callables(library, Routines(), {}, (schema_of(program), *path))
        self._stack: list[tuple[Action, Any, Place]] = []
        self._file = library.file(program)
        self._known: dict[int, DeclaredRoutine] = {}
        self._of_text: dict[tuple[int, str], Variable] = {}
        self._outermost = Scope(library.scope(self.callables.schemas))

    def run(self) -> None:
        """Visit everything."""
        self._collect(self.program.statements, None, self.callables.own)
        self._find_twice_declared_modules()
        place = Place(self.kind, self._outermost)
        if self.is_file:
            self._predeclare(self.program.statements, place, "schema")
        elif self.kind:
            declarations = [one for one in self.program.statements if isinstance(one, syntax.Declare)]
            self._of_text = {(id(one), name): declared(one, name, "text") for one in declarations for name in one.names}
        self._push_into(self.program.statements, place)
        while self._stack:
            action, subject, place = self._stack.pop()
            action(subject, place)

    def _collect(self, statements: Iterable[syntax.Statement], module: syntax.Module | None, into: Routines) -> None:
        """Learn the routines of a list of statements before any of them is called."""
        shared = self.library.routines(schema_of(self.program))
        for statement in statements:
            if not isinstance(statement, syntax.Routine):
                continue
            known = shared.exact.get(statement.name) if module is None else None
            if known is None or known.node is not statement:
                known = DeclaredRoutine(statement, self._file.name, schema_of(self.program), module)
            if statement.name in into.exact:
                self.duplicates.append(Duplicate("routine", statement.name, statement))
            into.add(known)
            self._known[id(statement)] = known
            self.routines.append(known)

    def _find_twice_declared_modules(self) -> None:
        known: set[tuple[str, str]] = set()
        for statement in self.program.statements:
            if isinstance(statement, syntax.Module):
                if (statement.kind, statement.name) in known:
                    self.duplicates.append(Duplicate("module", statement.name, statement))
                known.add((statement.kind, statement.name))

    def _predeclare(self, statements: Iterable[syntax.Statement], place: Place, role: str) -> None:
        for statement in statements:
            if isinstance(statement, syntax.Declare):
                self._declare_names(statement, place, role)

    def _declare_names(self, node: syntax.Declare, place: Place, role: str) -> None:
        pointed = scalar_behind(node, self.references)
        if pointed is not None:
            for name in node.names:
                self._declare(pointed, place, node, alias=name)
            return
        for name in node.names:
            known = self.library.variable(node, name) if role == "schema" else self._of_text.get((id(node), name))
            self._declare(known or declared(node, name, role), place, node)

    def _declare(self, variable: Variable, place: Place, node: syntax.Node, alias: str = "") -> None:
        if not place.scope.declare(variable, alias):
            what = {"parameter": "parameter", "select": "correlation name"}.get(variable.role, "variable")
            self.duplicates.append(Duplicate(what, alias or variable.name, node))

    def _push(self, nodes: Iterable[syntax.Node], place: Place) -> None:
        self._stack.extend((self._visit, node, place) for node in reversed(tuple(nodes)))

    def _push_block(self, statements: tuple[syntax.Statement, ...], place: Place) -> None:
        """Push statements with a scope of their own."""
        self._push_into(statements, replace(place, scope=place.scope.inner()))

    def _push_into(self, statements: tuple[syntax.Node, ...], place: Place) -> None:
        kinds = [statement.kind for statement in statements if isinstance(statement, syntax.DeclareHandler)]
        self._push(statements, replace(place, continues=True) if "CONTINUE" in kinds else place)

    def _visit(self, node: syntax.Node, place: Place) -> None:
        self.visits.append(Visit(node, place))
        visit = self.VISITS.get(type(node))
        if visit is None:
            self._push(children(node), place)
        else:
            visit(self, node, place)

    def _miss(self, what: str, name: str, node: syntax.Node, place: Place) -> None:
        # the scope grows on; what is in sight now must be remembered, but not thousands of times
        few = len(self.missing) < REMEMBERED
        seen = Scope(place.scope.parent, dict(place.scope.names)) if few else Scope()
        known = self.callables.names(node.name, place) if few and isinstance(node, _CALLS) else ()
        self.missing.append(Missing(what, name, node, replace(place, scope=seen), known))

    # declarations

    def _module(self, node: syntax.Module, place: Place) -> None:
        routines = self.callables.modules[id(node)] = Routines()
        self._collect(node.statements, node, routines)
        place = replace(place, kind=node.kind, module=node, scope=place.scope.inner())
        self._predeclare(node.statements, place, "module")
        self._push(node.statements, place)

    def _routine(self, node: syntax.Routine, place: Place) -> None:
        known = self._known.get(id(node)) or DeclaredRoutine(node, self._file.name)
        self.references[id(node)] = known
        scope = place.scope.inner()
        if self._of_text and place.module is None:
            scope = self._with_all_of_text(scope)
        place = Place(place.kind, scope, place.module, known)
        for item in node.parameters:
            role = Variable(item.name, item.type, "parameter", item, None, item.constant, item.direction or "IN")
            self._declare(role, place, item)
        self._push((*node.parameters, node.body), place)

    def _with_all_of_text(self, scope: Scope) -> Scope:
        """The scope of a routine in a text: it sees the text's single values wherever in the text they are declared."""
        for variable in self._of_text.values():
            is_tree = variable.type_name in ("REFERENCE", "ROW")  # which is nothing before it is declared
            if not is_tree and scope.find(variable.name, exactly=True) is None:
                scope.declare(variable)
        return scope.inner()

    def _declaration(self, node: syntax.Declare, place: Place) -> None:
        is_known = place.is_outermost and (place.module is not None or self.is_file)
        if not is_known:
            # names are in sight after the value they start with
            self._stack.append((self._declare_local, node, place))
        if node.initial is not None:
            self._push((node.initial,), place)

    def _declare_local(self, node: syntax.Declare, place: Place) -> None:
        self._declare_names(node, place, "text" if place.scope is self._outermost else "local")

    def _handler(self, node: syntax.DeclareHandler, place: Place) -> None:
        # what a CONTINUE handler goes on with lies outside it
        self._push((*node.conditions, node.body), replace(place, in_handler=True, scope=place.scope.inner()))

    # blocks

    def _labelled(self, node: syntax.Block, place: Place) -> Place:
        if node.label is None:
            return place
        found = find_label(node.label, place)
        if found is not None and found.name == node.label:
            self.duplicates.append(Duplicate("label", node.label, node))
        return replace(place, label=Label(node.label, node, place.label))

    def _compound(self, node: syntax.Compound | syntax.Loop | syntax.While, place: Place) -> None:
        inside = self._labelled(node, place)
        self._push_block(node.body, inside)
        if isinstance(node, syntax.While):
            self._push((node.condition,), inside)

    def _repeat(self, node: syntax.Repeat, place: Place) -> None:
        inside = replace(self._labelled(node, place), scope=place.scope.inner())
        # the condition sees what the body declares
        self._push_into((*node.body, node.condition), inside)

    def _for(self, node: syntax.For, place: Place) -> None:
        inside = replace(self._labelled(node, place), scope=place.scope.inner())
        role = Variable(node.correlation, syntax.DataType("REFERENCE"), "for", node)
        self.references[id(node)] = role
        self._stack.append((self._for_body, (node, role), inside))
        self._push((node.source,), place)

    def _for_body(self, subject: tuple[syntax.For, Variable], place: Place) -> None:
        node, role = subject
        place.scope.declare(role)
        self._push_block(node.body, place)

    def _choice(self, node: syntax.If | syntax.CaseStatement, place: Place) -> None:
        if node.otherwise is not None:
            self._push_block(node.otherwise, place)
        self._push(node.branches, place)
        if isinstance(node, syntax.CaseStatement) and node.operand is not None:
            self._push((node.operand,), place)

    def _branch(self, node: syntax.IfBranch | syntax.CaseStatementBranch, place: Place) -> None:
        self._push_block(node.body, place)
        self._push((node.condition,), place)

    # expressions that declare correlation names

    def _select(self, node: syntax.Select, place: Place) -> None:
        inside = replace(place, scope=place.scope.inner())
        rest = [*node.columns, node.item, node.condition]
        self._push([item for item in rest if item is not None], inside)
        for source in reversed(node.sources):
            self._stack.append((self._correlate, source, inside))
            self._push((source,), inside)

    def _correlate(self, node: syntax.FromItem, place: Place) -> None:
        name = node.correlation or _last_name(node.source)
        if name:
            self._declare(Variable(name, None, "select", node), place, node)

    def _quantified(self, node: syntax.Quantified, place: Place) -> None:
        inside = replace(place, scope=place.scope.inner())
        inside.scope.declare(Variable(node.correlation or _DEFAULT_CORRELATION, None, "quantified", node))
        self._push((node.condition,), inside)
        self._push((node.source,), place)

    def _of_table(self, node: syntax.Update | syntax.DeleteFrom, place: Place) -> None:
        inside = replace(place, scope=place.scope.inner())
        name = node.correlation or _last_name(node.table)
        if name:
            inside.scope.declare(Variable(name, None, "table", node))
        rest = [*(node.changes if isinstance(node, syntax.Update) else ()), node.condition]
        self._push([item for item in rest if item is not None], inside)
        self._push((node.table,), place)

    def _change(self, node: syntax.ColumnChange, place: Place) -> None:
        # the column is the table's
        self._push((node.source,), place)

    # names

    def _path(self, node: syntax.Path, place: Place) -> None:
        found: Reference | None = find_name(node.root, place)
        found = found or find_qualified(node)
        if found is not None:
            self.references[id(node)] = found
        elif node.root and constants(node.root) and len(node.steps) == 1:
            self._miss("element type", getattr(node.steps[0].name, "text", ""), node, place)
        else:
            self._miss("name", node.root, node, place)
        self._push(children(node), place)

    def _step(self, node: syntax.Step, place: Place) -> None:
        if isinstance(node.namespace, syntax.Name):
            self._prefix(node.namespace, place)
        if isinstance(node.name, syntax.Name):
            alias = place.scope.find(node.name.text, exactly=True)
            if alias is not None and alias.type_name == "NAME":
                self.references[id(node.name)] = alias
        self._push(children(node), place)

    def _prefix(self, node: syntax.Name, place: Place) -> None:
        found = place.scope.find_either(node.text)
        if found is not None:
            self.references[id(node)] = found
        elif _WORD.fullmatch(node.text) and node.text not in XML_PREFIXES:
            self._miss("prefix", node.text, node, place)

    def _call(self, node: syntax.Call | syntax.CallStatement, place: Place) -> None:
        found = self.callables.find(node.name, place)
        if found is None:
            self._miss("routine", ".".join(node.name), node, place)
        else:
            self.references[id(node)] = found
        self._push(children(node), place)

    def _create(self, node: syntax.CreateField, place: Place) -> None:
        if node.alias is not None:
            found = place.scope.find_either(node.alias)
            if found is None:
                self._miss("reference", node.alias, node, place)
            else:
                self.references[id(node)] = found
        self._push(children(node), place)

    def _propagate(self, node: syntax.Propagate, place: Place) -> None:
        terminal = find_terminal(node.terminal)
        if terminal is not None:
            self.references[id(node)] = terminal
        self._push(children(node), place)

    def _jump(self, node: syntax.Leave | syntax.Iterate, place: Place) -> None:
        label = find_label(node.label, place)
        if label is None:
            self._miss("label", node.label, node, place)
        else:
            self.references[id(node)] = label.block

    VISITS: ClassVar[Mapping[type, Callable[[Walk, Any, Place], None]]] = {
        syntax.Module: _module,
        syntax.Routine: _routine,
        syntax.Declare: _declaration,
        syntax.DeclareHandler: _handler,
        syntax.Compound: _compound,
        syntax.Loop: _compound,
        syntax.While: _compound,
        syntax.Repeat: _repeat,
        syntax.For: _for,
        syntax.If: _choice,
        syntax.IfBranch: _branch,
        syntax.CaseStatement: _choice,
        syntax.CaseStatementBranch: _branch,
        syntax.Select: _select,
        syntax.Quantified: _quantified,
        syntax.Update: _of_table,
        syntax.DeleteFrom: _of_table,
        syntax.ColumnChange: _change,
        syntax.Path: _path,
        syntax.Step: _step,
        syntax.Call: _call,
        syntax.CallStatement: _call,
        syntax.CreateField: _create,
        syntax.Propagate: _propagate,
        syntax.Leave: _jump,
        syntax.Iterate: _jump,
    }


def _last_name(source: syntax.Expression) -> str:
    """Give the name that a list or table goes by when AS does not give it one."""
    if not isinstance(source, syntax.Path):
        return ""
    return getattr(source.steps[-1].name, "text", "") if source.steps else source.root

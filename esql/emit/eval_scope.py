"""EVAL: what the text that is compiled at run time is given of the variables and routines around it."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from esql import syntax
from esql.emit.emitted_code import EmittedRoutine, Value
from esql.emit.function_body import Body
from esql.emit.paths import variable_value
from esql.emit.python_nodes import constant, group, method, name
from esql.scope.deployed_routines import evaluates
from esql.scope.references import DeclaredRoutine, Place, Resolution, Variable


class StoredVariable(NamedTuple):
    """A variable that lives outside functions, where a routine that the text calls may use it as well.

    A text is told its declaration, the number under which it is kept, and that of its last move.
    """

    declaration: syntax.Declare
    place: int
    moved: int | None


class GivenRoutine(NamedTuple):
    """A routine: its name in Python, whether it may PROPAGATE, the schema in front of its name, and its head."""

    slot: str
    yields: bool
    schema: tuple[str, ...]
    node: syntax.Routine


class Given(NamedTuple):
    """The variables, of which those of one function are handed over and come back, and the routines of a text.

    >>> given = Given((syntax.Declare(("x",), syntax.DataType("INTEGER")),))
    >>> Given.of(given.texts()) == given
    True
    """

    variables: tuple[syntax.Declare, ...] = ()
    stored: tuple[StoredVariable, ...] = ()
    routines: tuple[GivenRoutine, ...] = ()

    @classmethod
    def of(cls, texts: Sequence[str]) -> Given:
        """Read what stands as texts among the constants of a program."""
        variables, stored, routines = (_from_data(json.loads(text)) for text in texts)
        return cls(
            variables, tuple(StoredVariable(*one) for one in stored), tuple(GivenRoutine(*one) for one in routines)
        )

    def texts(self) -> tuple[str, ...]:
        """Write it as JSON, for constants are plain data."""
        return tuple(json.dumps(_to_data(part)) for part in self)


def _to_data(value: Any) -> Any:
    if isinstance(value, syntax.Node):
        said = [one.name for one in fields(value) if one.compare and getattr(value, one.name) is not None]
        return {"": type(value).__name__, **{title: _to_data(getattr(value, title)) for title in said}}
    return [_to_data(one) for one in value] if isinstance(value, tuple) else value


def _from_data(data: Any) -> Any:
    if isinstance(data, dict):
        return getattr(syntax, data.pop(""))(**{title: _from_data(part) for title, part in data.items()})
    return tuple(map(_from_data, data)) if isinstance(data, list) else data


def _routine_data(routine: DeclaredRoutine, emitted: EmittedRoutine, schema: tuple[str, ...]) -> GivenRoutine:
    """A routine without its body, unless that says where it lies outside ESQL."""
    if isinstance(routine.node.body, syntax.External):
        return GivenRoutine("", emitted.yields, schema, routine.node)
    return GivenRoutine(emitted.slot, emitted.yields, schema, replace(routine.node, body=syntax.Compound(())))


def _declaration(variable: Variable) -> syntax.Declare:
    """Returns a declaration of a variable; the name of an item has no type."""
    lifetime = "SHARED" if variable.lifetime == "SHARED" else None
    return syntax.Declare((variable.name,), variable.type or syntax.DataType(""), lifetime=lifetime)


def passed(body: Body, node: syntax.Node) -> list[Variable]:
    """The variables that a text is handed: what lives in this function, and constants."""
    return [variable for variable in _in_sight(body, node) if _is_passed(body, variable)]


def _is_passed(body: Body, variable: Variable) -> bool:
    return body.is_local(variable) or (variable.is_fixed and variable.lifetime is None)


def _stored_data(body: Body, variable: Variable) -> StoredVariable:
    moved = body.unit.place(variable, "moved") if variable.is_reference else None
    return StoredVariable(_declaration(variable), body.unit.place(variable), moved)


def _in_sight(body: Body, node: syntax.Node) -> list[Variable]:
    """The variables that a text may use, inner ones before those they hide."""
    place = _place_of(body, node)
    seen: dict[str, Variable] = {}
    for variable in () if place is None else place.scope.visible():
        if _is_there(body, variable, node):
            seen.setdefault(variable.name, variable)
    return list(seen.values())


def _place_of(body: Body, node: syntax.Node) -> Place | None:
    return next((visit.place for visit in body.unit.resolution.each(type(node)) if visit.node is node), None)


def _callable(body: Body, node: syntax.Node) -> list[GivenRoutine]:
    """The routines that a text may call: by their plain names and, behind them in order, by names with a schema."""
    plain = [_routine_data(*pair, ()) for pair in _in_path(body, node)]
    others = [pair for pair in body.unit.routines.items() if pair[0].module is None and pair[0].schema]
    return [*plain, *(_routine_data(*pair, pair[0].schema) for pair in sorted(others, key=lambda one: one[0].schema))]


def _in_path(body: Body, node: syntax.Node) -> list[tuple[DeclaredRoutine, EmittedRoutine]]:
    """The routines that a text may call by their plain names: of the module, of the schema, of those in PATH."""
    place, prologue = _place_of(body, node), body.unit.resolution.program.prologue
    module = None if place is None else place.module
    schemas = ((), ()) if prologue is None else (prologue.schema or (), *prologue.path)
    found: dict[str, tuple[DeclaredRoutine, EmittedRoutine]] = {}
    for of, schema in [(module, schemas[0]), *((None, schema) for schema in schemas)]:
        for routine, emitted in body.unit.routines.items():
            is_here = routine.module is of and (routine.schema == schema or routine in body.unit.resolution.routines)
            if is_here:
                found.setdefault(routine.node.name, (routine, emitted))
    return list(found.values())


def _is_there(body: Body, variable: Variable, node: syntax.Node) -> bool:
    """Returns whether a variable has a value where the text stands, and is of a kind that can be given."""
    at, here = variable.declaration.position, node.position
    if variable.type is None:  # the name of an item: it has a local once something goes through its list
        is_in_source = (at.line, at.column) <= (here.line, here.column) < (at.end_line, at.end_column)
        return variable in body.slots and not (is_in_source and isinstance(variable.declaration, syntax.FromItem))
    if variable.role in {"module", "schema", "parameter"}:
        return variable.lifetime != "SHARED" or variable.type_name != "REFERENCE"
    return (at.line, at.column) < (here.line, here.column)


def given_to_texts(resolution: Resolution) -> Iterator[Variable]:
    """The variables that texts of EVAL may use, whether anything else does or not."""
    for visit in resolution.each(syntax.Eval, syntax.Call):
        if evaluates(visit.node):
            # inner ones last, for a text's own declarations are known to its schema as well
            yield from reversed(list(visit.place.scope.visible()))


def contents_of(variables: Sequence[Variable]) -> list[tuple[Variable, str]]:
    """Returns what is given of variables, and comes back: of a reference also whether it moved."""
    return [(variable, what) for variable in variables for what in (("", "moved") if variable.is_reference else ("",))]


def evaluation(body: Body, node: syntax.Node, text: Value, *, is_expression: bool) -> ast.expr:
    """The call that compiles a text and runs it: a generator, as the text may PROPAGATE."""
    variables, routines = passed(body, node), _callable(body, node)
    given = Given(
        tuple(map(_declaration, variables)),
        tuple(_stored_data(body, one) for one in _in_sight(body, node) if not _is_passed(body, one)),
        tuple(routines),
    )
    loaded = [_loaded(body, variable, what) for variable, what in contents_of(variables)]
    functions: list[ast.expr] = [name(slot) for slot in slots_of(routines)]
    parts = [text.code, constant(body.kind), body.unit.constant(given.texts()), group([*functions, *loaded])]
    body.yields = True
    return ast.YieldFrom(method(name("here"), "evaluated", *parts, constant(is_expression)))


def slots_of(routines: Sequence[GivenRoutine]) -> list[str]:
    """The names in Python of the routines that a text is given, each once; what lies outside ESQL has none."""
    return [slot for slot in dict.fromkeys(one.slot for one in routines) if slot]


def _loaded(body: Body, variable: Variable, what: str) -> ast.expr:
    if what and variable.role == "for":
        return constant(True)  # it is moved to each item, and nowhere else
    if what or variable.type_name in {"REFERENCE", "ROW"}:
        return body.load(variable, what)
    return variable_value(body, variable).code

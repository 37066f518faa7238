"""EVAL: what the text that is compiled at run time is given of the variables and routines around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from esql import syntax
from esql.emit.emitted_code import EmittedRoutine, Value
from esql.emit.function_body import Body
from esql.emit.paths import variable_value
from esql.emit.python_nodes import constant, group, method, name
from esql.scope.deployed_routines import evaluates
from esql.scope.references import DeclaredRoutine, Place, Resolution, Variable

# What a text is given are constants of the code, so it is plain data. A type is its name, which is empty for the
# items of SELECT and of quantified predicates, precision, scale, and the largest and smallest field of an INTERVAL; a
# routine is told by its name in Python, whether it may PROPAGATE, its kind and name, its parameters, what it returns,
# if it does, the schema that stands in front of its name, if one does, and where it lies outside ESQL, its language,
# its name there, and how many result sets it gives.
#
# A variable that lives in one function is handed over and comes back; one that lives outside functions is used where it
# is, for a routine that the text calls may use it as well: whether it is SHARED, its number, and that of its last move.
Type: TypeAlias = tuple[str, int | None, int | None, str | None, str | None]
GivenVariable: TypeAlias = tuple[str, Type]
StoredVariable: TypeAlias = tuple[str, Type, bool, int, int | None]
Outside: TypeAlias = tuple[str | None, str, int | None]
GivenRoutine: TypeAlias = tuple[
    str, bool, str, str, tuple[tuple[str, str | None, Type], ...], Type | None, tuple[str, ...], Outside | None
]


class Given(NamedTuple):
    """The variables and the routines that a text of EVAL may use."""

    variables: tuple[GivenVariable, ...] = ()
    stored: tuple[StoredVariable, ...] = ()
    routines: tuple[GivenRoutine, ...] = ()


def declared(variables: Sequence[GivenVariable]) -> tuple[syntax.Declare, ...]:
    """The declarations of the variables that a text is given.

    >>> declared([("x", ("INTERVAL", None, None, "DAY", None))])[0].type.qualifier.largest
    'DAY'
    """
    return tuple(syntax.Declare((name,), _type(type_)) for name, type_ in variables)


def stored(variables: Sequence[StoredVariable]) -> tuple[syntax.Declare, ...]:
    """The declarations of the variables that a text uses where they are."""
    return tuple(
        syntax.Declare((name,), _type(type_), lifetime="SHARED" if is_shared else None)
        for name, type_, is_shared, _, _ in variables
    )


def routine_of(given: GivenRoutine) -> syntax.Routine:
    """The declaration of a routine that a text is given; its body is elsewhere."""
    _, _, kind, title, parameters, returns, _, outside = given
    language, external, sets = (None, "", None) if outside is None else outside
    return syntax.Routine(
        kind,
        title,
        tuple(syntax.Parameter(name, _type(type_), direction) for name, direction, type_ in parameters),
        syntax.Compound(()) if outside is None else syntax.External(external),
        None if returns is None else syntax.Returns(_type(returns)),
        language,
        sets,
    )


def _type(data: Type) -> syntax.DataType:
    name, precision, scale, largest, smallest = data
    units = None if largest is None else syntax.Qualifier(largest, smallest)
    return syntax.DataType(name, precision, scale, units)


def _type_data(of: syntax.DataType) -> Type:
    units = (None, None) if of.qualifier is None else (of.qualifier.largest, of.qualifier.smallest)
    return (of.name, of.precision, of.scale, *units)


def _routine_data(routine: DeclaredRoutine, emitted: EmittedRoutine, schema: tuple[str, ...]) -> GivenRoutine:
    node = routine.node
    outside = None
    if isinstance(node.body, syntax.External):
        outside = node.language, node.body.name, node.result_sets
    parameters = tuple((one.name, one.direction, _type_data(one.type)) for one in node.parameters)
    returns = None if node.returns is None else _type_data(node.returns.type)
    slot = emitted.slot if outside is None else ""
    return (slot, emitted.yields, node.kind, node.name, parameters, returns, schema, outside)


def passed(body: Body, node: syntax.Node) -> list[Variable]:
    """The variables that a text is handed: what lives in this function, and constants."""
    return [variable for variable in _in_sight(body, node) if _is_passed(body, variable)]


def _is_passed(body: Body, variable: Variable) -> bool:
    return body.is_local(variable) or (variable.is_fixed and variable.lifetime is None)


def _stored_data(body: Body, variable: Variable) -> StoredVariable:
    moved = body.unit.place(variable, "moved") if variable.is_reference else None
    type_ = _type_data(variable.type or syntax.DataType(""))
    return (variable.name, type_, variable.lifetime == "SHARED", body.unit.place(variable), moved)


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
        tuple((one.name, _type_data(one.type or syntax.DataType(""))) for one in variables),
        tuple(_stored_data(body, one) for one in _in_sight(body, node) if not _is_passed(body, one)),
        tuple(routines),
    )
    loaded = [_loaded(body, variable, what) for variable, what in contents_of(variables)]
    functions: list[ast.expr] = [name(slot) for slot in slots_of(routines)]
    parts = [text.code, constant(body.kind), body.unit.constant(tuple(given)), group([*functions, *loaded])]
    body.yields = True
    return ast.YieldFrom(method(name("here"), "evaluated", *parts, constant(is_expression)))


def slots_of(routines: Sequence[GivenRoutine]) -> list[str]:
    """The names in Python of the routines that a text is given, each once; what lies outside ESQL has none."""
    return [slot for slot in dict.fromkeys(one[0] for one in routines) if slot]


def _loaded(body: Body, variable: Variable, what: str) -> ast.expr:
    if what and variable.role == "for":
        return constant(True)  # it is moved to each item, and nowhere else
    if what or variable.type_name in {"REFERENCE", "ROW"}:
        return body.load(variable, what)
    return variable_value(body, variable).code

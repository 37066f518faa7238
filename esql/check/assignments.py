"""Checks of declarations, of targets that are assigned, created or moved, and of the values that they are given."""

from __future__ import annotations

from collections.abc import Iterator

from esql import syntax
from esql.check.findings import Finding, a
from esql.functions import Function
from esql.names.constants import ElementType, NamedConstant
from esql.names.predefined import BrokerProperty, Correlation, SpecialName
from esql.scope import DeclaredRoutine, Resolution, Variable
from esql.scope.types import can_assign
from esql.values.types import SCALARS

_NAMES = ("NAMESPACE", "NAME")


def lifetimes(found: Resolution) -> Iterator[Finding]:
    """SHARED and EXTERNAL where, and on what, they cannot be."""
    outermost = {id(statement) for statement in found.program.statements}
    for node, place in found.placed(syntax.Declare):
        if node.lifetime is None:
            continue
        if not (place.is_outermost and (place.module is not None or id(node) in outermost)):
            text = f"{node.lifetime} is for declarations of a module or schema: move this one out of the routine"
            yield Finding(node, "flow", text, word=node.lifetime)
        elif node.type.name == "REFERENCE":
            advice = "declare a ROW, or a REFERENCE in the routine that uses it"
            yield Finding(node, "type", f"a REFERENCE cannot be {node.lifetime}: {advice}", word=node.lifetime)
        elif node.lifetime == "EXTERNAL" and node.type.name == "ROW":
            text = "a ROW cannot be EXTERNAL: a property of a flow is a single value"
            yield Finding(node, "type", text, word="EXTERNAL")


def constants(found: Resolution) -> Iterator[Finding]:
    """Constants and names without their value."""
    for node in found.nodes(syntax.Declare):
        if node.initial is not None or node.lifetime == "EXTERNAL":
            continue
        if node.constant or node.type.name in _NAMES:
            what = "a CONSTANT" if node.constant else a(node.type.name)
            text = f"{what} is given its value where it is declared: write the value behind its type"
            yield Finding(node, "type", text, word=node.names[0])


def bodies(found: Resolution) -> Iterator[Finding]:
    """Routines whose language and body do not go together."""
    for routine in found.routines:
        node = routine.node
        if node.language not in (None, "ESQL") and not routine.is_external:
            text = f"a routine of LANGUAGE {node.language} has EXTERNAL NAME and its name there in place of a body"
            yield Finding(node, "flow", text, word=node.name)
        elif node.language == "ESQL" and routine.is_external:
            text = "a routine of LANGUAGE ESQL has a body in place of EXTERNAL NAME"
            yield Finding(node, "flow", text, word=node.name)
        elif node.result_sets and node.language not in (None, "DATABASE"):
            text = "only a routine of LANGUAGE DATABASE has DYNAMIC RESULT SETS"
            yield Finding(node, "flow", text, word=node.name)


# the parts that a statement writes to
_WRITTEN: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((syntax.SetStatement, syntax.CreateField, syntax.DeleteField), ("target",)),
    syntax.Attach: ("source", "target"),
    syntax.Detach: ("source",),
}
_ONE_FIELD = "a REFERENCE points to one field, and this is a LIST: write an index in place of []"


def read_only_targets(found: Resolution) -> Iterator[Finding]:
    """Changes to what does not change: constants, input trees, properties."""
    for visit in found.each(*_WRITTEN, syntax.Call, syntax.CallStatement):
        for path in _targets(visit.node, found):
            reason = _read_only(path, found)
            if reason and not _is_shared_by_reference(visit.node, path, found):
                yield Finding(path, "flow", reason, word=path.root)


def _targets(node: syntax.Node, found: Resolution) -> Iterator[syntax.Path]:
    """Yields the fields and variables that a statement or a call writes to."""
    if not isinstance(node, syntax.Call | syntax.CallStatement):
        for name in _WRITTEN[type(node)]:
            yield getattr(node, name)
        return
    routine = found.of(node)
    for index in routine.outputs if isinstance(routine, DeclaredRoutine) else ():
        argument = node.arguments[index] if index < len(node.arguments) else None
        if isinstance(argument, syntax.Path):
            yield argument
    if isinstance(node, syntax.CallStatement) and node.target is not None:
        yield node.target


def _read_only(path: syntax.Path, found: Resolution) -> str:
    match found.of(path):
        case Variable() as variable if variable.is_fixed and not variable.is_reference:
            what = "EXTERNAL" if variable.lifetime == "EXTERNAL" else "a CONSTANT"
            what = f"a {variable.type_name}" if variable.type_name in ("NAMESPACE", "NAME") else what
            return f"{variable.name} is {what} and keeps its value: assign to another variable"
        case Correlation(name="Database"):
            return "a table is changed by INSERT, UPDATE and DELETE FROM, not by an assignment"
        case Correlation(name=name, writable=False):
            other = "OutputRoot" if name.startswith("Input") else "Environment"
            return f"{name} is read-only: change {other}"
        case BrokerProperty(name=name) | SpecialName(name=name) | NamedConstant(name=name):
            return f"{name} is given by the broker and cannot be assigned to: use a variable of your own"
        case ElementType(name=name):
            return f"{name} is the constant of an element type and cannot be assigned to: use another name"
    return ""


def _is_shared_by_reference(node: syntax.Node, path: syntax.Path, found: Resolution) -> bool:
    """Say whether a path is an argument that is only pointed to; what the routine does with it is not known here."""
    routine = found.of(node)
    if not isinstance(routine, DeclaredRoutine) or not isinstance(node, syntax.Call | syntax.CallStatement):
        return False
    given = zip(node.arguments, routine.node.parameters, strict=False)
    return any(argument is path and parameter.type.name == "REFERENCE" for argument, parameter in given)


def references(found: Resolution) -> Iterator[Finding]:
    """MOVE, ATTACH, DETACH, LASTMOVE and AS with something else than a reference variable."""
    moves = found.each(syntax.MoveTo, syntax.MoveBy, syntax.MoveRepeat, syntax.Attach, syntax.Detach)
    for visit in moves:
        node = visit.node
        word = {"Attach": "ATTACH", "Detach": "DETACH"}.get(type(node).__name__, "MOVE")
        path = getattr(node, "source", None) or getattr(node, "reference", None)
        assert isinstance(path, syntax.Path)
        yield from _must_be_reference(path, word, found)
    for node in found.nodes(syntax.Call):
        called = found.of(node)
        is_last_move = isinstance(called, Function) and called.name == "LASTMOVE" and node.arguments
        if is_last_move and not found.is_scalar_reference(node.arguments[0]):
            yield from _must_be_reference(node.arguments[0], "LASTMOVE", found)
    for created in found.nodes(syntax.CreateField):
        known = found.variable(created)
        if known is not None and not known.is_reference:
            text = f"AS takes a reference variable, and {known.name} is {_kind(known)}"
            yield Finding(created, "type", f"{text}: DECLARE a REFERENCE", word=known.name)


def _must_be_reference(path: syntax.Expression, word: str, found: Resolution) -> Iterator[Finding]:
    if isinstance(path, syntax.Path) and found.of(path) is None:
        return
    variable = found.variable(path)
    is_plain = isinstance(path, syntax.Path) and not path.steps and path.index is None
    if variable is None or not is_plain:
        text = f"{word} takes a reference variable: DECLARE one with REFERENCE TO this field, and use it here"
        yield Finding(path, "type", text)
    elif not variable.is_reference:
        text = f"{word} takes a reference variable, and {variable.name} is {_kind(variable)}: DECLARE a REFERENCE"
        yield Finding(path, "type", text)
    elif word == "MOVE" and variable.constant:
        yield Finding(path, "flow", f"{variable.name} is a CONSTANT reference and cannot MOVE: declare it without")


def _kind(variable: Variable) -> str:
    return a(variable.type_name) if variable.type_name else "a correlation name"


def fields_of_scalars(found: Resolution) -> Iterator[Finding]:
    """Steps from a variable that has no fields."""
    for path in found.nodes(syntax.Path):
        if not path.steps and path.index is None:
            continue
        match found.of(path):
            case Variable(name=name, type_name=kind) if kind in SCALARS | {"NAMESPACE", "NAME"}:
                yield Finding(path, "type", f"{name} is {a(kind)} and has no fields: a ROW or a REFERENCE has")
            case ElementType(name=name, domain="") | NamedConstant(name=name):
                yield Finding(path, "type", f"{name} is a constant and has no fields: DECLARE a variable of that name")
            case BrokerProperty(name=name) | SpecialName(name=name) if path.root.upper() == name.upper():
                yield Finding(path, "type", f"{name} is a single value and has no fields")


def reference_targets(found: Resolution) -> Iterator[Finding]:
    """References to variables that are no trees."""
    for node, place in found.placed(syntax.Declare):
        target = found.variable(node.initial)
        known = place.scope.find(node.names[0], exactly=True)
        if target is not None and found.scalar_behind(node) and known is not None and known.is_reference:
            text = f"here a REFERENCE points to a field, and {target.name} is {a(target.type_name)}"
            yield Finding(node.initial or node, "type", f"{text}: use the variable itself")
        elif node.type.name == "REFERENCE" and found.type_of(node.initial) == "LIST":
            yield Finding(node.initial or node, "type", _ONE_FIELD)
    for moving in found.nodes(syntax.MoveTo):
        if found.type_of(moving.target) == "LIST":
            yield Finding(moving.target, "type", _ONE_FIELD)


def lists(found: Resolution) -> Iterator[Finding]:
    """Lists where one field is meant, and `[]` that is not the end of a path."""
    for path in found.nodes(syntax.Path):
        indexes = [path.index, *(step.index for step in path.steps)]
        if any(isinstance(index, syntax.IndexAll) for index in indexes[:-1]):
            text = "[] stands at the end of a path only: write an index here, or go through the list by FOR or SELECT"
            yield Finding(path, "type", text)
    for node in found.nodes(syntax.SetStatement):
        yield from _assigned_list(node, found)


def _assigned_list(node: syntax.SetStatement, found: Resolution) -> Iterator[Finding]:
    target, source = found.type_of(node.target), found.type_of(node.source)
    if target == "LIST" and node.attribute is not None:
        yield Finding(node.target, "type", f"SET {node.attribute} takes one field: write an index in place of []")
    elif target == "LIST" and source in SCALARS | {"ROW"}:
        text = f"a list takes a list, and this is {a(source)}: write an index in place of [], or LIST{{...}}"
        yield Finding(node.source, "type", text)
    elif target != "LIST" and source == "LIST":
        text = "this is a list: assign it to a field with [], or take one element of it by THE or an index"
        yield Finding(node.source, "type", text)


def assigned_values(found: Resolution) -> Iterator[Finding]:
    """Values that do not become the type of the variable they are assigned to."""
    for node in found.nodes(syntax.SetStatement):
        if node.attribute in (None, "VALUE") and found.type_of(node.source) != "LIST":
            yield from _fits(node.source, found.type_of(node.target), node.target.root, found)
        elif node.attribute in ("NAME", "NAMESPACE", "TYPE"):
            expected = "INTEGER" if node.attribute == "TYPE" else "CHARACTER"
            yield from _attribute(node, expected, found)
    for declared in found.nodes(syntax.Declare):
        kind = {"REFERENCE": "", "NAMESPACE": "CHARACTER", "NAME": "CHARACTER"}.get(declared.type.name)
        if declared.initial is not None:
            expected = declared.type.name if kind is None else kind
            yield from _fits(declared.initial, expected, declared.names[0], found)
    for returning, place in found.placed(syntax.Return):
        yield from _returned(returning, place.routine, found)


def _fits(value: syntax.Expression, expected: str, name: str, found: Resolution) -> Iterator[Finding]:
    given = found.type_of(value)
    if expected and expected != "LIST" and not can_assign(given, expected):
        advice = "take one element of it by THE or an index" if given == "LIST" else "no CAST turns one into the other"
        yield Finding(value, "type", f"{name} is {a(expected)}, and this is {a(given)}: {advice}")


def _attribute(node: syntax.SetStatement, expected: str, found: Resolution) -> Iterator[Finding]:
    given = found.type_of(node.source)
    if given not in ("", expected):
        text = f"SET {node.attribute} takes {a(expected)}, and this is {a(given)}"
        yield Finding(node.source, "type", f"{text}: CAST it" if given in SCALARS else text)


def _returned(node: syntax.Return, routine: DeclaredRoutine | None, found: Resolution) -> Iterator[Finding]:
    if node.result is not None and routine is not None and routine.node.returns is not None:
        expected = routine.node.returns.type.name
        if expected != "REFERENCE":
            yield from _fits(node.result, expected, f"what {routine.node.name} returns", found)
